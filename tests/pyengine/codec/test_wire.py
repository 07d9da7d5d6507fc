"""Known bytes and known answers: what Terraform sends, and what it makes of answers."""

import json
from typing import Any

import msgspec
import pytest

from pyengine.codec.codec import Codec
from pyengine.codec.errors import CodecError
from pyengine.codec.wire import WireValue

WIDGET: dict[str, Any] = {
    "version": 1,
    "block": {
        "attributes": [
            {"name": "id", "type": "string"},
            {"name": "name", "type": "string"},
            {"name": "num", "type": "number"},
            {"name": "dyn", "type": "dynamic"},
            {"name": "tags", "type": ["set", "string"]},
            {"name": "nl", "type": ["list", "string"]},
            {"name": "secret", "type": "string", "write_only": True},
        ],
        "block_types": [
            {
                "type_name": "rule",
                "nesting": "LIST",
                "block": {"attributes": [{"name": "port", "type": "number"}]},
            }
        ],
    },
}
PRIOR = (
    '{"dyn":{"value":[1,"a"],"type":["tuple",["number","string"]]},"id":"w-1","name":"x",'
    '"nl":null,"num":7,"rule":[],"secret":null,"tags":["a","b"]}'
)
SENT = {
    "dyn": [b'["tuple",["number","string"]]', [1, "a"]],
    "id": "w-1",
    "name": "x",
    "nl": None,
    "num": 7,
    "rule": [],
    "secret": None,
    "tags": ["a", "b"],
}


@pytest.fixture
def widget() -> Codec:
    return Codec(json.dumps(WIDGET))


def one(type_: Any, **flags: Any) -> Codec:
    attribute = {"name": "v", "type": type_, **flags}
    return Codec(json.dumps({"version": 0, "block": {"attributes": [attribute]}}))


def packed(**changes: Any) -> bytes:
    return msgspec.msgpack.encode(SENT | changes)


def test_state_is_sent_complete_sorted_and_without_duplicates(widget: Codec) -> None:
    text = (
        '{"tags":["b","a","b"],"num":7,"name":"x","id":"w-1",'
        '"dyn":{"type":["tuple",["number","string"]],"value":[1,"a"]}}'
    )
    assert widget.encode(text) == packed()
    assert widget.decode(packed()) == PRIOR.encode()


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (2**63 - 1, "9223372036854775807"),
        (2**64 - 1, "18446744073709551615"),
        ("9223372036854775808123456789", "9223372036854775808123456789"),
        ("1e+06", "1000000"),
        ("7.0", "7"),
        (7.0, "7"),
        (0.1, "0.1"),
        ("0.1", "0.1"),
        (2.5, "2.5"),
        (1e21, "1000000000000000000000"),
        (-0.0, "-0"),
        ("1.5e-7", "0.00000015"),
        ("-.5", "-0.5"),
    ],
)
def test_numbers_of_any_spelling_land_exactly(widget: Codec, sent: Any, stored: str) -> None:
    text = widget.decode(packed(num=sent)).decode()
    assert f'"num":{stored},' in text


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ("0.1", "0.1"),
        ("2.5", 2.5),
        ("7", 7),
        ("7.0", 7),
        ("1e3", 1000),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
        ("9" * 5000, "9" * 5000),
        ('"12"', 12),
        ('"0.50"', 0.5),
    ],
)
def test_numbers_are_sent_as_terraform_sends_them(stored: str, sent: Any) -> None:
    wire = msgspec.msgpack.decode(one("number").encode(f'{{"v":{stored}}}'))["v"]
    assert (wire, type(wire)) == (sent, type(sent))


@pytest.mark.parametrize(
    "text", ["0x10", "1_000", " 1", "1 ", "", "NaN", "Infinity", "1e999999999", "٣", "1e-999999999"]
)
def test_other_numerals_are_refused(text: str) -> None:
    with pytest.raises(CodecError) as caught:
        one("number").decode(msgspec.msgpack.encode({"v": text}))
    assert caught.value.path == "v"


@pytest.mark.parametrize(("type_", "stored", "sent"), [
    ("string", "5", "5"), ("string", "1.50", "1.5"), ("string", "true", "true"),
    ("bool", '"true"', True), ("bool", '"0"', False),
    ("string", '"e\\u0301"', "\u00e9"), ("string", '"\\u0000"', "\x00"),
    (["map", "string"], '{"b":1,"a":null}', {"a": None, "b": "1"}),
])  # fmt: skip
def test_values_are_converted_as_terraform_converts_them(
    type_: Any, stored: str, sent: Any
) -> None:
    assert msgspec.msgpack.decode(one(type_).encode(f'{{"v":{stored}}}')) == {"v": sent}


@pytest.mark.parametrize(
    ("type_", "stored"),
    [("string", "[]"), ("number", "true"), ("number", '"x"'), ("bool", "1"), ("bool", '"yes"'),
     (["list", "string"], "{}"), (["map", "string"], "[]"), (["object", {}], "[]"),
     (["tuple", ["string"]], "[]"), ("dynamic", '"bare"'), ("dynamic", '{"value":1}'),
     ("dynamic", '{"value":1,"type":"number","x":1}'), ("dynamic", '{"value":1,"type":"int"}')],
)  # fmt: skip
def test_values_of_another_kind_are_refused_with_the_path(type_: Any, stored: str) -> None:
    with pytest.raises(CodecError) as caught:
        one(type_).encode(f'{{"v":{stored}}}')
    assert caught.value.path == "v"
    assert caught.value.code == "invalid_value"


@pytest.mark.parametrize("extension", ["d40000", "c7030c8101c2", "d42a00", "d6ff00000000"])
def test_unknown_values_are_refused_with_the_path(extension: str) -> None:
    type_ = ["list", ["object", {"a": ["map", "string"]}]]
    wire = bytes.fromhex("81a17691" + "81a161" + "81a16b" + extension)
    with pytest.raises(CodecError, match="unknown") as caught:
        one(type_).decode(wire)
    assert caught.value.path == 'v[0].a["k"]'
    for whole in ("string", "dynamic", "bool", "number", ["set", "bool"], ["object", {}]):
        with pytest.raises(CodecError, match="unknown"):
            one(whole).decode(bytes.fromhex("81a176" + extension))


def test_dynamic_values_keep_their_type(widget: Codec) -> None:
    form = b'["object",{"k":"dynamic","n":"number"}]'
    text = widget.decode(packed(dyn=[form, {"k": None, "n": 12345678901234567890}])).decode()
    value = '{"k":null,"n":12345678901234567890}'
    assert f'"dyn":{{"value":{value},"type":{form.decode()}}},' in text
    assert '"dyn":null' in widget.decode(packed(dyn=None)).decode()
    typed = widget.decode(packed(dyn=['"string"', None])).decode()
    assert '"dyn":{"value":null,"type":"string"}' in typed


def test_dynamic_inside_collections_is_wrapped_each_time() -> None:
    codec = one(["list", "dynamic"])
    text = '{"v":[{"value":1,"type":"number"},{"value":["a"],"type":["list","string"]},null]}'
    assert msgspec.msgpack.decode(codec.encode(text)) == {
        "v": [[b'"number"', 1], [b'["list","string"]', ["a"]], None]
    }
    assert codec.canonical(text).decode() == text


def test_answers_in_json_are_accepted(widget: Codec) -> None:
    form = {**json.loads(PRIOR), "tags": ["b", "a"], "dyn": {"value": "s", "type": "string"}}
    text = widget.decode(WireValue(json=json.dumps(form).encode())).decode()
    assert '"dyn":{"value":"s","type":"string"}' in text
    assert '"tags":["a","b"]' in text


def test_missing_and_extra_attributes_are_counted(widget: Codec) -> None:
    with pytest.raises(CodecError, match=r"8 attributes is required \(1 given\)"):
        widget.decode(msgspec.msgpack.encode({"id": "w-1"}))
    with pytest.raises(CodecError, match="not in the schema: odd"):
        widget.decode(packed(odd=1))
    with pytest.raises(CodecError, match="1 attributes is required") as caught:
        widget.decode(packed(rule=[{"port": 1}, {}]))
    assert caught.value.path == "rule[1]"


@pytest.mark.parametrize("wire", ["ff", "c1", "a1ff", "88", "90", "81a2696401ff"])
def test_garbage_is_refused(widget: Codec, wire: str) -> None:
    with pytest.raises(CodecError):
        widget.decode(bytes.fromhex(wire))


def test_null_blocks_are_empty_and_null_attributes_stay(widget: Codec) -> None:
    text = widget.decode(packed(rule=None, nl=[])).decode()
    assert '"rule":[]' in text
    assert '"nl":[]' in text
    assert '"rule":[{"port":null}]' in widget.decode(packed(rule=[{"port": None}])).decode()


def test_null_blocks_of_every_nesting() -> None:
    inner = {"attributes": [{"name": "a", "type": "string"}]}
    deep = {"block_types": [{"type_name": "l", "nesting": "LIST", "block": inner}]}
    nestings = dict.fromkeys(("SINGLE", "LIST", "SET", "MAP"), inner) | {"GROUP": deep}
    schema = {
        "version": 0,
        "block": {
            "attributes": [{"name": "n", "nested_type": {"nesting": "LIST", "attributes": []}}],
            "block_types": [
                {"type_name": name.lower(), "nesting": name, "block": block}
                for name, block in nestings.items()
            ],
        },
    }
    codec = Codec(json.dumps(schema))
    empty = b'{"group":{"l":[]},"list":[],"map":{},"n":null,"set":[],"single":null}'
    assert codec.canonical("{}") == empty
    assert codec.decode(msgspec.msgpack.encode(dict.fromkeys(json.loads(empty)))) == empty


def test_blocks_with_dynamic_content_are_dynamic() -> None:
    inner = {"attributes": [{"name": "a", "type": "dynamic"}]}
    block = {"block_types": [{"type_name": "b", "nesting": "LIST", "block": inner}]}
    codec = Codec(json.dumps({"version": 0, "block": block}))
    text = b'{"b":{"value":[{"a":"x"}],"type":["tuple",[["object",{"a":"string"}]]]}}'
    assert msgspec.msgpack.decode(codec.encode(text)) == {
        "b": [b'["tuple",[["object",{"a":"string"}]]]', [{"a": "x"}]]
    }
    assert codec.canonical(text) == text


def test_write_only_values_are_refused_on_both_ways(widget: Codec) -> None:
    with pytest.raises(CodecError, match="write-only") as caught:
        widget.encode('{"secret":"s"}')
    assert caught.value.path == "secret"
    with pytest.raises(CodecError, match="write-only"):
        widget.decode(packed(secret="s"))


def test_unknown_members_are_refused_or_stripped(widget: Codec) -> None:
    text = '{"id":"w-1","old":{"n":1.50},"rule":[{"port":80,"gone":1}],"num":1e400}'
    with pytest.raises(CodecError, match="no attribute 'old'"):
        widget.encode(text)
    assert b"old" not in widget.encode(text, strip=True)
    stripped = widget.strip_unknown(text)
    assert stripped.startswith(b'{"id":"w-1","rule":[{"port":80}],"num":1000')
    same = b' { "id" : "w-1" , "num": 1.10 } '
    assert widget.strip_unknown(same) is same


def test_strings_are_written_as_terraform_writes_them() -> None:
    value = '<&>\u2028\u2029\x00\x1f\x7f\b\f\n\r\t"\\é'
    wire = msgspec.msgpack.encode({"v": value})
    assert one("string").decode(wire).decode() == (
        '{"v":"\\u003c\\u0026\\u003e\\u2028\\u2029\\u0000\\u001f\x7f\\b\\f\\n\\r\\t\\"\\\\é"}'
    )


def test_lone_surrogates_are_refused_with_the_path() -> None:
    with pytest.raises(CodecError, match="surrogate") as caught:
        one(["map", ["list", "string"]]).encode('{"v":{"k":["a","\\ud800"]}}')
    assert caught.value.path == "v.k[1]"
    pair = one("string").encode('{"v":"\\ud83d\\ude00"}')
    assert msgspec.msgpack.decode(pair) == {"v": "\U0001f600"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"v":NaN}', "{}x", '"x"', b"\xff"])
def test_what_is_no_state_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(CodecError):
        one("string").encode(text)


def test_deep_nesting_is_refused_not_crashing() -> None:
    codec = one("dynamic")
    form = '["list",' * 2000 + '"string"' + "]" * 2000
    with pytest.raises(CodecError):
        codec.encode(f'{{"v":{{"value":null,"type":{form}}}}}')
    with pytest.raises(CodecError):
        codec.decode(msgspec.msgpack.encode({"v": [form.encode(), None]}))
    with pytest.raises(CodecError):
        codec.decode(b"\x91" * 5000)


@pytest.mark.parametrize(
    "schema",
    ["", "[]", '{"version":0}', '{"version":0,"block":{"attributes":[{"name":"a","type":"int"}]}}',
     '{"version":0,"block":{"block_types":[{"type_name":"b","nesting":"ODD","block":{}}]}}'],
)  # fmt: skip
def test_what_is_no_schema_is_refused(schema: str) -> None:
    with pytest.raises(CodecError, match="not a schema"):
        Codec(schema)


def test_null_and_unset_values(widget: Codec) -> None:
    assert widget.decode(b"\xc0") == b"null"
    assert widget.decode(WireValue(json=b" null ")) == b"null"
    with pytest.raises(CodecError, match="no value"):
        widget.decode(WireValue())
