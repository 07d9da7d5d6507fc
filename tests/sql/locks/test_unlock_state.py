import json

import pytest

from tests.clusters import Connection
from tests.documents import lock_info
from tests.sql.locks.test_lock_state import INFO, lock
from tests.sql.staging import refused


def _unlock(conn: Connection, info: str | None) -> str | None:
    row = conn.execute(
        "select kl.unlock_state(p_name => 's', p_lock_info => %s)", (info,)
    ).fetchone()
    assert row is not None
    freed: str | None = row[0]
    return freed


def _kinds(conn: Connection) -> list[str]:
    return [k for (k,) in conn.execute("select kind from kl.events order by event_id").fetchall()]


def test_holder_frees_its_lock(conn: Connection) -> None:
    lock(conn, "s", INFO)
    assert _unlock(conn, json.dumps(INFO)) == "one"
    assert _kinds(conn) == ["lock", "unlock"]
    assert lock(conn, "s", lock_info("two")) == "two"


def test_nothing_held_is_no_error(conn: Connection) -> None:
    assert _unlock(conn, json.dumps(INFO)) is None
    assert _unlock(conn, "") is None


def test_another_id_frees_nothing(conn: Connection) -> None:
    lock(conn, "s", INFO)
    with refused(conn, "KL304") as refusal:
        _unlock(conn, json.dumps(lock_info("two")))
    assert refusal.detail == {"lock": INFO}
    with refused(conn, "KL303"):
        lock(conn, "s", lock_info("two"))


@pytest.mark.parametrize("info", ["", None])
def test_no_lock_info_frees_what_is_held_and_is_audited(conn: Connection, info: str | None) -> None:
    lock(conn, "s", INFO)
    assert _unlock(conn, info) == "one"
    row = conn.execute("select detail from kl.events where kind = 'force_unlock'").fetchone()
    assert row == ({"lock_id": "one", "operation": INFO["Operation"], "who": INFO["Who"],
                    "forced": True},)  # fmt: skip


def test_only_an_id_is_audited_as_forced(conn: Connection) -> None:
    lock(conn, "s", INFO)
    assert _unlock(conn, '{"ID":"one","Who":""}') == "one"
    assert _kinds(conn) == ["lock", "force_unlock"]


@pytest.mark.parametrize("info", ["x", "{}", '{"ID":null}'])
def test_text_that_is_no_lock_info_is_refused(conn: Connection, info: str) -> None:
    lock(conn, "s", INFO)
    with refused(conn, "KL001"):
        _unlock(conn, info)
    assert _kinds(conn) == ["lock"]
