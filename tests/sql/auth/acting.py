"""Be one caller after another in one kl_server session."""

from typing import Any

from tests.clusters import Connection


def act(conn: Connection, token: str = "", auth: str = "database", actor: str = "") -> None:
    """Act by a token from here on; by none unless given."""
    conn.execute(
        "select set_config('kl.auth', %s, true), set_config('kl.token', %s, true),"
        " set_config('kl.actor', %s, true)",
        (auth, token, actor),
    )


def act_as_admin(conn: Connection) -> None:
    """Act as whoever calls an open server."""
    act(conn, auth="open", actor="root@test")


def one(conn: Connection, query: str, *values: Any) -> Any:  # noqa: ANN401 - whatever is asked for
    """Return the one value of the one row that a query answers with."""
    row = conn.execute(query.encode(), values).fetchone()
    assert row is not None
    return row[0]


def new_token(
    conn: Connection,
    *scopes: str,
    name: str = "t",
    environment: str | None = None,
    prefix: str | None = None,
    lifetime: str | None = None,
) -> str:
    """Make a token as an admin."""
    act_as_admin(conn)
    return str(
        one(
            conn,
            "select token from kl.create_token(p_name => %s, p_scopes => %s, p_environment => %s,"
            " p_state_prefix => %s, p_lifetime => %s::interval)",
            name,
            list(scopes),
            environment,
            prefix,
            lifetime,
        )
    )


def new_environment(conn: Connection, workspace: str = "w", name: str = "e") -> str:
    """Make a workspace with an environment as an admin; return the prefix of its names."""
    act_as_admin(conn)
    conn.execute("select kl.create_workspace(%s)", (workspace,))
    return str(one(conn, "select kl.create_environment(%s, %s)", workspace, name))
