"""The calls of `Transport` that read states, name versions and settle drift."""

from typing import Protocol

from pyengine.api_drift import Drift
from pyengine.api_readers import Entry, Node, ObjectChange, ShownObject, Tag, Tagged, Version
from pyengine.pages import Page


class Reading(Protocol):
    """Pages of `limit` items from the cursor `after` on; None: the first."""

    async def state_history(self, name: str, after: str | None, limit: int) -> Page[Version]:
        """Return versions, newest first."""
        ...

    async def diff_versions(
        self, name: str, from_: str, to: str, after: str | None, limit: int
    ) -> Page[ObjectChange]:
        """Return what differs between two versions."""
        ...

    async def resource_timeline(
        self, name: str, address: str, after: str | None, limit: int
    ) -> Page[Entry]:
        """Return every content of the objects at an address."""
        ...

    async def resource_at(self, name: str, address: str, version: str) -> list[ShownObject]:
        """Return the objects at an address as they were at a version."""
        ...

    async def dependency_graph(
        self, name: str, address: str | None, after: str | None, limit: int, *, dependents: bool
    ) -> Page[Node]:
        """Return resources and what each depends on directly."""
        ...

    async def version_tags(self, name: str) -> list[Tag]:
        """Return the tags of a state."""
        ...

    async def set_tag(self, name: str, tag: str, version: str) -> Tagged:
        """Let a tag name a version."""
        ...

    async def unset_tag(self, name: str, tag: str) -> Tagged:
        """Remove a tag."""
        ...

    async def list_current_drift(self, name: str, limit: int) -> list[Drift]:
        """Return the drift of a state that no apply has settled."""
        ...

    async def ack_drift(self, name: str, address: str, reason: str) -> int:
        """Acknowledge the drift at an address; return how many objects that were."""
        ...
