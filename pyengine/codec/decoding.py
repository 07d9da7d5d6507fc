"""Compile a type into the function that turns a value from the wire into canonical state JSON."""

from collections.abc import Callable
from typing import Any, Final
from unicodedata import normalize

import msgspec

from pyengine.codec.errors import MismatchError
from pyengine.codec.numerals import decimal_of, float_text, number_text
from pyengine.codec.sets import Key, set_order
from pyengine.codec.types import Type, parse_type, type_form

Decoder = Callable[[Any], Any]
_NAMES: Final = {
    bool: "a bool",
    int: "a number",
    str: "a string",
    bytes: "bytes",
    list: "an array",
    dict: "a map",
}


def compile_decoder(type_: Type) -> Decoder:
    """Compile the decoder of a type for values other than null."""
    return _Compiler().decoder(type_)


class _Compiler:
    def __init__(self) -> None:
        self._known: dict[Type, Decoder] = {}
        self._set_keys: dict[Type, Key] = {}

    def decoder(self, type_: Type) -> Decoder:
        if type_ not in self._known:
            self._known[type_] = self._compile(type_)
        return self._known[type_]

    def _compile(self, type_: Type) -> Decoder:
        if type_.write_only:
            return _refuse_write_only
        match type_.kind:
            case "string" | "number" | "bool":
                return {"string": _string, "number": _number, "bool": _bool}[type_.kind]
            case "dynamic":
                return _dynamic_decoder()
            case "object":
                return self._object(type_)
            case "map":
                return _map_decoder(self._element(type_))
            case "tuple":
                return _tuple_decoder(tuple(map(self.decoder, type_.items)))
            case "set":
                return self._set(type_)
            case "list":
                return _list_decoder(self._element(type_))

    def _element(self, type_: Type) -> Decoder:
        assert type_.element is not None
        return self.decoder(type_.element)

    def _object(self, type_: Type) -> Decoder:
        return _object_decoder(
            tuple(
                (name, self.decoder(member), null_in_state(member))
                for name, member in type_.members
            )
        )

    def _set(self, type_: Type) -> Decoder:
        assert type_.element is not None
        as_list = _list_decoder(self._element(type_))
        ordered = set_order(type_.element, self._set_keys)
        return lambda value: ordered(as_list(value))


def null_in_state(type_: Type) -> Any:
    """Return what is stored for a null: null, but blocks are empty and a group holds nulls."""
    match type_.block:
        case "LIST" | "SET" if type_.kind != "dynamic":
            return []
        case "MAP" if type_.kind != "dynamic":
            return {}
        case "GROUP":
            return {name: null_in_state(member) for name, member in type_.members}
        case _:
            return None


def _string(value: Any) -> str:
    if type(value) is not str:
        raise _mismatch("a string", value)
    return value if value.isascii() else normalize("NFC", value)


def _bool(value: Any) -> bool:
    if type(value) is not bool:
        raise _mismatch("a bool", value)
    return value


def _number(value: Any) -> Any:
    if type(value) is int:
        return value
    if type(value) is float:
        return msgspec.Raw(float_text(value).encode())
    if type(value) is str:
        return msgspec.Raw(number_text(decimal_of(value)).encode())
    raise _mismatch("a number", value)


def _object_decoder(members: tuple[tuple[str, Decoder, Any], ...]) -> Decoder:
    names = frozenset(name for name, _, _ in members)
    count = len(members)

    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise _mismatch(f"an object with {count} attributes", value)
        if len(value) != count:
            raise _wrong_members(value, names)
        found = {}
        name = ""
        try:
            for name, member, absent in members:
                item = value[name]
                found[name] = absent if item is None else member(item)
        except KeyError as exc:
            raise _wrong_members(value, names) from exc
        except MismatchError as exc:
            exc.inside("attr", name)
            raise
        return found

    return decode


def _map_decoder(element: Decoder) -> Decoder:
    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise _mismatch("a map", value)
        if not all(type(key) is str for key in value):
            raise MismatchError("the keys of a map must be strings")
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

    return decode


def _list_decoder(element: Decoder) -> Decoder:
    def decode(value: Any) -> Any:
        if type(value) is not list:
            raise _mismatch("a list", value)
        found: list[Any] = []
        append = found.append
        try:
            for item in value:
                append(None if item is None else element(item))
        except MismatchError as exc:
            exc.inside("index", len(found))
            raise
        return found

    return decode


def _tuple_decoder(items: tuple[Decoder, ...]) -> Decoder:
    def decode(value: Any) -> Any:
        if type(value) is not list or len(value) != len(items):
            raise _mismatch(f"a tuple of {len(items)} elements", value)
        found: list[Any] = []
        try:
            for element, item in zip(items, value, strict=True):
                found.append(None if item is None else element(item))
        except MismatchError as exc:
            exc.inside("index", len(found))
            raise
        return found

    return decode


def _dynamic_decoder() -> Decoder:
    compiled: dict[bytes, tuple[Any, Decoder]] = {}

    def decode(value: Any) -> Any:
        if type(value) is not list or len(value) != 2:
            raise _mismatch("a dynamic value, which is an array of type and value,", value)
        key, inner = value
        if type(key) is str:
            key = key.encode()
        if type(key) is not bytes:
            raise _mismatch("the type of a dynamic value", key)
        if key not in compiled:
            try:
                type_ = parse_type(msgspec.json.decode(key))
            except msgspec.DecodeError as exc:
                raise MismatchError("the type of a dynamic value is not JSON") from exc
            compiled[key] = type_form(type_), compile_decoder(type_)
        form, decoder = compiled[key]
        if inner is None and form == "dynamic":
            return None
        return {"value": None if inner is None else decoder(inner), "type": form}

    return decode


def _refuse_write_only(value: Any) -> Any:
    if _is_unknown(value):
        raise MismatchError("the value is unknown")
    raise MismatchError("a write-only attribute must be null in an answer")


def _wrong_members(value: dict[Any, Any], names: frozenset[str]) -> MismatchError:
    text = f"an object with {len(names)} attributes is required ({len(value)} given)"
    missing = sorted(names - value.keys())
    extra = sorted(str(name) for name in value.keys() - names)
    if missing:
        text += f"; missing: {', '.join(missing[:5])}"
    if extra:
        text += f"; not in the schema: {', '.join(extra[:5])}"
    return MismatchError(text)


def _is_unknown(value: Any) -> bool:
    """Tell an extension, which msgspec may have read as a time, from what a value can be."""
    return value is not None and type(value) not in (*_NAMES, float)


def _mismatch(required: str, value: Any) -> MismatchError:
    if _is_unknown(value):
        return MismatchError("the value is unknown")
    return MismatchError(f"{required} is required, not {_NAMES.get(type(value), 'a number')}")
