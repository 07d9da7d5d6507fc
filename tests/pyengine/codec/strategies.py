"""Generated schemas, canonical values of them, and looser spellings of the same values."""

import json
from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import strategies as st

from pyengine.codec.codec import Codec
from pyengine.codec.types import Type, parse_type

NAMES = st.sampled_from(["a", "b", "id", "name", "é", "tags", "value", "type"])
TEXTS = st.text(max_size=8) | st.sampled_from(["", "0", "true", "<&>", "\u2028", "\x00", "e\u0301"])
INTEGERS = (
    st.integers() | st.integers(-(10**40), 10**40) | st.sampled_from([2**63, -(2**63), 2**64])
)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=12) | st.sampled_from(
    [Decimal(text) for text in ("0.1", "1e-30", "1e21", "123456789012345678901234567890.5", "2.5")]
)


def type_forms(*, dynamic: bool) -> st.SearchStrategy[Any]:
    """Types in cty's JSON form."""
    leaves = st.sampled_from(["string", "number", "bool", *(["dynamic"] if dynamic else [])])

    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return (
            st.tuples(st.sampled_from(["list", "map"]), inner).map(list)
            | st.dictionaries(NAMES, inner, max_size=3).map(lambda members: ["object", members])
            | st.lists(inner, max_size=3).map(lambda items: ["tuple", items])
            | type_forms_of_sets.map(lambda form: ["set", form])
        )

    return st.recursive(leaves, deeper, max_leaves=4)


type_forms_of_sets = st.recursive(
    st.sampled_from(["string", "number", "bool"]),
    lambda inner: (
        st.tuples(st.sampled_from(["list", "map", "set"]), inner).map(list)
        | st.dictionaries(NAMES, inner, max_size=2).map(lambda members: ["object", members])
        | st.lists(inner, max_size=2).map(lambda items: ["tuple", items])
    ),
    max_leaves=3,
)


FORMS = type_forms(dynamic=True)
STATIC_FORMS = type_forms(dynamic=False)
FLAGS = st.sets(st.sampled_from(["sensitive", "optional"]))
ATTRIBUTE_NAMES = st.lists(NAMES, max_size=3, unique=True)
BLOCK_NAMES = st.lists(st.sampled_from(["x", "y", "z"]), max_size=2, unique=True)
NESTINGS = st.sampled_from(["SINGLE", "GROUP", "LIST", "SET", "MAP"])
NESTED_TYPES = st.sampled_from(["SINGLE", "LIST", "SET", "MAP"])
KEYS = st.lists(TEXTS, max_size=3, unique=True)
SMALL = st.integers(0, 5)


def _attributes(draw: st.DrawFn, depth: int, *, dynamic: bool) -> list[Any]:
    found = []
    for name in draw(ATTRIBUTE_NAMES):
        attribute = {"name": name, **dict.fromkeys(draw(FLAGS), True)}
        if depth > 0 and draw(SMALL) == 0:
            nesting = draw(NESTED_TYPES)
            inner = _attributes(draw, depth - 1, dynamic=dynamic and nesting != "SET")
            attribute["nested_type"] = {"nesting": nesting, "attributes": inner}
        else:
            attribute["type"] = draw(FORMS if dynamic else type_forms_of_sets)
        found.append(attribute)
    return found


def _block(draw: st.DrawFn, depth: int, *, dynamic: bool) -> Any:
    found: dict[str, Any] = {"attributes": _attributes(draw, 1, dynamic=dynamic), "block_types": []}
    for name in draw(BLOCK_NAMES) if depth > 0 else ():
        nesting = draw(NESTINGS)
        inner = _block(draw, depth - 1, dynamic=dynamic and nesting != "SET")
        found["block_types"].append({"type_name": name, "nesting": nesting, "block": inner})
    return found


def _value(draw: st.DrawFn, type_: Type) -> Any:
    """Draw a value of a type, null included; numbers are Numerals."""
    if draw(SMALL) == 0:
        return None
    match type_.kind:
        case "string":
            return draw(TEXTS)
        case "number":
            return Numeral(draw(INTEGERS | DECIMALS))
        case "bool":
            return draw(st.booleans())
        case "dynamic" if type_.static is not None:
            return _dynamic_block(draw, type_)
        case "dynamic":
            form = draw(FORMS)
            return None if form == "dynamic" else _typed(draw, form)
        case "object":
            return {name: _value(draw, member) for name, member in type_.members}
        case "tuple":
            return [_value(draw, item) for item in type_.items]
        case _:
            return _collection(draw, type_)


def _collection(draw: st.DrawFn, type_: Type) -> Any:
    assert type_.element is not None
    if type_.kind == "map":
        return {key: _value(draw, type_.element) for key in draw(KEYS)}
    return [_value(draw, type_.element) for _ in range(draw(SMALL))]


def _typed(draw: st.DrawFn, form: Any) -> Any:
    return {"value": _value(draw, parse_type(form)), "type": form}


def _dynamic_block(draw: st.DrawFn, type_: Type) -> Any:
    forms = draw(st.lists(STATIC_FORMS, max_size=2))
    if type_.block == "LIST":
        return {"value": _value(draw, parse_type(["tuple", forms])), "type": ["tuple", forms]}
    return _typed(draw, ["object", {f"k{index}": form for index, form in enumerate(forms)}])


class Numeral:
    """A number that is written digit for digit."""

    def __init__(self, number: int | Decimal) -> None:
        self.text = str(number)


def dumps(value: Any) -> bytes:
    """Write JSON with every Numeral as it stands."""

    def plain(item: Any) -> Any:
        if isinstance(item, Numeral):
            return msgspec.Raw(item.text.encode())
        if isinstance(item, dict):
            return {name: plain(inner) for name, inner in item.items()}
        return [plain(inner) for inner in item] if isinstance(item, list) else item

    return msgspec.json.encode(plain(value))


@st.composite
def schemas_and_values(draw: st.DrawFn) -> tuple[Codec, bytes]:
    """A codec and state JSON of its schema, in any order and spelling."""
    codec = Codec(json.dumps({"version": 0, "block": _block(draw, 2, dynamic=True)}))
    return codec, dumps({name: _value(draw, member) for name, member in codec.type.members})


@st.composite
def plain_schemas_and_values(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    """A schema that terraform accepts, and a value without nulls where it has none."""
    block = _plain(_block(draw, 2, dynamic=False))
    schema = {"version": 0, "block": block}
    type_ = Codec(json.dumps(schema)).type
    value = {name: _no_null_blocks(m, _value(draw, m)) for name, m in type_.members}
    # Elements of collections must agree in type, so dynamic values stand for themselves here.
    block["attributes"].append({"name": "dyn", "type": "dynamic", "optional": True})
    value["dyn"] = _typed(draw, draw(STATIC_FORMS))
    return schema, value


def _plain(block: Any) -> Any:
    """Give attributes names and flags as terraform wants them; drop empty nested types."""
    kept = []
    for attribute in block["attributes"]:
        nested = attribute.get("nested_type")
        if nested is not None:
            nested["attributes"] = _plain({**nested, "block_types": []})["attributes"]
            if not nested["attributes"]:
                continue
        name = {"é": "other", "id": "ident"}.get(attribute["name"], attribute["name"])
        kept.append({**attribute, "name": name, "optional": True, "computed": True})
    for nested in block["block_types"]:
        _plain(nested["block"])
    block["attributes"] = kept
    return block


def _no_null_blocks(type_: Type, value: Any) -> Any:
    """Drop nulls from collections of objects, on which terraform crashes."""
    if value is None:
        return value
    if type_.kind == "object":
        return {name: _no_null_blocks(member, value[name]) for name, member in type_.members}
    if type_.element is None or type_.element.kind != "object":
        return value
    if type_.kind == "map":
        items = value.items()
        return {k: _no_null_blocks(type_.element, v) for k, v in items if v is not None}
    return [_no_null_blocks(type_.element, item) for item in value if item is not None]
