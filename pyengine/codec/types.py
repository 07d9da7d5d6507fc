"""Types of values: from cty's JSON form, and from schema blocks with what blocks add to them."""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import msgspec

from pyengine.codec.errors import CodecError, MismatchError

Kind = Literal["string", "number", "bool", "dynamic", "list", "set", "map", "object", "tuple"]
_PRIMITIVES: Final = ("string", "number", "bool", "dynamic")
_COLLECTIONS: Final = ("list", "set", "map")
_NESTINGS: Final = ("SINGLE", "GROUP", "LIST", "SET", "MAP")


@dataclass(frozen=True, slots=True)
class Type:
    """A type; `members` are sorted by name, `element` is a collection's, `items` a tuple's.

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

    @property
    def has_dynamic(self) -> bool:
        """Tell whether a dynamic value may stand anywhere inside."""
        inner = (*(member for _, member in self.members), *self.items)
        return (
            self.kind == "dynamic"
            or (self.element is not None and self.element.has_dynamic)
            or any(item.has_dynamic for item in inner)
        )


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


def block_type(block: Any) -> Type:
    """Return the object type of a schema block in the cached JSON form."""
    members: dict[str, Type] = {}
    for attribute in block.get("attributes") or ():
        members[attribute["name"]] = _attribute_type(attribute)
    for nested in block.get("block_types") or ():
        members[nested["type_name"]] = _nested_block_type(nested)
    return Type("object", members=tuple(sorted(members.items())))


def schema_type(schema: bytes | str) -> tuple[int, Type]:
    """Read a cached schema, `{"version": int, "block": {...}}`: its version and object type."""
    try:
        form = msgspec.json.decode(schema)
        return form["version"], block_type(form["block"])
    except (msgspec.DecodeError, KeyError, TypeError) as exc:
        raise CodecError(f"not a schema: {exc}") from exc
    except MismatchError as exc:
        raise CodecError(f"not a schema: {exc.problem}") from exc


def _attribute_type(attribute: Any) -> Type:
    nested = attribute.get("nested_type")
    type_ = _nested_type(nested) if nested else parse_type(attribute.get("type"))
    return replace(
        type_,
        write_only=bool(attribute.get("write_only")),
        sensitive=bool(attribute.get("sensitive")),
    )


def _nested_type(nested: Any) -> Type:
    members = {item["name"]: _attribute_type(item) for item in nested.get("attributes") or ()}
    return _nest(nested.get("nesting"), Type("object", members=tuple(sorted(members.items()))))


def _nested_block_type(nested: Any) -> Type:
    nesting = nested.get("nesting")
    type_ = replace(_nest(nesting, block_type(nested.get("block") or {})), block=nesting)
    if nesting in ("LIST", "MAP") and type_.has_dynamic:
        return Type("dynamic", block=nesting, static=type_)
    return type_


def _nest(nesting: Any, inner: Type) -> Type:
    if nesting not in _NESTINGS:
        raise MismatchError(f"nesting mode {nesting!r} is not known")
    if nesting in ("SINGLE", "GROUP"):
        return inner
    return Type(nesting.lower(), element=inner)
