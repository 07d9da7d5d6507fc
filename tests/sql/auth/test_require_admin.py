from tests.clusters import Connection
from tests.sql.auth.acting import act, act_as_admin, new_environment, new_token
from tests.sql.staging import refused

ASK = "select kl.require_admin()"


def test_admin_is_of_the_whole_installation(conn: Connection) -> None:
    place = new_environment(conn)
    for token in (
        new_token(conn, "admin", environment=place),
        new_token(conn, "admin", prefix="a"),
        new_token(conn, "state:read", "state:write"),
    ):
        act(conn, token)
        with refused(conn, "KL102"):
            conn.execute(ASK)
    act(conn, new_token(conn, "admin"))
    conn.execute(ASK)
    act_as_admin(conn)
    conn.execute(ASK)


def test_owner_is_admin_and_a_server_login_of_itself_is_not(
    owner_conn: Connection, conn: Connection
) -> None:
    owner_conn.execute(ASK)
    with refused(conn, "KL102"):
        conn.execute(ASK)
