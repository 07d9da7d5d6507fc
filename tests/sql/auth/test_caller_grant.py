"""Who calls, as every function sees it (kl_internal.caller_grant), through kl.require_access."""

import pytest

from tests.clusters import Connection, Database
from tests.sql.auth.acting import act, new_environment, new_token
from tests.sql.auth.calls import outcome
from tests.sql.staging import refused

ASK = "select kl.require_access(p_name => %s, p_scope => %s)"
SCOPES = ("state:read", "state:write", "outputs:read", "admin")


def _granted(conn: Connection, name: str) -> set[str]:
    granted = set()
    for scope in SCOPES:
        said = outcome(conn, ASK.encode(), (name, scope))
        assert said.sqlstate in ("", "KL101", "KL102")
        if not said.sqlstate:
            granted.add(scope)
    return granted


@pytest.mark.parametrize(
    ("scopes", "granted"),
    [
        (["outputs:read"], {"outputs:read"}),
        (["state:read"], {"state:read", "outputs:read"}),
        (["state:write"], {"state:write"}),
        (["state:write", "state:read"], {"state:write", "state:read", "outputs:read"}),
        (["admin"], set(SCOPES)),
    ],
)
def test_token_has_its_scopes(conn: Connection, scopes: list[str], granted: set[str]) -> None:
    act(conn, new_token(conn, *scopes))
    assert _granted(conn, "a") == granted


def test_token_of_an_environment_reaches_no_other(conn: Connection) -> None:
    place, other = new_environment(conn), new_environment(conn, "v")
    act(conn, new_token(conn, "admin", environment=place))
    conn.execute(ASK, (f"{place}/a", "admin"))
    for name in (f"{other}/a", "a", "ws_0/env_0/a", f"{place.partition('/')[0]}/env_0/a"):
        with refused(conn, "KL102"):
            conn.execute(ASK, (name, "state:read"))


def test_prefix_is_of_the_bare_name_and_literal(conn: Connection) -> None:
    place = new_environment(conn)
    act(conn, new_token(conn, "state:read", prefix="web_"))
    for name in ("web_", "web_a/b", f"{place}/web_a"):
        conn.execute(ASK, (name, "state:read"))
    for name in ("webXa", "web", "Web_a", "a/web_", "%", f"{place}/a"):
        with refused(conn, "KL102"):
            conn.execute(ASK, (name, "state:read"))


def test_refusal_is_the_same_whether_the_state_exists(conn: Connection) -> None:
    token = new_token(conn, "state:read", prefix="mine/")
    conn.execute("select kl.lock_state('theirs', '{\"ID\": \"1\"}')")
    act(conn, token)
    said = []
    for name in ("theirs", "nothing", "ws_0/env_0/nothing"):
        with refused(conn, "KL102") as refusal:
            conn.execute(ASK, (name, "state:read"))
        said.append((refusal.message, refusal.detail))
    assert len({str(s) for s in said}) == 1


def test_unknown_expired_and_revoked_tokens_are_refused_alike(conn: Connection) -> None:
    conn.execute("select kl_test.set_clock('2030-01-01 12:00')")
    expired = new_token(conn, "admin", lifetime="1 hour")
    revoked = new_token(conn, "admin", name="r")
    conn.execute("select kl.revoke_token('r')")
    act(conn, expired)
    conn.execute(ASK, ("a", "admin"))
    conn.execute("select kl_test.set_clock('2030-01-01 13:00')")
    said = set()
    for token in (expired, revoked, "kl_", expired.upper(), expired + " "):
        act(conn, token)
        with refused(conn, "KL101") as refusal:
            conn.execute(ASK, ("a", "outputs:read"))
        said.add((refusal.message, str(refusal.detail)))
    assert len(said) == 1


def test_a_bad_token_does_not_fall_back_to_an_open_server(conn: Connection) -> None:
    act(conn, "kl_wrong", auth="open")
    with refused(conn, "KL101"):
        conn.execute(ASK, ("a", "state:read"))


@pytest.mark.parametrize(
    ("auth", "granted"),
    [
        ("database", set()),
        ("open", set(SCOPES)),
        ("static", set(SCOPES)),
        ("", {"state:read", "state:write", "outputs:read"}),
    ],
)
def test_without_a_token_the_mode_decides(conn: Connection, auth: str, granted: set[str]) -> None:
    act(conn, auth=auth)
    assert _granted(conn, "a") == granted


def test_missing_token_is_told_from_a_missing_right(conn: Connection) -> None:
    act(conn)
    with refused(conn, "KL101"):
        conn.execute(ASK, ("a", "state:read"))
    act(conn, new_token(conn, "outputs:read"))
    with refused(conn, "KL102") as refusal:
        conn.execute(ASK, ("a", "state:read"))
    assert refusal.detail["scope"] == "state:read"


@pytest.mark.parametrize("setting", ["open", "static"])
def test_an_analyst_gains_nothing_by_settings(shared_database: Database, setting: str) -> None:
    with shared_database.connect("kl_query", autocommit=False) as conn:
        act(conn, auth=setting)
        conn.execute("select state_name from kl.states")
        with refused(conn, "42501"):
            conn.execute(ASK, ("a", "state:read"))
        conn.rollback()
