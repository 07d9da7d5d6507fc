"""KilolockError and the table that ties SQLSTATE, code and HTTP status together."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2


class ErrorCode(Struct, frozen=True):
    """One row of the error table, equal to a row of `kl.error_codes`."""

    sqlstate: str
    code: str
    http_status: int


CODES: Final[tuple[ErrorCode, ...]] = (
    ErrorCode("KL001", "invalid_request", 400),
    ErrorCode("KL002", "unsupported_capability", 400),
    ErrorCode("KL003", "native_commit_not_supported", 400),
    ErrorCode("KL004", "payload_too_large", 413),
    ErrorCode("KL101", "unauthenticated", 401),
    ErrorCode("KL102", "forbidden", 403),
    ErrorCode("KL201", "state_not_found", 404),
    ErrorCode("KL202", "version_not_found", 404),
    ErrorCode("KL203", "address_not_found", 404),
    ErrorCode("KL204", "apply_run_not_found", 404),
    ErrorCode("KL301", "reservation_conflict", 409),
    ErrorCode("KL302", "state_serial_conflict", 409),
    ErrorCode("KL303", "terraform_locked", 423),
    ErrorCode("KL304", "lock_mismatch", 409),
    ErrorCode("KL305", "reservation_lost", 409),
    ErrorCode("KL306", "run_not_running", 409),
    ErrorCode("KL401", "unsafe_scope_closure", 422),
    ErrorCode("KL402", "slice_incomplete", 422),
)

# Raised by Python alone; no SQL function answers with them.
LOCAL_STATUS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "unsupported_media_type": 415,
        "query_refused": 400,
        "query_failed": 400,
        "query_busy": 503,
        "query_door_closed": 503,
        "internal": 500,
        "version_damaged": 500,
        "database_unavailable": 503,
        "schema_outdated": 503,
        "not_permitted_to_install": 500,
        "script_failed": 500,
        "invalid_sql_tree": 500,
        "invalid_configuration": 500,
        "embedded_failed": 500,
        "invalid_value": 400,
        "provider_not_found": 404,
        "provider_builtin": 400,
        "provider_checksum": 500,
        "provider_start_failed": 500,
        "provider_failed": 500,
        "provider_misbehaved": 500,
        "provider_crashed": 500,
        "provider_call_failed": 500,
        "provider_unsupported": 500,
    }
)

BY_SQLSTATE: Final[Mapping[str, ErrorCode]] = MappingProxyType({row.sqlstate: row for row in CODES})
BY_CODE: Final[Mapping[str, ErrorCode]] = MappingProxyType({row.code: row for row in CODES})


class KilolockError(Exception):
    """An answer: `message` for a person, `code` and `details` for a program.

    `http_status`, `sqlstate` and `exit_code` follow from `code` unless given; `exit_code` is 2 for
    what is configured wrongly, 1 for all else.
    """

    def __init__(
        self,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        *,
        sqlstate: str | None = None,
        http_status: int | None = None,
        exit_code: int | None = None,
    ) -> None:
        super().__init__(message)
        row = BY_CODE.get(code)
        self.code = code
        self.message = message
        self.details: dict[str, Any] = dict(details or {})
        self.sqlstate = sqlstate or (row.sqlstate if row else None)
        self.http_status = http_status or (row.http_status if row else LOCAL_STATUS.get(code, 500))
        configured_wrongly = code == "invalid_configuration"
        self.exit_code = exit_code or (EXIT_USAGE if configured_wrongly else EXIT_FAILED)

    def __str__(self) -> str:
        return self.message

    @property
    def retryable(self) -> bool:
        """Tell whether the same request may succeed later: class KL3, or no database."""
        return self.code == "database_unavailable" or (self.sqlstate or "").startswith("KL3")
