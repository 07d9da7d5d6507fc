"""What a posted document must be: each rule that Terraform keeps on reading, and ours."""

import json
from typing import Any

import httpx
import pytest

from tests.documents import BUILTIN, LINEAGE, Json, encoded, instance, resource, state
from tests.equality import canonical
from tests.service import Backend

REFUSED: dict[str, tuple[bytes, list[str]]] = {}
ACCEPTED: dict[str, bytes] = {}


def _with(**top: Any) -> Json:  # noqa: ANN401 - any member
    return state(5, resource("r")) | top


def _without(member: str) -> Json:
    return {k: v for k, v in state(5, resource("r")).items() if k != member}


def _object(**members: Any) -> Json:  # noqa: ANN401 - any member
    return state(5, resource("r", instance(**members)))


def _raw(document: Json, old: str, new: str) -> bytes:
    text = json.dumps(document)
    assert old in text
    return text.replace(old, new).encode()


def _refused(name: str, document: Json | bytes, *parts: str) -> None:
    assert name not in REFUSED
    body = document if isinstance(document, bytes) else encoded(document)
    REFUSED[name] = (body, list(parts))


def _accepted(name: str, document: Json | bytes) -> None:
    assert name not in ACCEPTED
    ACCEPTED[name] = document if isinstance(document, bytes) else encoded(document)


_refused("no-bytes", b"", "empty")
_refused("new-line", b"\n", "empty")
_refused("null", b"null", "shape")
_refused("list", b"[]", "shape")
_refused("number", b"4", "shape")
_refused("text", b'"{}"', "shape")
_refused("empty-object", b"{}", '"version"', "4")
_refused("cut", encoded(_with())[:-40], "JSON")
_refused("trailing-object", encoded(_with()) + b"{}", "JSON", "trailing")
_refused("trailing-word", encoded(_with()) + b"x", "JSON", "trailing")
_refused("not-a-number", _raw(_with(x=1), '"x": 1', '"x": NaN'), "JSON")
_refused("comment", b"// state\n" + encoded(_with()), "JSON")
_refused("single-quotes", b"{'version': 4}", "JSON")
_refused("raw-control-character", _raw(_with(x="a b"), "a b", "a\nb"), "JSON")
_refused("not-utf8", encoded(_with(x="a")).replace(b'"a"', b'"\xff"'), "UTF-8")
_refused("surrogate-bytes", encoded(_with(x="a")).replace(b'"a"', b'"\xed\xa0\x80"'), "UTF-8")
_refused("utf8-bom", b"\xef\xbb\xbf" + encoded(_with()), "UTF-8 byte order mark")
_refused("utf16", encoded(_with()).decode().encode("utf-16"), "UTF-16")
_refused("utf16-no-bom", encoded(_with()).decode().encode("utf-16-le"), "UTF-16")
_refused("deep", b'{"version":4,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "deep")

_refused("version-missing", _without("version"), '"version"', "4")
_refused("version-text", _with(version="4"), 'version "4"', "version 4")
_refused("version-null", _with(version=None), "version null", "version 4")
_refused("version-fraction", _raw(_with(), '"version": 4', '"version": 4.0'), "version 4.0")
_refused("version-1", _with(version=1), "version 1", "version 4")
_refused("version-3", _with(version=3), "version 3", "version 4")
_refused("version-5", _with(version=5), "version 5", "version 4")
_refused("serial-negative", _with(serial=-1), "serial -1", "2^64-1")
_refused("serial-text", _with(serial="7"), 'serial "7"')
_refused("serial-fraction", _raw(_with(), '"serial": 5', '"serial": 5.5'), "serial 5.5")
_refused("serial-exponent", _raw(_with(), '"serial": 5', '"serial": 1e2'), "serial 1e2")
_refused("version-exponent", _raw(_with(), '"version": 4', '"version": 4e0'), "version 4e0")
_refused("serial-2^64", _with(serial=2**64), f"serial {2**64}")
_refused("serial-huge", _raw(_with(), '"serial": 5', '"serial": 1e400'), "serial")
_refused("serial-list", _with(serial=[]), "serial []")
_refused("lineage-number", _with(lineage=7), "lineage")
_refused("terraform-version-garbage", _with(terraform_version="one"), 'terraform_version "one"')
_refused("terraform-version-number", _with(terraform_version=1), "terraform_version 1")
_refused("outputs-list", _with(outputs=[]), "outputs")
_refused("resources-object", _with(resources={}), "resources")
_refused("resources-text", _with(resources="x"), "resources")
_refused("resource-null", _with(resources=[None]), "shape")
_refused("resource-text", _with(resources=["x"]), "shape")
_refused("instances-object", state(5, resource() | {"instances": {}}), "shape")
_refused("instances-text", state(5, resource() | {"instances": "x"}), "shape")
_refused("instance-text", state(5, resource() | {"instances": ["x"]}), "not an object")
_refused("instance-list", state(5, resource() | {"instances": [[]]}), "not an object")
_refused("instance-null", state(5, resource() | {"instances": [None]}), "not an object")
_refused("check-results-object", _with(check_results={}), "check_results")
for bad in ({"object_kind": 5}, {"config_addr": []}, {"status": True}, {"objects": 5}):
    _refused(f"check-results-{json.dumps(bad)}", _with(check_results=[bad]), "check_results")
_refused("check-results-of-text", _with(check_results=["x"]), "check_results")
_refused(
    "check-results-keyed",
    _with(check_results=[{"object_kind": "resource", "config_addr": "a.b[0]", "status": "pass"}]),
    "config_addr",
    "key",
)

for bad in ("ephemeral", "", None, 1):
    _refused(f"mode-{bad}", state(5, resource("r", mode=bad)), "mode", "managed")
_refused(
    "mode-case",
    _raw(state(5, resource("r")), '"mode"', '"MODE"'),
    "mode",
)
for member in ("mode", "type", "name"):
    block = {k: v for k, v in resource("r").items() if k != member}
    _refused(f"{member}-missing", state(5, block), member)
for member in ("type", "name"):
    _refused(f"{member}-empty", state(5, resource("r") | {member: ""}), member)
    _refused(f"{member}-number", state(5, resource("r") | {member: 1}), member)
_R = "terraform_data.r"
for bad in ("m", "module.", "module.a.b", "module.a[k]", "module.a['k']", "module.a.0", "a.b", 7):
    _refused(f"module-{bad}", state(5, resource("r", module=bad)), _R, "module")
_refused("module-template", state(5, resource("r", module='module.a["${x}"]')), "instance key")
_refused("module-open", state(5, resource("r", module='module.a["x')), "module")
for bad in (
    "",
    "garbage",
    "aws",
    'provider["a/b/c/d"]',
    'provider["x"',
    'module.m["k"].provider["registry.terraform.io/hashicorp/null"]',
    'module.m[0].provider["registry.terraform.io/hashicorp/null"]',
    'provider["registry.terraform.io/hashicorp/null"].a.b',
    'provider["registry.terraform.io/hashicorp/null"]["k"]',
    8,
):
    _refused(f"provider-{bad}", state(5, resource("r", provider=bad)), "provider")
_refused(
    "provider-missing",
    state(5, {k: v for k, v in resource("r").items() if k != "provider"}),
    "terraform_data.r",
    "provider",
)

for bad in (True, False, [], {}, [0]):
    _refused(f"index-key-{bad}", _object(index_key=bad), "index_key")
for bad in ("abc", "123456789", 12345678, True, ["x"]):
    _refused(f"deposed-{bad}", _object(deposed=bad), _R, "deposed")
for bad in ("planned", "TAINTED", 1, True, []):
    _refused(f"status-{bad}", _object(status=bad), _R, "status")
for bad in ("%%%", "YQ", "YQ=", "Y===", "YQ==\n", 1, {}):
    _refused(f"private-{bad!r}", _object(private=bad), _R, "private")
for bad in (-1, "0", 1.5, 2**64, True, []):
    _refused(f"schema-version-{bad}", _object(schema_version=bad), _R, "schema_version")
for bad in (-1, "0"):
    _refused(
        f"identity-schema-version-{bad}",
        _object(identity_schema_version=bad),
        _R,
        "identity_schema_version",
    )
for bad in ("yes", 1, []):
    _refused(f"create-before-destroy-{bad}", _object(create_before_destroy=bad), _R, "create_be")
_refused("attributes-flat-number", _object(attributes_flat={"a": 5}), _R, "attributes_flat")
_refused("attributes-flat-list-in-it", _object(attributes_flat={"a": []}), _R, "attributes_flat")
_refused("attributes-flat-list", _object(attributes_flat=[]), _R, "attributes_flat")
for bad in (
    "x",
    {},
    ["id"],
    [["id"]],
    [[{"type": "get_attr"}]],
    [[{"type": "get_attr", "value": 0}]],
    [[{"type": "index", "value": 0}]],
    [[{"type": "index", "value": {"value": 0}}]],
    [[{"type": "slice", "value": "x"}]],
    [[{"value": "x"}]],
    [[{"type": "index", "value": {"value": "x", "type": "number"}}]],
    [[{"type": "index", "value": {"value": "x", "type": "nothing"}}]],
    [[{"type": "index", "value": {"value": "x"}}]],
):
    _refused(
        f"sensitive-{json.dumps(bad)}", _object(sensitive_attributes=bad), _R, "sensitive_attr"
    )
for bad in (
    ["terraform_data.a[0]"],
    ['terraform_data.a["k"]'],
    ["terraform_data"],
    ["a.b.c"],
    ["module.m"],
    ["data.a"],
    [""],
    ["a b"],
    [1],
    [None],
    "terraform_data.a",
    {},
):
    _refused(f"dependencies-{json.dumps(bad)}", _object(dependencies=bad), _R, "dependencies")

_refused(
    "twice-in-block",
    state(5, resource("r", instance(index_key=0), instance(index_key=0))),
    "terraform_data.r[0]",
    "more than once",
)
_refused(
    "twice-in-blocks",
    state(5, resource("r", instance()), resource("r", instance({"id": "b"}))),
    "terraform_data.r",
    "more than once",
)
_refused(
    "twice-byte-for-byte", state(5, resource("r"), resource("r")), "terraform_data.r", "more than"
)
_refused(
    "twice-deposed",
    state(5, resource("r", instance(deposed="00000001"), instance({}, deposed="00000001"))),
    "terraform_data.r",
    "more than once",
)
_refused(
    "twice-in-two-spellings",
    state(
        5,
        resource("r", module='module.m["\u00e9"]'),
        resource("r", instance({"id": "b"}), module=r'module.m["\u00e9"]'),
    ),
    "more than once",
)
_refused(
    "two-providers",
    state(
        5,
        resource("r", instance(index_key=0)),
        resource("r", instance(index_key=1), provider=BUILTIN + ".west"),
    ),
    "terraform_data.r",
    ".west",
)


def _output(**members: Any) -> Json:  # noqa: ANN401 - any member
    return _with(outputs={"out": members})


_refused("output-text", _with(outputs={"out": "x"}), 'output "out"')
_refused("output-no-value", _output(type="string"), 'output "out"', "value")
_refused("output-no-type", _output(value="x"), 'output "out"', "type")
_refused("output-bad-type", _output(value="x", type="text"), 'output "out"', '"text"')
_refused("output-type-object", _output(value="x", type={}), 'output "out"', "type")
_refused("output-sensitive", _output(value="x", type="string", sensitive="yes"), "sensitive")
for number, (value, kind) in enumerate(
    [
        ([], "string"),
        ("x", "number"),
        ("x", "bool"),
        ("x", ["list", "string"]),
        ([[1]], ["list", "string"]),
        ({"a": []}, ["map", "number"]),
        ([1], ["tuple", ["number", "string"]]),
        ({"b": 1}, ["object", {"a": "number"}]),
        ("x", ["object", {}]),
        (1, "dynamic"),
        ({"value": 1, "type": "nothing"}, "dynamic"),
        ({"value": "x", "type": "number"}, "dynamic"),
        ({"value": 1, "type": "number", "more": 1}, "dynamic"),
    ]
):
    _refused(f"output-mismatch-{number}", _output(value=value, type=kind), 'output "out"', "type")

_accepted("serial-missing", _without("serial"))
_accepted("serial-zero", _with(serial=0))
_accepted("serial-null", _with(serial=None))
_accepted("serial-largest", _with(serial=2**64 - 1))
_accepted("lineage-missing", _without("lineage"))
_accepted("lineage-null", _with(lineage=None))
_accepted("lineage-any-text", _with(lineage='not a "uuid"\n\u2028'))
_accepted("lineage-nul", _with(lineage="a\0b\ufdd0"))
_accepted("names-odd", state(5, resource('x["k"].\0 \n', type="a.b\ufdd0", module="module.é-1")))
_accepted("names-long", state(5, resource("n" * 5000, type="t" * 5000)))
_accepted("keys-that-sql-knows", _with(**{"'; drop table x; --": "$$%s%(a)s{}\\"}))
_accepted("deep-value", _object(attributes={"x": json.loads("[" * 500 + "]" * 500)}))
_accepted("terraform-version-missing", _without("terraform_version"))
_accepted("terraform-version-empty", _with(terraform_version=""))
_accepted("terraform-version-newer", _with(terraform_version="99.0.1-alpha20260101+x.y"))
_accepted("resources-missing", _without("resources"))
_accepted("resources-null", _with(resources=None))
_accepted("outputs-missing", _without("outputs"))
_accepted("outputs-null", _with(outputs=None))
_accepted("checks-missing", _without("check_results"))
_accepted("checks-list", _with(check_results=[]))
_accepted("only-version", b'{"version":4}')
_accepted("white-space-around", b" \n\t" + encoded(_with()) + b" \r\n\t\n")
_accepted("unknown-keys", _with(x={"y": [1, None]}, Serial=9, **{"": 0, "a\u0000b": "\ud800"[:0]}))
_accepted("unknown-keys-below", state(5, resource("r", instance(future=[1]), future={"a": None})))
_accepted("instances-missing", state(5, {k: v for k, v in resource().items() if k != "instances"}))
_accepted("instances-null", state(5, resource("r") | {"instances": None}))
_accepted("schema-version-missing", state(5, resource("r") | {"instances": [{"attributes": {}}]}))
_accepted("schema-version-largest", _object(schema_version=2**64 - 1))
_accepted("attributes-missing", state(5, resource("r") | {"instances": [{"schema_version": 0}]}))
_accepted("attributes-null", state(5, resource("r", instance() | {"attributes": None})))
_accepted("provider-0.12", state(5, resource("r", provider="provider.null")))
_accepted("provider-0.12-module", state(5, resource("r", provider="module.m.provider.null.west")))
_accepted("provider-alias", state(5, resource("r", provider=f"module.a.module.b.{BUILTIN}.al")))
_accepted(
    "provider-of-instance",
    state(
        5,
        {k: v for k, v in resource("r").items() if k != "provider"}
        | {"instances": [instance(provider=BUILTIN + '.al["eu"]')]},
    ),
)
_accepted("index-key-fraction", _raw(_object(index_key=1), '"index_key": 1', '"index_key": 1.7'))
_accepted("index-key-negative", _object(index_key=-3))
_accepted(
    "index-keys-of-both-kinds",
    state(5, resource("r", instance(index_key=0), instance(index_key="0"))),
)
_accepted(
    "split-block",
    state(5, resource("r", instance(index_key=0)), resource("r", instance(index_key=1))),
)
_accepted("dependencies-keyed-modules", _object(dependencies=['module.m["a.b"].module.n[0].x.y']))
_accepted("dependencies-data", _object(dependencies=["data.x.y", "module.m.data.x.y", "a.b"]))
_accepted("blanks-before", b" " * 5000 + encoded(_with()))
_accepted("dependencies-null", _object(dependencies=None))
_accepted("attributes-flat-null", _object(attributes_flat={"a": None, "b": "c"}))
_accepted(
    "sensitive-index-null",
    _object(sensitive_attributes=[[{"type": "index", "value": {"value": None, "type": "number"}}]]),
)
_accepted("sensitive-null", _object(sensitive_attributes=None))
_accepted("module-spaces", state(5, resource("r", module='module . m [ "k" ] . module.n[00]')))
_accepted(
    "output-null-inside",
    _output(value=[1, "a", None], type=["tuple", ["number", "string", "dynamic"]]),
)
_accepted(
    "output-lenient",
    _output(
        value={"n": "1.5", "s": 7, "b": "true"},
        type=["object", {"n": "number", "s": "string", "b": "bool"}],
    ),
)
_accepted(
    "output-optional", _output(value={"a": 1}, type=["object", {"a": "number", "b": "bool"}, ["b"]])
)
_accepted("output-dynamic-null", _output(value={"value": None, "type": "string"}, type="dynamic"))
_accepted("output-dynamic", _output(value={"value": 1, "type": "number"}, type="dynamic"))
_accepted("output-deprecated", _output(value="x", type="string", deprecated="use y"))


@pytest.mark.parametrize("case", REFUSED)
def test_unreadable_document_is_refused_and_nothing_is_stored(backend: Backend, case: str) -> None:
    body, parts = REFUSED[case]
    kept = encoded(state(1, resource("kept")))

    _assert_invalid(backend.post(body), parts)
    assert backend.get().status_code == 404
    assert backend.kept() == 0

    assert backend.post(kept).status_code == 200
    _assert_invalid(backend.post(body), parts)
    assert backend.versions() == 1
    assert canonical(backend.get().content) == canonical(kept)


def _assert_invalid(answer: httpx.Response, parts: list[str]) -> None:
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"] == "invalid_request"
    for part in parts:
        assert part in answer.json()["message"]


@pytest.mark.parametrize("case", ACCEPTED)
def test_readable_document_comes_back_equal(backend: Backend, case: str) -> None:
    body = ACCEPTED[case]

    answer = backend.post(body)

    assert answer.status_code == 200, answer.text
    assert canonical(backend.get().content) == canonical(body)
    assert backend.post(body).json()["outcome"] == "unchanged"
    assert backend.versions() == 1


def test_last_of_two_equal_keys_wins(backend: Backend) -> None:
    body = _raw(_with(), '"serial": 5', '"serial": 6, "serial": 7')
    assert backend.post(body).status_code == 200
    assert backend.get().json()["serial"] == 7


def test_missing_lineage_and_serial_read_as_empty_and_zero(backend: Backend) -> None:
    assert backend.post(b'{"version":4}').status_code == 200
    found = backend.server.as_kl_server(
        "select s.serial, s.lineage from kl.states as s where s.state_name = %(name)s",
        name=backend.name,
    )
    assert found == [(0, "")]


def test_either_lineage_may_be_empty(backend: Backend) -> None:
    for serial, lineage in enumerate(["", LINEAGE, "", LINEAGE]):
        assert backend.post(state(serial, lineage=lineage)).status_code == 200
    assert backend.versions() == 4


@pytest.mark.parametrize("depth", [900, 1000, 1100, 3000, 30_000])
@pytest.mark.parametrize("where", ["attributes", "output", "type", "unknown"])
def test_depth_is_taken_or_refused_and_never_fails(
    backend: Backend, where: str, depth: int
) -> None:
    document = {
        "attributes": _object(attributes={"x": "DEEP"}),
        "output": _output(value="x", type="string", more="DEEP"),
        "type": _output(value="DEEP", type="TYPE"),
        "unknown": _with(x="DEEP"),
    }[where]
    body = _raw(document, '"DEEP"', "[" * depth + "]" * depth)
    body = body.replace(b'"TYPE"', b'["list",' * depth + b'"string"' + b"]" * depth)
    answer = backend.post(body)
    if answer.status_code == 200:
        assert backend.get().content.count(b"[") >= depth
    else:
        _assert_invalid(answer, ["deep"])
        assert backend.kept() == 0
