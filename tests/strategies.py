"""Hypothesis strategies for state documents: everything the format allows, and what lies beside it.

A document is a `Document`: plain values, in which a `Numeral` is written as it stands.
"""

import base64
import json
import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.addresses import quoted
from tests.documents import LINEAGE

Json = dict[str, Any]
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Numeral(str):
    """A number as it is spelled."""

    __slots__ = ()


@dataclass
class Document:
    """A generated document; `blocks` become its resources."""

    top: Json
    blocks: list[Json] = field(default_factory=list)
    indent: bool = True
    ascii: bool = False

    def encoded(self, serial: int) -> bytes:
        """Return the document's bytes with that serial."""
        value = {"version": 4, "serial": serial, **self.top, "resources": self.blocks}
        text = dump(value, "\n" if self.indent else "", ascii_only=self.ascii)
        return text.encode() + b"\n"


def dump(value: Any, line: str = "", *, ascii_only: bool = False) -> str:  # noqa: ANN401 - any JSON
    """Write JSON; `line` is the line break and indentation to go on with, "" for one line."""
    deeper = f"{line}  " if line else ""
    if isinstance(value, Numeral):
        return str(value)
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=ascii_only)
        return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)
    if isinstance(value, dict) and value:
        members = (
            f"{dump(k, ascii_only=ascii_only)}:{dump(v, deeper, ascii_only=ascii_only)}"
            for k, v in value.items()
        )
        return "{" + deeper + f",{deeper}".join(members) + line + "}"
    if isinstance(value, list) and value:
        items = (dump(item, deeper, ascii_only=ascii_only) for item in value)
        return "[" + deeper + f",{deeper}".join(items) + line + "]"
    return json.dumps(value)


_HOSTILE = [
    "\0",
    "a\0b",
    "\ufdd0",
    "\ufdd00000",
    "\ufdd0n1",
    "\\u0000",
    "\\",
    "\\\\u0000",
    "\ud800",
    "\udfff",
    "\udc00\ud800",
    "\U0001f600",
    "\u2028",
    "</script>&",
    "\x7f",
    "\x01\x02\x07\x08",
    '"',
    "${x}",
    "%{if}",
    "$${",
    "1e999",
    "null",
    "",
    " ",
    "\u200b",
    "e\u0301",
    "\ufeff",
    "\uffff",
    "\U0010ffff",
]
_ODD_NUMERALS = [
    "0", "-0", "-1", "9007199254740993", "7227701560655103598", "18446744073709551616",
    "123456789012345678901234567890.123", "1.10", "1.0", "0.1", "-1.5e-7", "1E5", "1e+21", "1e300",
    "1e-300", "1e400", "-1e-400", "1e131071", "1e131073", "1.5e-16500", "123e99999",
    "1" * 400, "-0." + "3" * 300 + "1", "9" * 1200, "0." + "0" * 1100 + "7",
]  # fmt: skip

names = st.one_of(
    st.sampled_from(["a", "b", "web", "web2", "webX", "web_", "a-b", "A", "né", "_x"]),
    st.from_regex(r"[a-z_][a-z0-9_-]{0,8}", fullmatch=True),
)


def _paired(text: str) -> str:
    """Put surrogates that stand next to each other together, as any reader of JSON does."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


texts = st.one_of(
    st.sampled_from(_HOSTILE),
    st.lists(st.sampled_from([*_HOSTILE, "x", "y z"]), max_size=4).map("".join),
    st.text(st.characters(codec=None, exclude_categories=()), max_size=6),
).map(_paired)
long_texts = st.integers(0, 3).map(lambda n: "".join(f"{i * 7919 + n:x}" for i in range(600)))
numerals = st.one_of(
    st.sampled_from(_ODD_NUMERALS).map(Numeral),
    st.integers(-(10**40), 10**40).map(lambda n: Numeral(str(n))),
    st.decimals(allow_nan=False, allow_infinity=False, places=12).map(lambda d: Numeral(str(d))),
)
scalars = st.one_of(st.none(), st.booleans(), numerals, texts)
_flat = st.one_of(
    scalars,
    scalars,
    st.lists(scalars, max_size=2),
    st.dictionaries(texts, scalars, max_size=2),
)
values = st.one_of(
    scalars,
    scalars,
    st.lists(_flat, max_size=2),
    st.dictionaries(texts, _flat, max_size=2),
)
keys = st.one_of(st.integers(0, 12), st.integers(-(2**62), 10**22), texts, long_texts)


@st.composite
def modules(draw: st.DrawFn) -> str | None:
    """Draw a module instance address in Terraform's spelling, or none."""
    steps = draw(st.lists(st.tuples(names, st.one_of(st.none(), keys)), max_size=2))
    printable = [(n, k) for n, k in steps if not isinstance(k, int) or k >= 0]
    return ".".join(f"module.{n}{quoted(k)}" for n, k in printable) or None


def _unknown(draw: st.DrawFn, prefix: str) -> Json:
    extra = draw(st.dictionaries(texts, values, max_size=2)) if draw(st.booleans()) else {}
    return {f"{prefix}{name}": value for name, value in extra.items()}


@st.composite
def sensitive_paths(draw: st.DrawFn) -> list[list[Json]]:
    """Draw paths as Terraform marks them; they need not lead anywhere."""
    step = st.one_of(
        texts.map(lambda t: {"type": "get_attr", "value": t}),
        st.integers(0, 3).map(lambda n: {"type": "index", "value": {"value": n, "type": "number"}}),
        texts.map(lambda t: {"type": "index", "value": {"value": t, "type": "string"}}),
    )
    return draw(st.lists(st.lists(step, min_size=1, max_size=3), max_size=3))


_attributes = st.dictionaries(texts, values, max_size=3)
_dependency = st.sampled_from(
    [
        "a.b",
        "data.a.b",
        "module.m.a.b",
        'module.m["k.[\\"x"].a.b',
        "module.a.module.b.data.c.d",
        "a.c",
    ]
)
_optional = {
    "status": st.sampled_from(["tainted", "", None]),
    "private": st.one_of(
        st.none(), st.binary(max_size=6).map(lambda b: base64.b64encode(b).decode())
    ),
    "dependencies": st.one_of(st.none(), st.lists(_dependency, max_size=4)),
    "create_before_destroy": st.sampled_from([True, False, None]),
    "identity_schema_version": st.sampled_from([0, 1, 2**64 - 1, None]),
    "identity": st.one_of(st.none(), st.dictionaries(texts, scalars, max_size=2)),
    "provider": st.just('provider["registry.opentofu.org/hashicorp/aws"].al["eu"]'),
    "attributes_flat": st.dictionaries(texts, texts, max_size=3),
    "sensitive_attributes": sensitive_paths(),
    "schema_version": st.sampled_from([0, 1, 7, 2**64 - 1, None]),
}


@st.composite
def objects(draw: st.DrawFn, identity: Json) -> Json:
    """Draw an instance object with that index key and deposed key."""
    kind = draw(st.sampled_from(["full", "full", "full", "bare", "null", "empty"]))
    content: Json = {
        "full": {"attributes": draw(_attributes)} if kind == "full" else {},
        "bare": {},
        "null": {"attributes": None},
        "empty": {"attributes": {}},
    }[kind]
    chosen = draw(st.lists(st.sampled_from(sorted(_optional)), unique=True, max_size=4))
    return {
        **identity,
        "schema_version": 0,
        **content,
        **{name: draw(_optional[name]) for name in chosen},
        **_unknown(draw, "future_"),
    }


@st.composite
def blocks(draw: st.DrawFn) -> list[Json]:
    """Draw the blocks of a few resources; a resource may stand in two."""
    found: list[Json] = []
    resource = st.tuples(modules(), st.sampled_from(["managed", "data"]), names, names)
    for module, mode, type_, name in draw(st.lists(resource, unique=True, max_size=3)):
        header: Json = {} if module is None else {"module": module}
        header |= {"mode": mode, "type": type_, "name": name}
        header["provider"] = draw(
            st.sampled_from(
                [
                    'provider["terraform.io/builtin/terraform"]',
                    'module.m.provider["registry.terraform.io/hashicorp/aws"].west',
                    "provider.aws",
                ]
            )
        )
        header |= _unknown(draw, "future_")
        instances = draw(_instances())
        cut = draw(st.integers(0, len(instances))) if draw(st.booleans()) else 0
        parts = [part for part in (instances[:cut], instances[cut:]) if part or draw(st.booleans())]
        found.extend({**header, "instances": part} for part in parts)
    return draw(st.permutations(found))


@st.composite
def _instances(draw: st.DrawFn) -> list[Json]:
    found = []
    drawn = draw(st.lists(st.one_of(st.none(), keys), unique_by=repr, max_size=2))
    for key in drawn:
        identity: Json = {} if key is None else {"index_key": key}
        deposed = draw(
            st.lists(st.sampled_from(["00000001", "deadbeef", "x\\'\"]. y"]), unique=True)
        )
        if not deposed or draw(st.booleans()):
            found.append(draw(objects(identity)))
        found.extend(draw(objects({**identity, "deposed": d})) for d in deposed)
    return found


_types: dict[str, Any] = {
    "string": texts,
    "number": numerals,
    "bool": st.booleans(),
    '["list","string"]': st.lists(texts, max_size=3),
    '["map","number"]': st.dictionaries(texts, numerals, max_size=3),
    '["tuple",["number","bool","dynamic"]]': st.tuples(numerals, st.booleans(), st.none()).map(
        list
    ),
    "dynamic": texts.map(lambda t: {"value": t, "type": "string"}),
}


@st.composite
def outputs(draw: st.DrawFn) -> Json:
    """Draw root outputs whose values are of their types."""
    found = {}
    for name in draw(st.lists(texts, unique=True, max_size=3)):
        kind = draw(st.sampled_from(sorted(_types)))
        output: Json = {
            "value": draw(_types[kind]),
            "type": json.loads(kind) if kind.startswith("[") else kind,
        }
        if draw(st.booleans()):
            output["sensitive"] = draw(st.sampled_from([True, False, None]))
        found[name] = output | _unknown(draw, "future_")
    return found


_checks = st.lists(
    st.fixed_dictionaries(
        {
            "object_kind": st.sampled_from(["resource", "check", "quantum"]),
            "config_addr": st.sampled_from(["check.x", "a.b", "module.m.a.b"]),
            "status": st.sampled_from(["pass", "odd"]),
            "objects": st.one_of(
                st.none(),
                st.lists(
                    st.fixed_dictionaries(
                        {"object_addr": texts, "failure_messages": st.lists(texts, max_size=2)}
                    ),
                    max_size=2,
                ),
            ),
        }
    ),
    max_size=2,
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Draw a whole document."""
    top: Json = {"lineage": LINEAGE, "outputs": draw(outputs())}
    top["terraform_version"] = draw(st.sampled_from(["1.11.4", "", "1.12.0-beta1"]))
    if draw(st.booleans()):
        top["check_results"] = draw(st.one_of(st.none(), _checks))
    top |= _unknown(draw, "x_")
    indent, ascii_only = draw(st.booleans()), draw(st.booleans())
    return Document(top, draw(blocks()), indent, ascii_only)


@st.composite
def successors(draw: st.DrawFn, document: Document) -> Document:
    """Draw what a next write may look like: some objects changed, gone, or new."""
    kept = []
    for block in document.blocks:
        fate = draw(st.sampled_from(["same", "same", "gone", "touched"]))
        if fate == "gone":
            continue
        if fate == "touched":
            block = {**block, "instances": [draw(_touched(i)) for i in block["instances"]]}
        kept.append(block)
    taken = {_resource(block) for block in kept}
    added = [block for block in draw(blocks()) if _resource(block) not in taken]
    top = document.top
    if draw(st.booleans()):
        top = {**top, "outputs": draw(st.one_of(outputs(), st.just(top["outputs"])))}
    return Document(top, draw(st.permutations(kept + added)), document.indent, document.ascii)


@st.composite
def _touched(draw: st.DrawFn, instance: Json) -> Json:
    match draw(st.sampled_from(["same", "attributes", "whole"])):
        case "attributes":
            return {**instance, "attributes": draw(_attributes)}
        case "whole":
            identity = {k: instance[k] for k in ("index_key", "deposed") if k in instance}
            return draw(objects(identity))
        case _:
            return instance


def _resource(block: Json) -> tuple[Any, ...]:
    return (block.get("module"), block["mode"], block["type"], block["name"])
