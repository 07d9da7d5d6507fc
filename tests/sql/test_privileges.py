"""Who may do what: every right on every object of the installation, against a kept list.

After a deliberate change, write the list anew: `python -m tests.sql.privileges`.
"""

import pytest

from tests.clusters import Connection, Database
from tests.sql.privileges import GOLDEN, granted
from tests.sql.staging import refused


def test_rights_are_those_of_the_list(owner_conn: Connection) -> None:
    expected = set(GOLDEN.read_text(encoding="utf-8").splitlines())
    found = set(granted(owner_conn))
    assert sorted(found - expected) == [], "rights that are not in the list"
    assert sorted(expected - found) == [], "rights that are not granted any more"


def test_public_has_no_right(owner_conn: Connection) -> None:
    assert [line for line in granted(owner_conn) if line.startswith("public ")] == []


def test_analyst_reads_every_view_and_no_table(owner_conn: Connection) -> None:
    lines = [line for line in granted(owner_conn) if line.startswith(("kl_analyst ", "kl_query "))]
    assert not [line for line in lines if " kl_internal." in line and "EXECUTE" not in line]
    assert not [line for line in lines if line.split()[-1] not in ("SELECT", "EXECUTE", "USAGE")]


def test_server_fills_the_stage_and_touches_no_other_table(owner_conn: Connection) -> None:
    lines = [line for line in granted(owner_conn) if line.startswith("kl_server table ")]
    assert lines
    for line in lines:
        assert ".staged_" in line
        assert line.endswith(" INSERT")


@pytest.mark.parametrize("user", ["kl_server", "kl_query"])
def test_nobody_makes_objects_here(database: Database, user: str) -> None:
    with database.connect(user) as conn:
        conn.execute("set default_transaction_read_only = off")
        for statement in (
            "create table kl.x (a int)",
            "create table kl_internal.x (a int)",
            "create temporary table x (a int)",
            "set role kl_owner",
        ):
            with refused(conn, "42501"):
                conn.execute(statement.encode())
