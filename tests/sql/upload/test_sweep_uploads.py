from tests.clusters import Connection
from tests.documents import resource, state
from tests.sql.staging import stage, stage_keys

_SWEEP = "select kl.sweep_uploads(p_older_than => interval '1 hour')"


def test_only_old_uploads_go(conn: Connection) -> None:
    upload = stage(conn, state(1, resource("a")))
    stage_keys(conn, state(1, resource("b")))
    assert conn.execute(_SWEEP).fetchone() == (0,)

    conn.execute("select kl_test.set_clock(now() + interval '61 minutes')")
    assert conn.execute(_SWEEP).fetchone() == (2,)
    assert upload.write("s").outcome == "lost"
