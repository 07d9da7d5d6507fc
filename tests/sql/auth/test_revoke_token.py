from tests.clusters import Connection
from tests.sql.auth.acting import act, act_as_admin, new_token, one
from tests.sql.staging import refused

LIST = "select name from kl.list_states()"


def test_revoked_token_is_worth_nothing(conn: Connection) -> None:
    token = new_token(conn, "state:read", name="gone")
    act(conn, token)
    conn.execute(LIST)
    act_as_admin(conn)
    conn.execute("select kl.revoke_token('gone')")
    act(conn, token)
    with refused(conn, "KL101"):
        conn.execute(LIST)


def test_token_goes_by_id_name_hint_or_itself(conn: Connection) -> None:
    for by in ("token_id::text", "name", "hint"):
        new_token(conn, "state:read", name="n")
        which = one(conn, f"select {by} from kl.list_tokens() where revoked_at is null")
        assert one(conn, "select kl.revoke_token(%s)", which)
    token = new_token(conn, "state:read", name="n")
    assert one(conn, "select kl.revoke_token(%s)", token)


def test_another_token_of_the_same_beginning_stays(conn: Connection) -> None:
    token = new_token(conn, "state:read")
    with refused(conn, "KL001") as refusal:
        conn.execute("select kl.revoke_token(%s)", (token[:9] + "0" * 58,))
    assert token[:12] not in refusal.message
    act(conn, token)
    conn.execute(LIST)


def test_none_or_several_are_refused(conn: Connection) -> None:
    for _ in range(2):
        new_token(conn, "state:read", name="twin")
    for name in ("twin", "nobody"):
        with refused(conn, "KL001"):
            conn.execute("select kl.revoke_token(%s)", (name,))


def test_revoking_twice_is_refused_and_needs_an_admin(conn: Connection) -> None:
    token = new_token(conn, "state:read", name="once")
    act(conn, token)
    with refused(conn, "KL102"):
        conn.execute("select kl.revoke_token('once')")
    act_as_admin(conn)
    conn.execute("select kl.revoke_token('once')")
    with refused(conn, "KL001"):
        conn.execute("select kl.revoke_token('once')")
