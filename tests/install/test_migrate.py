import asyncio

import pytest
from msgspec.structs import replace

from pyengine import db, install, installed, sqltree
from pyengine.errors import KilolockError
from tests.clusters import Cluster, Database
from tests.install import catalog


def _migrate(database: Database, user: str = "postgres", **options: object) -> install.Outcome:
    return asyncio.run(install.migrate(database.conninfo(user), **options))  # type: ignore[arg-type]


def _status(database: Database, user: str = "postgres") -> installed.Status:
    async def ask() -> installed.Status:
        async with await db.connect(database.conninfo(user)) as conn:
            return await installed.status(conn)

    return asyncio.run(ask())


def test_an_empty_database_gets_everything(cluster: Cluster) -> None:
    with cluster.empty_database() as database:
        assert _status(database) == "absent"
        outcome = _migrate(database)
        assert outcome.applied == tuple(script.name for script in sqltree.load().migrations)
        assert outcome.advice == ()
        assert _status(database) == "current"
        assert _status(database, "kl_server") == "current"


def test_a_second_run_changes_nothing(cluster: Cluster) -> None:
    with cluster.empty_database() as database:
        _migrate(database)
        before = catalog.dump(database)
        assert _migrate(database).applied == ()
        assert catalog.dump(database) == before


@pytest.mark.thorough
def test_twenty_at_once_end_in_one_installation(cluster: Cluster) -> None:
    async def everybody(conninfo: str) -> list[install.Outcome]:
        return await asyncio.gather(
            *(install.migrate(conninfo, wait_seconds=300) for _ in range(20))
        )

    with cluster.empty_database() as alone, cluster.empty_database() as crowded:
        _migrate(alone)
        outcomes = asyncio.run(everybody(crowded.conninfo("postgres")))
        assert sum(bool(outcome.applied) for outcome in outcomes) == 1
        assert catalog.dump(crowded) == catalog.dump(alone)


def test_databases_of_one_cluster_may_be_installed_at_once(bare_cluster: Cluster) -> None:
    async def both(*conninfos: str) -> None:
        await asyncio.gather(*(install.migrate(conninfo) for conninfo in conninfos))

    with (
        bare_cluster.empty_database() as one,
        bare_cluster.empty_database() as two,
        bare_cluster.empty_database() as three,
    ):
        asyncio.run(both(*(database.conninfo("postgres") for database in (one, two, three))))
        assert catalog.dump(one) == catalog.dump(two) == catalog.dump(three)


def test_an_upgrade_from_older_ledgers_ends_in_the_same_catalog(cluster: Cluster) -> None:
    with cluster.empty_database() as fresh:
        _migrate(fresh)
        expected = catalog.dump(fresh)
    count_of_all = len(sqltree.load().migrations)
    for count in (1, count_of_all // 2, count_of_all - 1):
        with cluster.empty_database() as old:
            _migrate(old, tree=catalog.first_migrations(count))
            _migrate(old)
            assert catalog.dump(old) == expected, f"from the first {count} migrations"


def test_an_older_schema_is_told_from_a_current_one(cluster: Cluster) -> None:
    tree = sqltree.load()
    changed = replace(tree.functions[-1], text=tree.functions[-1].text + "\n-- changed\n")
    with cluster.empty_database() as database:
        _migrate(database, tree=replace(tree, functions=(*tree.functions[:-1], changed)))
        assert _status(database) == "older"
        _migrate(database)
        assert _status(database) == "current"


def test_a_changed_migration_stops_everything(database: Database) -> None:
    tree = sqltree.load()
    first = replace(tree.migrations[0], text=tree.migrations[0].text + "\n-- edited\n")
    before = catalog.dump(database)
    with pytest.raises(KilolockError, match="0001_schemas"):
        _migrate(database, tree=replace(tree, migrations=(first, *tree.migrations[1:])))
    assert catalog.dump(database) == before


def test_a_later_release_is_left_alone(database: Database) -> None:
    with database.connect("postgres") as conn:
        conn.execute("insert into kl_internal.migrations values ('9999_future', 'x')")
    assert _status(database) == "newer"
    with pytest.raises(KilolockError, match="9999_future"):
        _migrate(database)


def test_a_failing_script_undoes_the_whole_run(cluster: Cluster) -> None:
    tree = sqltree.load()
    broken = sqltree.Script("x/broken", "functions/x/broken.sql", "select 1;\nselect 1 / 0;")
    with cluster.empty_database() as database:
        before = catalog.dump(database)
        with pytest.raises(KilolockError) as caught:
            _migrate(database, tree=replace(tree, functions=(*tree.functions, broken)))
        assert (caught.value.code, caught.value.sqlstate) == ("script_failed", "22012")
        assert caught.value.message.startswith("functions/x/broken.sql")
        assert catalog.dump(database) == before


def test_a_long_analyst_query_delays_the_deploy_only(database: Database) -> None:
    with database.connect("kl_server", autocommit=False) as analyst:
        analyst.execute("select from kl.installation")
        with pytest.raises(KilolockError) as caught:
            _migrate(database, wait_seconds=1, lock_timeout_ms=100)
        assert caught.value.sqlstate == "55P03"
        with database.connect("kl_server") as other:
            other.execute("select from kl.installation")
        analyst.rollback()
    _migrate(database)


def test_writers_are_waited_for(database: Database) -> None:
    with database.connect("postgres", autocommit=False) as writer:
        writer.execute("lock table kl_internal.states in row exclusive mode")
        with pytest.raises(KilolockError) as caught:
            _migrate(database, wait_seconds=1, lock_timeout_ms=100)
        assert caught.value.sqlstate == "55P03"


def test_a_version_that_is_too_old_is_named(cluster: Cluster) -> None:
    with cluster.empty_database() as database:

        async def ask() -> None:
            async with await db.connect(database.conninfo("postgres")) as conn:
                await install._check_version(conn, minimum=990000)

        with pytest.raises(KilolockError, match=r"PostgreSQL 1\d is too old"):
            asyncio.run(ask())


def test_database_settings_and_default_rights(cluster: Cluster) -> None:
    with cluster.empty_database() as database:
        _migrate(database)
        with database.connect("kl_query") as conn:
            path = conn.execute("show search_path").fetchone()
            temporary = conn.execute(
                "select has_database_privilege(current_database(), 'TEMPORARY')"
            ).fetchone()
        with database.connect("postgres") as conn:
            open_to_all = conn.execute(
                "select p.oid::regprocedure::text from pg_proc as p,"
                " aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a"
                " where p.pronamespace in ('kl'::regnamespace, 'kl_internal'::regnamespace)"
                " and a.grantee = 0"
                " and not exists (select from pg_depend as d"
                "  where d.objid = p.oid and d.deptype = 'e')"
            ).fetchall()
        assert path == ('"$user", public, kl',)
        assert temporary == (False,)
        assert open_to_all == []


def test_an_existing_search_path_is_kept_and_extended(cluster: Cluster) -> None:
    with cluster.empty_database() as database:
        cluster.execute(f"alter database {database.name} set search_path = app, public")
        _migrate(database)
        _migrate(database)
        with database.connect("postgres") as conn:
            assert conn.execute("show search_path").fetchone() == ("app, public, kl",)
