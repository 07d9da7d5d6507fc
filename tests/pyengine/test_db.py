import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from pyengine import db
from pyengine.errors import KilolockError
from tests.clusters import Database


def _fails_with(database: Database, statement: str, *, user: str = "postgres") -> KilolockError:
    async def run() -> None:
        async with db.Database(database.conninfo(user)) as pool, pool.transaction() as conn:
            await conn.execute(statement.encode())

    with pytest.raises(KilolockError) as caught:
        asyncio.run(run())
    return caught.value


def _run(database: Database, work: Callable[[db.Database], Awaitable[None]]) -> None:
    async def run() -> None:
        async with db.Database(database.conninfo()) as pool:
            await work(pool)

    asyncio.run(run())


def test_our_own_error_keeps_code_message_and_detail(database: Database) -> None:
    error = _fails_with(
        database,
        "do $$ begin raise exception using errcode = 'KL303', message = 'held',"
        """ detail = '{"ID": "a", "n": 12345678901234567890, "x": 1.50}'; end $$""",
    )
    assert (error.code, error.http_status, error.message) == ("terraform_locked", 423, "held")
    assert error.details == {"ID": "a", "n": 12345678901234567890, "x": "1.50"}


def test_detail_that_is_not_an_object_is_dropped(database: Database) -> None:
    error = _fails_with(
        database,
        "do $$ begin raise exception using errcode = 'KL001', message = 'm',"
        " detail = 'prose'; end $$",
    )
    assert error.details == {}


def test_missing_right_is_forbidden(database: Database) -> None:
    error = _fails_with(database, "select from kl_internal.migrations", user="kl_query")
    assert (error.code, error.http_status) == ("forbidden", 403)


def test_other_errors_show_and_log_the_sqlstate_only(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        error = _fails_with(database, "select 'hunter2'::integer")
    assert (error.code, error.http_status, error.sqlstate) == ("internal", 500, "22P02")
    assert "hunter2" not in str(error) + repr(error.details) + caplog.text
    assert "22P02" in caplog.text


def test_no_server_is_database_unavailable() -> None:
    async def run() -> None:
        async with db.Database("host=/nonexistent", timeout=0.2):
            pass

    with pytest.raises(KilolockError) as caught:
        asyncio.run(run())
    assert (caught.value.code, caught.value.http_status) == ("database_unavailable", 503)


def test_an_ended_connection_is_database_unavailable_and_replaced(database: Database) -> None:
    async def work(pool: db.Database) -> None:
        with pytest.raises(KilolockError) as caught:
            async with pool.connection() as conn:
                pid = conn.info.backend_pid
                with database.connect("postgres") as admin:
                    admin.execute("select pg_terminate_backend(%s, 60000)", (pid,))
                await conn.execute("select 1")
        assert caught.value.code == "database_unavailable"
        async with pool.connection() as conn:
            await conn.execute("select 1")

    _run(database, work)


@pytest.mark.parametrize("sqlstate", ["40001", "40P01"])
def test_a_lost_race_is_run_once_more(database: Database, sqlstate: str) -> None:
    attempts: list[int] = []

    async def flaky(conn: db.Connection) -> str:
        attempts.append(1)
        if len(attempts) == 1:
            await conn.execute(
                f"do $$ begin raise exception using errcode = '{sqlstate}'; end $$".encode()
            )
        return "done"

    async def work(pool: db.Database) -> None:
        assert await pool.run(flaky) == "done"

    _run(database, work)
    assert len(attempts) == 2


def test_a_second_lost_race_is_raised(database: Database) -> None:
    async def hopeless(conn: db.Connection) -> None:
        await conn.execute("do $$ begin raise exception using errcode = '40001'; end $$")

    async def work(pool: db.Database) -> None:
        with pytest.raises(KilolockError) as caught:
            await pool.run(hopeless)
        assert caught.value.sqlstate == "40001"

    _run(database, work)


def test_caller_is_known_inside_the_transaction_only(database: Database) -> None:
    async def work(pool: db.Database) -> None:
        query = "select current_setting('kl.token', true), current_setting('kl.actor', true)"
        async with pool.transaction(db.Caller(token="t", actor="a")) as conn:
            assert await (await conn.execute(query)).fetchone() == ("t", "a")
        async with pool.connection() as conn:
            row = await (await conn.execute(query)).fetchone()
            assert row is not None
            assert not any(row)

    _run(database, work)


def test_a_transaction_rolls_back_on_any_error(database: Database) -> None:
    async def run() -> None:
        async with db.Database(database.conninfo("postgres")) as pool:
            with pytest.raises(RuntimeError):
                async with pool.transaction() as conn:
                    await conn.execute("create table public.gone ()")
                    raise RuntimeError
            async with pool.connection() as conn:
                cursor = await conn.execute("select to_regclass('public.gone') is null")
                assert await cursor.fetchone() == (True,)

    asyncio.run(run())


def test_sessions_carry_a_name_and_no_jit(database: Database) -> None:
    async def work(pool: db.Database) -> None:
        async with pool.connection() as conn:
            cursor = await conn.execute(
                "select current_setting('application_name'), current_setting('jit')"
            )
            assert await cursor.fetchone() == ("kilolock", "off")

    _run(database, work)


def test_text_postgresql_refuses_is_an_invalid_request(database: Database) -> None:
    async def work(pool: db.Database) -> None:
        with pytest.raises(KilolockError) as caught:
            async with pool.connection() as conn:
                await conn.execute("select %s::text", ("a\0b",))
        assert caught.value.code == "invalid_request"

    _run(database, work)


def test_a_script_error_names_file_and_line(database: Database) -> None:
    async def work(pool: db.Database) -> None:
        with pytest.raises(KilolockError) as caught:
            async with pool.connection() as conn:
                await db.run_script(conn, "functions/x.sql", "select 1;\nselect\n  nonsense;\n")
        assert caught.value.message.startswith("functions/x.sql:3: ")

    _run(database, work)
