"""What the routes of engine_commit.py take and answer. Unknown members are ignored."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Raw, Struct, field

from server.engine_requests import StateRequest

Serial = Annotated[int, Meta(ge=0)]


def _absent() -> Raw:
    return Raw(b"null")


class Commit(StateRequest, kw_only=True):
    """What state/commit asks. raw_state is a document, or a text that holds one."""

    apply_id: UUID
    mode: Literal["delta", "snapshot"] = "delta"
    base_serial: Serial | None = None
    version_id: UUID | None = None
    delta: Raw = field(default_factory=_absent)
    raw_state: Raw = field(default_factory=_absent)
    write_set: list[str] | None = None
    delete_set: list[str] | None = None
    output_delete_set: list[str] | None = None


class Committed(Struct):
    """The version that a commit made."""

    committed_serial: Decimal
    new_version_id: UUID
    commit_mode: str
    ok: bool = True


class Remove(StateRequest):
    """What resource-remove asks: one address, or several."""

    address: str | None = None
    addresses: list[str] | None = None
    actor: str | None = None


class OneMove(Struct):
    """From where to where one object, or one whole resource, moves."""

    address: str
    to: str


class Move(StateRequest):
    """What resource-move asks: one move, or several. to_state: another state to move to."""

    address: str | None = None
    to: str | None = None
    moves: list[OneMove] | None = None
    to_state: str | None = None
    actor: str | None = None


class Rollback(StateRequest, kw_only=True):
    """What resource-rollback asks. to: a version reference."""

    address: str
    to: str
    actor: str | None = None
