"""What differs between protocol versions: the messages and the names of a few methods."""

from collections.abc import Mapping
from types import ModuleType

from msgspec import Struct


class Protocol(Struct, frozen=True):
    """One protocol version; `methods` holds the names that are not those of our messages."""

    version: int
    messages: ModuleType
    methods: Mapping[str, str]

    def path(self, call: str) -> str:
        """Return the gRPC path of a call named after its message."""
        return f"/tfplugin{self.version}.Provider/{self.methods.get(call, call)}"
