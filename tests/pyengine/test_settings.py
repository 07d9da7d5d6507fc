import json
import os
import pwd
from pathlib import Path

import pytest

from pyengine import settings
from pyengine.errors import KilolockError

URL = "http://127.0.0.1:8080/v1/states/prod"


def _backend(folder: Path, config: dict[str, str]) -> None:
    (folder / ".terraform").mkdir()
    document = {"version": 3, "backend": {"type": "http", "config": config}}
    (folder / ".terraform" / "terraform.tfstate").write_text(json.dumps(document))


def test_defaults(tmp_path: Path) -> None:
    loaded = settings.load(env={"USER": "ada"}, cwd=tmp_path)
    assert loaded.listen == ("127.0.0.1", 8080)
    assert loaded.max_body_bytes == 1 << 30
    assert loaded.actor == "ada@cli"
    assert loaded.embedded
    assert loaded.transport == "sql"


def test_without_variables_the_account_is_the_actor(tmp_path: Path) -> None:
    account = pwd.getpwuid(os.getuid()).pw_name
    assert settings.load(env={}, cwd=tmp_path).actor == f"{account}@cli"


def test_each_layer_wins_over_the_next(tmp_path: Path) -> None:
    _backend(tmp_path, {"address": URL + "-backend"})

    def url(flags: dict[str, str], env: dict[str, str]) -> str | None:
        return settings.load(flags, env=env, cwd=tmp_path).state_url

    assert url({}, {}) == URL + "-backend"
    (tmp_path / ".kl.toml").write_text(f'state_url = "{URL}-file"\n')
    assert url({}, {}) == URL + "-file"
    assert url({}, {"KL_STATE_URL": URL + "-env"}) == URL + "-env"
    assert url({"state_url": URL + "-flag"}, {"KL_STATE_URL": URL + "-env"}) == URL + "-flag"


def test_file_is_found_from_a_subfolder_up_to_the_repository(tmp_path: Path) -> None:
    deep = tmp_path / "repo" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / ".kl.toml").write_text('protocol = "outside"\n')
    (tmp_path / "repo" / ".git").mkdir()
    assert settings.load(env={}, cwd=deep).protocol == "state-engine"
    (tmp_path / "repo" / ".kl.toml").write_text('protocol = "inside"\n')
    assert settings.load(env={}, cwd=deep).protocol == "inside"


def test_token_comes_from_the_variable_the_file_names(tmp_path: Path) -> None:
    (tmp_path / ".kl.toml").write_text('[auth]\ntoken_env = "MY_TOKEN"\n')
    loaded = settings.load(env={"MY_TOKEN": "secret-1"}, cwd=tmp_path)
    assert loaded.token == "secret-1"
    assert "secret-1" not in repr(loaded)


@pytest.mark.parametrize(
    "text", ["state_url =", 'stateurl = "x"\n', 'token = "x"\n', "[auth]\npassword = 'x'\n"]
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / ".kl.toml").write_text(text)
    with pytest.raises(KilolockError) as caught:
        settings.load(env={}, cwd=tmp_path)
    assert (caught.value.code, caught.value.exit_code) == ("invalid_configuration", 2)
    assert str(tmp_path / ".kl.toml") in caught.value.message


def test_backend_password_is_the_token_of_that_backend_only(tmp_path: Path) -> None:
    _backend(tmp_path, {"address": URL, "password": "p"})
    assert settings.load(env={}, cwd=tmp_path).token == "p"
    assert settings.load(env={"KL_STATE_URL": URL}, cwd=tmp_path).token is None


def test_backend_block_is_read_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        f'terraform {{\n  # backend "http" {{ address = "no" }}\n  backend "http" {{\n'
        f'    address = "{URL}"\n    lock_method = "LOCK"\n  }}\n}}\n'
    )
    loaded = settings.load(env={}, cwd=tmp_path)
    assert (loaded.state_url, loaded.transport) == (URL, "http")


def test_a_backend_that_is_not_ours_is_ignored(tmp_path: Path) -> None:
    _backend(tmp_path, {"address": "https://gitlab.example/api/v4/projects/1/terraform/state/x"})
    assert settings.load(env={}, cwd=tmp_path).state_url is None


@pytest.mark.parametrize(
    ("flags", "env", "transport", "embedded"),
    [
        ({}, {"KL_STATE_URL": URL}, "http", True),
        ({}, {"KL_DATABASE_URL": "host=x"}, "sql", False),
        ({}, {"KL_DATABASE_URL": "host=x", "KL_STATE_URL": URL}, "sql", False),
        ({"state_url": URL}, {"KL_DATABASE_URL": "host=x"}, "http", False),
        ({"data_dir": "d"}, {"KL_DATABASE_URL": "host=x"}, "sql", True),
        ({"data_dir": "d"}, {"KL_STATE_URL": URL}, "sql", True),
    ],
)
def test_the_setting_named_closest_decides_the_transport(
    tmp_path: Path, flags: dict[str, str], env: dict[str, str], transport: str, *, embedded: bool
) -> None:
    loaded = settings.load(flags, env=env, cwd=tmp_path)
    assert (loaded.transport, loaded.embedded) == (transport, embedded)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("[::1]:8080", ("::1", 8080)),
        (":0", ("127.0.0.1", 0)),
        ("localhost:65535", ("localhost", 65535)),
    ],
)
def test_listen_address(text: str, expected: tuple[str, int]) -> None:
    assert settings.parse_listen(text) == expected


@pytest.mark.parametrize("text", ["", "8080", "host", "host:", "host:x", "h:65536", "::1:80"])
def test_wrong_listen_address_is_refused(text: str) -> None:
    with pytest.raises(KilolockError):
        settings.parse_listen(text)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("127.0.0.1.example.com", False),
    ],
)
def test_loopback(host: str, *, expected: bool) -> None:
    assert settings.is_loopback(host) is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("1024", 1024), ("1G", 1 << 30), ("5 MiB", 5 << 20), ("2kb", 2048)]
)
def test_size(text: str, expected: int) -> None:
    assert settings.parse_size(text) == expected


@pytest.mark.parametrize("text", ["", "-1", "1.5G", "lots"])
def test_wrong_size_is_refused(text: str) -> None:
    with pytest.raises(KilolockError):
        settings.parse_size(text)


def test_state_url_is_split_and_unescaped_once() -> None:
    url = "https://h:1/base/v1/states/ws_1/env_2/a%252Fb%20c?x=1"
    assert settings.split_state_url(url) == ("https://h:1/base", "ws_1/env_2/a%2Fb c")


@pytest.mark.parametrize(
    "url",
    [
        "x",
        "ftp://h/v1/states/a",
        "http://h/v1/states/",
        "http://h/a",
        "http://[::1/v1/states/a",
        "http://h:port/v1/states/a",
    ],
)
def test_wrong_state_url_is_refused(url: str) -> None:
    with pytest.raises(KilolockError) as caught:
        settings.split_state_url(url)
    assert (caught.value.code, caught.value.exit_code) == ("invalid_configuration", 2)


UNREADABLE = [
    "notaurl",
    "postgress://ada:hunter2@example.org/x",
    "postgresql://ada:hunter2@example.org/x?hunter2=1",
    "postgresql://ada:hunter2@example.org:hunter2/x",
    "postgresql://ada:hunter2@example.org:70000/x",
    "postgresql://ada:hunter2%@example.org/x",
    "host=example.org password='hunter2",
    "host=example.org password=hunter2\udcff",
]


@pytest.mark.parametrize("url", UNREADABLE)
def test_database_url_that_cannot_be_read_is_named_not_shown(tmp_path: Path, url: str) -> None:
    for loaded in (
        settings.load({"database_url": url}, env={}, cwd=tmp_path),
        settings.load({"query_url": url, "database_url": "host=x"}, env={}, cwd=tmp_path),
    ):
        assert "hunter2" not in repr(loaded)
        with pytest.raises(KilolockError) as caught:
            _ = (loaded.database_conninfo, loaded.query_conninfo)
        error = caught.value
        assert (error.code, error.exit_code) == ("invalid_configuration", 2)
        assert "hunter2" not in error.message
        assert "notaurl" not in error.message
        assert error.__cause__ is None
        assert error.__suppress_context__ or error.__context__ is None


def test_wrong_database_url_is_named_by_where_it_stands(tmp_path: Path) -> None:
    def named(flags: dict[str, str], env: dict[str, str]) -> str:
        with pytest.raises(KilolockError) as caught:
            _ = settings.load(flags, env=env, cwd=tmp_path).database_conninfo
        return caught.value.message.partition(" is no database URL")[0]

    assert named({"database_url": "x"}, {}) == "--database-url"
    assert named({}, {"KL_DATABASE_URL": "x"}) == "KL_DATABASE_URL"
    (tmp_path / ".kl.toml").write_text('database_url = "x"\n')
    assert named({}, {}) == "database_url in .kl.toml"


@pytest.mark.parametrize(
    "url",
    ["", "service=x", "postgresql://", "postgresql://u:p%40@a:1,b/x", "host=a,b port=5432,"],
)
def test_what_libpq_can_read_is_a_database_url(tmp_path: Path, url: str) -> None:
    flags = {"database_url": url}
    assert settings.load(flags, env={}, cwd=tmp_path).database_conninfo == url


@pytest.mark.parametrize(
    "url",
    [
        "http://ada:hunter2@example.org/prod",
        "ada:hunter2@example.org/prod",
        "ftp://ada:hun/ter2@example.org/prod",
        "http://ada:hun/ter2@example.org/prod",
        "http://example.org/prod?token=hunter2",
    ],
)
def test_wrong_state_url_is_shown_without_its_password(url: str) -> None:
    with pytest.raises(KilolockError) as caught:
        settings.split_state_url(url)
    assert "example.org/prod" in caught.value.message
    assert "hun" not in caught.value.message
    assert "ter2" not in caught.value.message
