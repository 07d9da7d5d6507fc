"""What each route takes and answers, for the description at /v1/openapi.json."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, field

from pyengine import api_commit, api_drift, api_readers, api_runs, api_scope, api_verify
from pyengine.pages import LARGEST, Page
from server import engine_commit_types as commit_types
from server import engine_run_types as types
from server import engine_scope_types as scope_types
from server.engine_requests import StateRequest
from server.engine_scope import ExpandRequest, SliceRequest


class Parameter(Struct, frozen=True):
    """One variable of an address."""

    name: str
    required: bool = False
    place: str = "query"
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})


class Operation(Struct, frozen=True):
    """One route: types that msgspec knows; None for any JSON. errors: codes beyond the usual.

    answer: several types if it may be any of them.
    """

    answer: Any = None
    request: Any = None
    query: tuple[Parameter, ...] = ()
    errors: tuple[str, ...] = ()
    open_to_all: bool = False


_NAME: Final = Parameter("name", required=True)
_ADDRESS: Final = Parameter("address", required=True)
_VERSION: Final = Parameter("version")
_TAG: Final = Parameter("tag", required=True)
_LOCK: Final = Parameter("ID")
_LIMIT: Final = Parameter("limit", schema={"type": "integer", "minimum": 1, "maximum": LARGEST})
_PAGE: Final = (Parameter("after"), _LIMIT)
_WRITE_ERRORS: Final = (
    "state_not_found",
    "state_serial_conflict",
    "terraform_locked",
    "lock_mismatch",
    "payload_too_large",
    "unsupported_media_type",
)
_UNLOCK_ERRORS: Final = (
    "state_not_found",
    "lock_mismatch",
    "terraform_locked",
    "payload_too_large",
)
_READ_ERRORS: Final = ("state_not_found", "version_not_found", "address_not_found")

_ENGINE_ERRORS: Final = (
    "unsupported_capability",
    "state_not_found",
    "payload_too_large",
    "unsupported_media_type",
)

_BACKEND: Final = {
    "GET /v1/states/{name}": Operation(errors=("state_not_found",)),
    "POST /v1/states/{name}": Operation(request=dict, query=(_LOCK,), errors=_WRITE_ERRORS),
    "PUT /v1/states/{name}": Operation(request=dict, query=(_LOCK,), errors=_WRITE_ERRORS),
    "DELETE /v1/states/{name}": Operation(errors=("state_not_found", "terraform_locked")),
    "LOCK /v1/states/{name}": Operation(
        request=dict, errors=("state_not_found", "terraform_locked", "payload_too_large")
    ),
    "UNLOCK /v1/states/{name}": Operation(request=dict, errors=_UNLOCK_ERRORS),
    "POST /v1/state-unlock/{name}": Operation(request=dict, errors=_UNLOCK_ERRORS),
}

_ADMIN: Final = {
    "POST /v1/admin/import": Operation(
        request=dict, query=(_NAME, Parameter("source")), errors=_WRITE_ERRORS
    ),
    "GET /v1/admin/export": Operation(query=(_NAME, _VERSION), errors=_READ_ERRORS),
    "GET /v1/admin/states": Operation(),
    "GET /v1/admin/status": Operation(query=(_NAME,), errors=("state_not_found",)),
    "POST /v1/admin/unlock": Operation(
        query=(_NAME, Parameter("lock_id")),
        errors=("state_not_found", "lock_mismatch", "terraform_locked"),
    ),
    "POST /v1/admin/query": Operation(
        request=dict,
        errors=(
            "query_refused",
            "query_failed",
            "query_busy",
            "query_door_closed",
            "payload_too_large",
        ),
    ),
    "GET /v1/admin/history": Operation(
        Page[api_readers.Version], query=(_NAME, *_PAGE), errors=_READ_ERRORS
    ),
    "GET /v1/admin/diff": Operation(
        Page[api_readers.ObjectChange],
        query=(_NAME, Parameter("from", required=True), Parameter("to"), *_PAGE),
        errors=_READ_ERRORS,
    ),
    "GET /v1/admin/resource": Operation(
        list[api_readers.ShownObject], query=(_NAME, _ADDRESS, _VERSION), errors=_READ_ERRORS
    ),
    "GET /v1/admin/timeline": Operation(
        Page[api_readers.Entry], query=(_NAME, _ADDRESS, *_PAGE), errors=_READ_ERRORS
    ),
    "GET /v1/admin/graph": Operation(
        Page[api_readers.Node],
        query=(
            _NAME,
            Parameter("address"),
            Parameter("dependents", schema={"enum": ["true", "false"]}),
            *_PAGE,
        ),
        errors=_READ_ERRORS,
    ),
    "GET /v1/admin/tags": Operation(
        list[api_readers.Tag], query=(_NAME,), errors=("state_not_found",)
    ),
    "PUT /v1/admin/tags": Operation(
        api_readers.Tagged, query=(_NAME, _TAG, _VERSION), errors=_READ_ERRORS
    ),
    "DELETE /v1/admin/tags": Operation(
        api_readers.Tagged, query=(_NAME, _TAG), errors=_READ_ERRORS
    ),
    "POST /v1/admin/verify": Operation(
        api_verify.Verified, request=dict, query=(_NAME,), errors=("state_not_found",)
    ),
    "GET /v1/admin/drift": Operation(
        list[api_drift.Drift],
        query=(
            _NAME,
            Parameter("limit", schema={"type": "integer", "minimum": 1, "maximum": LARGEST}),
        ),
        errors=("state_not_found",),
    ),
    "PUT /v1/admin/drift": Operation(
        api_drift.Acknowledged,
        query=(_NAME, _ADDRESS, Parameter("reason", required=True)),
        errors=("state_not_found", "address_not_found"),
    ),
}

_RUN_ERRORS: Final = ("apply_run_not_found", "state_not_found", "payload_too_large")
_RUNS: Final = {
    "POST /v1/state-engine/apply-runs/begin": Operation(
        api_runs.BegunRun,
        request=types.Begin,
        errors=("state_not_found", "payload_too_large"),
    ),
    "GET /v1/state-engine/apply-runs/{apply_id}/status": Operation(
        api_runs.ApplyRun, errors=_RUN_ERRORS
    ),
    "POST /v1/state-engine/apply-runs/{apply_id}/finish": Operation(
        api_runs.ApplyRun, request=types.Finish, errors=(*_RUN_ERRORS, "run_not_running")
    ),
    "POST /v1/state-engine/apply-runs/{apply_id}/abort": Operation(
        api_runs.ApplyRun, request=types.Abort, errors=(*_RUN_ERRORS, "run_not_running")
    ),
    "POST /v1/state-engine/apply-runs/list": Operation(
        types.RunPage, request=types.ListRuns, errors=_RUN_ERRORS
    ),
    "POST /v1/state-engine/reservations/acquire": Operation(
        types.Held,
        request=types.Acquire,
        errors=(*_RUN_ERRORS, "reservation_conflict", "run_not_running"),
    ),
    "POST /v1/state-engine/reservations/renew": Operation(
        types.Held,
        request=types.Renew,
        errors=(*_RUN_ERRORS, "reservation_lost"),
    ),
    "POST /v1/state-engine/reservations/release": Operation(
        types.Released, request=types.Release, errors=_RUN_ERRORS
    ),
    "POST /v1/state-engine/terraform-lock/acquire": Operation(
        types.LockHeld,
        request=types.Lock,
        errors=(*_RUN_ERRORS, "terraform_locked", "reservation_lost", "run_not_running"),
    ),
    "POST /v1/state-engine/terraform-lock/release": Operation(
        types.LockHeld, request=types.Unlock, errors=_RUN_ERRORS
    ),
}

_OPERATION_ERRORS: Final = (
    "state_not_found",
    "address_not_found",
    "unsupported_capability",
    "native_commit_not_supported",
    "reservation_conflict",
    "terraform_locked",
    "payload_too_large",
)
_COMMIT: Final = {
    "POST /v1/state-engine/state/commit": Operation(
        commit_types.Committed,
        request=commit_types.DescribedCommit,
        errors=(
            "state_not_found",
            "version_not_found",
            "apply_run_not_found",
            "unsupported_capability",
            "native_commit_not_supported",
            "reservation_conflict",
            "reservation_lost",
            "run_not_running",
            "state_serial_conflict",
            "terraform_locked",
            "payload_too_large",
            "unsupported_media_type",
        ),
    ),
    **{
        f"POST /v1/state-engine/resource-{operation}/{step}": Operation(
            kind, request=asked, errors=(*_OPERATION_ERRORS, *more)
        )
        for operation, kind, asked, more in (
            ("remove", api_commit.Operated, commit_types.Remove, ()),
            ("move", api_commit.Moved, commit_types.Move, ()),
            ("rollback", api_commit.Operated, commit_types.Rollback, ("version_not_found",)),
        )
        for step in ("preview", "apply")
    },
}

_ENGINE_SCOPE: Final = {
    "GET /v1/state-engine/capabilities": Operation(scope_types.Capabilities),
    "POST /v1/state-engine/state/resolve": Operation(
        api_scope.Identity,
        request=StateRequest,
        errors=("state_not_found", "payload_too_large", "unsupported_media_type"),
    ),
    "POST /v1/state-engine/scope/expand": Operation(
        scope_types.Expanded,
        request=ExpandRequest,
        errors=(*_ENGINE_ERRORS, "unsafe_scope_closure"),
    ),
    "POST /v1/state-engine/state/slice": Operation(
        (scope_types.Slice, scope_types.StateDocument),
        request=SliceRequest,
        errors=(
            *_ENGINE_ERRORS,
            "version_not_found",
            "state_serial_conflict",
            "slice_incomplete",
        ),
    ),
}

_SERVER: Final = {
    "GET /healthz": Operation(errors=("database_unavailable",), open_to_all=True),
    "GET /versionz": Operation(open_to_all=True),
    "GET /v1/openapi.json": Operation(open_to_all=True),
}

OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType(
    {**_SERVER, **_BACKEND, **_ADMIN, **_RUNS, **_COMMIT, **_ENGINE_SCOPE}
)
