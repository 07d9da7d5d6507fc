"""What `kl` asks of a Kilolock, by SQL or by HTTP: the same calls, answers and errors."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, BinaryIO, Protocol

from cli.reading import Reading
from pyengine.api import FreedLock
from pyengine.api_admin import ListedState
from pyengine.api_commit import Moved, Operated
from pyengine.api_verify import Verified
from pyengine.importing import Imported
from pyengine.settings import Settings


class Transport(Reading, Protocol):
    """Every call raises KilolockError with the protocol's code, however it travelled."""

    async def import_state(self, name: str, file: BinaryIO, source: str) -> Imported:
        """Store the document that `file` holds; source is import, apply or refresh."""
        ...

    def export_state(self, name: str, version: str) -> AsyncGenerator[bytes, None]:
        """Yield the document of a version in pieces; raise before the first one if there is none.

        An error after that one means that what came is not whole.
        """
        ...

    async def list_states(self) -> list[ListedState]:
        """Return every state, by name."""
        ...

    async def state_status(self, name: str) -> dict[str, Any]:
        """Return what kl.state_status tells of a state."""
        ...

    async def verify_state(self, name: str, cursor: dict[str, Any] | None) -> Verified:
        """Check the part of a state that begins at `cursor`; None: at the beginning."""
        ...

    async def force_unlock(self, name: str, lock_id: str | None) -> FreedLock | None:
        """Free the lock that Terraform sees, if `lock_id` (None: anybody) holds it; None: free."""
        ...

    async def delete_state(self, name: str) -> None:
        """Delete a state; its history is kept."""
        ...

    async def remove_resources(
        self, name: str, addresses: Sequence[str], *, apply: bool
    ) -> Operated:
        """Take objects out of a state, or say what that would do."""
        ...

    async def move_resources(
        self, name: str, moves: Sequence[tuple[str, str]], to_name: str | None, *, apply: bool
    ) -> Moved:
        """Give objects other addresses, in their state or another, or say what that would do."""
        ...

    async def rollback_resource(self, name: str, address: str, to: str, *, apply: bool) -> Operated:
        """Bring an address back to what it was at a version, or say what that would do."""
        ...


@asynccontextmanager
async def open_transport(
    settings: Settings, *, admin: bool = False, create: bool = False
) -> AsyncIterator[Transport]:
    """Reach the states the settings name.

    admin: the command needs the admin right, which the owner of an embedded database has.
    create: make the embedded database if there is none.
    """
    if settings.transport == "http":
        from cli.transport_http import open_http

        async with open_http(settings) as http:
            yield http
    else:
        from cli.transport_sql import open_sql

        async with open_sql(settings, admin=admin, create=create) as sql:
            yield sql
