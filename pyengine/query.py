"""The query door: an analyst's statement, run by its own login, within limits.

The guard is the login of the pool: a member of kl_analyst and of nothing else. Every session is
checked to be one, starts a read-only transaction, and is rolled back and emptied afterwards.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any, Final, Self, cast

import msgspec
import psycopg
from msgspec import Struct
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool

from pyengine import db, readonly
from pyengine.answer import Answer, Column
from pyengine.answer_types import RowBudget, register, too_wide
from pyengine.errors import KilolockError
from pyengine.settings import DEFAULT_QUERY_SECONDS

_SESSION: Final = (
    "-c default_transaction_read_only=on -c lock_timeout=2s -c jit=off"
    " -c max_parallel_workers_per_gather=0 -c client_min_messages=error -c timezone=UTC"
    " -c datestyle=ISO -c intervalstyle=iso_8601 -c bytea_output=hex -c extra_float_digits=1"
)
_UNSAFE: Final = (
    "select r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls"
    " or session_user <> current_user or exists ("
    "select from pg_catalog.pg_roles as p where"
    " pg_catalog.pg_has_role(r.oid, p.oid, 'member') and (p.rolsuper or p.rolname"
    " in ('kl_owner', 'kl_server', 'kl_secrets', 'pg_read_all_data', 'pg_write_all_data',"
    " 'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')))"
    " from pg_catalog.pg_roles as r where r.rolname = session_user"
)


class Limits(Struct, frozen=True):
    """What one statement may use. `sessions` run at once; `patience` seconds are waited for one."""

    rows: int = 10_000
    bytes: int = 16 << 20
    seconds: int = DEFAULT_QUERY_SECONDS
    sessions: int = 4
    patience: int = 10


class QueryDoor:
    """The door's pool; open it with `async with`. No session is opened before it is needed."""

    def __init__(self, conninfo: str, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._slots = asyncio.Semaphore(self._limits.sessions)
        self._pool: AsyncConnectionPool[RowBudget] = AsyncConnectionPool(
            conninfo,
            connection_class=RowBudget,
            min_size=0,
            max_size=self._limits.sessions,
            max_idle=60.0,
            timeout=10.0,
            open=False,
            configure=_configure,
            reset=_reset,
            kwargs={
                "autocommit": True,
                "prepare_threshold": None,
                "application_name": "kilolock query",
                "options": _options(conninfo, self._limits.seconds),
            },
        )

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Let questions in."""
        await self._pool.open()

    async def close(self) -> None:
        """Close every session."""
        await self._pool.close()

    async def ask(self, text: str) -> Answer:
        """Check and run one statement.

        Raises `query_refused`, `query_failed` (with what the database said), `query_busy`.
        """
        readonly.check(text)
        return await self.run_unchecked(text)

    async def run_unchecked(self, text: str) -> Answer:
        """Run one statement that was not parsed: the login must hold without the parser."""
        async with self._slot(), self._session() as conn:
            conn.byte_budget = 2 * self._limits.bytes
            try:
                with db.explained():
                    return await self._read(conn, text)
            except KilolockError as exc:
                raise _placed(exc, text) from exc

    async def _read(self, conn: RowBudget, text: str) -> Answer:
        encoder = msgspec.json.Encoder()
        rows: list[msgspec.Raw] = []
        size, truncated = 0, False
        async with AsyncExitStack() as stack:
            cursor = await stack.enter_async_context(conn.cursor())
            # Streamed by the extended protocol, which takes one statement only.
            rows_of = cast("AsyncGenerator[Any, None]", cursor.stream(text.encode()))
            stream = await stack.enter_async_context(aclosing(rows_of))
            async for row in stream:
                line = encoder.encode(row)
                size += len(line)
                if len(rows) == self._limits.rows or size > self._limits.bytes:
                    if not rows:
                        raise too_wide()
                    truncated = True
                    break
                rows.append(msgspec.Raw(line))
            described = [(c.name, c.type_display, c.type_code) for c in cursor.description or ()]
        names = await _type_names(conn, [code for _, shown, code in described if shown.isdigit()])
        columns = [Column(name, names.get(code, shown)) for name, shown, code in described]
        return Answer(columns, rows, len(rows), truncated)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._limits.patience):
                await self._slots.acquire()
        except TimeoutError as exc:
            raise KilolockError(
                "query_busy",
                f"all {self._limits.sessions} sessions of the query door are busy; try again",
            ) from exc
        try:
            yield
        finally:
            self._slots.release()

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[RowBudget]:
        """Lend a session in a read-only transaction that is always rolled back."""
        with db.translated():
            async with self._pool.connection() as conn:
                conn.byte_budget = None
                await conn.execute("begin transaction read only")
                try:
                    await _require_harmless(conn)
                    yield conn
                finally:
                    await _leave(conn)


def open_door(url: str | None, seconds: int) -> QueryDoor:
    """Return the door for a login; raise `query_door_closed` when none is configured."""
    if url is None:
        raise KilolockError(
            "query_door_closed",
            "no login for questions is configured: set KL_QUERY_URL (or --query-url) to the"
            " database, as kl_query or another login that is a member of kl_analyst only",
        )
    return QueryDoor(url, Limits(seconds=seconds))


async def _require_harmless(conn: RowBudget) -> None:
    cursor = await conn.execute(_UNSAFE.encode())
    row = await cursor.fetchone()
    if row is None or row[0] is not False:
        raise KilolockError(
            "query_door_closed",
            f"the query door will not run as {conn.info.user}, which may do more than read;"
            " set KL_QUERY_URL to a login that is a member of kl_analyst only",
        )


async def _type_names(conn: RowBudget, codes: list[int]) -> dict[int, str]:
    """Return the names of types that the client does not know by heart."""
    if not codes or conn.info.transaction_status != TransactionStatus.INTRANS:
        return {}
    cursor = await conn.execute(
        "select t.code, pg_catalog.format_type(t.code::pg_catalog.oid, null)"
        " from pg_catalog.unnest(%s::pg_catalog.int8[]) as t (code)",
        (codes,),
    )
    return {int(bytes(code)): name for code, name in await cursor.fetchall()}


async def _leave(conn: RowBudget) -> None:
    """Roll back; drop a session that the statement left in the middle of something."""
    conn.byte_budget = None
    status = conn.info.transaction_status
    if status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        await conn.execute("rollback")
    elif status != TransactionStatus.IDLE:
        await conn.close()


def _options(conninfo: str, seconds: int) -> str:
    with db.translated():
        given = psycopg.conninfo.conninfo_to_dict(conninfo).get("options") or ""
    limits = (
        f"-c statement_timeout={seconds}s -c idle_in_transaction_session_timeout={seconds + 5}s"
    )
    return f"{given} {_SESSION} {limits}".strip()


async def _configure(conn: RowBudget) -> None:
    register(conn.adapters)


async def _reset(conn: RowBudget) -> None:
    """Leave no setting, lock, cursor, channel or temporary object to the next statement."""
    conn.byte_budget = None
    await conn.execute("discard all")


def _placed(exc: KilolockError, text: str) -> KilolockError:
    """Add line and column to an error that has a position."""
    position = exc.details.get("position")
    if not isinstance(position, int):
        return exc
    line, column = readonly.place(text, position)
    return KilolockError(
        exc.code,
        f"line {line}, column {column}: {exc.message}",
        exc.details | {"line": line, "column": column},
        sqlstate=exc.sqlstate,
    )
