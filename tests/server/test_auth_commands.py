"""kld token, kld workspace and kld environment, as an administrator runs them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.clusters import Cluster, Database

pytestmark = pytest.mark.parametrize("cluster", ["pg18"], indirect=True, scope="session")


@pytest.fixture(scope="module")
def made(cluster: Cluster) -> Iterator[Database]:
    """A migrated database for the commands to work on."""
    with cluster.clone() as database:
        yield database


def _kld(
    database: Database, *words: str, user: str = "postgres"
) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("KL_")}
    return subprocess.run(
        [sys.executable, "-c", "from server.commands import main; main()", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env=clean | {"KL_DATABASE_URL": database.conninfo(user), "USER": "ann"},
    )


def _done(database: Database, *words: str) -> str:
    done = _kld(database, *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_tenancy_and_tokens_from_the_command_line(made: Database) -> None:
    workspace = _done(made, "workspace", "create", "acme")
    place = _done(made, "environment", "create", "acme", "production")
    assert re.fullmatch(rf"{workspace}/env_[0-9a-z]+", place)
    assert f"{place}  acme/production  0 states" in _done(made, "environment", "list")
    assert place in {
        e["environment"] for e in json.loads(_done(made, "workspace", "list", "--format", "json"))
    }
    words = ["--scope", "outputs:read", "--environment", "acme/production"]
    words += ["--state-prefix", "net/", "--expires", "90 days"]
    token = _done(made, "token", "create", "dns", *words)
    listed = _done(made, "token", "list")
    assert f"{token[:9]}…  dns  {place}  outputs:read  net/  used never" in listed
    assert token not in listed
    assert (
        json.loads(_done(made, "token", "list", "--format", "json"))[0]["created_by"] == "ann@cli"
    )
    assert _done(made, "token", "revoke", token).startswith("revoked ")
    assert "revoked" in _done(made, "token", "list")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["token", "create", "x"], 2, "--scope"),
        (["token", "create", "x", "--scope", "everything"], 2, "everything"),
        (["token", "create", "x", "--scope", "admin", "--environment", "no/where"], 1, "no/where"),
        (["token", "create", "x", "--scope", "admin", "--expires", "soon"], 2, "90 days"),
        (["token", "revoke", "nobody"], 1, "nobody"),
        (["environment", "create", "nothing", "x"], 1, "nothing"),
        (["workspace", "create", "default"], 1, "default"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    made: Database, words: list[str], code: int, says: str
) -> None:
    done = _kld(made, *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert code == 2 or done.stderr.count("\n") == 1


def test_a_servers_login_makes_no_tokens(made: Database) -> None:
    done = _kld(made, "token", "create", "x", "--scope", "admin", user="kl_server")
    assert done.returncode == 1
    assert "kl_server lacks the scope admin" in done.stderr
