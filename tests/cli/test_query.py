"""kl query through its own login and over HTTP."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import Kl
from tests.cli.documents import document, write
from tests.clusters import Database, short_folder
from tests.service import running_server

EXACT = (
    "select 12345678901234567890.10 as n, 'a,b' as t, '' as e, null as x,"
    " '{\"k\": 1.0}'::jsonb as j"
)


@pytest.fixture(scope="module")
def admin_url(cli_database: Database) -> Iterator[str]:
    """A server in open mode with a query door."""
    with running_server(cli_database, KL_QUERY_URL=cli_database.conninfo("kl_query")) as server:
        yield server.url


@pytest.fixture(params=["sql", "http"])
def ask(
    request: pytest.FixtureRequest,
    kl: Kl,
    cli_database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> Kl:
    """`kl` that reaches the door either way."""
    if request.param == "sql":
        monkeypatch.setenv("KL_QUERY_URL", cli_database.conninfo("kl_query"))
    else:
        url = request.getfixturevalue("admin_url")
        monkeypatch.setenv("KL_STATE_URL", f"{url}/v1/states/x")
    return kl


def test_json_is_exact(ask: Kl) -> None:
    done = ask("query", EXACT, "--format", "json")
    assert (done.exit_code, done.err) == (0, "")
    assert b"12345678901234567890.10" in done.out
    assert done.json["columns"][0] == {"name": "n", "type": "numeric"}
    assert done.json["rows"][0][1:] == ["a,b", "", None, {"k": 1.0}]
    assert (done.json["row_count"], done.json["truncated"]) == (1, False)


def test_csv_tells_null_from_empty(ask: Kl) -> None:
    done = ask("--format", "csv", "query", EXACT)
    assert done.out.decode() == (
        'n,t,e,x,j\n12345678901234567890.10,"a,b","",,"{""k"": 1.0}"\n'
    )  # fmt: skip


def test_table_is_the_default(ask: Kl) -> None:
    done = ask("query", "values (1, null), (20, 'x')")
    assert done.out.decode().splitlines() == ["COLUMN1  COLUMN2", "1        NULL", "20       x"]


def test_a_file_or_stdin_can_hold_the_statement(
    ask: Kl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q.sql").write_text("-- how many\nselect 1 as n;\n")
    assert ask("query", "-f", "q.sql").out == b"N\n1\n"
    stdin = io.TextIOWrapper(io.BytesIO(b"select 2 as n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert ask("query", "-f", "-").out == b"N\n2\n"


def test_refusals_and_errors_name_the_place(ask: Kl) -> None:
    done = ask("query", "with x as (\n delete from resources returning 1) table x")
    assert done.exit_code == 1
    assert done.err.startswith("kl: query_refused: line 1, column 6: DELETE")
    done = ask("query", "select\n nope from resources")
    assert done.exit_code == 1
    assert done.err.startswith('kl: query_failed: line 2, column 2: column "nope"')


def test_a_cut_answer_says_so(ask: Kl) -> None:
    done = ask("query", "select g from generate_series(1, 20000) as g", "--format", "csv")
    assert done.exit_code == 0
    assert len(done.out.splitlines()) == 10_001
    assert done.err == "kl: truncated after 10000 rows: a limit was reached\n"


@pytest.mark.parametrize("args", [(), ("select 1", "-f", "x"), ("select 1", "select 2")])
def test_wrong_usage(kl: Kl, args: tuple[str, ...]) -> None:
    assert kl("query", *args).exit_code == 2


def test_without_a_login_the_door_is_closed(
    kl: Kl, cli_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KL_DATABASE_URL", cli_database.conninfo("kl_server"))
    done = kl("query", "select 1")
    assert done.exit_code == 1
    assert done.err.startswith("kl: query_door_closed: ")
    assert "KL_QUERY_URL" in done.err
    login = cli_database.conninfo("kl_query")
    assert kl("query", "--query-url", login, "select 1 as n").out == b"N\n1\n"


def test_the_embedded_database_has_its_door(kl: Kl, tmp_path: Path) -> None:
    with short_folder() as folder:
        where = ("--data-dir", f"{folder}/data")
        kl("import", write(tmp_path / "s.json", document()), "--name", "prod", *where)
        assert kl("query", "select address from resources", *where).out == (
            b"ADDRESS\nterraform_data.one\n"
        )
        done = kl("query", "select session_user, lo_create(1)", *where)
        assert "permission denied for function lo_create" in done.err


def test_over_http_it_needs_an_installation_admin(cli_database: Database) -> None:
    body = {"sql": "select session_user::text"}
    with (
        cli_database.connect("postgres") as owner,
        running_server(
            cli_database, KL_QUERY_URL=cli_database.conninfo("kl_query"), KL_AUTH="database"
        ) as server,
    ):
        tokens = {}
        for scope in ("admin", "state:read"):
            row = owner.execute(
                "select t.token from kl.create_token(%s, %s, null, null, null) as t",
                (scope, [scope]),
            ).fetchone()
            assert row is not None
            tokens[scope] = row[0]

        def ask(token: str | None) -> httpx.Response:
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            return server.client.post("/v1/admin/query", json=body, headers=headers)

        assert ask(None).status_code == 401
        assert ask("kl_wrong").status_code == 401
        assert ask(tokens["state:read"]).status_code == 403
        answer = ask(tokens["admin"])
        assert answer.status_code == 200
        assert answer.json()["rows"] == [["kl_query"]]


def test_a_server_without_the_login_says_so(server_url: str) -> None:
    answer = httpx.post(f"{server_url}/v1/admin/query", json={"sql": "select 1"}, timeout=60)
    assert (answer.status_code, answer.json()["error"]) == (503, "query_door_closed")


@pytest.mark.parametrize("body", [b"", b"x", b"[]", b'{"sql": 1}', b'{"sql": "table t", "x": 1}'])
def test_a_wrong_body_is_refused(admin_url: str, body: bytes) -> None:
    answer = httpx.post(f"{admin_url}/v1/admin/query", content=body, timeout=60)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_a_server_that_runs_as_superuser_is_warned_and_its_door_still_cannot_reach_it(
    cli_database: Database, capfd: pytest.CaptureFixture[str]
) -> None:
    superuser = cli_database.conninfo("postgres")
    login = cli_database.conninfo("kl_query")

    def ask(url: str, sql: str) -> str:
        return httpx.post(f"{url}/v1/admin/query", json={"sql": sql}, timeout=60).text

    with running_server(cli_database, KL_DATABASE_URL=superuser, KL_QUERY_URL=login) as server:
        for sql in (
            "table kl_internal.states",
            "select pg_read_file('postgresql.conf')",
            "select set_config('role', 'postgres', false), set_config('kl.auth', 'open', false)",
            "select kl.require_admin()",
        ):
            assert "permission denied" in ask(server.url, sql)
        assert "kl_query" in ask(server.url, "select session_user")
    assert "superuser" in capfd.readouterr().err
    with running_server(cli_database, KL_QUERY_URL=superuser) as server:
        assert "query_door_closed" in ask(server.url, "select 1")
