"""Launch, handshake, output, end: with real programs."""

import asyncio
import logging
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from pyengine.provider.client import ProviderClient
from pyengine.provider.errors import ProviderError
from pyengine.provider.handshake import COOKIE, parse_handshake
from pyengine.provider.process import ProviderProcess
from pyengine.provider.starting import StartingProvider
from tests.provider_stub.install import install_program
from tests.pyengine.provider.conftest import Stub
from tests.waiting import wait_for

SCHEMA = {"version": 0, "block": {"attributes": [{"name": "id", "type": "string"}]}}


async def _schema_types(program: Path, **options: Any) -> list[str]:  # noqa: ANN401 - passed on
    async with await ProviderClient.open(program, **options) as client:
        return sorted((await client.get_schema()).resource_types)


def _failure(program: Path, **options: Any) -> ProviderError:  # noqa: ANN401 - passed on
    with pytest.raises(ProviderError) as caught:
        asyncio.run(_schema_types(program, **options))
    return caught.value


@pytest.mark.parametrize(
    "handshake",
    [
        {"line": "1|5|unix|SOCK|grpc"},
        {"line": "1|5|unix|SOCK|grpc|"},
        {"line": "1|5|unix|SOCK|grpc||true"},
        {"line": "1|5|unix|SOCK|grpc|CERT"},
        {"line": "1|5|unix|SOCK|grpc|CERT|true"},
        {"line": "1|5|unix|SOCK|grpc|CERT=="},
        {"line": "1|5|unix|SOCK|grpc|", "then": "noise after handshake"},
        {"line": "1|5|unix|SOCK|grpc|", "stderr": "noise before handshake"},
        {"line": "1|5|tcp|127.0.0.1:PORT|grpc|"},
        {"line": "\n1|5|unix|SOCK|grpc|\n\n"},
    ],
)
def test_handshake_is_understood(stub: Stub, handshake: dict[str, str]) -> None:
    program = stub(schema=SCHEMA, handshake=handshake)
    assert asyncio.run(_schema_types(program)) == ["widget_thing"]


def test_protocol_6_is_understood(stub: Stub) -> None:
    assert asyncio.run(_schema_types(stub(schema=SCHEMA, protocol=6))) == ["widget_thing"]


@pytest.mark.parametrize(
    ("handshake", "words"),
    [
        (
            {"before": "Starting widget provider...", "line": "1|5|unix|SOCK|grpc|"},
            ["Starting widget provider..."],
        ),
        ({"line": "1|5|unix|SOCK"}, ["netrpc"]),
        ({"line": "2|5|unix|SOCK|grpc|"}, ["core protocol", "2"]),
        ({"line": "1|4|unix|SOCK|grpc|"}, ["4", "5", "6"]),
        ({"line": "1|7|unix|SOCK|grpc|"}, ["7"]),
        ({"line": "1|5|unix|SOCK|grpc|" + "!" * 60}, ["base64"]),
        ({"line": None, "exit": 1, "stderr": "usage: this is a plugin"}, ["usage: this is"]),
    ],
)
def test_bad_handshake_is_refused_in_words(
    stub: Stub, handshake: dict[str, Any], words: list[str]
) -> None:
    error = _failure(stub(schema=SCHEMA, handshake=handshake))
    assert error.code == "provider_start_failed"
    assert all(word in error.message for word in words), error.message


def test_silent_program_is_given_up_in_time(stub: Stub) -> None:
    begun = time.monotonic()
    error = _failure(stub(handshake={"line": None, "sleep": 120}), handshake_timeout=1)
    assert "no handshake within 1 s" in error.message
    assert time.monotonic() - begun < 60


def test_program_that_cannot_run_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "terraform-provider-none"
    assert _failure(program).code == "provider_start_failed"
    program.write_text("#!/bin/sh\n")
    assert _failure(program).code == "provider_start_failed"


@pytest.mark.parametrize(
    "address", ["tcp|8.8.8.8:1", "tcp|host:1", "udp|127.0.0.1:1", "unix|/" + "x" * 110]
)
def test_addresses_that_are_not_ours_are_refused(address: str) -> None:
    with pytest.raises(ProviderError):
        parse_handshake(f"1|5|{address}|grpc|")


def test_environment_is_what_plugins_expect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    program = install_program(tmp_path, ["/usr/bin/env"], source="acme/env")
    monkeypatch.setenv("KL_DATABASE_URL", "of ours alone")
    monkeypatch.setenv("PLUGIN_CLIENT_CERT", "of somebody else")
    with pytest.raises(ProviderError), caplog.at_level(logging.DEBUG, logger="kilolock.provider"):
        asyncio.run(ProviderProcess.launch(program, env={"AWS_REGION": "eu"}))
    lines = {record.getMessage().partition(": ")[2] for record in caplog.records}
    first = {f"TF_PLUGIN_MAGIC_COOKIE={COOKIE}", "PLUGIN_PROTOCOL_VERSIONS=5,6", "AWS_REGION=eu"}
    assert len(first - lines) <= 1  # the very first line is taken for the handshake
    assert not any(line.startswith(("KL_", "PLUGIN_CLIENT_CERT")) for line in lines)


@pytest.mark.parametrize(
    ("level", "own", "expected"),
    [
        (logging.INFO, {}, {"TF_LOG_SDK=off", "TF_LOG_PROVIDER_MY_CLOUD=warn"}),
        (logging.DEBUG, {}, {"TF_LOG_SDK=off"}),
        (
            logging.INFO,
            {"TF_LOG_SDK": "debug", "TF_LOG_PROVIDER_MY_CLOUD": "trace"},
            {"TF_LOG_SDK=debug", "TF_LOG_PROVIDER_MY_CLOUD=trace"},
        ),
    ],
)
def test_a_program_writes_no_more_than_is_shown_or_asked_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    level: int,
    own: dict[str, str],
    expected: set[str],
) -> None:
    command = ["/bin/sh", "-c", "echo no handshake; env | grep ^TF_LOG_"]
    program = install_program(tmp_path, command, source="acme/my-cloud")
    for name, value in own.items():
        monkeypatch.setenv(name, value)

    async def scenario() -> set[str]:
        process = await ProviderProcess.start(program)
        await process.wait()
        await process.drained()
        lines = process.output_tail().splitlines()
        await process.close()
        return set(lines[1:])

    with caplog.at_level(level, logger="kilolock.provider"):
        assert asyncio.run(scenario()) == expected


def test_output_is_drained_and_goes_to_the_debug_log(
    stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> int:
        program = stub(schema=SCHEMA, noise_bytes=300_000)
        async with await ProviderClient.open(program) as client:
            for _ in range(5):
                await client.get_schema()
            return len(client.process.output_tail())

    with caplog.at_level(logging.DEBUG, logger="kilolock.provider"):
        size = asyncio.run(scenario())
    assert 0 < size <= 2 * 64 * 1024
    assert any("x" * 1000 in record.getMessage() for record in caplog.records)


def test_socket_folder_is_private(stub: Stub) -> None:
    async def scenario() -> int:
        async with await ProviderClient.open(stub(schema=SCHEMA)) as client:
            socket = Path(client.process.handshake.target.removeprefix("unix:"))
            return socket.parent.stat().st_mode & 0o777

    assert asyncio.run(scenario()) == 0o700


def test_works_in_a_thread_of_its_own(stub: Stub) -> None:
    program = stub(schema=SCHEMA)
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.extend(asyncio.run(_schema_types(program))))
    thread.start()
    thread.join(30)
    assert found == ["widget_thing"]


def test_close_ends_a_program_that_ignores_everything(tmp_path: Path) -> None:
    program = install_program(
        tmp_path,
        [
            "/bin/sh",
            "-c",
            "trap : TERM INT; echo 1\\|5\\|unix\\|/x\\|grpc\\|; while :; do sleep 1; done",
        ],
        source="acme/stubborn",
    )

    async def scenario() -> int | None:
        process = await ProviderProcess.launch(program)
        await process.close(grace=0.3)
        return process.exit_code

    assert asyncio.run(scenario()) == -signal.SIGKILL


def test_cancelled_launch_leaves_nothing(stub: Stub) -> None:
    async def scenario() -> None:
        program = stub(handshake={"line": None, "sleep": 60})
        task = asyncio.create_task(ProviderProcess.launch(program))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_a_program_that_nobody_came_to_speak_to_ends_with_its_start(stub: Stub) -> None:
    async def scenario() -> tuple[int | None, bool]:
        starting = await StartingProvider.start(stub(schema=SCHEMA))
        process, folder = starting._process, starting._process._folder
        await starting.stop()
        await starting.close()
        return process.exit_code, folder.exists()

    assert asyncio.run(scenario()) == (-signal.SIGKILL, False)


def test_a_started_program_has_one_client(stub: Stub) -> None:
    async def scenario() -> int | None:
        starting = await StartingProvider.start(stub(schema=SCHEMA))
        client = await starting.client()
        assert await starting.client() is client
        assert (await client.get_schema()).resource_types
        await starting.close()
        return client.process.exit_code

    assert asyncio.run(scenario()) is not None


_HOLD = """
import asyncio, sys
from pathlib import Path
from pyengine.provider.client import ProviderClient

async def main():
    client = await ProviderClient.open(Path(sys.argv[1]))
    print(client.process.pid, client.process.handshake.target.removeprefix("unix:"), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_no_orphan_survives_our_own_sudden_death(stub: Stub) -> None:
    program = stub(schema=SCHEMA)
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(program)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    pid, socket = holder.stdout.readline().split()
    provider = psutil.Process(int(pid))
    folder = Path(socket).parent
    assert folder.is_dir()
    holder.kill()
    holder.wait()
    holder.stdout.close()
    wait_for(lambda: not folder.exists() and not _runs(provider))


def _runs(process: psutil.Process) -> bool:
    """Tell whether it runs; whoever adopts one that has ended will reap it."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
