"""What a refresh is told, and what it tells."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Literal
from uuid import UUID

from msgspec import Struct, field

from pyengine.errors import KilolockError
from pyengine.provider.diagnostics import Diagnostic
from pyengine.provider.errors import ProviderError

Progress = Callable[[int, int], None]
Status = Literal["succeeded", "failed", "cancelled"]


class Options(Struct, frozen=True):
    """How to refresh. `timeout` and `lock_timeout` are seconds; no `timeout` is no limit."""

    concurrency: int
    parallelism: int = 10
    fail_fast: bool = False
    dry_run: bool = False
    timeout: int | None = None
    lock_timeout: int = 60


class Failure(Struct, frozen=True):
    """An object that was not refreshed, and why."""

    address: str
    provider: str
    code: str
    message: str
    diagnostics: Sequence[Diagnostic] = ()


class Warned(Struct, frozen=True):
    """A warning that came with an answer; about a whole provider where there is no address."""

    address: str | None
    provider: str
    diagnostic: Diagnostic


class Crash(Struct, frozen=True):
    """A provider that ended by itself. `address` is what it had been asked for the longest.

    Without one it ended before it was asked for anything.
    """

    provider: str
    address: str | None
    exit_code: int | None
    output: str


class Tally(Struct):
    """What has come of the objects so far."""

    read: int = 0
    skipped: int = 0
    failures: list[Failure] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)

    @property
    def checked(self) -> int:
        """Return how many objects have been dealt with, skipped ones aside."""
        return self.read + len(self.failures)

    def fail(self, address: str, provider: str, error: KilolockError) -> None:
        """Note that an object could not be refreshed."""
        diagnostics = error.diagnostics if isinstance(error, ProviderError) else ()
        self.failures.append(Failure(address, provider, error.code, error.message, diagnostics))


class Result(Struct, frozen=True):
    """What a refresh came to. Versions and serials: what it read, and what it wrote."""

    state: str
    refresh_run_id: UUID
    status: Status
    dry_run: bool
    from_version_no: int
    from_serial: Decimal
    to_version_no: int | None
    to_serial: Decimal | None
    resources_checked: int
    resources_changed: int
    resources_failed: int
    resources_superseded: int
    resources_skipped: int
    changed_addresses: list[str]
    failures: list[Failure]
    crashes: list[Crash]
    warnings: list[Warned]
    error_summary: str | None
