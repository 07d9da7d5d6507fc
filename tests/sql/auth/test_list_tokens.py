from tests.clusters import Connection
from tests.sql.auth.acting import act, new_environment, new_token
from tests.sql.staging import refused


def test_tokens_are_listed_without_their_text(conn: Connection) -> None:
    place = new_environment(conn)
    token = new_token(conn, "state:read", name="a", environment=place, prefix="p/")
    row = conn.execute(
        "select name, hint, environment, scopes, state_prefix, created_by, last_used_at,"
        " to_jsonb(t) from kl.list_tokens() as t"
    ).fetchone()
    assert row is not None
    assert row[:7] == ("a", token[:9], place, ["state:read"], "p/", "root@test", None)
    assert token[:12] not in str(row[7])


def test_list_is_for_admins_of_the_installation(conn: Connection) -> None:
    token = new_token(conn, "admin", prefix="a")
    act(conn, token)
    with refused(conn, "KL102"):
        conn.execute("select name from kl.list_tokens()")
