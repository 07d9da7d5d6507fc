"""What the routes of engine_commit.py take and answer. Unknown members are ignored."""

from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Raw, Struct, field

from server.engine_requests import StateRequest, Text

Serial = Annotated[int, Meta(ge=0)]


def _absent() -> Raw:
    return Raw(b"null")


class Instance(Struct, kw_only=True):
    """One object, as a state document has it; of a payload only for descriptions, see Delta."""

    index_key: int | str | None = None
    status: Literal["tainted"] | None = None
    deposed: str | None = None
    schema_version: Serial | None = None
    attributes: Any = None
    attributes_flat: dict[str, str] | None = None
    sensitive_attributes: list[list[dict[str, Any]]] | None = None
    private: str | None = None
    dependencies: list[str] | None = None
    create_before_destroy: bool | None = None
    identity: Any = None
    identity_schema_version: Serial | None = None


class Resource(Struct, kw_only=True):
    """The objects of one resource, as a state document has them."""

    module: str | None = None
    mode: Literal["managed", "data"]
    type: str
    name: str
    provider: str
    instances: list[Instance] | None = None


class Delta(Struct, kw_only=True):
    """What a delta has. The database reads it; this says of which types its members are."""

    lineage: str | None = None
    terraform_version: str | None = None
    write_set: list[str] | None = None
    delete_set: list[str] | None = None
    resources: list[Resource] | None = None
    output_writes: dict[str, dict[str, Any]] | None = None
    output_delete_set: list[str] | None = None
    check_results: list[dict[str, Any]] | None = None


class OlderDelta(Struct):
    """A delta made of a whole document, as the database gets it."""

    raw_state: Delta


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


class DescribedCommit(Commit, kw_only=True):
    """What state/commit asks, with the types of what is passed on as it is."""

    delta: Delta | None = None  # type: ignore[assignment]
    raw_state: dict[str, Any] | str | None = None  # type: ignore[assignment]


class Committed(Struct):
    """The version that a commit made."""

    committed_serial: Decimal
    new_version_id: UUID
    commit_mode: str
    ok: bool = True


class Remove(StateRequest):
    """What resource-remove asks: one address, or several."""

    address: Text | None = None
    addresses: list[Text] | None = None
    actor: Text | None = None


class OneMove(Struct):
    """From where to where one object, or one whole resource, moves."""

    address: Text
    to: Text


class Move(StateRequest):
    """What resource-move asks: one move, or several. to_state: another state to move to."""

    address: Text | None = None
    to: Text | None = None
    moves: list[OneMove] | None = None
    to_state: Text | None = None
    actor: Text | None = None


class Rollback(StateRequest, kw_only=True):
    """What resource-rollback asks. to: a version reference."""

    address: Text
    to: Text
    actor: Text | None = None
