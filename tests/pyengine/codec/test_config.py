"""Provider configurations from JSON."""

import json
from typing import Any

import msgspec
import pytest

from pyengine.codec.config import ProviderConfig
from pyengine.codec.errors import CodecError

ENDPOINT = {
    "attributes": [
        {"name": "url", "type": "string", "required": True},
        {"name": "key", "type": "string", "optional": True, "sensitive": True},
    ],
    "block_types": [],
}
SCHEMA: dict[str, Any] = {
    "version": 0,
    "block": {
        "attributes": [
            {"name": "region", "type": "string", "required": True},
            {"name": "retries", "type": "number", "optional": True},
            {"name": "token", "type": "string", "optional": True, "sensitive": True},
            {"name": "ids", "type": ["set", "string"], "optional": True},
            {"name": "any", "type": "dynamic", "optional": True},
            {"name": "labels", "type": ["map", "string"], "optional": True},
            {"name": "seen", "type": "string", "computed": True},
            {
                "name": "auth",
                "optional": True,
                "nested_type": {"nesting": "SINGLE", "attributes": ENDPOINT["attributes"]},
            },
        ],
        "block_types": [
            {"type_name": "ep", "nesting": "LIST", "max_items": 2, "block": ENDPOINT},
            {"type_name": "g", "nesting": "GROUP", "block": ENDPOINT | {"attributes": []}},
            {"type_name": "m", "nesting": "MAP", "block": ENDPOINT},
        ],
    },
}
CONFIG = ProviderConfig(json.dumps(SCHEMA))
EMPTY = {
    "any": None, "auth": None, "ep": [], "g": {}, "ids": None, "labels": None, "m": {},
    "region": "eu", "retries": None, "seen": None, "token": None,
}  # fmt: skip


def built(environ: dict[str, str] | None = None, **config: Any) -> Any:
    text = json.dumps({"region": "eu", **config})
    return msgspec.msgpack.decode(CONFIG.build(text, environ or {}))


def test_object_is_complete_even_when_almost_nothing_is_given() -> None:
    assert built() == EMPTY


def test_values_are_converted_to_the_types_of_the_schema() -> None:
    found = built(retries="3", region=5, ids=["b", "a", "b"], any={"x": [1, None]}, labels={"a": 1})
    assert found["retries"] == 3
    assert found["region"] == "5"
    assert found["ids"] == ["a", "b"]
    form = b'["object",{"x":["tuple",["number","dynamic"]]}]'
    assert found["any"] == [form, {"x": [1, None]}]
    assert found["labels"] == {"a": "1"}


def test_one_block_may_stand_without_brackets() -> None:
    assert built(ep={"url": "u"})["ep"] == [{"key": None, "url": "u"}]
    assert built(m={"a": {"url": "u"}})["m"] == {"a": {"key": None, "url": "u"}}


def test_environment_gives_text_and_lists() -> None:
    found = built(
        {"TOKEN": "s", "IDS": '["x"]', "N": "4"},
        token={"env": "TOKEN"},
        ids={"env": "IDS"},
        retries={"env": "N"},
        labels={"env": "N"},
    )
    assert (found["token"], found["ids"], found["retries"]) == ("s", ["x"], 4)
    assert found["labels"] == {"env": "N"}


@pytest.mark.parametrize(
    ("config", "path", "words"),
    [
        ({"regoin": 1}, "", "no argument 'regoin'"),
        ({"region": None}, "region", "required"),
        ({"seen": "x"}, "seen", "provider decides"),
        ({"retries": "x"}, "retries", "number"),
        ({"token": {"env": "NOT_SET"}}, "token", "NOT_SET is not set"),
        ({"ids": {"env": "TEXT"}}, "ids", "TEXT is not JSON"),
        ({"ep": [{"url": "u"}, {}]}, "ep[1].url", "required"),
        ({"ep": [{"url": "u"}] * 3}, "ep", "at most 2"),
        ({"ep": [{"url": "u", "x": 1}]}, "ep[0]", "no argument 'x'"),
        ({"m": {"a": {}}}, 'm["a"].url', "required"),
        ({"m": []}, "m", "object of objects"),
        ({"auth": {"key": "k"}}, "auth.url", "required"),
        ({"auth": {"url": []}}, "auth.url", "string"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_path(
    config: dict[str, Any], path: str, words: str
) -> None:
    with pytest.raises(CodecError) as caught:
        built({"TEXT": "not json"}, **config)
    assert caught.value.path == path
    assert words in caught.value.message


def test_errors_do_not_show_values() -> None:
    with pytest.raises(CodecError) as caught:
        built(retries="hunter2")
    assert "hunter2" not in caught.value.message


def test_check_leaves_the_environment_aside() -> None:
    CONFIG.check('{"region":{"env":"NOT_SET"},"ids":{"env":"NOT_SET"}}')
    with pytest.raises(CodecError):
        CONFIG.check("{}")
    with pytest.raises(CodecError):
        CONFIG.check("[]")


def test_literal_secrets_are_named() -> None:
    config = {
        "token": "t",
        "ep": [{"key": {"env": "K"}}, {"key": "k"}],
        "auth": {"key": "k"},
        "m": {"a": {"key": "k"}},
    }
    assert CONFIG.literal_secrets(json.dumps(config)) == [
        "auth.key", "ep[1].key", 'm["a"].key', "token",
    ]  # fmt: skip
    assert CONFIG.literal_secrets('{"token":{"env":"T"},"region":"eu"}') == []
