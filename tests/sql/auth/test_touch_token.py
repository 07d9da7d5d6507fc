from tests.clusters import Connection
from tests.sql.auth.acting import act, act_as_admin, new_token, one

USED = "select extract(second from last_used_at)::integer from kl.list_tokens() where name = %s"


def test_use_is_noted_once_a_minute_for_the_one_token(conn: Connection) -> None:
    token = new_token(conn, "state:read", name="used")
    new_token(conn, "state:read", name="other")
    for now, noted in (("00:00:07", 7), ("00:00:59", 7), ("00:01:09", 9)):
        conn.execute("select kl_test.set_clock(('2030-01-01 ' || %s)::timestamptz)", (now,))
        act(conn, token)
        conn.execute("select kl.touch_token()")
        act_as_admin(conn)
        assert one(conn, USED, "used") == noted
        assert one(conn, USED, "other") is None
