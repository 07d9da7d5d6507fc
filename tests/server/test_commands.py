import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
import httpx
import pytest
from psycopg.conninfo import make_conninfo

from pyengine import embedded_host
from server.commands import kld
from server.serving import _DRAIN_SECONDS
from tests.clusters import Cluster, Database, short_folder

KLD = str(Path(sys.executable).with_name("kld"))
LINE = re.compile(r"kilolock: listening on (http://127\.0\.0\.1:\d+)\n")


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder / "data"


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("KL_", "PG"))}
    return clean | variables


def _kld(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [KLD, *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=_environment(variables),
        stdin=subprocess.DEVNULL,
    )


@contextmanager
def _serving(*words: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `kld serve`; lend it once it has said where it listens."""
    with subprocess.Popen(
        [KLD, "serve", "--listen", "127.0.0.1:0", *words],
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(variables),
    ) as process:
        try:
            assert process.stdout is not None
            ready, _, _ = select.select([process.stdout], [], [], 120)
            line = process.stdout.readline() if ready else ""
            match = LINE.fullmatch(line)
            assert match is not None, f"no listening line but {line!r}"
            yield process, match[1]
        finally:
            if process.poll() is None:
                process.terminate()


def _stop(process: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM) -> int:
    process.send_signal(number)
    return process.wait(timeout=60)


def test_every_command_has_help() -> None:
    assert kld.help
    for command in kld.commands.values():
        assert command.help, command.name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{command.name} {parameter.name}"


@pytest.mark.parametrize(
    "words", [["nonsense"], ["serve", "--nonsense"], ["serve", "--listen", "x"]], ids=" ".join
)
def test_wrong_usage_exits_2(words: list[str]) -> None:
    done = _kld(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(r"kld: [a-z_]+: .+\n", done.stderr)


def test_psql_speaks_to_the_embedded_database(data_dir: Path) -> None:
    done = _kld("psql", "--data-dir", str(data_dir), "--", "-Atc", "select 1")
    assert (done.returncode, done.stderr) == (0, f"kld: making a database in {data_dir}\n")
    query = "select count(*) > 0 from installation"
    done = _kld("psql", "--", "-Atc", query, KL_DATA_DIR=str(data_dir))
    assert (done.returncode, done.stdout, done.stderr) == (0, "t\n", "")


def test_psql_hands_on_arguments_and_exit_code(data_dir: Path) -> None:
    done = _kld(
        "psql", "--", "-v", "ON_ERROR_STOP=1", "-Atf", "/dev/null", KL_DATA_DIR=str(data_dir)
    )
    assert done.returncode == 0
    done = _kld("psql", "--", "-c", "select nothing", KL_DATA_DIR=str(data_dir))
    assert done.returncode == 1
    done = _kld("psql", "-U", "kl_query", "-Atc", "select user", KL_DATA_DIR=str(data_dir))
    assert done.stdout == "kl_query\n"


def test_psql_speaks_to_the_configured_database(database: Database) -> None:
    done = _kld(
        "psql",
        "--",
        "-Atc",
        "select current_database(), user, current_setting('application_name')",
        KL_DATABASE_URL=make_conninfo(database.conninfo(), application_name="mine"),
    )
    assert done.stdout == f"{database.name}|kl_server|mine\n"


def test_migrate_is_told_in_one_line(cluster: Cluster) -> None:
    with cluster.empty_database() as database:
        url = database.conninfo("postgres")
        done = _kld("migrate", "--database-url", url)
        assert done.returncode == 0
        assert done.stdout.startswith("kilolock: migrations applied: 0001_schemas, ")
        assert "applied: none" in _kld("migrate", KL_DATABASE_URL=url).stdout


def test_an_unreachable_database_is_one_line() -> None:
    done = _kld("migrate", "--database-url", "host=/nonexistent dbname=x password=hunter2")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    "words", [["serve"], ["migrate"], ["psql"], ["token", "list"]], ids=lambda words: words[0]
)
@pytest.mark.parametrize("url", ["postgress://u:hunter2@h/x", "postgresql://u:hunter2@h:port/x"])
def test_a_database_url_that_cannot_be_read_is_one_line(words: list[str], url: str) -> None:
    done = _kld(*words, KL_DATABASE_URL=url)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"kld: invalid_configuration: KL_DATABASE_URL is no .+\n", done.stderr)
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--listen", "0.0.0.0:0"],
        ["--tls-cert", "/nonexistent/cert", "--tls-key", "/nonexistent/key"],
    ],
    ids=lambda words: words[0],
)
def test_wrong_configuration_is_told_before_a_database_is_made(
    tmp_path: Path, words: list[str]
) -> None:
    done = _kld("serve", "--listen", "127.0.0.1:0", "--data-dir", str(tmp_path / "data"), *words)
    assert done.returncode == 2
    assert re.fullmatch(r"kld: invalid_configuration: .+\n", done.stderr)
    assert not (tmp_path / "data").exists()


def test_a_wrong_query_url_is_told_before_the_database_is_asked(cluster: Cluster) -> None:
    with cluster.empty_database() as database:
        url = database.conninfo("postgres")
        words = ("--database-url", url, "--query-url", "postgress://u:hunter2@h/x")
        done = _kld("serve", "--listen", "127.0.0.1:0", *words)
        assert done.returncode == 2
        assert re.fullmatch(r"kld: invalid_configuration: --query-url is .+\n", done.stderr)
        with database.connect("postgres") as conn:
            assert conn.execute("select to_regnamespace('kl') is null").fetchone() == (True,)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_answers_and_stops_cleanly(data_dir: Path, number: signal.Signals) -> None:
    with _serving("--data-dir", str(data_dir)) as (process, url):
        assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200
        assert _stop(process, number) == 0
    assert embedded_host.read_postmaster(data_dir / "pgdata") is None


def test_a_second_server_shares_the_folder(data_dir: Path) -> None:
    folder = str(data_dir)
    with _serving(KL_DATA_DIR=folder) as (first, _), _serving(KL_DATA_DIR=folder) as (second, url):
        assert _stop(first) == 0
        assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200
        assert _stop(second) == 0


def test_an_idle_connection_does_not_hold_up_the_stop(database: Database) -> None:
    with (
        _serving(KL_DATABASE_URL=database.conninfo()) as (process, url),
        httpx.Client(timeout=60) as client,
    ):
        client.get(f"{url}/healthz")
        began = time.monotonic()
        assert _stop(process) == 0
        assert time.monotonic() - began < _DRAIN_SECONDS


def test_serve_uses_the_configured_database(database: Database) -> None:
    with _serving(KL_DATABASE_URL=database.conninfo()) as (process, url):
        assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200
        assert _stop(process) == 0


def test_serve_refuses_an_older_schema_it_may_not_upgrade(cluster: Cluster) -> None:
    with cluster.empty_database() as database, cluster.clone():  # the clone brings the roles
        done = _kld("serve", "--listen", "127.0.0.1:0", KL_DATABASE_URL=database.conninfo())
        assert done.returncode == 1
        assert "kld migrate" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_superuser_in_the_url_is_warned_about(
    database: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    with _serving(KL_DATABASE_URL=database.conninfo("postgres")) as (process, _):
        assert _stop(process) == 0
    assert "superuser" in capfd.readouterr().err


def test_other_machines_are_not_served_unasked() -> None:
    done = _kld("serve", "--listen", "0.0.0.0:0")
    assert done.returncode == 2
    assert "--insecure-open" in done.stderr


def test_a_taken_port_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = _kld("serve", "--listen", address)
    assert done.returncode == 1
    assert address in done.stderr


def test_a_signal_during_the_start_leaves_nothing_running() -> None:
    with short_folder() as folder:
        words = [KLD, "serve", "--listen", "127.0.0.1:0", "--data-dir", f"{folder}/data"]
        with subprocess.Popen(words, env=_environment({}), text=True) as process:
            deadline = time.monotonic() + 60
            while not (folder / "data" / "start.lock").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            assert _stop(process) == 0
        assert embedded_host.read_postmaster(folder / "data" / "pgdata") is None
