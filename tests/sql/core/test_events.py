import json

from tests.clusters import Connection
from tests.documents import ENCRYPTED, lock_info, resource, state
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import stage, write


def test_audit_trail_tells_what_no_version_shows(conn: Connection) -> None:
    conn.execute("select set_config('kl.actor', 'ann@cli', true)")
    stage(conn, state(1, resource())).import_("s")
    lock(conn, "s", lock_info("one"))
    conn.execute("select kl.unlock_state('s', %s)", (json.dumps(lock_info("one")),))
    write(conn, "s", ENCRYPTED)
    conn.execute("select kl.delete_state('s')")
    rows = conn.execute(
        "select kind, state_name, actor, principal, occurred_at is not null "
        "from kl.events order by event_id"
    ).fetchall()
    kinds = ["import", "lock", "unlock", "became_opaque", "delete"]
    assert rows == [(kind, "s", "ann@cli", "kl_server", True) for kind in kinds]


def test_plain_writes_leave_no_event(conn: Connection) -> None:
    write(conn, "s", state(1))
    assert conn.execute("select count(*) from kl.events").fetchone() == (0,)
