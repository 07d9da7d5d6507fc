import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from pyengine import db, embedded_host
from pyengine.embedded import EmbeddedServer, embedded, exists
from pyengine.errors import KilolockError
from tests.clusters import bin_dirs, short_folder

SETTINGS = {"fsync": "off", "shared_buffers": "16MB"}
HOLDER = """
import asyncio, sys
from pathlib import Path
from pyengine.embedded import embedded
async def main():
    async with embedded(Path(sys.argv[1]), settings={"fsync": "off", "shared_buffers": "16MB"}):
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
asyncio.run(main())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


def _postmaster(data_dir: Path) -> embedded_host.Postmaster | None:
    return embedded_host.read_postmaster(data_dir / "pgdata")


def _holder(data_dir: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _let_go(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("version", sorted(bin_dirs()))
def test_a_server_is_made_used_and_stopped(folder: Path, version: str) -> None:
    data_dir = folder / "data"

    async def use() -> None:
        assert not exists(data_dir)
        async with embedded(data_dir, bin_dir=bin_dirs()[version], settings=SETTINGS) as server:
            for user in ("postgres", "kl_server"):
                async with await db.connect(server.conninfo(user)) as conn:
                    cursor = await conn.execute(
                        "select current_user, current_database(), pg_encoding_to_char(encoding)"
                        " from pg_database where datname = current_database()"
                    )
                    assert await cursor.fetchone() == (user, "kilolock", "UTF8")
        assert exists(data_dir)

    asyncio.run(use())
    assert _postmaster(data_dir) is None


def test_only_the_owner_reaches_the_server(folder: Path) -> None:
    async def use() -> None:
        async with embedded(folder / "data", settings=SETTINGS) as server:
            with psycopg.connect(server.conninfo("postgres")) as conn:
                row = conn.execute("select current_setting('listen_addresses')").fetchone()
            assert row == ("",)
            postmaster = _postmaster(folder / "data")
            assert postmaster is not None
            for private in (postmaster.socket_dir, folder / "data" / "pgdata"):
                assert stat.S_IMODE(private.stat().st_mode) == 0o700
            assert not psutil.Process(postmaster.pid).net_connections("inet")

    asyncio.run(use())
    # Another user may have to pass through the folders, but never to list them.
    for outer in (folder, folder / "data"):
        assert not outer.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IRGRP)


def test_processes_share_and_the_last_one_stops_it(folder: Path) -> None:
    data_dir = folder / "data"
    first = _holder(data_dir)
    second = _holder(data_dir)
    pid = _postmaster(data_dir)
    _let_go(first)
    assert _postmaster(data_dir) == pid
    _let_go(second)
    assert _postmaster(data_dir) is None


def test_many_start_at_once_on_an_empty_folder(folder: Path) -> None:
    async def one() -> str:
        async with embedded(folder / "data", settings=SETTINGS) as server:
            async with await db.connect(server.conninfo()) as conn:
                cursor = await conn.execute("select pg_postmaster_start_time()::text")
                row = await cursor.fetchone()
            await everybody.wait()
            assert row is not None
            return str(row[0])

    async def all_of_them() -> set[str]:
        return set(await asyncio.gather(*(one() for _ in range(6))))

    everybody = asyncio.Barrier(6)
    assert len(asyncio.run(all_of_them())) == 1
    assert _postmaster(folder / "data") is None


def test_a_killed_process_leaves_no_share_behind(folder: Path) -> None:
    data_dir = folder / "data"
    process = _holder(data_dir)
    process.kill()
    process.communicate()
    assert _postmaster(data_dir) is not None

    async def use() -> None:
        async with (
            embedded(data_dir, settings=SETTINGS) as server,
            await db.connect(server.conninfo()) as conn,
        ):
            await conn.execute("select 1")

    asyncio.run(use())
    assert _postmaster(data_dir) is None


def test_a_crashed_server_recovers_its_data(folder: Path) -> None:
    data_dir = folder / "data"

    async def crash() -> None:
        server = EmbeddedServer(data_dir, settings=SETTINGS)
        await server.start()
        async with await db.connect(server.conninfo("postgres")) as conn:
            await conn.execute("create table kept as select 1 as one")
        postmaster = _postmaster(data_dir)
        assert postmaster is not None
        process = psutil.Process(postmaster.pid)
        family = [process, *process.children(recursive=True)]
        for member in family:
            member.send_signal(signal.SIGKILL)
        psutil.wait_procs(family, timeout=60)
        await server.stop()

    async def look() -> None:
        async with (
            embedded(data_dir, settings=SETTINGS) as server,
            await db.connect(server.conninfo("postgres")) as conn,
        ):
            assert await (await conn.execute("select one from kept")).fetchone() == (1,)

    asyncio.run(crash())
    asyncio.run(look())


def test_a_pid_file_that_names_another_program_is_no_server(folder: Path) -> None:
    data_dir = folder / "data"

    async def use() -> None:
        async with embedded(data_dir, settings=SETTINGS):
            pass

    asyncio.run(use())
    # As after a restart of the machine: the number now belongs to this test.
    (data_dir / "pgdata" / "postmaster.pid").write_text(
        f"{os.getpid()}\n{data_dir}/pgdata\n1\n5432\n{data_dir}/socket\n\n\nready\n"
    )
    asyncio.run(use())


def test_an_unfinished_cluster_is_made_again(folder: Path) -> None:
    leftover = folder / "data" / "pgdata.new" / "base"
    leftover.mkdir(parents=True)

    async def use() -> None:
        async with embedded(folder / "data", settings=SETTINGS):
            assert not leftover.exists()

    asyncio.run(use())


def test_a_long_path_gets_its_socket_elsewhere_in_private(folder: Path) -> None:
    data_dir = folder / ("d" * 120)

    async def use() -> Path:
        async with embedded(data_dir, settings=SETTINGS) as server:
            async with await db.connect(server.conninfo()) as conn:
                await conn.execute("select 1")
            postmaster = _postmaster(data_dir)
            assert postmaster is not None
            assert stat.S_IMODE(postmaster.socket_dir.stat().st_mode) == 0o700
            return postmaster.socket_dir

    socket_dir = asyncio.run(use())
    assert not socket_dir.is_relative_to(data_dir)
    socket_dir.rmdir()


def test_somebody_elses_socket_folder_is_refused(folder: Path) -> None:
    user = embedded_host.RunAs(os.geteuid(), os.getegid(), change=False)
    trap = folder / "trap"
    trap.symlink_to(folder)
    with pytest.raises(KilolockError):
        embedded_host._refuse_foreign(trap, user)


def test_a_folder_of_another_version_is_refused(folder: Path) -> None:
    async def use() -> None:
        async with embedded(folder / "data", settings=SETTINGS):
            pass

    asyncio.run(use())
    (folder / "data" / "pgdata" / "PG_VERSION").write_text("14\n")
    with pytest.raises(KilolockError, match="made by PostgreSQL 14"):
        asyncio.run(use())
    assert _postmaster(folder / "data") is None


def test_a_folder_that_cannot_be_made_is_named(folder: Path) -> None:
    (folder / "file").write_text("")

    async def use() -> None:
        async with embedded(folder / "file" / "data", settings=SETTINGS):
            pass

    with pytest.raises(KilolockError, match=str(folder / "file")):
        asyncio.run(use())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")
def test_root_serves_as_an_ordinary_user(folder: Path) -> None:
    async def use() -> None:
        async with embedded(folder / "data", settings=SETTINGS):
            postmaster = _postmaster(folder / "data")
            assert postmaster is not None
            assert psutil.Process(postmaster.pid).uids().effective != 0

    asyncio.run(use())


def test_secrets_in_failing_statements_do_not_reach_the_log(folder: Path) -> None:
    async def use() -> None:
        async with embedded(folder / "data", settings=SETTINGS) as server:
            with psycopg.connect(server.conninfo()) as conn, pytest.raises(psycopg.Error):
                conn.execute("select 'hunter2'::integer")

    asyncio.run(use())
    assert "hunter2" not in (folder / "data" / "pgdata" / "server.log").read_text()


def test_the_socket_path_limit_is_within_the_systems() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        length = embedded_host._SOCKET_PATH_MAX - len(name) - 1
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"{name}/{'s' * length}")
