"""A provider that somebody else's framework makes: protocol 6, TLS whether asked for or not."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pyengine.codec.codec import Codec
from pyengine.codec.config import ProviderConfig
from pyengine.codec.errors import CodecError
from pyengine.provider.client import ProviderClient
from pyengine.provider.discovery import SearchPath
from pyengine.provider.errors import ProviderError
from tests.provider_stub.install import install_program

SOURCE = "acme/box"
STATE = (
    '{"act":%s,"any":{"value":[1,"a",null],"type":["tuple",["number","string","dynamic"]]},'
    '"id":"b-1","keys":{"k":{"pin":1234567890123456789012,"text":null},"n":null},"names":["a","b"],'
    '"on":true,"password":"p","port":[{"no":10},{"no":2}],"size":0.1,"steps":[3,1.5,3]}'
)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The provider, found as any other."""
    command = [sys.executable, "-m", "tests.provider_stub.framework"]
    install_program(tmp_path, command, source=SOURCE, version="2.1.0")
    found = SearchPath.from_environment([tmp_path], environ={"HOME": "/nonexistent"}).find(SOURCE)
    assert found.version == "2.1.0"
    return found.executable


def with_client(program: Path, act: Callable[[ProviderClient, Codec], Awaitable[Any]]) -> Any:  # noqa: ANN401
    async def run() -> Any:  # noqa: ANN401
        async with await ProviderClient.open(program) as client:
            assert client.protocol == 6
            assert client.process.handshake.certificate is not None
            schemas = await client.get_schema()
            config = ProviderConfig(schemas.provider)
            await client.configure(config.build('{"shelf":"top"}', {}))
            return await act(client, Codec(schemas.resource("box_item")))

    return asyncio.run(run())


def read(act: str) -> Callable[[ProviderClient, Codec], Awaitable[Any]]:
    async def run(client: ProviderClient, codec: Codec) -> Any:  # noqa: ANN401
        answer = await client.read_resource("box_item", codec.encode(STATE % f'"{act}"'))
        text = None if answer.new_state is None else codec.decode(answer.new_state).decode()
        return text, answer.warnings, codec

    return run


def test_every_kind_of_value_comes_back_exactly(program: Path) -> None:
    text, warnings, codec = with_client(program, read("same"))
    assert text == STATE % '"same"'
    assert warnings == ()
    assert codec.version == 1
    assert [path[-1]["value"] for path in codec.sensitive_paths(text)] == ["pin", "password"]


def test_other_answers(program: Path) -> None:
    text, warnings, _ = with_client(program, read("warn"))
    assert (text, str(warnings[0])) == (STATE % '"warn"', "look out at size: it is old")
    assert '"size":123456789012345678901234567890.5,' in with_client(program, read("big"))[0]
    assert with_client(program, read("noise"))[0] == STATE % '"noise"'


def test_refusals(program: Path) -> None:
    # This framework forgets to say null; nothing at all is no proof that an object is gone.
    with pytest.raises(ProviderError, match="new_state is unset or empty"):
        with_client(program, read("gone"))
    with pytest.raises(ProviderError, match="cannot read at names: no access"):
        with_client(program, read("error"))
    with pytest.raises(CodecError, match="unknown") as unknown:
        with_client(program, read("unknown"))
    assert unknown.value.path == "size"
    with pytest.raises(ProviderError) as crash:
        with_client(program, read("crash"))
    assert (crash.value.code, crash.value.details["exit_code"]) == ("provider_crashed", 4)
    assert "the box fell" in crash.value.details["output"]


def test_hanging_provider_is_ended(program: Path) -> None:
    async def act(client: ProviderClient, codec: Codec) -> None:
        call = client.read_resource("box_item", codec.encode(STATE % '"hang"'))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call, 0.5)
        await client.stop()

    begun = time.monotonic()
    with_client(program, act)
    assert time.monotonic() - begun < 60


def test_configuration_is_judged_by_the_provider(program: Path) -> None:
    async def act(client: ProviderClient, _: Codec) -> None:
        config = ProviderConfig((await client.get_schema()).provider)
        for shelf, words in (("bad", "no such shelf at shelf"), ("late", "the shelf fell")):
            with pytest.raises(ProviderError, match=words):
                await client.configure(config.build('{"shelf":{"env":"S"}}', {"S": shelf}))
        with pytest.raises(CodecError, match="shelf: a value is required"):
            config.build("{}", {})

    with_client(program, act)


def test_old_state_is_upgraded_by_the_provider(program: Path) -> None:
    async def act(client: ProviderClient, codec: Codec) -> str:
        old = codec.strip_unknown(
            '{"act":null,"any":null,"id":"b","keys":null,"names":null,"on":null,"password":null,'
            '"port":null,"size":1,"steps":[],"was":1}'
        )
        answer = await client.upgrade_resource_state("box_item", 0, old)
        return codec.decode(answer.value).decode()

    text = with_client(program, act)
    assert '"act":"upgraded from 0"' in text
    assert '"port":[]' in text
