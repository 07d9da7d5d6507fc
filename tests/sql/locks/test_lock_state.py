import json

import pytest

from tests.clusters import Connection
from tests.documents import Json, lock_info, resource, state
from tests.sql.staging import refused, write

INFO = lock_info("one")


def lock(conn: Connection, name: str, info: Json | str) -> str | None:
    text = info if isinstance(info, str) else json.dumps(info)
    row = conn.execute(
        "select kl.lock_state(p_name => %s, p_lock_info => %s)", (name, text)
    ).fetchone()
    assert row is not None
    return str(row[0])


def _events(conn: Connection) -> list[tuple[str, Json]]:
    return conn.execute(  # type: ignore[return-value]
        "select e.kind, e.detail from kl.events as e where e.state_name = 's' order by e.event_id"
    ).fetchall()


def test_lock_is_taken_and_audited(conn: Connection) -> None:
    assert lock(conn, "s", INFO) == "one"
    assert _events(conn) == [
        ("lock", {"lock_id": "one", "operation": INFO["Operation"], "who": INFO["Who"]})
    ]


def test_same_id_again_succeeds_and_says_nothing_new(conn: Connection) -> None:
    lock(conn, "s", INFO)
    assert lock(conn, "s", INFO | {"Who": "else"}) == "one"
    assert len(_events(conn)) == 1


def test_another_id_is_told_who_holds(conn: Connection) -> None:
    lock(conn, "s", INFO)
    with refused(conn, "KL303") as refusal:
        lock(conn, "s", lock_info("two"))
    assert refusal.detail == {"lock": INFO}
    assert "ann@ci-1" in refusal.message


@pytest.mark.parametrize("info", ["", "x", "[]", "{}", '{"ID":""}', '{"ID":1}', r'{"ID":"\u0000"}'])
def test_text_that_is_no_lock_info_is_refused(conn: Connection, info: str) -> None:
    with refused(conn, "KL001"):
        lock(conn, "s", info)
    assert _events(conn) == []


def test_placeholder_is_in_no_view_of_states(conn: Connection) -> None:
    lock(conn, "s", INFO)
    assert conn.execute("select count(*) from kl.states").fetchone() == (0,)
    assert conn.execute("select count(*) from kl.list_states()").fetchone() == (0,)
    with refused(conn, "KL201") as refusal:
        conn.execute("select * from kl.read_state(p_name => 's')")
    assert refusal.detail == {"state": "s"}


def test_lock_of_a_state_does_not_touch_its_document(conn: Connection) -> None:
    write(conn, "s", state(1, resource()))
    lock(conn, "s", INFO)
    assert conn.execute("select version_no from kl.states").fetchall() == [(1,)]


def test_unknown_environment_is_absent(conn: Connection) -> None:
    with refused(conn, "KL201") as refusal:
        lock(conn, "ws_no/env_no/s", INFO)
    assert refusal.detail == {"state": "ws_no/env_no/s"}


def test_analyst_may_not_lock(analyst_conn: Connection) -> None:
    with refused(analyst_conn, "42501"):
        lock(analyst_conn, "s", INFO)
