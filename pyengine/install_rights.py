"""Roles, and rights on the database, that must stand before kl_owner can install."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pglast
from msgspec import Struct
from psycopg import sql

from pyengine import db
from pyengine.errors import KilolockError
from pyengine.sqltree import Script

_OWNER: Final = "kl_owner"
_RACES: Final = ("42710", "23505", "XX000")
_SEARCH_PATH: Final = '"$user", public, kl'
_EXPLICIT_GRANTS: Final = 160000


class Preparation(Struct, frozen=True):
    """`advice`: optional statements that this session had no right to run."""

    advice: tuple[str, ...]


class _Step(Struct, frozen=True):
    statement: str
    done: Callable[[], Awaitable[bool]]
    allowed: Callable[[], Awaitable[bool]]
    required: bool = True


async def prepare(conn: db.Connection, roles: Script) -> Preparation:
    """Bring about what roles.sql and the installation ask of cluster and database.

    Raises `not_permitted_to_install` before anything is changed when a required statement is
    pending and this session may not run it; its details list all such statements.
    """
    steps = [*_role_steps(conn, roles), *await _own_steps(conn)]
    pending = [step for step in steps if not await step.done()]
    refused = [step for step in pending if not await step.allowed()]
    if any(step.required for step in refused):
        raise await _refusal(conn, [step.statement for step in refused])
    for step in pending:
        if step not in refused:
            await _carry_out(conn, step)
    return Preparation(tuple(step.statement for step in refused))


async def _carry_out(conn: db.Connection, step: _Step) -> None:
    """Run a step; an installer in another database of the cluster may be doing the same."""
    for attempt in range(10):
        try:
            async with conn.transaction():
                await db.run_script(conn, "roles", step.statement)
            return
        except KilolockError as exc:
            if exc.sqlstate not in _RACES or attempt == 9:
                raise
        if await step.done():
            return
        await asyncio.sleep(0.05)


def _role_steps(conn: db.Connection, roles: Script) -> list[_Step]:
    steps: list[_Step] = []
    for text in pglast.split(roles.text):
        node = pglast.parse_sql(text)[0].stmt
        statement = text.strip() + ";"
        if isinstance(node, pglast.ast.CreateRoleStmt) and node.role:
            steps.append(_create_step(conn, statement, node.role))
        elif (
            isinstance(node, pglast.ast.GrantRoleStmt) and node.granted_roles and node.grantee_roles
        ):
            granted, member = node.granted_roles[0].priv_name, node.grantee_roles[0].rolename
            steps.append(_grant_step(conn, statement, granted, member, "MEMBER"))
        elif isinstance(node, pglast.ast.AlterRoleSetStmt):
            steps.append(_setting_step(conn, statement, node))
        else:
            raise KilolockError("invalid_sql_tree", f"{roles.label}: unexpected: {statement}")
    return steps


async def _own_steps(conn: db.Connection) -> list[_Step]:
    user, database = await _names(conn)
    explicit = conn.info.server_version >= _EXPLICIT_GRANTS
    options = " with inherit false, set true" if explicit else ""

    def render(template: str) -> str:
        return (
            sql.SQL(template).format(u=sql.Identifier(user), d=sql.Identifier(database)).as_string()
        )

    async def owner_may_create() -> bool:
        return await _role_exists(conn, _OWNER) and await _ask(
            conn, "has_database_privilege(%s, current_database(), 'CREATE')", _OWNER
        )

    async def temp_is_revoked() -> bool:
        return await _ask(
            conn,
            "not exists (select from pg_database as d,"
            " aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) as a"
            " where d.datname = current_database() and a.grantee = 0"
            " and a.privilege_type = 'TEMPORARY')",
        )

    async def owns_database() -> bool:
        return await _ask(
            conn,
            "(select pg_has_role(d.datdba, 'USAGE') from pg_database as d"
            " where d.datname = current_database())",
        )

    async def may_grant_create() -> bool:
        return await _ask(
            conn, "has_database_privilege(current_database(), 'CREATE WITH GRANT OPTION')"
        )

    current = await _database_search_path(conn)

    async def path_is_set() -> bool:
        path = await _database_search_path(conn) or ""
        return "kl" in [part.strip() for part in path.split(",")]

    path = f"{current}, kl" if current else _SEARCH_PATH
    return [
        _grant_step(
            conn,
            render(f"grant {_OWNER} to {{u}}{options};"),
            _OWNER,
            user,
            "SET" if explicit else "MEMBER",
        ),
        _Step(
            render(f"grant create on database {{d}} to {_OWNER};"),
            owner_may_create,
            may_grant_create,
        ),
        _Step(
            render("revoke temporary on database {d} from public;"),
            temp_is_revoked,
            owns_database,
            required=False,
        ),
        _Step(
            render("alter database {d} set search_path = ") + path + ";",
            path_is_set,
            owns_database,
            required=False,
        ),
    ]


def _create_step(conn: db.Connection, statement: str, role: str) -> _Step:
    async def done() -> bool:
        return await _role_exists(conn, role)

    async def allowed() -> bool:
        return await _may_create_roles(conn)

    return _Step(statement, done, allowed)


def _grant_step(
    conn: db.Connection, statement: str, granted: str, member: str, privilege: str
) -> _Step:
    async def done() -> bool:
        return (
            await _role_exists(conn, granted)
            and await _role_exists(conn, member)
            and await _ask(conn, "pg_has_role(%s, %s, %s)", member, granted, privilege)
        )

    async def allowed() -> bool:
        if not await _role_exists(conn, granted):
            return await _may_create_roles(conn)  # it will be ours
        if conn.info.server_version < _EXPLICIT_GRANTS and await _may_create_roles(conn):
            return True
        return await _ask(conn, "pg_has_role(%s, 'MEMBER WITH ADMIN OPTION')", granted)

    return _Step(statement, done, allowed)


def _setting_step(
    conn: db.Connection,
    statement: str,
    node: Any,  # noqa: ANN401 - an AlterRoleSetStmt of roles.sql
) -> _Step:
    role: str = node.role.rolename
    wanted = f"{node.setstmt.name}={node.setstmt.args[0].val.sval}"

    async def done() -> bool:
        return await _ask(
            conn,
            "exists (select from pg_db_role_setting as s"
            " join pg_roles as r on r.oid = s.setrole"
            " where s.setdatabase = 0 and r.rolname = %s and %s = any (s.setconfig))",
            role,
            wanted,
        )

    async def allowed() -> bool:
        if not await _may_create_roles(conn):
            return False
        return (
            not await _role_exists(conn, role)  # it will be ours
            or conn.info.server_version < _EXPLICIT_GRANTS
            or await _ask(conn, "pg_has_role(%s, 'MEMBER WITH ADMIN OPTION')", role)
        )

    return _Step(statement, done, allowed, required=False)


async def _refusal(conn: db.Connection, statements: list[str]) -> KilolockError:
    user, database = await _names(conn)
    listing = "\n".join(f"    {statement}" for statement in statements)
    return KilolockError(
        "not_permitted_to_install",
        f"user {user} may not install into database {database}; nothing was changed.\n"
        f"Let an administrator run this in that database, then try again:\n{listing}",
        {"statements": statements},
    )


async def _names(conn: db.Connection) -> tuple[str, str]:
    cursor = await conn.execute("select current_user, current_database()")
    row = await cursor.fetchone()
    assert row is not None
    return str(row[0]), str(row[1])


async def _database_search_path(conn: db.Connection) -> str | None:
    cursor = await conn.execute(
        "select c.setting from pg_db_role_setting as s, unnest(s.setconfig) as c (setting)"
        " where s.setrole = 0 and starts_with(c.setting, 'search_path=') and s.setdatabase ="
        " (select d.oid from pg_database as d where d.datname = current_database())"
    )
    row = await cursor.fetchone()
    return str(row[0]).removeprefix("search_path=") if row else None


async def _may_create_roles(conn: db.Connection) -> bool:
    return await _ask(
        conn,
        "(select r.rolsuper or r.rolcreaterole from pg_roles as r where r.rolname = current_user)",
    )


async def _role_exists(conn: db.Connection, role: str) -> bool:
    return await _ask(conn, "exists (select from pg_roles as r where r.rolname = %s)", role)


async def _ask(conn: db.Connection, expression: str, *values: str) -> bool:
    cursor = await conn.execute(f"select {expression}".encode(), values)
    row = await cursor.fetchone()
    return row is not None and bool(row[0])
