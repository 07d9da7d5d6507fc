"""Usage, settings, errors, files: what does not depend on the way to the states."""

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import click
import pytest

from cli.main import kl as group
from tests.cli.conftest import Kl
from tests.cli.documents import document, write
from tests.clusters import Database, short_folder


@pytest.mark.parametrize(
    "args",
    [
        ("nope",),
        ("list", "extra"),
        ("list", "--nope"),
        ("--format", "xml", "list"),
        ("list", "--format"),
        ("import",),
        ("import", "no-such-file", "--name", "x"),
        ("import", ".", "--name", "x"),
        ("status", "a", "b"),
        ("export",),
        ("export", "bad\udcff"),
        ("list", "--state-url", "http://h/v1/states/x", "--data-dir", "d"),
        ("list", "--state-url", "ftp://h/v1/states/x"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(kl: Kl, args: tuple[str, ...]) -> None:
    done = kl(*args)
    assert (done.exit_code, done.out) == (2, b"")
    assert done.err.startswith("kl: ")
    assert done.err.count("\n") == 1


def test_every_command_has_help(kl: Kl) -> None:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        assert command.help
        assert all(param.help for param in command.params if isinstance(param, click.Option)), (
            command.name
        )
        assert kl(str(command.name), "--help").exit_code == 0
    assert b"import" in kl("-h").out
    assert kl("--version").exit_code == 0


def test_a_word_that_is_no_command_is_told_from_one_that_is_nearly_one(kl: Kl) -> None:
    assert kl("refesh").err == (
        "kl: usage: there is no command 'refesh'; did you mean refresh? (see kl --help)\n"
    )
    assert "did you mean" not in kl("xyz").err


@pytest.mark.parametrize(
    ("args", "needless"),
    [
        (("--help",), "asyncio grpc httpx pglast psycopg rich"),
        (("list",), "grpc httpx pglast rich.console"),
        (("refresh", "no-such-state"), "google.protobuf grpc httpx pglast rich"),
        (("state", "rm", "no-such-state", "--address", "a.b"), "grpc httpx pglast rich"),
        (("query", "select 1"), "grpc httpx"),
    ],
)
def test_a_command_loads_only_what_it_needs(
    cli_database: Database, tmp_path: Path, args: tuple[str, ...], needless: str
) -> None:
    script = (
        "import sys\n"
        "from cli.main import main\n"
        "try:\n    main(sys.argv[2:])\n"
        "except SystemExit:\n    pass\n"
        "print(*set(sys.argv[1].split()) & sys.modules.keys(), file=sys.stderr)\n"
    )
    environment = {name: value for name, value in os.environ.items() if name[:3] != "KL_"}
    done = subprocess.run(
        [sys.executable, "-c", script, needless, *args],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env=environment
        | {
            "KL_DATABASE_URL": cli_database.conninfo("kl_server"),
            "KL_QUERY_URL": cli_database.conninfo("kl_query"),
            "HOME": str(tmp_path),
        },
    )
    assert done.stderr.splitlines()[-1] == "", done.stderr


def test_shared_options_stand_anywhere_and_the_later_wins(
    kl: Kl, cli_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KL_DATABASE_URL", cli_database.conninfo("kl_server"))
    for args in (
        ("--format", "json", "list"),
        ("list", "--format", "json"),
        ("list", "--format=json"),
        ("--format", "table", "list", "--format", "json"),
    ):
        assert isinstance(kl(*args).json, list)
    assert kl("--format", "json", "list", "--format", "table").out.startswith(b"NAME")


def test_name_is_the_state_urls_unless_given(
    kl: Kl, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KL_STATE_URL", f"{server_url}/v1/states/of/url%20x")
    done = kl("import", write(tmp_path / "s.json", document()), "--format", "json")
    assert done.json["state"] == "of/url x"
    assert kl("status", "--format", "json").json["name"] == "of/url x"
    assert kl("export").json == document()
    assert kl("unlock").out == b"of/url x: was not locked\n"
    assert kl("status", "other").err.startswith("kl: state_not_found: ")
    assert kl("delete", "--yes").exit_code == 2


def test_backend_block_is_the_last_place_looked_at(
    kl: Kl, server_url: str, cli_database: Database, tmp_path: Path
) -> None:
    address = f'"{server_url}/v1/states/by-block"'
    tf = f'terraform {{\n  backend "http" {{\n    address = {address}\n  }}\n}}\n'
    (tmp_path / "main.tf").write_text(tf)
    assert kl("import", write(tmp_path / "s.json", document())).exit_code == 0
    conninfo = cli_database.conninfo("kl_server")
    flag = kl("--database-url", conninfo, "status", "by-block", "--format", "json")
    assert flag.json["name"] == "by-block"


def test_without_a_database_kl_says_how_to_go_on(kl: Kl, tmp_path: Path) -> None:
    done = kl("list", "--data-dir", str(tmp_path / "none"))
    assert done.exit_code == 2
    assert "kld serve" in done.err
    assert not (tmp_path / "none").exists()


def test_first_import_makes_the_embedded_database(kl: Kl, tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", document())
    with short_folder() as folder:
        data_dir = ("--data-dir", f"{folder}/data")
        done = kl("import", path, "--name", "prod", *data_dir)
        assert done.exit_code == 0
        assert done.err == f"kl: making a database in {folder}/data\n"
        # The folder's owner has the admin right.
        path = write(tmp_path / "s.json", document(2, ("x",)))
        done = kl(*data_dir, "import", path, "--name", "prod", "--source", "apply")
        assert (done.exit_code, done.err) == (0, "")
        row = kl(*data_dir, "list", "--format", "json").json[0]
        assert (row["name"], row["version_no"], row["source"]) == ("prod", 2, "apply")
        assert not Path(folder, "data", "pgdata", "postmaster.pid").exists()


def test_proxy_that_cannot_be_used_is_named(kl: Kl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    done = kl("list", "--state-url", "http://127.0.0.1:1/v1/states/x")
    assert done.exit_code == 2
    assert done.err.startswith("kl: invalid_configuration: ")


@pytest.mark.parametrize("words", [["list"], ["query", "select 1"]], ids=lambda words: words[0])
def test_database_url_that_cannot_be_read_is_named_not_shown(
    kl: Kl, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    url = "postgress://u:hunter2@h/x"
    monkeypatch.setenv("KL_QUERY_URL" if words[0] == "query" else "KL_DATABASE_URL", url)
    done = kl(*words)
    assert (done.exit_code, done.out) == (2, b"")
    assert done.err.startswith("kl: invalid_configuration: KL_")
    assert done.err.count("\n") == 1
    assert "hunter2" not in done.err


def test_unreachable_places_are_named(kl: Kl) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = kl("list", "--state-url", f"http://u:secret@127.0.0.1:{port}/v1/states/x")
    assert done.exit_code == 1
    assert done.err.startswith(f"kl: server_unavailable: cannot reach http://127.0.0.1:{port}")
    assert "secret" not in done.err
    done = kl("list", "--database-url", f"host=127.0.0.1 port={port} password=secret")
    assert done.exit_code == 1
    assert done.err.startswith(
        f"kl: database_unavailable: the database at 127.0.0.1, port {port}, cannot be reached"
    )
    assert "secret" not in done.err


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\noops", "unexpected_answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\noops", "unexpected_answer"),
        (b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", "unexpected_answer"),
        (b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\n[]", "unauthenticated"),
        (b"nonsense\r\n\r\n", "server_unavailable"),
        (b"", "server_unavailable"),
    ],
)
def test_strange_servers_are_told_apart(kl: Kl, answer: bytes, code: str) -> None:
    with _server(answer) as url:
        done = kl("list", "--state-url", url)
    assert done.exit_code == 1
    assert done.err.startswith(f"kl: {code}: ")
    assert done.err.count("\n") == 1


def test_export_that_breaks_off_leaves_no_file(kl: Kl, tmp_path: Path) -> None:
    part = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n'
    with _server(part) as url:
        done = kl("export", "-o", str(tmp_path / "out.json"), "--state-url", url)
    assert done.exit_code == 1
    assert done.err.startswith("kl: server_unavailable: ")
    assert list(tmp_path.iterdir()) == []


def test_export_keeps_links_and_rights_of_the_file(
    kl: Kl, cli_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KL_DATABASE_URL", cli_database.conninfo("kl_server"))
    kl("import", write(tmp_path / "s.json", document()), "--name", "linked")
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    assert kl("export", "linked", "-o", "link").exit_code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    assert b"terraform_data" in (tmp_path / "real").read_bytes()
    assert kl("export", "linked", "-o", "/dev/null").exit_code == 0
    assert b"terraform_data" in kl("export", "linked", "-o", "-").out
    done = kl("export", "linked", "-o", "no/such/folder")
    assert done.exit_code == 1
    assert done.err.startswith("kl: output_failed: ")


def test_reader_that_goes_away_ends_export_quietly(
    kl: Kl, cli_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KL_DATABASE_URL", cli_database.conninfo("kl_server"))
    body = document(1, tuple(f"n{number}" for number in range(3000)))
    kl("import", write(tmp_path / "s.json", body), "--name", "piped")
    command = [sys.executable, "-c", "from cli.main import main; main()", "export", "piped"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    ) as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_termination_stops_the_embedded_database(kl: Kl, tmp_path: Path) -> None:
    with short_folder() as folder:
        path = write(tmp_path / "s.json", document())
        assert kl("import", path, "--name", "x", "--data-dir", f"{folder}/data").exit_code == 0
        os.mkfifo(tmp_path / "pipe")
        command = [sys.executable, "-c", "from cli.main import main; main()", "export", "x"]
        command += ["--data-dir", f"{folder}/data", "-o", str(tmp_path / "pipe")]
        pid_file = Path(folder, "data", "pgdata", "postmaster.pid")
        # Opening the pipe for writing waits for us; the database starts after that.
        with (
            subprocess.Popen(command, cwd=Path(__file__).parents[2]) as process,
            (tmp_path / "pipe").open("rb"),
        ):
            while not pid_file.exists() and process.poll() is None:
                time.sleep(0.01)
            process.terminate()
            assert process.wait() == 143
        assert not pid_file.exists()


class _server:  # noqa: N801 - used as a function
    """A server that gives one answer, whatever it is asked."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1/states/x"

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(self._answer)
