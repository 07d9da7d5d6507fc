"""Put sets into Terraform's order: members once, sorted as cty sorts them."""

from collections.abc import Callable, Iterable
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


Key = Callable[[Any], str]


def set_order(element: Type, known: dict[Type, Key]) -> Callable[[list[Any]], list[Any]]:
    """Compile the function that makes a list of canonical values a set: once each, in order.

    `known` holds what has been compiled for inner types; give the same one for one schema.
    """
    if element.kind == "string":
        key: Callable[[Any], Any] = _itself
    elif element.kind == "number":
        key = _decimal
    elif element.kind == "bool":
        key = _itself
    else:
        key = _text_key(element, known)

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


def _text_key(type_: Type, known: dict[Type, Key]) -> Key:
    """Compile cty's hash text of a value; sets of objects are sorted by it."""
    if type_ not in known:
        plain = _plain_key(type_, known)
        known[type_] = lambda value: "~" if value is None else plain(value)
    return known[type_]


def _plain_key(type_: Type, known: dict[Type, Key]) -> Key:
    if type_.element is not None:
        return _collection_key(type_.kind, _text_key(type_.element, known))
    match type_.kind:
        case "string":
            return quoted
        case "number":
            return lambda value: ten_digits(_decimal(value))
        case "bool":
            return lambda value: "T" if value else "F"
        case "dynamic":
            return lambda value: _text_key(parse_type(value["type"]), {})(value["value"])
        case "object":
            members = [(name, _text_key(member, known)) for name, member in type_.members]
            return lambda value: _enclosed(key(value[name]) for name, key in members)
        case _:
            items = [_text_key(item, known) for item in type_.items]
            return lambda value: _enclosed(
                key(item) for key, item in zip(items, value, strict=True)
            )


def _collection_key(kind: str, element: Key) -> Key:
    if kind == "map":
        return lambda value: (
            "{" + "".join(f"{quoted(name)}:{element(item)};" for name, item in value.items()) + "}"
        )
    return lambda value: "[" + "".join(f"{element(item)};" for item in value) + "]"


def _enclosed(keys: Iterable[str]) -> str:
    return "<" + "".join(f"{key};" for key in keys) + ">"


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
