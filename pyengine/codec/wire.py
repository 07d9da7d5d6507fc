"""A value as a provider sends it."""

from dataclasses import dataclass
from typing import Final

NIL: Final = b"\xc0"


@dataclass(frozen=True, slots=True)
class WireValue:
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
