import pytest

from tests.clusters import Connection
from tests.documents import resource, state
from tests.sql.locks.test_lock_state import INFO, lock
from tests.sql.staging import refused, write

_CALL = "select lock_id, operation, who from kl.force_unlock(p_name => 's', p_lock_id => %s::text)"


@pytest.mark.parametrize("lock_id", [None, "one"])
def test_lock_is_freed_whoever_holds_it(conn: Connection, lock_id: str | None) -> None:
    write(conn, "s", state(1, resource()))
    lock(conn, "s", INFO)
    assert conn.execute(_CALL, (lock_id,)).fetchall() == [("one", INFO["Operation"], INFO["Who"])]
    assert conn.execute("select count(*) from kl.state_locks").fetchone() == (0,)
    forced = conn.execute("select detail from kl.events where kind = 'force_unlock'").fetchall()
    assert [d["lock_id"] for (d,) in forced] == ["one"]


def test_nothing_held_gives_no_row(conn: Connection) -> None:
    write(conn, "s", state(1))
    assert conn.execute(_CALL, (None,)).fetchall() == []


def test_another_id_frees_nothing(conn: Connection) -> None:
    lock(conn, "s", INFO)
    with refused(conn, "KL304") as refusal:
        conn.execute(_CALL, ("two",))
    assert refusal.detail == {"lock": INFO}
    assert conn.execute("select lock_id from kl.state_locks").fetchall() == [("one",)]


def test_absent_state_is_told(conn: Connection) -> None:
    with refused(conn, "KL201") as refusal:
        conn.execute(_CALL, (None,))
    assert refusal.detail == {"state": "s"}
