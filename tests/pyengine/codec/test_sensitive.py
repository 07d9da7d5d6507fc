"""Sensitive paths in the state's form."""

import json
from typing import Any

import pytest

from pyengine.codec.codec import Codec

SECRET = {"name": "sec", "type": "string", "sensitive": True}
INNER = {"attributes": [SECRET, {"name": "open", "type": "string"}]}
DEEP = {"block_types": [{"type_name": "in", "nesting": "LIST", "block": INNER}]}
SCHEMA: dict[str, Any] = {
    "version": 0,
    "block": {
        "attributes": [
            {"name": "token", "type": "string", "sensitive": True},
            {"name": "tags", "type": ["map", "string"], "sensitive": True},
            {"name": "open", "type": ["map", "string"]},
            {"name": "dyn", "type": "dynamic"},
            {"name": "na", "nested_type": {"nesting": "MAP", "attributes": [SECRET]}},
        ],
        "block_types": [
            {"type_name": "one", "nesting": "SINGLE", "block": INNER},
            {"type_name": "lst", "nesting": "LIST", "block": INNER},
            {"type_name": "st", "nesting": "SET", "block": INNER},
            {"type_name": "deep", "nesting": "SET", "block": DEEP},
            {"type_name": "mp", "nesting": "MAP", "block": INNER},
        ],
    },
}
CODEC = Codec(json.dumps(SCHEMA))


def attr(name: str) -> dict[str, Any]:
    return {"type": "get_attr", "value": name}


def index(key: str | int) -> dict[str, Any]:
    kind = "string" if isinstance(key, str) else "number"
    return {"type": "index", "value": {"value": key, "type": kind}}


ALWAYS = [[attr("tags")], [attr("token")]]


def paths(value: dict[str, Any]) -> list[Any]:
    return CODEC.sensitive_paths(CODEC.canonical(json.dumps(value)))


def test_null_attributes_are_listed_and_null_blocks_are_not() -> None:
    assert paths({}) == ALWAYS


def test_paths_lead_into_lists_maps_and_objects_but_end_at_sets() -> None:
    found = paths(
        {
            "one": {},
            "lst": [{"sec": "x"}, {}],
            "st": [{"sec": "x"}],
            "deep": [{"in": []}, {"in": [{}]}],
            "mp": {"k1": {}},
            "na": {"a": {"sec": "s"}, "b": None},
        }
    )
    assert sorted(map(str, found)) == sorted(
        map(
            str,
            [
                *ALWAYS,
                [attr("one"), attr("sec")],
                [attr("lst"), index(0), attr("sec")],
                [attr("lst"), index(1), attr("sec")],
                [attr("st")],
                [attr("deep")],
                [attr("mp"), index("k1"), attr("sec")],
                [attr("na"), index("a"), attr("sec")],
            ],
        )
    )


def test_set_without_anything_sensitive_inside_is_not_listed() -> None:
    assert paths({"st": [], "deep": [{"in": []}]}) == ALWAYS


@pytest.mark.parametrize(
    ("stored", "kept"),
    [
        ([attr("open"), index("a")], [attr("open"), index("a")]),
        ([attr("open"), index("gone")], None),
        ([attr("lst"), index(5)], None),
        ([attr("none")], None),
        ([attr("st"), index(0), attr("open")], [attr("st")]),
        ([attr("dyn"), index(1), attr("x")], [attr("dyn"), index(1), attr("x")]),
        ([attr("token")], [attr("token")]),
        (["odd"], ["odd"]),
    ],
)
def test_stored_paths_are_kept_where_they_still_lead_somewhere(stored: Any, kept: Any) -> None:
    value = {
        "open": {"a": "1"},
        "st": [{"open": "x"}],
        "dyn": {"value": [1, {"x": 2}], "type": ["tuple", ["number", ["object", {"x": "number"}]]]},
    }
    text = CODEC.canonical(json.dumps(value))
    schema_paths = CODEC.sensitive_paths(text)
    expected = schema_paths if kept is None or kept in schema_paths else [*schema_paths, kept]
    merged = json.loads(CODEC.merge_sensitive(text, json.dumps([stored])), parse_float=str)
    assert sorted(map(str, merged)) == sorted(map(str, expected))


def test_paths_from_the_provider_take_the_shape_of_the_value() -> None:
    text = CODEC.canonical(json.dumps({"open": {"a": "1"}, "lst": [{}]}))
    sent = [
        (("attr", "open"), ("key", "a")),
        (("key", "lst"), ("index", 0), ("key", "open")),
        (("attr", "open"), ("attr", "none")),
    ]
    merged = json.loads(CODEC.merge_sensitive(text, None, sent), parse_float=str)
    assert [attr("open"), index("a")] in merged
    assert [attr("lst"), index(0), attr("open")] in merged
    assert len(merged) == 2 + len(ALWAYS) + 1


def test_schema_without_secrets_says_nothing() -> None:
    codec = Codec('{"version":0,"block":{"attributes":[{"name":"a","type":"string"}]}}')
    assert codec.sensitive_paths(b'{"a":null}') == []
    assert codec.merge_sensitive(b'{"a":null}', b"[]") == b"[]"
    assert codec.merge_sensitive(b"null", None) == b"[]"
