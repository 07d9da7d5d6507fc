"""The query door with its parser switched off: the login must hold."""

import asyncio
import base64
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import pytest

from pyengine import db, installed
from pyengine.answer import Answer
from pyengine.errors import KilolockError
from pyengine.importing import import_document
from pyengine.query import Limits, QueryDoor
from tests.clusters import Cluster, Database
from tests.documents import encoded, instance, resource, state

T = TypeVar("T")

SECRET: Final = "planted-7c1f"
_TABLES: Final = (
    "select c.oid::regclass::text from pg_class as c where c.relkind = 'r' and c.relnamespace in"
    " ('kl_internal'::regnamespace, 'public'::regnamespace) order by 1"
)


def _document() -> bytes:
    secret = instance(
        {"id": "1", "password": SECRET},
        sensitive_attributes=[[{"type": "get_attr", "value": "password"}]],
        private=base64.b64encode(SECRET.encode()).decode(),
    )
    return encoded(state(1, resource("a", secret)))


@pytest.fixture(scope="module")
def filled(cluster: Cluster) -> Any:  # noqa: ANN401 - a generator of Database
    """A database with one state whose password nobody may see, and a marker table of others."""
    with cluster.clone() as database:
        asyncio.run(_fill(database))
        cluster.execute(
            "create table public.marker (n integer)",
            "insert into public.marker values (1)",
            "create function public.meddle() returns integer language sql security definer"
            " as 'insert into public.marker values (2) returning n'",
            "create extension dblink",
            database=database.name,
        )
        yield database


async def _fill(database: Database) -> None:
    async with db.Database(database.conninfo("kl_server")) as pool:
        await import_document(pool, db.Caller(), "prod", bytearray(_document()), "import")


def _with_door(
    database: Database,
    work: Callable[[QueryDoor], Awaitable[T]],
    limits: Limits | None = None,
) -> T:
    async def opened() -> T:
        async with QueryDoor(database.conninfo("kl_query"), limits or Limits(seconds=3)) as door:
            return await work(door)

    return asyncio.run(opened())


def _snapshot(database: Database) -> dict[str, int]:
    """Return how many rows every table has, that of large objects included."""
    with database.connect("postgres") as conn:
        tables = [row[0] for row in conn.execute(_TABLES.encode())]
        counts: dict[str, int] = {}
        for table in [*tables, "pg_largeobject_metadata", "pg_roles", "pg_proc", "pg_class"]:
            row = conn.execute(f"select count(*) from {table}".encode()).fetchone()
            assert row is not None
            counts[table] = row[0]
        return counts


def _rows(answer: Answer) -> list[Any]:
    return [json.loads(bytes(row), parse_float=str) for row in answer.rows]


HARMLESS: Final = "select count(*) from kl.resources"

# Each must fail, or change nothing and tell nothing.
ATTACKS: Final = (
    "with x as (delete from kl.resources returning 1) select * from x",
    "with x as (delete from kl_internal.resources returning 1) select * from x",
    "explain analyze delete from kl_internal.resources",
    "select 1; delete from kl_internal.resources",
    "commit; delete from kl_internal.resources; begin",
    "commit",
    "rollback",
    "do $$ begin delete from kl_internal.resources; end $$",
    "do $$ begin commit; delete from kl_internal.resources; end $$",
    "insert into kl_internal.events default values",
    "insert into public.marker values (3)",
    "select * from kl.resources for update",
    "select * from kl_internal.resources",
    "select private from kl_internal.resources",
    "truncate kl_internal.resources",
    "drop schema kl cascade",
    "create function public.f() returns int language sql as 'select 1'",
    "create function kl.f() returns int language sql as 'select 1'",
    "create temp table loot (n int)",
    "create table public.loot (n int)",
    "create schema loot",
    "create role loot",
    "alter role kl_query superuser",
    "alter role kl_query createrole",
    "grant kl_server to kl_query",
    "set role postgres",
    "set role kl_owner",
    "set role kl_server",
    "set session authorization postgres",
    "set transaction read write",
    "set default_transaction_read_only = off",
    "reset role",
    "select set_config('role', 'postgres', false)",
    (
        "select set_config('role', 'kl_owner', false), query_to_xml('table kl_internal.resources',"
        " true, true, '')"
    ),
    (
        "select * from (select set_config('role', 'kl_server', true)) as s,"
        " ts_stat('select to_tsvector(private) from kl_internal.resources')"
    ),
    "select set_config('session_authorization', 'postgres', false)",
    "select set_config('transaction_read_only', 'off', true), public.meddle()",
    "select query_to_xml('delete from kl_internal.resources returning 1', true, true, '')",
    "select query_to_xml('select set_config(''role'',''kl_owner'',false)', true, true, '')",
    "select table_to_xml('kl_internal.resources', true, true, '')",
    "select * from ts_stat('select to_tsvector(private) from kl_internal.resources')",
    "select database_to_xml(true, true, '')",
    "select public.meddle()",
    "copy kl.resources to program 'id'",
    "copy (select 1) to '/tmp/kl-loot'",
    "copy (select 1) to stdout",
    "copy public.marker from program 'echo 4'",
    "copy public.marker from stdin",
    "select pg_read_file('/etc/passwd')",
    "select pg_read_binary_file('postgresql.conf')",
    "select * from pg_ls_dir('/')",
    "select * from pg_stat_file('/etc/passwd')",
    "select lo_import('/etc/passwd')",
    "select lo_export(1, '/tmp/kl-loot')",
    "select lo_create(4711)",
    "select lo_from_bytea(4712, '\\x00')",
    "select * from dblink('dbname=postgres user=postgres', 'select 1') as t (n int)",
    "select dblink_connect('host=127.0.0.1 user=postgres')",
    "select dblink_connect_u('user=postgres')",
    "select kl.reveal('prod', 'terraform_data.a')",
    "select kl.delete_state('prod')",
    "select kl.force_unlock('prod', null)",
    "select kl.require_admin()",
    "select kl.create_token('x', null, array['admin'], null, null)",
    "select * from kl.read_state('prod')",
    "select kl_internal.caller_grant()",
    "select set_config('kl.auth', 'open', false), kl.delete_state('prod')",
    "select pg_terminate_backend(a.pid) from pg_stat_activity as a where a.usename <> 'kl_query'",
    "select pg_cancel_backend(a.pid) from pg_stat_activity as a where a.usename <> 'kl_query'",
    "select pg_reload_conf()",
    "select pg_rotate_logfile()",
    "select pg_switch_wal()",
    "select pg_create_restore_point('x')",
    "select pg_logical_emit_message(false, 'x', 'y')",
    "select pg_create_physical_replication_slot('x')",
    "select pg_export_snapshot()",
    "select nextval('kl_internal.resources_id_seq')",
    "select setval('kl_internal.resources_id_seq', 1)",
    "alter system set work_mem = '1GB'",
    "load 'auto_explain'",
    "create extension hstore",
    "lock table kl_internal.states",
    "lock table kl.states in access exclusive mode",
    "vacuum",
    "analyze kl_internal.resources",
    "checkpoint",
    "reindex table kl_internal.resources",
    "refresh materialized view kl.states",
    "comment on schema kl is 'x'",
    "security label on schema kl is 'x'",
    "listen kilolock",
    "notify kilolock, 'x'",
    "select pg_notify('kilolock', 'x')",
    "prepare transaction 'x'",
    "declare c cursor with hold for select 1",
    "discard all",
    "select pg_advisory_lock(1)",
    "show hba_file",
    "select passwd from pg_shadow",
    "select rolpassword from pg_authid",
    "select most_common_vals::text from pg_stats where schemaname = 'kl_internal'",
    "select stavalues1::text from pg_statistic",
    "select query from pg_stat_activity where usename <> 'kl_query'",
)


def test_no_attack_changes_or_tells_anything(filled: Database) -> None:
    before = _snapshot(filled)
    told: dict[str, str] = {}

    async def work(door: QueryDoor) -> None:
        for attack in ATTACKS:
            try:
                answer = await door.run_unchecked(attack)
                told[attack] = b"".join(map(bytes, answer.rows)).decode()
            except KilolockError as exc:
                told[attack] = f"{exc.message} {exc.details}"
            assert _rows(await door.ask(HARMLESS)) == [[1]], attack

    _with_door(filled, work)
    assert _snapshot(filled) == before
    assert [attack for attack, text in told.items() if SECRET in text] == []
    assert not Path("/tmp/kl-loot").exists()


def test_every_attack_with_a_privileged_result_fails(filled: Database) -> None:
    harmless = ("commit", "rollback", "reset role", "discard all", "set transaction", "set default")

    async def work(door: QueryDoor) -> list[str]:
        passed = []
        for attack in ATTACKS:
            try:
                answer = await door.run_unchecked(attack)
            except KilolockError:
                continue
            if answer.row_count and not attack.startswith(harmless):
                passed.append(attack)
        return passed

    # What runs gives nothing away: sizes of nothing, and what is undone at once.
    assert set(_with_door(filled, work)) <= {
        "select lo_create(4711)",  # before 16 a read-only transaction may; it is rolled back
        "select lo_from_bytea(4712, '\\x00')",
        "select pg_notify('kilolock', 'x')",
        "select pg_advisory_lock(1)",
        "select database_to_xml(true, true, '')",
        "select pg_export_snapshot()",
        "select pg_logical_emit_message(false, 'x', 'y')",  # gone where harden() ran
        "select query from pg_stat_activity where usename <> 'kl_query'",  # masked by PostgreSQL
        (
            "select pg_terminate_backend(a.pid) from pg_stat_activity as a"
            " where a.usename <> 'kl_query'"
        ),
    }


def test_dblink_absent_is_an_ordinary_error(cluster: Cluster) -> None:
    with cluster.clone() as database:

        async def work(door: QueryDoor) -> str:
            with pytest.raises(KilolockError) as caught:
                await door.ask("select * from dblink('dbname=postgres', 'select 1') as t (n int)")
            return str(caught.value.details["sqlstate"])

        assert _with_door(database, work) == "42883"


def test_nothing_is_left_to_the_next_question(filled: Database) -> None:
    async def work(door: QueryDoor) -> list[Any]:
        first = await door.run_unchecked(
            "select pg_backend_pid(), pg_advisory_lock(7), set_config('work_mem', '9MB', false),"
            " set_config('statement_timeout', '0', false), set_config('role', 'kl_analyst', false)"
        )
        with pytest.raises(KilolockError):  # it is done, and has no rows to answer with
            await door.run_unchecked("listen kilolock")
        rest = await door.ask(
            "select pg_backend_pid(), current_user, current_setting('work_mem') <> '9MB',"
            " current_setting('statement_timeout'), current_setting('transaction_read_only'),"
            " (select count(*) from pg_locks where locktype = 'advisory' and"
            " database = (select oid from pg_database where datname = current_database())),"
            " (select count(*) from pg_listening_channels())"
        )
        return [_rows(first)[0][0], *_rows(rest)[0]]

    pid, *rest = _with_door(filled, work, Limits(seconds=3, sessions=1))
    assert rest == [pid, "kl_query", True, "3s", "on", 0, 0]


def test_one_question_cannot_outlive_its_time(filled: Database) -> None:
    async def work(door: QueryDoor) -> str:
        with pytest.raises(KilolockError) as caught:
            await door.run_unchecked(
                "select set_config('statement_timeout', '0', false), pg_sleep(600)"
            )
        return str(caught.value.details["sqlstate"])

    started = time.monotonic()
    assert _with_door(filled, work, Limits(seconds=1)) == "57014"
    assert time.monotonic() - started < 60


def test_a_flood_of_sleepers_leaves_the_server_its_sessions(filled: Database) -> None:
    async def work(door: QueryDoor) -> list[Any]:
        flood = [asyncio.create_task(door.ask("select pg_sleep(60)")) for _ in range(12)]
        async with db.Database(filled.conninfo("kl_server")) as pool:
            for _ in range(20):
                async with pool.connection() as conn:
                    await conn.execute("select count(*) from kl.states as s")
                await asyncio.sleep(0.02)
            async with pool.connection() as conn:
                cursor = await conn.execute(
                    "select count(*) from pg_stat_activity where usename = 'kl_query'"
                    " and datname = current_database() and state = 'active'"
                )
                row = await cursor.fetchone()
                assert row is not None
                assert row[0] <= 2
        return list(await asyncio.gather(*flood, return_exceptions=True))

    answers = _with_door(filled, work, Limits(seconds=1, sessions=2, patience=1))
    codes = {answer.code for answer in answers if isinstance(answer, KilolockError)}
    assert len(answers) == 12
    assert codes == {"query_failed", "query_busy"}


def test_large_answers_are_cut(filled: Database) -> None:
    async def work(door: QueryDoor) -> tuple[Answer, Answer, Answer]:
        many = await door.ask("select g from generate_series(1, 200000) as g")
        exact = await door.ask("select g from generate_series(1, 10000) as g")
        wide = await door.ask("select repeat('x', 1000000) from generate_series(1, 1000)")
        return many, exact, wide

    many, exact, wide = _with_door(filled, work, Limits(seconds=20))
    assert (many.row_count, many.truncated) == (10_000, True)
    assert (exact.row_count, exact.truncated) == (10_000, False)
    assert (wide.row_count, wide.truncated) == (16, True)


def test_a_row_that_no_answer_can_hold_is_refused_without_reading_it(filled: Database) -> None:
    async def work(door: QueryDoor) -> int:
        for size in (2_000_000, 100_000_000):
            with pytest.raises(KilolockError) as caught:
                await door.ask(f"select repeat('x', {size})")
            assert caught.value.code == "query_failed"
        return (await door.ask(HARMLESS)).row_count

    assert _with_door(filled, work, Limits(seconds=20, bytes=1 << 20)) == 1


def test_values_are_exact(filled: Database) -> None:
    async def work(door: QueryDoor) -> bytes:
        answer = await door.ask(
            "select 9223372036854775807, 0.10::numeric, 1e400::numeric = 1, 1e300::float8,"
            " 'NaN'::numeric, 0.1::float4, null, '', true, '{\"a\": 1.10, \"b\": null}'::jsonb,"
            " '2026-01-02 03:04:05.6+02'::timestamptz, '2026-01-02 03:04:05'::timestamp,"
            " '\\xdead'::bytea, array[1, null]::int8[], array['a,\"b'], array[[1.50]],"
            " 'infinity'::timestamptz, date '2026-01-02', array['{\"a\":1}'::jsonb], 'null'::jsonb,"
            " '\"'::char, int4range(1, 2)"
        )
        assert [c.type for c in answer.columns[:2]] == ["int8", "numeric"]
        return bytes(answer.rows[0])

    assert _with_door(filled, work) == (
        b'[9223372036854775807,0.10,false,1e+300,"NaN",0.1,null,"",true,{"a": 1.10, "b": null},'
        b'"2026-01-02T01:04:05.6+00:00","2026-01-02T03:04:05","\\\\xdead",[1,null],["a,\\"b"],'
        b'[[1.50]],"infinity","2026-01-02",[{"a": 1}],null,"\\"","[1,2)"]'
    )


def test_errors_tell_the_place_and_nothing_of_others(filled: Database) -> None:
    async def work(door: QueryDoor) -> KilolockError:
        with pytest.raises(KilolockError) as caught:
            await door.ask("select r.address,\n  r.adress from kl.resources as r")
        return caught.value

    error = _with_door(filled, work)
    assert error.details["sqlstate"] == "42703"
    assert (error.details["line"], error.details["column"]) == (2, 3)
    assert set(error.details) == {"sqlstate", "position", "line", "column", "hint"}


@pytest.mark.parametrize("user", ["postgres", "kl_server"])
def test_a_login_that_may_do_more_is_not_used(filled: Database, user: str) -> None:
    async def opened() -> None:
        async with QueryDoor(filled.conninfo(user)) as door:
            with pytest.raises(KilolockError) as caught:
                await door.ask("select 1")
            assert caught.value.code == "query_door_closed"

    asyncio.run(opened())


def test_an_embedded_cluster_takes_more_away(cluster: Cluster) -> None:
    with cluster.clone() as database:
        asyncio.run(installed.prepare_embedded(database.conninfo("postgres")))
        asyncio.run(installed.prepare_embedded(database.conninfo("postgres")))

        async def work(door: QueryDoor) -> list[str]:
            states = []
            for text in (
                "select lo_create(1)",
                "select pg_logical_emit_message(false, 'x', 'y')",
                "select pg_terminate_backend(pg_backend_pid())",
                "select pg_cancel_backend(pg_backend_pid())",
            ):
                with pytest.raises(KilolockError) as caught:
                    await door.run_unchecked(text)
                states.append(caught.value.details["sqlstate"])
            return states

        assert _with_door(database, work) == ["42501"] * 4
        cluster.execute("alter role kl_query reset temp_file_limit")


def test_masked_is_masked_and_rows_are_json(filled: Database) -> None:
    async def work(door: QueryDoor) -> Answer:
        return await door.ask("select attributes from resources")

    answer = _with_door(filled, work)
    assert SECRET not in msgspec.json.encode(answer).decode()
    assert _rows(answer)[0][0]["id"] == "1"
