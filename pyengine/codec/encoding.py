"""Compile a type into the function that turns parsed state JSON into a value for the wire."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final
from unicodedata import normalize

import msgspec

from pyengine.codec.errors import MismatchError
from pyengine.codec.numerals import decimal_of, number_text, wire_number
from pyengine.codec.types import Type, parse_type, type_form

Encoder = Callable[[Any], Any]
_ENCODE: Final = msgspec.json.Encoder().encode
_PACK: Final = msgspec.msgpack.Encoder().encode
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


def compile_encoder(type_: Type, *, strip: bool) -> Encoder:
    """Compile the encoder of a type for values other than null.

    `strip` drops the members that objects of the schema do not have; otherwise they are refused.
    """
    return _Compiler(strip=strip).encoder(type_)


class _Compiler:
    def __init__(self, *, strip: bool) -> None:
        self._strip = strip
        self._known: dict[Type, Encoder] = {}

    def encoder(self, type_: Type) -> Encoder:
        if type_ not in self._known:
            self._known[type_] = self._compile(type_)
        return self._known[type_]

    def _compile(self, type_: Type) -> Encoder:
        if type_.write_only:
            return _refuse_write_only
        match type_.kind:
            case "string" | "number" | "bool":
                return {"string": to_string, "number": to_number, "bool": to_bool}[type_.kind]
            case "dynamic":
                return _dynamic_encoder()
            case "object":
                return self._object(type_)
            case "map":
                return _map_encoder(self._element(type_))
            case "tuple":
                return _tuple_encoder(tuple(map(self.encoder, type_.items)))
            case "set":
                return _set_encoder(self._element(type_))
            case "list":
                return _list_encoder(self._element(type_))

    def _element(self, type_: Type) -> Encoder:
        assert type_.element is not None
        return self.encoder(type_.element)

    def _object(self, type_: Type) -> Encoder:
        members = tuple(
            (name, self.encoder(member), null_on_wire(member)) for name, member in type_.members
        )
        return _object_encoder(members, self._strip)


def null_on_wire(type_: Type) -> Any:
    """Return what stands for an absent value: blocks are empty, a group holds nulls."""
    match type_.block:
        case "LIST" | "SET" if type_.kind != "dynamic":
            return []
        case "MAP" if type_.kind != "dynamic":
            return {}
        case "GROUP":
            return {name: null_on_wire(member) for name, member in type_.members}
        case _:
            return None


def to_string(value: Any) -> str:
    """Return text in NFC; numbers and booleans become text as Terraform converts them."""
    if type(value) is str:
        return value if value.isascii() else normalize("NFC", value)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) in (int, Decimal):
        return number_text(value)
    raise MismatchError(f"a string is required, not {_named(value)}")


def to_number(value: Any) -> int | float | str:
    """Return a number for the wire; text that is a decimal numeral counts as a number."""
    if type(value) in (int, Decimal):
        return wire_number(value)
    if type(value) is str:
        return wire_number(decimal_of(value))
    raise MismatchError(f"a number is required, not {_named(value)}")


def to_bool(value: Any) -> bool:
    """Return a boolean; the texts true, false, 1 and 0 count as booleans."""
    if type(value) is bool:
        return value
    if type(value) is str and value in _BOOLEANS:
        return _BOOLEANS[value]
    raise MismatchError(f"a bool is required, not {_named(value)}")


def _object_encoder(members: tuple[tuple[str, Encoder, Any], ...], strip: bool) -> Encoder:
    names = frozenset(name for name, _, _ in members)

    def encode(value: Any) -> Any:
        if type(value) is not dict:
            raise MismatchError(f"an object is required, not {_named(value)}")
        if not strip and not value.keys() <= names:
            extra = sorted(value.keys() - names)
            raise MismatchError(f"the schema has no attribute {extra[0]!r}")
        get = value.get
        found = {}
        name = ""
        try:
            for name, member, absent in members:
                item = get(name)
                found[name] = absent if item is None else member(item)
        except MismatchError as exc:
            exc.inside("attr", name)
            raise
        return found

    return encode


def _map_encoder(element: Encoder) -> Encoder:
    def encode(value: Any) -> Any:
        if type(value) is not dict:
            raise MismatchError(f"a map is required, not {_named(value)}")
        found = {}
        key = ""
        try:
            for key in sorted(value):
                item = value[key]
                name = key if key.isascii() else normalize("NFC", key)
                found[name] = None if item is None else element(item)
        except MismatchError as exc:
            exc.inside("key", key)
            raise
        return found

    return encode


def _list_encoder(element: Encoder) -> Encoder:
    def encode(value: Any) -> Any:
        if type(value) is not list:
            raise MismatchError(f"a list is required, not {_named(value)}")
        found: list[Any] = []
        append = found.append
        try:
            for item in value:
                append(None if item is None else element(item))
        except MismatchError as exc:
            exc.inside("index", len(found))
            raise
        return found

    return encode


def _set_encoder(element: Encoder) -> Encoder:
    as_list = _list_encoder(element)

    def encode(value: Any) -> Any:
        found = as_list(value)
        if len(found) < 2:
            return found
        return [item for _, item in sorted({_PACK(item): item for item in found}.items())]

    return encode


def _tuple_encoder(items: tuple[Encoder, ...]) -> Encoder:
    def encode(value: Any) -> Any:
        if type(value) is not list or len(value) != len(items):
            raise MismatchError(
                f"a tuple of {len(items)} elements is required, not {_named(value)}"
            )
        found: list[Any] = []
        try:
            for element, item in zip(items, value, strict=True):
                found.append(None if item is None else element(item))
        except MismatchError as exc:
            exc.inside("index", len(found))
            raise
        return found

    return encode


def _dynamic_encoder() -> Encoder:
    compiled: dict[bytes, tuple[bytes, Encoder]] = {}

    def encode(value: Any) -> Any:
        if type(value) is not dict or value.keys() != {"value", "type"}:
            raise MismatchError('a dynamic value is {"value": ..., "type": ...}')
        form, inner = value["type"], value["value"]
        if form == "dynamic" and inner is None:
            return None
        key = _ENCODE(form)
        if key not in compiled:
            type_ = parse_type(form)
            compiled[key] = _ENCODE(type_form(type_)), compile_encoder(type_, strip=False)
        text, encoder = compiled[key]
        return [text, None if inner is None else encoder(inner)]

    return encode


def _refuse_write_only(_: Any) -> Any:
    raise MismatchError("a write-only attribute must be null in state")


def _named(value: Any) -> str:
    match value:
        case bool():
            return "a bool"
        case str():
            return "a string"
        case int() | Decimal():
            return "a number"
        case list():
            return f"a list of {len(value)}"
        case _:
            return "an object"
