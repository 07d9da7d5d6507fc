"""Calls over the wire, against the stub in both protocol versions."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pyengine.codec.codec import Codec
from pyengine.codec.wire import WireValue
from pyengine.provider.client import ProviderClient
from pyengine.provider.diagnostics import PathStep
from pyengine.provider.errors import ProviderError
from tests.pyengine.provider.conftest import Stub

SCHEMA: dict[str, Any] = {
    "version": 1,
    "block": {
        "attributes": [
            {"name": "id", "type": "string", "optional": True, "computed": True},
            {"name": "secret", "type": "string", "optional": True, "sensitive": True},
        ],
        "block_types": [
            {
                "type_name": "rule",
                "nesting": "LIST",
                "max_items": 3,
                "block": {"attributes": [{"name": "port", "type": "number", "required": True}]},
            }
        ],
    },
}
STATE = Codec(json.dumps(SCHEMA)).encode('{"id":"w-1"}')
GONE = {"new_state_msgpack_hex": "c0"}


def play(program: Path, act: Callable[[ProviderClient], Awaitable[Any]], **options: Any) -> Any:  # noqa: ANN401
    async def run() -> Any:  # noqa: ANN401
        async with await ProviderClient.open(program, **options) as client:
            return await act(client)

    return asyncio.run(run())


def read(client: ProviderClient) -> Awaitable[Any]:
    return client.read_resource("widget_thing", STATE, private=b"priv")


def refused(program: Path, act: Callable[[ProviderClient], Awaitable[Any]]) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        play(program, act)
    return caught.value


@pytest.mark.parametrize("protocol", [5, 6])
def test_schemas_come_in_the_cached_form(stub: Stub, protocol: int) -> None:
    provider = {"version": 0, "block": {"attributes": [{"name": "url", "type": "string"}]}}
    program = stub(
        protocol=protocol, schema=SCHEMA, provider_schema=provider, schemas={"widget_a": SCHEMA}
    )
    found = play(program, lambda client: client.get_schema())
    assert sorted(found.resource_types) == ["widget_a", "widget_thing"]
    form = msgspec.json.decode(found.resource("widget_thing"))
    form["block"]["block_types"][0]["block"].pop("block_types")
    assert form == SCHEMA
    assert msgspec.json.decode(found.provider)["block"]["attributes"][0]["name"] == "url"
    with pytest.raises(KeyError):
        found.resource("widget_none")


def test_nested_attributes_and_write_only_have_their_own_numbers_in_6(stub: Stub) -> None:
    nested = {"nesting": "MAP", "attributes": [{"name": "a", "type": ["set", "number"]}]}
    attributes = [
        {"name": "n", "nested_type": nested, "optional": True},
        {"name": "w", "type": "string", "optional": True, "write_only": True},
    ]
    schema = {"version": 7, "block": {"attributes": attributes, "block_types": []}}
    found = play(stub(protocol=6, schema=schema), lambda client: client.get_schema())
    assert msgspec.json.decode(found.resource("widget_thing")) == schema
    schema["block"]["attributes"] = attributes[1:]  # type: ignore[index]
    found = play(stub(protocol=5, schema=schema), lambda client: client.get_schema())
    assert msgspec.json.decode(found.resource("widget_thing")) == schema


@pytest.mark.parametrize("protocol", [5, 6])
def test_everything_of_an_object_is_sent_and_comes_back(
    stub: Stub, tmp_path: Path, protocol: int
) -> None:
    log = tmp_path / "calls"
    identity = {"version": 2, "attributes": [{"name": "arn", "type": "string"}]}
    program = stub(
        protocol=protocol, schema=SCHEMA, identity_schemas={"widget_thing": identity}, log=str(log)
    )

    async def act(client: ProviderClient) -> Any:  # noqa: ANN401
        schemas = await client.identity_schemas()
        assert schemas["widget_thing"].version == 2
        codec = Codec(schemas["widget_thing"].schema)
        assert await client.configure(b"\x80") == ()
        upgraded = await client.upgrade_resource_state("widget_thing", 0, b'{"id": "w-1"}')
        assert upgraded.value == WireValue(json=b'{"id": "w-1"}')
        wire = codec.encode('{"arn":"x"}')
        renewed = await client.upgrade_resource_identity("widget_thing", 1, b'{"arn":"x"}')
        assert codec.decode(renewed.value) == b'{"arn":"x"}'
        await client.stop()
        return await client.read_resource("widget_thing", STATE, private=b"p", identity=wire)

    answer = play(program, act)
    assert (answer.new_state.msgpack, answer.private) == (STATE, b"p")
    assert answer.identity.msgpack == b"\x81\xa3arn\xa1x"
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    assert [call["call"] for call in calls] == [
        "ValidateProviderConfig",
        "Configure",
        "UpgradeResourceState",
        "UpgradeResourceIdentity",
        "Stop",
        "ReadResource",
    ]
    assert calls[2]["json"] == '{"id": "w-1"}'


def test_flatmap_goes_in_place_of_json(stub: Stub, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    program = stub(
        schema=SCHEMA, log=str(log), upgrades=[{"upgraded_state_msgpack_hex": STATE.hex()}]
    )
    answer = play(
        program,
        lambda client: client.upgrade_resource_state("widget_thing", 0, b"", flatmap={"id": "x"}),
    )
    assert answer.value.msgpack == STATE
    call = json.loads(log.read_text())
    assert (call["flat"], call["json"]) == ({"id": "x"}, "")


def test_missing_identity_call_means_no_identities(stub: Stub) -> None:
    assert play(stub(schema=SCHEMA), lambda client: client.identity_schemas()) == {}


def test_explicit_null_means_gone_even_with_a_warning(stub: Stub) -> None:
    warning = {"severity": "WARNING", "summary": "careful"}
    program = stub(reads=[GONE, {**GONE, "diagnostics": [warning]}, {"new_state_json": None}])

    async def act(client: ProviderClient) -> list[Any]:
        return [await read(client) for _ in range(3)]

    answers = play(program, act)
    assert [answer.new_state for answer in answers] == [None] * 3
    assert [item.summary for item in answers[1].warnings] == ["careful"]


@pytest.mark.parametrize("answer", [{}, {"new_state_msgpack_hex": ""}, {"private_b64": "cHJpdg=="}])
def test_absent_state_is_an_error_not_a_deletion(stub: Stub, answer: dict[str, Any]) -> None:
    error = refused(stub(reads=[answer]), read)
    assert (error.code, "new_state" in error.message) == ("provider_misbehaved", True)


@pytest.mark.parametrize("severity", ["ERROR", "INVALID"])
def test_error_outweighs_the_answer(stub: Stub, severity: str) -> None:
    diagnostic = {
        "severity": severity,
        "summary": "read failed",
        "detail": "because",
        "attribute": ["rule", 0, {"key": "port"}],
    }
    error = refused(stub(reads=[{**GONE, "diagnostics": [diagnostic]}]), read)
    assert error.code == "provider_failed"
    assert error.message == 'read failed at rule[0]["port"]: because'
    assert error.diagnostics[0].attribute == (
        PathStep("attr", "rule"),
        PathStep("index", 0),
        PathStep("key", "port"),
    )


@pytest.mark.parametrize("state", [{}, GONE, {"new_state_msgpack_hex": STATE.hex()}])
def test_deferral_is_an_error_that_gives_the_reason(stub: Stub, state: dict[str, Any]) -> None:
    error = refused(stub(reads=[{**state, "deferred": {"reason": 2}}]), read)
    assert error.code == "provider_misbehaved"
    assert error.details["reason"] == 2
    assert "PROVIDER_CONFIG_UNKNOWN" in error.message


def test_sensitive_paths_of_a_future_provider_are_read(stub: Stub) -> None:
    paths = [["secret"], ["rule", 1, "port"]]
    program = stub(reads=[{"new_state_msgpack_hex": STATE.hex(), "sensitive_paths": paths}])
    assert play(program, read).sensitive_paths == (
        (PathStep("attr", "secret"),),
        (PathStep("attr", "rule"), PathStep("index", 1), PathStep("attr", "port")),
    )


def test_upgrade_to_nothing_is_an_error(stub: Stub) -> None:
    program = stub(upgrades=[{"upgraded_state_msgpack_hex": "c0"}])
    error = refused(program, lambda client: client.upgrade_resource_state("widget_thing", 0, b"{}"))
    assert error.code == "provider_misbehaved"


def test_configure_fails_with_what_the_provider_says(stub: Stub) -> None:
    for place in ("validate", "configure", "schema_answer"):
        answer = {"diagnostics": [{"severity": "ERROR", "summary": f"bad {place}"}]}
        call = "get_schema" if place == "schema_answer" else "configure"
        arguments = () if place == "schema_answer" else (b"\x80",)
        error = refused(
            stub(**{place: answer}),
            lambda client, call=call, arguments=arguments: getattr(client, call)(*arguments),
        )
        assert error.message == f"bad {place}"


def test_crash_fails_calls_in_flight_and_later_ones_and_shows_the_panic(stub: Stub) -> None:
    program = stub(crash_on_read=3, panic="panic: runtime error\n\ngoroutine 1 [running]:")

    async def act(client: ProviderClient) -> list[Any]:
        first = [await read(client), await read(client)]
        rest = await asyncio.gather(*(read(client) for _ in range(3)), return_exceptions=True)
        return [*first, *rest, *await asyncio.gather(read(client), return_exceptions=True)]

    found = play(program, act)
    assert [item.new_state.msgpack for item in found[:2]] == [STATE, STATE]
    for error in found[2:]:
        assert isinstance(error, ProviderError)
        assert (error.code, error.details["exit_code"]) == ("provider_crashed", 3)
        assert "goroutine 1 [running]" in error.details["output"]


def test_hanging_call_ends_with_the_timeout_and_with_close(stub: Stub) -> None:
    program = stub(hang_on=["ReadResource"])
    begun = time.monotonic()
    with pytest.raises(ProviderError) as caught:
        play(program, read, timeout=0.5)
    assert "did not answer ReadResource within 0.5 s" in caught.value.message

    async def act(client: ProviderClient) -> Any:  # noqa: ANN401
        task = asyncio.ensure_future(read(client))
        await asyncio.sleep(0.3)
        await client.stop()
        await client.close()
        return (await asyncio.gather(task, return_exceptions=True))[0]

    assert isinstance(play(program, act), ProviderError)
    assert time.monotonic() - begun < 60


def test_provider_that_does_not_answer_stop_is_not_asked_again(stub: Stub) -> None:
    program = stub(hang_on=["Stop", "Shutdown"])

    async def act(client: ProviderClient) -> float:
        await client.stop(timeout=0.2)
        begun = time.monotonic()
        await client.close()
        assert client.process.exit_code is not None
        return time.monotonic() - begun

    # Shutdown would be waited for two seconds, and the program's own end two more.
    assert play(program, act) < 3.5


def test_large_messages_pass_and_too_large_ones_are_refused(stub: Stub) -> None:
    program = stub(schema=SCHEMA, schema_description_bytes=60_000_000)
    assert play(program, lambda client: client.get_schema()).resource_types
    codec = Codec(json.dumps(SCHEMA))
    large = codec.encode(json.dumps({"id": "x" * 6_000_000}))
    answer = play(stub(), lambda client: client.read_resource("widget_thing", large))
    assert answer.new_state.msgpack == large
    program = stub(schema=SCHEMA, schema_description_bytes=300_000_000)
    error = refused(program, lambda client: client.get_schema())
    assert error.code == "provider_call_failed"
    assert "GetProviderSchema" in error.message
    assert "larger than max" in error.message
    assert "30000" in error.message


def test_calls_run_concurrently(stub: Stub) -> None:
    program = stub(reads=[{**GONE, "delay": 0.5}])

    async def act(client: ProviderClient) -> float:
        await read(client)
        begun = time.monotonic()
        await asyncio.gather(*(read(client) for _ in range(10)))
        return time.monotonic() - begun

    assert play(program, act) < 4  # one after the other they take five seconds
