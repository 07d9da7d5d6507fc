"""Install and upgrade the schema: one transaction, serialised, as kl_owner."""

import asyncio
import time
from typing import Final

from msgspec import Struct

from pyengine import db, sqltree
from pyengine.errors import KilolockError
from pyengine.install_rights import Preparation, prepare
from pyengine.sqltree import Script, SqlTree

# Any fixed number; advisory locks are per database, and so is an installation.
_LOCK_KEY: Final = 0x6B696C6F6C6F636B
_RETRIED: Final = ("55P03", "40P01", "40001")
_MINIMUM_VERSION: Final = 150000


class Outcome(Struct, frozen=True):
    """What a run did. `advice` holds statements that would help but that it had no right to run."""

    applied: tuple[str, ...]
    functions: int
    advice: tuple[str, ...]


async def migrate(
    conninfo: str,
    *,
    tree: SqlTree | None = None,
    wait_seconds: int = 60,
    lock_timeout_ms: int = 2000,
) -> Outcome:
    """Apply unseen migrations and all functions; all or nothing.

    A lock held by somebody's long query is waited for in short turns, so that nobody queues behind
    us, for `wait_seconds` in all. Raises `not_permitted_to_install` with the statements an
    administrator must run, `script_failed`, `invalid_sql_tree`.
    """
    tree = sqltree.load() if tree is None else tree
    sqltree.check_syntax(tree)
    deadline = time.monotonic() + wait_seconds
    async with await db.connect(conninfo, application_name="kilolock migrate") as conn:
        while True:
            try:
                return await _attempt(conn, tree, lock_timeout_ms, wait_seconds)
            except KilolockError as exc:
                if not _worth_retrying(exc) or time.monotonic() >= deadline:
                    raise
            await asyncio.sleep(0.5)


async def _attempt(
    conn: db.Connection, tree: SqlTree, lock_timeout_ms: int, wait_seconds: int
) -> Outcome:
    async with db.transaction(conn):
        # Installers queue here; only then does the short timeout begin.
        await conn.execute(f"set local lock_timeout = '{wait_seconds}s'")
        await conn.execute("select pg_catalog.pg_advisory_xact_lock(%s)", (_LOCK_KEY,))
        await conn.execute(f"set local lock_timeout = '{lock_timeout_ms}ms'")
        await conn.execute("set local client_min_messages = 'warning'")
        await conn.execute("set local search_path = pg_catalog, pg_temp")
        await _check_version(conn)
        preparation: Preparation = await prepare(conn, tree.roles)
        await conn.execute("set local role kl_owner")
        await _lock_writers(conn)
        applied = [script.name for script in await _unseen(conn, tree)]
        for script in tree.migrations:
            if script.name in applied:
                await _run_migration(conn, script)
        for script in tree.functions:
            await db.run_script(conn, script.label, script.text)
        await conn.execute(
            "insert into kl_internal.deployed_functions as f (checksum) values (%s)"
            " on conflict (only_row) do update"
            " set checksum = excluded.checksum, applied_at = excluded.applied_at"
            " where f.checksum <> excluded.checksum",
            (tree.functions_checksum,),
        )
    return Outcome(tuple(applied), len(tree.functions), preparation.advice)


async def _check_version(conn: db.Connection, minimum: int = _MINIMUM_VERSION) -> None:
    if conn.info.server_version < minimum:
        raise KilolockError(
            "unsupported_capability",
            f"PostgreSQL {conn.info.server_version // 10000} is too old; Kilolock needs 15 to 18",
        )


async def _exists(conn: db.Connection, table: str) -> bool:
    cursor = await conn.execute("select to_regclass(%s) is not null", (table,))
    row = await cursor.fetchone()
    return row is not None and bool(row[0])


async def _lock_writers(conn: db.Connection) -> None:
    """Wait for writers of the previous release; readers go on."""
    if await _exists(conn, "kl_internal.states"):
        await conn.execute("lock table kl_internal.states in exclusive mode")


async def _unseen(conn: db.Connection, tree: SqlTree) -> list[Script]:
    if not await _exists(conn, "kl_internal.migrations"):
        return list(tree.migrations)
    cursor = await conn.execute("select m.name, m.checksum from kl_internal.migrations as m")
    ledger: dict[str, str] = dict(await cursor.fetchall())
    known = {script.name: script for script in tree.migrations}
    for name, checksum in sorted(ledger.items()):
        if name not in known:
            raise KilolockError(
                "script_failed",
                f"the database has migration {name}, which this release does not know;"
                " use the release that installed it, or a later one",
            )
        if known[name].checksum != checksum:
            raise KilolockError(
                "script_failed",
                f"{known[name].label} is not the file that was applied to this database;"
                " restore it, and put changes into a new migration",
            )
    return [script for script in tree.migrations if script.name not in ledger]


async def _run_migration(conn: db.Connection, script: Script) -> None:
    await db.run_script(conn, script.label, script.text)
    await conn.execute(
        "insert into kl_internal.migrations (name, checksum) values (%s, %s)",
        (script.name, script.checksum),
    )


def _worth_retrying(exc: KilolockError) -> bool:
    # Two installers in one cluster meet on the shared catalogs, which report it only in prose.
    return exc.sqlstate in _RETRIED or "tuple concurrently updated" in exc.message
