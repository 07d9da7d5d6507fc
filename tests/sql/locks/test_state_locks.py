from datetime import timedelta

from tests.clusters import Connection
from tests.sql.locks.test_lock_state import INFO, lock


def test_lock_shows_who_holds_it_and_since_when(conn: Connection) -> None:
    conn.execute("select kl_test.set_clock(now() - interval '90 minutes')")
    lock(conn, "s", INFO)
    row = conn.execute(
        "select state_name, kind, lock_id, operation, who, principal, apply_id, age "
        "from kl.state_locks"
    ).fetchone()
    assert row is not None
    assert row[:7] == (
        "s", "terraform", "one", INFO["Operation"], INFO["Who"], "kl_server", None,
    )  # fmt: skip
    assert row[7] == timedelta(minutes=90)
