"""A value as a provider sends it."""

from typing import Final

from msgspec import Struct

NIL: Final = b"\xc0"


class WireValue(Struct, frozen=True):
    """A DynamicValue: MessagePack, or JSON where that is empty."""

    msgpack: bytes = b""
    json: bytes = b""

    @property
    def is_unset(self) -> bool:
        """Tell whether the provider sent nothing at all."""
        return not self.msgpack and not self.json

    @property
    def is_null(self) -> bool:
        """Tell whether the value is an explicit null."""
        return self.msgpack == NIL or (not self.msgpack and self.json.strip() == b"null")
