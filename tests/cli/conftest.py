"""One database, one server on it, and `kl` run in this process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from tests.clusters import Database, running_cluster


@dataclass(frozen=True)
class Place:
    """Where `kl` finds states: environment variables, and the database behind them."""

    env: dict[str, str]
    database: Database


@dataclass(frozen=True)
class Done:
    """What a run of `kl` left behind."""

    exit_code: int
    out: bytes
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - any document
        """Return what was printed as JSON."""
        return json.loads(self.out)


@pytest.fixture(scope="session")
def cli_database() -> Iterator[Database]:
    """A database that the tests of `kl` share; each has state names of its own."""
    with running_cluster("pg18") as cluster, cluster.clone() as database:
        yield database


@pytest.fixture(scope="session")
def server_url(cli_database: Database) -> Iterator[str]:
    """A real server on that database."""
    command = [sys.executable, "-m", "server.commands", "serve", "--listen", "127.0.0.1:0"]
    env = {**os.environ, "KL_DATABASE_URL": cli_database.conninfo("kl_server")}
    command[1:] = ["-c", "from server.commands import main; main()", *command[3:]]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert "listening on" in line
            yield line.split()[-1]
        finally:
            process.terminate()


@pytest.fixture(params=["sql", "http"])
def place(request: pytest.FixtureRequest, cli_database: Database) -> Place:
    """Each way to reach states; a test that uses it runs over both."""
    if request.param == "sql":
        return Place({"KL_DATABASE_URL": cli_database.conninfo("kl_server")}, cli_database)
    url = request.getfixturevalue("server_url")
    return Place({"KL_STATE_URL": f"{url}/v1/states/of-the-url"}, cli_database)


@dataclass(frozen=True)
class Kl:
    """Runs `kl` with arguments."""

    capture: pytest.CaptureFixture[bytes]

    def __call__(self, *args: str) -> Done:
        """Run and return exit code and output."""
        with pytest.raises(SystemExit) as stopped:
            main(args)
        out, err = self.capture.readouterr()
        assert isinstance(stopped.value.code, int)
        return Done(stopped.value.code, out, err.decode())


@pytest.fixture
def kl(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> Kl:
    """`kl` in an empty folder, with none of its variables set."""
    for name in [name for name in os.environ if name.startswith(("KL_", "TF_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("USER", "ann")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.chdir(tmp_path)
    return Kl(capfdbinary)


@pytest.fixture
def at(place: Place, kl: Kl, monkeypatch: pytest.MonkeyPatch) -> Kl:
    """`kl` that works at `place`."""
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    return kl
