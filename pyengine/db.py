"""The connection pool, transactions, and the one place that reads a database error."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Self, TypeVar

import psycopg
from msgspec import Struct
from psycopg_pool import AsyncConnectionPool

from pyengine.errors import BY_SQLSTATE, KilolockError

T = TypeVar("T")

Connection = psycopg.AsyncConnection[Any]

_RETRIED = ("40001", "40P01")
_FORBIDDEN = "42501"
_NUL_IN_JSON = "22P05"
_TOO_DEEP = "54001"
_DAMAGED = "XX001"
_UNAVAILABLE = ("53300", "57P01", "57P02", "57P03", "57P05")
_NO_SUCH_OBJECT = ("3F000", "42P01", "42883")


class Caller(Struct, frozen=True):
    """Who acts in a transaction: a token for the resolver, a name for the audit trail."""

    token: str | None = None
    actor: str | None = None


def parse_detail(text: str | None) -> dict[str, Any]:
    """Return the JSON object of a DETAIL; {} when it is none. Numbers with a point stay text."""
    if not text:
        return {}
    try:
        value = json.loads(text, parse_float=str)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def translate(exc: psycopg.Error) -> KilolockError:
    """Turn a database error into ours, without its CONTEXT, statement or values."""
    sqlstate = exc.sqlstate
    row = BY_SQLSTATE.get(sqlstate or "")
    if row is not None:
        message = exc.diag.message_primary or row.code
        return KilolockError(row.code, message, parse_detail(exc.diag.message_detail))
    if sqlstate == _FORBIDDEN:
        return KilolockError(
            "forbidden", "the database role in use may not do this", sqlstate=sqlstate
        )
    if _connection_failed(exc):
        return KilolockError(
            "database_unavailable",
            "the database cannot be reached or ended the connection; try again",
            sqlstate=sqlstate,
        )
    if sqlstate == _NUL_IN_JSON or (sqlstate is None and isinstance(exc, psycopg.DataError)):
        return KilolockError("invalid_request", "a text value holds a character PostgreSQL refuses")
    if sqlstate == _DAMAGED:
        return KilolockError(
            "version_damaged",
            f"{exc.diag.message_primary}; see `kl verify`",
            parse_detail(exc.diag.message_detail),
            sqlstate=sqlstate,
        )
    if sqlstate == _TOO_DEEP:
        return KilolockError("invalid_request", "what was sent is nested too deeply")
    logging.getLogger("kilolock.db").error("database error, SQLSTATE %s", sqlstate or "unknown")
    hint = "; is the schema installed? run `kld migrate`" if sqlstate in _NO_SUCH_OBJECT else ""
    return KilolockError(
        "internal",
        f"the database answered with SQLSTATE {sqlstate or 'unknown'}{hint}",
        sqlstate=sqlstate,
    )


def _connection_failed(exc: psycopg.Error) -> bool:
    if exc.sqlstate is None:
        return isinstance(exc, (psycopg.OperationalError, psycopg.InterfaceError))
    return exc.sqlstate.startswith("08") or exc.sqlstate in _UNAVAILABLE


def explain(exc: psycopg.Error) -> KilolockError:
    """Turn what the database says of a statement that a caller wrote into `query_failed`.

    details: sqlstate, position (from 1), hint. Never DETAIL or CONTEXT, which hold values.
    """
    unsaid = exc.sqlstate is None and isinstance(exc, psycopg.ProgrammingError)
    if not unsaid and (exc.sqlstate in BY_SQLSTATE or _connection_failed(exc)):
        return translate(exc)
    position = exc.diag.statement_position
    found = {
        "sqlstate": exc.sqlstate,
        "position": int(position) if position else None,
        "hint": exc.diag.message_hint,
    }
    return KilolockError(
        "query_failed",
        exc.diag.message_primary or "the statement does not answer with rows",
        {key: value for key, value in found.items() if value is not None},
        sqlstate=exc.sqlstate,
    )


@contextmanager
def explained() -> Iterator[None]:
    """Raise in place of any psycopg.Error what `explain` makes of it."""
    try:
        yield
    except psycopg.Error as exc:
        raise explain(exc) from exc


@contextmanager
def translated() -> Iterator[None]:
    """Raise KilolockError in place of any psycopg.Error from the block."""
    try:
        yield
    except psycopg.Error as exc:
        raise translate(exc) from exc


async def run_script(conn: Connection, label: str, text: str) -> None:
    """Run the statements of a file of our own; an error names file, line and message."""
    try:
        await conn.execute(text.encode())
    except psycopg.Error as exc:
        if exc.sqlstate is None:
            raise translate(exc) from exc
        position = exc.diag.statement_position
        line = text.count("\n", 0, int(position) - 1) + 1 if position else None
        where = label if line is None else f"{label}:{line}"
        raise KilolockError(
            "script_failed", f"{where}: {exc.diag.message_primary}", sqlstate=exc.sqlstate
        ) from exc


@asynccontextmanager
async def transaction(
    conn: Connection, caller: Caller | None = None, *, read_only: bool = False
) -> AsyncIterator[Connection]:
    """Run the block in one transaction of `conn`, told who the caller is."""
    with translated():
        async with conn.transaction():
            settings = {"transaction_read_only": "on"} if read_only else {}
            if caller is not None:
                settings |= {"kl.token": caller.token or "", "kl.actor": caller.actor or ""}
            if settings:  # in one statement: each is a way to the database and back
                calls = ", ".join(["set_config(%s, %s, true)"] * len(settings))
                values = [text for setting in settings.items() for text in setting]
                await conn.execute(f"select {calls}".encode(), values)
            yield conn


@contextmanager
def _reaching(conninfo: str) -> Iterator[None]:
    """Name the host in the `database_unavailable` of the block; never a login or password."""
    try:
        with translated():
            yield
    except KilolockError as exc:
        if exc.code != "database_unavailable":
            raise
        given: Mapping[str, Any] = psycopg.conninfo.conninfo_to_dict(conninfo)
        host, port = given.get("host") or "the local socket", given.get("port") or 5432
        raise KilolockError(
            exc.code,
            f"the database at {host}, port {port}, cannot be reached; is it running, and is its URL"
            " right?",
            sqlstate=exc.sqlstate,
        ) from exc


async def connect(conninfo: str, *, application_name: str = "kilolock") -> Connection:
    """Open one autocommit session for a command that needs no pool."""
    with _reaching(conninfo):
        return await psycopg.AsyncConnection.connect(
            conninfo,
            autocommit=True,
            application_name=application_name,
            options=session_options(conninfo),
        )


def checked_conninfo(url: str, where: str) -> str:
    """Return a URL that libpq can read; else raise `invalid_configuration`, naming `where` it is.

    Nothing of the URL is repeated: it may hold a password.
    """
    try:
        ports = str(psycopg.conninfo.conninfo_to_dict(url).get("port") or "").split(",")
        if all(not port or 0 < int(port) < 65536 for port in ports):
            return url
    except (psycopg.Error, ValueError):
        pass  # their words repeat the URL
    raise KilolockError(
        "invalid_configuration",
        f"{where} is no database URL such as postgresql://USER@HOST:5432/DATABASE; mind its port,"
        " the % escapes and the names of parameters",
    )


def session_options(conninfo: str) -> str:
    """Return the URL's own `options` and ours. Short statements never gain from the JIT."""
    given: Mapping[str, Any] = psycopg.conninfo.conninfo_to_dict(conninfo)
    return f"-c jit=off {given.get('options') or ''}".rstrip()


class Database:
    """A pool of autocommit sessions; open it with `async with`."""

    def __init__(
        self,
        conninfo: str,
        *,
        min_size: int = 1,
        max_size: int = 16,
        timeout: float = 10.0,
        application_name: str = "kilolock",
    ) -> None:
        with translated():
            options = session_options(conninfo)
        self._timeout = timeout
        self._conninfo = conninfo
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            conninfo,
            min_size=min_size,
            max_size=max_size,
            timeout=timeout,
            open=False,
            check=AsyncConnectionPool.check_connection,
            kwargs={
                "autocommit": True,
                "application_name": application_name,
                "options": options,
            },
        )

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Open the pool and wait for a first session; raise `database_unavailable` without one."""
        with _reaching(self._conninfo):
            try:
                await self._pool.open(wait=True, timeout=self._timeout)
            except psycopg.Error:
                await self._pool.close()
                raise

    async def close(self) -> None:
        """Close every session."""
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Lend an autocommit session: each statement is its own transaction."""
        with translated():
            async with self._pool.connection() as conn:
                yield conn

    @asynccontextmanager
    async def transaction(
        self, caller: Caller | None = None, *, read_only: bool = False
    ) -> AsyncIterator[Connection]:
        """Lend a session for one transaction: commit at the end, roll back on an error."""
        async with (
            self.connection() as conn,
            transaction(conn, caller, read_only=read_only),
        ):
            yield conn

    async def run(
        self,
        work: Callable[[Connection], Awaitable[T]],
        caller: Caller | None = None,
        *,
        read_only: bool = False,
    ) -> T:
        """Run `work` in a transaction; once more after a serialization failure or deadlock."""
        try:
            async with self.transaction(caller, read_only=read_only) as conn:
                return await work(conn)
        except KilolockError as exc:
            if exc.sqlstate not in _RETRIED:
                raise
        async with self.transaction(caller, read_only=read_only) as conn:
            return await work(conn)
