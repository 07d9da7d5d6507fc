"""What the routes of engine_runs.py take and answer. Unknown members are ignored."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct, field

from pyengine import api_runs
from server.engine_requests import StateRequest, Text

Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Lease = Annotated[int, Meta(ge=1, le=86400)]


class Begin(StateRequest):
    """What apply-runs/begin asks; state_id is one more form of naming a state."""

    state_id: UUID | None = None
    actor: Text | None = None
    source_serial: int | None = None
    info: dict[str, Any] | None = None


class Finish(Struct):
    """What apply-runs/{id}/finish asks."""

    status: Literal["committed", "failed"]
    committed_serial: int | None = None
    resources_planned: Count | None = None
    resources_applied: Count | None = None
    error: Text | None = None


class Abort(Struct):
    """What apply-runs/{id}/abort asks."""

    reason: Text | None = None


class ListRuns(StateRequest):
    """What apply-runs/list asks. before: the last id of the page before."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    before: UUID | None = None


class Wanted(Struct):
    """One scope that is wanted."""

    address_glob: Text
    mode: Literal["read", "write"]


class ModuleCall(Struct):
    """What a client knows of a module call. keyed: it has count or for_each."""

    address: Text
    keyed: bool


class Acquire(StateRequest, kw_only=True):
    """What reservations/acquire asks."""

    apply_id: UUID
    want: list[Wanted]
    holder: Text | None = None
    lease_seconds: Lease = 900
    wait_seconds: Annotated[int, Meta(ge=0, le=600)] = 0
    module_calls: list[ModuleCall] = field(default_factory=list)


class Renew(Struct):
    """What reservations/renew asks."""

    apply_id: UUID
    lease_seconds: Lease = 900


class Release(Struct):
    """What reservations/release asks."""

    apply_id: UUID


class Lock(StateRequest, kw_only=True):
    """What terraform-lock/acquire asks."""

    apply_id: UUID
    holder: Text | None = None
    scope_summary: list[Text] = field(default_factory=list)


class Unlock(StateRequest):
    """What terraform-lock/release asks; the state may be left out."""

    apply_id: UUID | None = None
    lock_id: Text | None = None


class Held(Struct):
    """What is held. expires_at: when the first of it ends."""

    reservations: list[api_runs.Reservation]
    expires_at: datetime | None
    ok: bool = True


class Released(Struct):
    """How many scopes were freed."""

    released: int
    ok: bool = True


class LockHeld(Struct):
    """The lock that was taken, or freed; null when none was held."""

    lock_id: str | None
    ok: bool = True


class RunPage(Struct):
    """A page of runs."""

    apply_runs: list[api_runs.ApplyRun]
