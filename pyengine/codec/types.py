"""Types of values: from cty's JSON form, and from schema blocks with what blocks add to them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec

from pyengine.codec.errors import CodecError, MismatchError

Kind = Literal["string", "number", "bool", "dynamic", "list", "set", "map", "object", "tuple"]
_PRIMITIVES: Final = ("string", "number", "bool", "dynamic")
_COLLECTIONS: Final = ("list", "set", "map")
_KIND_OF_NESTING: Final[Mapping[str, Kind]] = MappingProxyType(
    {"LIST": "list", "SET": "set", "MAP": "map"}
)


class _Attribute(msgspec.Struct):
    name: str
    type: Any = None
    nested_type: msgspec.Raw = msgspec.Raw(b"null")
    sensitive: bool = False
    write_only: bool = False


class _Object(msgspec.Struct):
    nesting: str
    attributes: list[msgspec.Raw] = []


class _NestedBlock(msgspec.Struct):
    type_name: str
    nesting: str
    block: msgspec.Raw


class _Block(msgspec.Struct):
    attributes: list[msgspec.Raw] = []
    block_types: list[msgspec.Raw] = []


class _Schema(msgspec.Struct):
    version: int
    block: msgspec.Raw


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """A type; `members` are sorted by name, `element` is a collection's, `items` a tuple's.

    Types are told apart by identity: the same text inside one schema is the same type, so what is
    compiled from them can be shared. Some schemas repeat a block ten thousand times.

    From a schema: `block` is the nesting of a nested block, whose type may be `dynamic` (then
    `static` is the type without that); `write_only` and `sensitive` are the attribute's.
    """

    kind: Kind
    element: "Type | None" = None
    members: tuple[tuple[str, "Type"], ...] = ()
    items: tuple["Type", ...] = ()
    block: str = ""
    static: "Type | None" = None
    write_only: bool = False
    sensitive: bool = False

    has_dynamic: bool = field(init=False)

    def __post_init__(self) -> None:
        inner = [member for _, member in self.members]
        inner += [*self.items, *(() if self.element is None else (self.element,))]
        found = self.kind == "dynamic" or any(item.has_dynamic for item in inner)
        object.__setattr__(self, "has_dynamic", found)


def parse_type(form: Any) -> Type:
    """Parse cty's JSON form of a type: `"string"`, `["list", T]`, `["object", {"a": T}]`."""
    match form:
        case str() if form in _PRIMITIVES:
            return Type(form)  # type: ignore[arg-type]
        case [str() as kind, element] if kind in _COLLECTIONS:
            return Type(kind, element=parse_type(element))  # type: ignore[arg-type]
        case ["object", dict() as members, *rest] if len(rest) <= 1:
            pairs = sorted(members.items())
            return Type("object", members=tuple((name, parse_type(item)) for name, item in pairs))
        case ["tuple", list() as items]:
            return Type("tuple", items=tuple(parse_type(item) for item in items))
        case _:
            raise MismatchError("not a type that is known")


def type_form(type_: Type) -> Any:
    """Return a type in cty's JSON form, with the names of objects sorted."""
    if type_.element is not None:
        return [type_.kind, type_form(type_.element)]
    if type_.kind == "object":
        return ["object", {name: type_form(member) for name, member in type_.members}]
    if type_.kind == "tuple":
        return ["tuple", [type_form(item) for item in type_.items]]
    return type_.kind


def schema_type(schema: bytes | str) -> tuple[int, Type]:
    """Read a cached schema, `{"version": int, "block": {...}}`: its version and object type."""
    try:
        form = msgspec.json.decode(schema, type=_Schema)
        return form.version, _Reader().block(form.block)
    except msgspec.DecodeError as exc:
        raise CodecError(f"not a schema: {exc}") from exc
    except MismatchError as exc:
        raise CodecError(f"not a schema: {exc.problem}") from exc


class _Reader:
    """Reads the parts of one schema; equal texts give one type."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[str, Type]] = {}

    def block(self, text: msgspec.Raw) -> Type:
        form = msgspec.json.decode(text, type=_Block)
        members = [self._once(item, self._attribute) for item in form.attributes]
        members += [self._once(item, self._nested_block) for item in form.block_types]
        return _object(members)

    def _once(
        self, text: msgspec.Raw, read: Callable[[msgspec.Raw], tuple[str, Type]]
    ) -> tuple[str, Type]:
        key = bytes(text)
        if key not in self._known:
            self._known[key] = read(text)
        return self._known[key]

    def _attribute(self, text: msgspec.Raw) -> tuple[str, Type]:
        form = msgspec.json.decode(text, type=_Attribute)
        if bytes(form.nested_type) == b"null":
            type_ = parse_type(form.type)
        else:
            nested = msgspec.json.decode(form.nested_type, type=_Object)
            members = [self._once(item, self._attribute) for item in nested.attributes]
            type_ = _nest(nested.nesting, _object(members))
        return form.name, replace(type_, write_only=form.write_only, sensitive=form.sensitive)

    def _nested_block(self, text: msgspec.Raw) -> tuple[str, Type]:
        form = msgspec.json.decode(text, type=_NestedBlock)
        type_ = replace(_nest(form.nesting, self.block(form.block)), block=form.nesting)
        if form.nesting in ("LIST", "MAP") and type_.has_dynamic:
            type_ = Type("dynamic", block=form.nesting, static=type_)
        return form.type_name, type_


def _object(members: list[tuple[str, Type]]) -> Type:
    return Type("object", members=tuple(sorted(members, key=itemgetter(0))))


def _nest(nesting: str, inner: Type) -> Type:
    if nesting in ("SINGLE", "GROUP"):
        return inner
    if nesting not in _KIND_OF_NESTING:
        raise MismatchError(f"nesting mode {nesting!r} is not known")
    return Type(_KIND_OF_NESTING[nesting], element=inner)
