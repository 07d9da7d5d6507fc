from tests.clusters import Connection
from tests.documents import OTHER_LINEAGE, lock_info, resource, state
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import refused, write

_DELETE = "select kl.delete_state(p_name => 's')"


def test_deleted_state_is_in_no_view_and_audited(conn: Connection) -> None:
    write(conn, "s", state(1, resource(), outputs={"o": {"value": 1, "type": "number"}}))
    [(state_id,)] = conn.execute("select state_id from kl.states").fetchall()
    assert conn.execute(_DELETE).fetchone() == (state_id,)
    for view in (
        "states",
        "state_versions",
        "resources",
        "resource_history",
        "outputs",
        "current_resource_drift",
        "drift_findings",
    ):
        assert conn.execute(f"select count(*) from kl.{view}".encode()).fetchone() == (0,), view
    assert conn.execute("select kind, detail from kl.events").fetchall() == [
        ("delete", {"version_no": 1})
    ]


def test_name_is_free_for_any_lineage_and_serial(conn: Connection) -> None:
    first = write(conn, "s", state(7, resource()))
    conn.execute(_DELETE)
    again = write(conn, "s", state(1, lineage=OTHER_LINEAGE))
    assert (again.outcome, again.version_no) == ("written", 1)
    assert again.version_id != first.version_id


def test_absent_state_is_told(conn: Connection) -> None:
    with refused(conn, "KL201") as refusal:
        conn.execute(_DELETE)
    assert refusal.detail == {"state": "s"}


def test_lock_on_a_state_that_is_not_written_yet_refuses_too(conn: Connection) -> None:
    info = lock_info("one")
    lock(conn, "s", info)
    with refused(conn, "KL303") as refusal:
        conn.execute(_DELETE)
    assert refusal.detail == {"lock": info}


def test_anybodys_lock_refuses_a_deletion(conn: Connection) -> None:
    write(conn, "s", state(1))
    info = lock_info("one")
    lock(conn, "s", info)
    with refused(conn, "KL303") as refusal:
        conn.execute(_DELETE)
    assert refusal.detail == {"lock": info}
    assert conn.execute("select count(*) from kl.states").fetchone() == (1,)


def test_analyst_may_not_delete(analyst_conn: Connection) -> None:
    with refused(analyst_conn, "42501"):
        analyst_conn.execute(_DELETE)
