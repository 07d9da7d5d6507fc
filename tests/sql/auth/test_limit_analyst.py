from collections.abc import Iterator

import pytest

from tests.clusters import Connection, Database
from tests.documents import resource, state
from tests.sql.auth.acting import act_as_admin, new_environment
from tests.sql.auth.planted import LIMITED, ensure_limited
from tests.sql.staging import refused, write

SEEN = "select s.state_name from kl.states as s order by 1"
READERS = (
    "select state_name from kl.states",
    "select state_name from kl.state_versions",
    "select state_name from kl.resources",
    "select state_name from kl.resource_history",
    "select state_name from kl.state_locks",
)


@pytest.fixture
def places(database: Database) -> Iterator[tuple[Database, dict[str, str]]]:
    """Two environments with a state each, named like it, and one in the default environment."""
    with database.connect("postgres") as root:
        ensure_limited(root)
    with database.connect() as conn:
        with conn.transaction():
            made = {name: new_environment(conn, name) for name in ("red", "blue")}
            for name, place in made.items():
                write(conn, f"{place}/{name}", state(1, resource("x")))
            write(conn, "plain", state(1, resource("x")))
            conn.execute("select kl.lock_state('plain', '{\"ID\": \"1\"}')")
        yield database, made


def _limit(database: Database, *environments: str) -> None:
    with database.connect("postgres") as root:
        root.execute("select kl.limit_analyst(%s, %s)", (LIMITED, list(environments)))


def _seen(database: Database) -> list[str]:
    with database.connect(LIMITED) as conn:
        return [row[0] for row in conn.execute(SEEN).fetchall()]


def test_login_sees_its_environments_only(places: tuple[Database, dict[str, str]]) -> None:
    database, made = places
    assert _seen(database) == ["blue", "plain", "red"]
    _limit(database, made["red"])
    assert _seen(database) == ["red"]
    _limit(database, made["red"], made["blue"])
    assert _seen(database) == ["blue", "red"]
    with database.connect(LIMITED) as conn:
        for query in READERS:
            assert {row[0] for row in conn.execute(query.encode())} <= {"red", "blue"}
        assert conn.execute("select count(*) from kl.events").fetchone() == (0,)
        with refused(conn, "KL102"):
            conn.execute("select address from kl.resources_at('plain')")
    _limit(database)
    assert _seen(database) == ["blue", "plain", "red"]


def test_limit_of_one_login_is_not_anothers(places: tuple[Database, dict[str, str]]) -> None:
    database, made = places
    _limit(database, made["red"])
    with database.connect("kl_query") as conn:
        assert len(conn.execute(SEEN).fetchall()) == 3
        # The session's login counts, whatever role it plays.
        conn.execute("set role kl_analyst")
        assert len(conn.execute(SEEN).fetchall()) == 3


def test_limit_is_set_by_admins_for_logins_that_are(conn: Connection) -> None:
    with refused(conn, "KL102"):
        conn.execute("select kl.limit_analyst('kl_query', '{}')")
    act_as_admin(conn)
    with refused(conn, "KL001"):
        conn.execute("select kl.limit_analyst('nobody_of_that_name', '{default/default}')")
    with refused(conn, "KL201"):
        conn.execute("select kl.limit_analyst('kl_query', '{ws_0/env_0}')")
    conn.execute("select kl.limit_analyst('kl_query', '{default/default}')")
    assert conn.execute(
        "select e.detail ->> 'login' from kl.events as e where e.kind = 'limit_analyst'"
    ).fetchall() == [("kl_query",)]
