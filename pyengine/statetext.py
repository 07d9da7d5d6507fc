"""What the bytes of a document must be before anything is looked for in them. Pure."""

import codecs
from collections.abc import Iterator
from typing import Any, Final

from pyengine.errors import KilolockError

Buffer = bytes | bytearray | memoryview

_CHUNK: Final = 1 << 20
_BOMS: Final = (
    (codecs.BOM_UTF8, "a UTF-8 byte order mark"),
    (codecs.BOM_UTF16_LE, "a UTF-16 byte order mark"),
    (codecs.BOM_UTF16_BE, "a UTF-16 byte order mark"),
)


def check_encoding(body: Buffer) -> None:
    """Raise `invalid_request` unless the bytes are UTF-8 without a mark, and some."""
    start = bytes(body[:3])
    for bom, name in _BOMS:
        if start.startswith(bom):
            raise refusal(f"the document begins with {name}; a state is UTF-8 without one")
    if b"\0" in start:
        raise refusal("the document looks like UTF-16; a state is UTF-8")
    if not bytes(body[:4096]).strip() and not bytes(body).strip():
        raise refusal("the body is empty; an empty state is a document, too")
    if not is_utf8(body):
        raise refusal("the document is not valid UTF-8")


def is_utf8(text: Buffer) -> bool:
    """Tell whether bytes are UTF-8, in memory for a chunk of them."""
    if isinstance(text, (bytes, bytearray)) and text.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in chunks_of(memoryview(text)):
            decoder.decode(chunk)
    except UnicodeDecodeError:
        return False
    return True


def chunks_of(body: memoryview) -> Iterator[memoryview]:
    """Cut bytes into chunks of a mebibyte."""
    for start in range(0, len(body), _CHUNK):
        yield body[start : start + _CHUNK]


def refusal(message: str) -> KilolockError:
    """Return the error of a document that is refused before it is staged."""
    details: dict[str, Any] = {}
    return KilolockError("invalid_request", f"{message}; nothing was stored", details)
