"""JSON text in and out: numbers keep their digits, output is spelled as Terraform spells it."""

import json
import re
from decimal import Decimal
from typing import Any, Final

import msgspec

from pyengine.codec.errors import CodecError, MismatchError
from pyengine.codec.numerals import number_text

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ENCODE: Final = msgspec.json.Encoder().encode
_DECODE: Final = msgspec.json.Decoder(float_hook=Decimal).decode
_ESCAPES: Final = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)


def read_json(text: bytes | str) -> Any:
    """Parse JSON; integers become int, other numbers Decimal.

    Raises CodecError for what is not JSON, and with the path for a surrogate that stands alone.
    """
    try:
        return _DECODE(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _read_slowly(text)


def write_json(value: Any) -> bytes:
    """Write compact JSON in the order of the dicts, escaped as Go escapes for HTML."""
    text = _ENCODE(value)
    for raw, escape in _ESCAPES:
        if raw in text:
            text = text.replace(raw, escape)
    return text


def rewrite(value: Any) -> Any:
    """Return a parsed value so that `write_json` writes its numbers digit for digit."""
    if isinstance(value, dict):
        return {name: rewrite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [rewrite(item) for item in value]
    return msgspec.Raw(number_text(value).encode()) if isinstance(value, Decimal) else value


def _read_slowly(text: bytes | str) -> Any:
    """Read what the fast reader refuses: very long integers; find out what is wrong with others."""
    try:
        value = json.loads(text, parse_int=Decimal, parse_float=Decimal, parse_constant=_refuse)
        _require_text(value)
    except MismatchError as exc:
        raise CodecError(exc.problem, exc.path()) from exc
    except RecursionError as exc:
        raise CodecError("nested too deeply") from exc
    except ValueError as exc:
        raise CodecError(f"not valid JSON: {exc}") from exc
    return value


def _refuse(constant: str) -> None:
    raise MismatchError(f"{constant} is not JSON")


def _require_text(value: Any) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise MismatchError(
                "a surrogate stands alone in a string, which no provider can receive"
            )
    elif isinstance(value, dict):
        for name, item in value.items():
            _inside("key", name, name)
            _inside("attr" if name.isidentifier() else "key", name, item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _inside("index", index, item)


def _inside(kind: str, step: str | int, value: Any) -> None:
    try:
        _require_text(value)
    except MismatchError as exc:
        exc.inside(kind, ascii(step)[1:-1] if isinstance(step, str) else step)
        raise
