"""Put sets into Terraform's order: members once, sorted as cty sorts them."""

from collections.abc import Callable
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

import msgspec

from pyengine.codec.numerals import ten_digits
from pyengine.codec.types import Type, parse_type

_ENCODE: Final = msgspec.json.Encoder().encode
_SHORT_ESCAPES: Final = MappingProxyType(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)


def set_order(element: Type) -> Callable[[list[Any]], list[Any]]:
    """Compile the function that makes a list of canonical values a set: once each, in order."""
    if element.kind == "string":
        key: Callable[[Any], Any] = _itself
    elif element.kind == "number":
        key = _decimal
    elif element.kind == "bool":
        key = _itself
    else:
        key = _text_key(element)

    def ordered(values: list[Any]) -> list[Any]:
        if len(values) < 2:
            return values
        distinct = {_ENCODE(value): value for value in values}
        # Ties are broken by the text, so that the order in which a set arrives never shows.
        members = [value for _, value in sorted(distinct.items())]
        known = [value for value in members if value is not None]
        known.sort(key=key)
        return known if len(known) == len(members) else [*known, None]

    return ordered


def _itself(value: Any) -> Any:
    return value


def _decimal(value: Any) -> Decimal:
    return Decimal(bytes(value).decode()) if isinstance(value, msgspec.Raw) else Decimal(value)


def _text_key(type_: Type) -> Callable[[Any], str]:
    """Compile cty's hash text of a value; sets of objects are sorted by it."""
    plain = _plain_key(type_)

    def key(value: Any) -> str:
        return "~" if value is None else plain(value)

    return key


def _plain_key(type_: Type) -> Callable[[Any], str]:
    if type_.kind == "string":
        return quoted
    if type_.kind == "number":
        return lambda value: ten_digits(_decimal(value))
    if type_.kind == "bool":
        return lambda value: "T" if value else "F"
    if type_.kind == "object":
        members = [(name, _text_key(member)) for name, member in type_.members]
        return lambda value: "<" + "".join(f"{key(value[name])};" for name, key in members) + ">"
    if type_.kind == "tuple":
        items = [_text_key(item) for item in type_.items]
        return lambda value: (
            "<" + "".join(f"{key(item)};" for key, item in zip(items, value, strict=True)) + ">"
        )
    if type_.kind == "dynamic":
        return lambda value: _text_key(parse_type(value["type"]))(value["value"])
    assert type_.element is not None
    element = _text_key(type_.element)
    if type_.kind == "map":
        return lambda value: (
            "{" + "".join(f"{quoted(name)}:{element(item)};" for name, item in value.items()) + "}"
        )
    return lambda value: "[" + "".join(f"{element(item)};" for item in value) + "]"


def quoted(text: str) -> str:
    """Quote text as Go's %q does."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_quoted_character, text)) + '"'


def _quoted_character(character: str) -> str:
    short = _SHORT_ESCAPES.get(character)
    if short is not None:
        return short
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
