"""What scope/expand, state/slice and capabilities answer, for their description.

The database writes these answers as text; nothing here is made when one is served.
"""

from typing import Any, Literal
from uuid import UUID

from msgspec import Struct


class Capabilities(Struct):
    """Which parts of the protocol the caller may use here."""

    protocol: Literal["state-engine"]
    version: Literal["v1"]
    capabilities: dict[str, bool]


class Candidate(Struct):
    """One scope to reserve."""

    address_glob: str
    mode: Literal["read", "write"]


class Culprit(Struct):
    """Why nobody can tell whether a scope is whole."""

    address: str
    reason: Literal[
        "unknown_candidate", "unresolved_dependency", "unknown_dependencies", "file_hint"
    ]


class _Lists(Struct, kw_only=True):
    fetch_addresses: list[str]
    missing_from_state: list[str]
    undeployed_candidates: list[str]
    unknown_missing_from_state: list[str]
    reservation_candidates: list[Candidate]
    confidence: Literal["safe", "widened", "unsafe"]
    notes: list[str]


class ScopeContract(_Lists, kw_only=True):
    """What a write touches, needs and must reserve."""

    write_addresses: list[str]
    read_addresses: list[str]
    config_required_nodes: list[str]
    removed_config_nodes: list[str]
    culprits: list[Culprit]


class Diagnostics(Struct):
    """How much there is of what, and how long it took."""

    writes: int
    reads: int
    to_create: int
    unknown: int
    culprits: int
    milliseconds: float


class Expanded(_Lists, kw_only=True):
    """What scope/expand answers: the contract, and the older members beside it."""

    state: str
    state_id: UUID
    serial: int
    version_id: UUID
    contract_source: Literal["backend_authoritative"]
    scope_contract: ScopeContract
    realized_write_closure: list[str]
    realized_read_closure: list[str]
    diagnostics: Diagnostics


class ProviderConfig(Struct):
    """Which configuration of a provider an object has."""

    address: str | None
    alias: str | None
    module: str | None


class SlicedObject(Struct, kw_only=True):
    """One object, current or deposed."""

    provider: str | None
    provider_config: ProviderConfig
    schema_version: int
    attributes_json: Any
    attributes_hash: str
    resource_version: int
    version_id: UUID
    status: str | None
    private: str | None
    dependencies: list[str]
    create_before_destroy: bool
    sensitive_attributes: list[Any]
    identity: Any = None
    identity_schema_version: int | None = None
    attributes_flat: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None
    resource_extra: dict[str, Any] | None = None


class DeposedObject(SlicedObject, kw_only=True):
    """An object that another one has replaced."""

    deposed_key: str


class SlicedInstance(Struct, kw_only=True):
    """An instance: of a current object its members too, as a deposed one has them."""

    address: str
    mode: Literal["managed", "data"]
    type: str
    name: str
    module: str | None
    index_key: int | str | None
    deposed_objects: list[DeposedObject]
    provider: str | None = None
    provider_config: ProviderConfig | None = None
    schema_version: int | None = None
    attributes_json: Any = None
    attributes_hash: str | None = None
    resource_version: int | None = None
    version_id: UUID | None = None


class SlicedOutput(Struct):
    """One output."""

    name: str
    value: Any
    resource_version: int
    type: Any = None
    sensitive: bool | None = None


class Metadata(Struct):
    """What is of the whole state."""

    terraform_version: str | None


class SliceContent(Struct):
    """What was asked for."""

    resources: list[SlicedInstance]
    outputs: list[SlicedOutput]
    metadata: Metadata


class Slice(Struct):
    """What state/slice answers in the protocol's own form."""

    state: str
    state_id: UUID
    lineage: str
    serial: int
    version_id: UUID
    slice: SliceContent


class StateDocument(Struct):
    """What state/slice answers as a state document."""

    version: int
    serial: int
    lineage: str
    outputs: dict[str, Any]
    resources: list[dict[str, Any]]
    check_results: list[Any] | None
    terraform_version: str | None = None
