"""kl.configure_provider, kl.provider_configs, kl.remove_provider_config."""

import json
from typing import Any

import pytest

from tests.clusters import Connection
from tests.documents import resource, state
from tests.sql.auth.acting import act, new_token, one
from tests.sql.staging import refused, write

AWS = 'provider["registry.terraform.io/hashicorp/aws"]'


def _configure(conn: Connection, provider: str, config: Any, name: str = "s") -> None:  # noqa: ANN401
    conn.execute("select kl.configure_provider(%s, %s, %s)", (name, provider, json.dumps(config)))


def _configs(conn: Connection, name: str = "s") -> list[tuple[Any, ...]]:
    return conn.execute("select provider, config from kl.provider_configs(%s)", (name,)).fetchall()


def test_each_full_address_has_its_own(conn: Connection) -> None:
    write(conn, "s", state(1, resource()))
    write(conn, "other", state(1))
    addresses = [
        f"module.m.{AWS}.west",
        AWS,
        f"{AWS}.east",
        rf'{AWS}.east["\"]"]',
        f'{AWS}.east["a.b"]',
    ]
    for address in addresses:
        _configure(conn, address, {"at": address})
    assert _configs(conn) == [(a, {"at": a}) for a in addresses]
    assert _configs(conn, "other") == []


def test_a_later_one_takes_the_place(conn: Connection) -> None:
    write(conn, "s", state(1))
    _configure(conn, AWS, {"region": "eu-west-1", "max_retries": 10**20})
    conn.execute("select set_config('kl.actor', 'ann@cli', true)")
    _configure(conn, AWS, {"access_key": {"env": "KEY"}})
    assert conn.execute(
        "select provider, config, actor, updated_at is not null from kl.provider_configs('s')"
    ).fetchall() == [(AWS, {"access_key": {"env": "KEY"}}, "ann@cli", True)]


def test_removed_one_is_gone(conn: Connection) -> None:
    write(conn, "s", state(1))
    _configure(conn, AWS, {})
    assert one(conn, "select kl.remove_provider_config('s', %s)", AWS) is True
    assert one(conn, "select kl.remove_provider_config('s', %s)", AWS) is False
    assert _configs(conn) == []


def test_events_name_the_provider_and_no_value(conn: Connection) -> None:
    write(conn, "s", state(1))
    _configure(conn, AWS, {"secret_key": "hunter2"})
    conn.execute("select kl.remove_provider_config('s', %s)", (AWS,))
    assert conn.execute(
        "select kind, detail from kl.events where state_name = 's' order by event_id"
    ).fetchall() == [
        ("configure_provider", {"provider": AWS}),
        ("remove_provider_config", {"provider": AWS}),
    ]


@pytest.mark.parametrize(
    ("provider", "config"),
    [
        (AWS, []),
        (AWS, "x"),
        (AWS, None),
        ("hashicorp/aws", {}),
        (f"{AWS}.", {}),
        (f'{AWS}["eu"]', {}),
        (f"{AWS}.west[eu]", {}),
        (f'{AWS}.west["eu"]["us"]', {}),
        (f'{AWS}.west["eu"].east', {}),
        (f'{AWS}.west["eu"', {}),
        (f'module.m.{AWS}["eu"]', {}),
        (f'module.m["a"].{AWS}', {}),
        ("", {}),
    ],
)
def test_other_shapes_are_refused(conn: Connection, provider: str, config: Any) -> None:  # noqa: ANN401
    write(conn, "s", state(1))
    with refused(conn, "KL001") as refusal:
        _configure(conn, provider, config)
    assert refusal.detail == {"provider": provider}


@pytest.mark.parametrize(
    "call",
    [
        "configure_provider('typo', 'provider[\"a/b\"]', '{}')",
        "provider_configs('typo')",
        "remove_provider_config('typo', 'x')",
    ],
)
def test_state_must_be_there(conn: Connection, call: str) -> None:
    with refused(conn, "KL201"):
        conn.execute(f"select * from kl.{call}".encode())


def test_they_are_for_who_may_write(conn: Connection) -> None:
    write(conn, "s", state(1))
    _configure(conn, AWS, {"secret_key": "hunter2"})
    act(conn, new_token(conn, "state:read"))
    for call in (
        "configure_provider('s', 'provider[\"a/b\"]', '{}')",
        "provider_configs('s')",
        "remove_provider_config('s', 'x')",
    ):
        with refused(conn, "KL102"):
            conn.execute(f"select * from kl.{call}".encode())


def test_analysts_have_no_way_to_them(analyst_conn: Connection) -> None:
    with refused(analyst_conn, "42501"):
        analyst_conn.execute("select * from kl.provider_configs('s')")
