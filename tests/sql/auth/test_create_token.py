import hashlib

import pytest

from tests.clusters import Connection
from tests.sql.auth.acting import act, act_as_admin, new_environment, new_token, one
from tests.sql.staging import refused

CREATE = "select token from kl.create_token(%s, %s, %s, %s, %s)"


def test_only_the_hash_of_a_token_is_kept(owner_conn: Connection) -> None:
    row = owner_conn.execute(
        "select token_id, token, expires_at from kl.create_token('ci', '{state:read}', null, '',"
        " interval '90 days')"
    ).fetchone()
    assert row is not None
    kept = owner_conn.execute(
        "select t.token_hash, t.hint, t.state_prefix, t.expires_at - t.created_at < '91 days',"
        " to_jsonb(t)::text from kl_internal.api_tokens as t where t.id = %s",
        (row[0],),
    ).fetchone()
    assert kept is not None
    assert kept[:4] == (hashlib.sha256(row[1].encode()).digest(), row[1][:9], None, True)
    assert row[1] not in kept[4]


def test_tokens_are_long_and_differ(conn: Connection) -> None:
    tokens = {new_token(conn, "state:read") for _ in range(20)}
    assert len(tokens) == 20
    assert {len(t) for t in tokens} == {67}
    assert all(t.startswith("kl_") for t in tokens)


@pytest.mark.parametrize("scopes", [[], ["read"], ["state:read", "x"], None])
def test_scopes_that_are_none_are_refused(conn: Connection, scopes: list[str] | None) -> None:
    act_as_admin(conn)
    with refused(conn, "KL001"):
        conn.execute(CREATE, ("x", scopes, None, None, None))


def test_token_needs_a_name_and_an_environment_that_is(conn: Connection) -> None:
    act_as_admin(conn)
    with refused(conn, "KL001"):
        conn.execute(CREATE, ("", ["admin"], None, None, None))
    with refused(conn, "KL201"):
        conn.execute(CREATE, ("x", ["admin"], "ws_0/env_0", None, None))


def test_creation_is_an_event_without_the_token(conn: Connection) -> None:
    token = new_token(conn, "admin", name="audited")
    detail = one(
        conn, "select e.detail::text from kl.events as e where e.detail ->> 'name' = 'audited'"
    )
    assert token[:9] in detail
    assert token[:12] not in detail


def test_admin_of_an_environment_makes_no_tokens(conn: Connection) -> None:
    place = new_environment(conn)
    for token in (
        new_token(conn, "admin", environment=place),
        new_token(conn, "admin", prefix="a"),
        new_token(conn, "state:read", "state:write", "outputs:read"),
    ):
        act(conn, token)
        with refused(conn, "KL102"):
            conn.execute(CREATE, ("x", ["admin"], None, None, None))
