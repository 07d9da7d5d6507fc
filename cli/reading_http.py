"""Read states through a server."""

from abc import ABC, abstractmethod
from typing import TypeVar

from pyengine.api_drift import Acknowledged, Drift
from pyengine.api_readers import Entry, Node, ObjectChange, ShownObject, Tag, Tagged, Version
from pyengine.pages import Page

T = TypeVar("T")


class HttpReading(ABC):
    """The calls of `Reading` as requests."""

    @abstractmethod
    async def ask(self, method: str, path: str, params: dict[str, str], kind: type[T]) -> T:
        """Send a request; return its answer as `kind`."""

    async def state_history(self, name: str, after: str | None, limit: int) -> Page[Version]:
        """Return versions, newest first."""
        params = {"name": name} | _page(after, limit)
        return await self.ask("GET", "/v1/admin/history", params, Page[Version])

    async def diff_versions(
        self, name: str, from_: str, to: str, after: str | None, limit: int
    ) -> Page[ObjectChange]:
        """Return what differs between two versions."""
        params = {"name": name, "from": from_, "to": to} | _page(after, limit)
        return await self.ask("GET", "/v1/admin/diff", params, Page[ObjectChange])

    async def resource_timeline(
        self, name: str, address: str, after: str | None, limit: int
    ) -> Page[Entry]:
        """Return every content of the objects at an address."""
        params = {"name": name, "address": address} | _page(after, limit)
        return await self.ask("GET", "/v1/admin/timeline", params, Page[Entry])

    async def resource_at(self, name: str, address: str, version: str) -> list[ShownObject]:
        """Return the objects at an address as they were at a version."""
        params = {"name": name, "address": address, "version": version}
        return await self.ask("GET", "/v1/admin/resource", params, list[ShownObject])

    async def dependency_graph(
        self, name: str, address: str | None, after: str | None, limit: int, *, dependents: bool
    ) -> Page[Node]:
        """Return resources and what each depends on directly."""
        params = {"name": name, "dependents": str(dependents).lower()} | _page(after, limit)
        if address is not None:
            params["address"] = address
        return await self.ask("GET", "/v1/admin/graph", params, Page[Node])

    async def version_tags(self, name: str) -> list[Tag]:
        """Return the tags of a state."""
        return await self.ask("GET", "/v1/admin/tags", {"name": name}, list[Tag])

    async def set_tag(self, name: str, tag: str, version: str) -> Tagged:
        """Let a tag name a version."""
        params = {"name": name, "tag": tag, "version": version}
        return await self.ask("PUT", "/v1/admin/tags", params, Tagged)

    async def unset_tag(self, name: str, tag: str) -> Tagged:
        """Remove a tag."""
        return await self.ask("DELETE", "/v1/admin/tags", {"name": name, "tag": tag}, Tagged)

    async def list_current_drift(self, name: str, limit: int) -> list[Drift]:
        """Return the drift of a state that no apply has settled."""
        params = {"name": name, "limit": str(limit)}
        return await self.ask("GET", "/v1/admin/drift", params, list[Drift])

    async def ack_drift(self, name: str, address: str, reason: str) -> int:
        """Acknowledge the drift at an address; return how many objects that were."""
        params = {"name": name, "address": address, "reason": reason}
        return (await self.ask("PUT", "/v1/admin/drift", params, Acknowledged)).objects


def _page(after: str | None, limit: int) -> dict[str, str]:
    return {"limit": str(limit)} | ({} if after is None else {"after": after})
