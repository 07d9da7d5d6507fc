"""Read states through a database connection."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from pyengine import api_drift, api_readers, db
from pyengine.api_drift import Drift
from pyengine.api_readers import Entry, Node, ObjectChange, ShownObject, Tag, Tagged, Version
from pyengine.pages import Page

T = TypeVar("T")


class SqlReading:
    """The calls of `Reading` over a pool of sessions."""

    def __init__(self, database: db.Database, caller: db.Caller) -> None:
        self._database = database
        self._caller = caller

    async def state_history(self, name: str, after: str | None, limit: int) -> Page[Version]:
        """Return versions, newest first."""
        return await self._run(lambda conn: api_readers.state_history(conn, name, after, limit))

    async def diff_versions(
        self, name: str, from_: str, to: str, after: str | None, limit: int
    ) -> Page[ObjectChange]:
        """Return what differs between two versions."""
        return await self._run(
            lambda conn: api_readers.diff_versions(conn, name, from_, to, after, limit)
        )

    async def resource_timeline(
        self, name: str, address: str, after: str | None, limit: int
    ) -> Page[Entry]:
        """Return every content of the objects at an address."""
        return await self._run(
            lambda conn: api_readers.resource_timeline(conn, name, address, after, limit)
        )

    async def resource_at(self, name: str, address: str, version: str) -> list[ShownObject]:
        """Return the objects at an address as they were at a version."""
        return await self._run(lambda conn: api_readers.resource_at(conn, name, address, version))

    async def dependency_graph(
        self, name: str, address: str | None, after: str | None, limit: int, *, dependents: bool
    ) -> Page[Node]:
        """Return resources and what each depends on directly."""
        return await self._run(
            lambda conn: api_readers.dependency_graph(
                conn, name, address, after, limit, dependents=dependents
            )
        )

    async def version_tags(self, name: str) -> list[Tag]:
        """Return the tags of a state."""
        return await self._run(lambda conn: api_readers.version_tags(conn, name))

    async def set_tag(self, name: str, tag: str, version: str) -> Tagged:
        """Let a tag name a version."""
        return await self._run(lambda conn: api_readers.set_tag(conn, name, tag, version))

    async def unset_tag(self, name: str, tag: str) -> Tagged:
        """Remove a tag."""
        return await self._run(lambda conn: api_readers.unset_tag(conn, name, tag))

    async def list_current_drift(self, name: str, limit: int) -> list[Drift]:
        """Return the drift of a state that no apply has settled."""
        return await self._run(lambda conn: api_drift.list_current_drift(conn, name, limit))

    async def ack_drift(self, name: str, address: str, reason: str) -> int:
        """Acknowledge the drift at an address; return how many objects that were."""
        return await self._run(lambda conn: api_drift.ack_drift(conn, name, address, reason))

    async def _run(self, work: Callable[[db.Connection], Awaitable[T]]) -> T:
        return await self._database.run(work, self._caller)
