import asyncio

import pytest

from pyengine import install
from pyengine.errors import KilolockError
from tests.clusters import Cluster, Database
from tests.install import catalog

ROLES = {
    "kl_owner": False,
    "kl_server": False,
    "kl_analyst": False,
    "kl_secrets": False,
    "kl_query": True,
}


def _migrate(database: Database, user: str) -> install.Outcome:
    return asyncio.run(install.migrate(database.conninfo(user)))


def _refused(database: Database, user: str) -> list[str]:
    roles, schema = catalog.roles(database), catalog.dump(database)
    with pytest.raises(KilolockError) as caught:
        _migrate(database, user)
    assert caught.value.code == "not_permitted_to_install"
    assert (catalog.roles(database), catalog.dump(database)) == (roles, schema)
    statements: list[str] = caught.value.details["statements"]
    assert all(statement in caught.value.message for statement in statements)
    return statements


def _owners(database: Database) -> set[str]:
    with database.connect("postgres") as conn:
        rows = conn.execute(
            "select c.relowner::regrole::text from pg_class as c"
            " where c.relnamespace in ('kl'::regnamespace, 'kl_internal'::regnamespace)"
            " union select p.proowner::regrole::text from pg_proc as p"
            " where p.pronamespace in ('kl'::regnamespace, 'kl_internal'::regnamespace)"
            " and not exists (select from pg_depend as d where d.objid = p.oid and d.deptype = 'e')"
            " union select n.nspowner::regrole::text from pg_namespace as n"
            " where n.nspname in ('kl', 'kl_internal')"
        ).fetchall()
    return {row[0] for row in rows}


def test_superuser_makes_the_roles(bare_cluster: Cluster) -> None:
    with bare_cluster.empty_database() as database:
        _migrate(database, "postgres")
        assert catalog.roles(database) == ROLES
        assert _owners(database) == {"kl_owner"}


def test_an_ordinary_role_with_createrole_installs_its_own_database(bare_cluster: Cluster) -> None:
    bare_cluster.execute("create role deployer login createrole")
    with (
        bare_cluster.empty_database(owner="deployer") as database,
        bare_cluster.empty_database() as other,
    ):
        outcome = _migrate(database, "deployer")
        assert outcome.advice == ()
        assert catalog.roles(database) == ROLES
        assert _owners(database) == {"kl_owner"}
        expected = catalog.dump(database)
        assert _migrate(database, "deployer").applied == ()
        assert catalog.dump(database) == expected
        _migrate(other, "postgres")
        assert catalog.dump(other) == expected


def test_without_rights_the_statements_are_told_and_enough(bare_cluster: Cluster) -> None:
    bare_cluster.execute('create role "the deployer" login')
    with bare_cluster.empty_database() as database:
        statements = _refused(database, "the deployer")
        assert "create role kl_owner nologin;" in statements
        bare_cluster.execute(*statements, database=database.name)
        assert _migrate(database, "the deployer").advice == ()
        assert _owners(database) == {"kl_owner"}


def test_owning_the_database_is_not_enough(bare_cluster: Cluster) -> None:
    bare_cluster.execute("create role deployer login")
    with bare_cluster.empty_database(owner="deployer") as database:
        statements = _refused(database, "deployer")
        assert not any("on database" in statement for statement in statements)
        bare_cluster.execute(*statements)
        _migrate(database, "deployer")


def test_createrole_without_the_database_asks_for_the_grant_on_it(bare_cluster: Cluster) -> None:
    bare_cluster.execute("create role deployer login createrole")
    with bare_cluster.empty_database() as database:
        statements = _refused(database, "deployer")
        name = database.name
        assert f'grant create on database "{name}" to kl_owner;' in statements
        bare_cluster.execute("create role kl_owner", f"grant create on database {name} to kl_owner")
        bare_cluster.execute("grant kl_owner to deployer with admin option")
        outcome = _migrate(database, "deployer")
        assert outcome.advice == (
            f'revoke temporary on database "{name}" from public;',
            f'alter database "{name}" set search_path = "$user", public, kl;',
        )


def test_a_member_of_kl_owner_upgrades_without_any_other_right(bare_cluster: Cluster) -> None:
    bare_cluster.execute("create role deployer login")
    with bare_cluster.empty_database() as database:
        _migrate(database, "postgres")
        assert any(s.startswith("grant kl_owner to") for s in _refused(database, "deployer"))
        bare_cluster.execute("grant kl_owner to deployer")
        _migrate(database, "deployer")
