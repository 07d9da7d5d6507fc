"""A delta leaves the rows that an upload would, and reads little more than it changes."""

from typing import Any

import psycopg
import pytest

from tests import landscape
from tests.clusters import Connection, Database
from tests.documents import Json, instance, resource, state
from tests.importing import put
from tests.sql.commit.committing import Delta, commit, delta, writer
from tests.sql.engine import Run
from tests.sql.staging import refused, write

STEP = {"type": "get_attr", "value": "id"}
KEY = {"type": "index", "value": {"value": "k", "type": "string"}}
VERSIONS = 100
MOST = 20

_ROWS = """
select
    to_jsonb(r) - array[
        'id', 'state_id', 'opened_no', 'slice_hash', 'dependency_set_id', 'content_hash'
    ],
    r.content_hash
        # kl_internal.dependency_hash(r.dependency_set_id::text) as content_hash,
    r.attributes::text,
    r.identity::text,
    d.addresses,
    d.config_addresses
from kl_internal.resources as r
inner join kl_internal.states as s on s.id = r.state_id
left join kl_internal.dependency_sets as d on d.id = r.dependency_set_id
where s.name = %s and r.closed_no is null
order by r.path
"""
_READ = """
select t.relname, t.idx_tup_fetch + t.seq_tup_read
from pg_stat_xact_all_tables as t
where t.relname in ('resources', 'state_versions', 'apply_runs', 'resource_reservations')
"""


@pytest.mark.parametrize(
    "block",
    [
        resource("x"),
        resource("x", instance({"id": "e\n\\", "n": 1e3, "null": None}, private="YQ==")),
        resource("x", instance(index_key=0), instance(index_key=10), instance(index_key="a.b")),
        resource("x", instance(), instance(deposed="00000001"), instance(deposed="00000002")),
        resource("x", instance(), module='module.m["a/b:c@d-e_f.g"]'),
        resource("x", instance(), module="module.m[0]"),
        resource("x", instance(), module='module.m["say \\"hi\\""].module.n'),
        resource("x", instance(), module=None, mode="data", each="list"),
        resource("x", instance(dependencies=["data.a.b", "module.m.a.c", "a.b"])),
        resource("x", instance(dependencies=[], status="tainted", create_before_destroy=True)),
        resource("x", instance(status=None, private=None, index_key=None, odd={"a": None})),
        resource("x", instance(sensitive_attributes=[[STEP], [STEP, KEY], []])),
        resource("x", instance(identity={"id": "a"}, identity_schema_version=2)),
        resource("x", {"schema_version": 1, "attributes_flat": {"id": "a"}}),
        resource("x", {"schema_version": 1, "attributes": None, "identity": None}),
        resource("x", instance(provider='provider["a/b"]'), provider="provider.a.b"),
    ],
)
def test_a_delta_leaves_the_rows_of_an_upload(owner_conn: Connection, block: Json) -> None:
    write(owner_conn, "whole", state(1, block))
    write(owner_conn, "part", state(1))
    whole = rows(owner_conn, "whole")
    addresses = sorted({str(row[0]["address"]) for row in whole})
    commit(writer(owner_conn, *addresses, name="part"), delta(block, write=addresses))
    assert rows(owner_conn, "part") == whole


@pytest.mark.parametrize(
    "block",
    [
        *(
            resource("x", instance(**members))
            for members in (
                {"status": "bogus"},
                {"status": 1},
                {"deposed": "x"},
                {"deposed": "0000000g"},
                {"deposed": "0000000A"},
                {"deposed": ""},
                {"private": "a"},
                {"private": "YQ"},
                {"private": 1},
                {"schema_version": 1.0},
                {"schema_version": 1.5},
                {"schema_version": -1},
                {"schema_version": 2**64},
                {"identity_schema_version": 1.0},
                {"identity_schema_version": -1},
                {"identity": []},
                {"index_key": 1.5},
                {"index_key": True},
                {"index_key": []},
                {"attributes": []},
                {"attributes_flat": {"id": "a"}},
                {"attributes_flat": []},
                {"dependencies": ["x"]},
                {"dependencies": [1]},
                {"dependencies": "a.b"},
                {"create_before_destroy": "yes"},
                {"sensitive_attributes": {}},
                {"sensitive_attributes": [1]},
                {"provider": "odd"},
                {"provider": 'provider["a/b/c"]'},
            )
        ),
        *(
            resource("x", instance()) | members
            for members in (
                {"provider": "odd"},
                {"provider": 'provider["a/b/c/d"]'},
                {"provider": 'module.m.provider["a/b"].c'},
                {"provider": 1},
                {"mode": "other"},
                {"mode": 1},
                {"type": ""},
                {"type": 1},
                {"name": ""},
                {"name": 1},
                {"module": "x"},
                {"module": 1},
            )
        ),
    ],
    ids=str,
)
def test_a_delta_takes_what_an_upload_takes(owner_conn: Connection, block: Json) -> None:
    write(owner_conn, "whole", state(1))
    write(owner_conn, "part", state(1))
    sqlstate, whole = None, []
    try:
        with owner_conn.transaction():
            write(owner_conn, "whole", state(2, block))
            whole = rows(owner_conn, "whole")
    except psycopg.Error as exc:
        sqlstate = exc.sqlstate
    addresses = [str(row[0]["address"]) for row in whole] or ["terraform_data.x"]
    run = writer(owner_conn, "*", name="part")
    if sqlstate is not None:
        with refused(owner_conn, sqlstate):
            commit(run, delta(block, write=addresses))
    else:
        commit(run, delta(block, write=addresses))
        assert rows(owner_conn, "part") == whole


@pytest.mark.parametrize("empty", [[], None, "left out"])
def test_a_resource_without_instances_is_nothing(owner_conn: Connection, empty: object) -> None:
    write(owner_conn, "s", state(1, resource("x", instance())))
    block = resource("x", instance(), module=None)
    nothing = resource("y", module=None) | {"instances": empty}
    if empty == "left out":
        del nothing["instances"]
    run = writer(owner_conn, "terraform_data.x")
    commit(run, delta(nothing, block, write=["terraform_data.x"]), 1)
    assert [row[0]["name"] for row in rows(owner_conn, "s")] == ["x"]
    for table in ("upload_objects", "upload_resources", "upload_dependencies"):
        left = owner_conn.execute(f"select from kl_internal.{table}".encode())
        assert left.fetchall() == [], table


def test_a_commit_reads_no_history_whatever_statistics_know(database: Database) -> None:
    document = landscape.document(300)
    put(database, "s", document)
    with database.connect("postgres") as conn:
        conn.execute("vacuum analyze")  # when nothing is closed, and one version is there
        landscape.add_versions(conn, "s", VERSIONS, 5)
        one, two = (_reserved(conn, document, block) for block in (61, 62))
        commit(one, _change(document, 61), VERSIONS + 1)
        for base in (VERSIONS + 1, VERSIONS + 3):
            with conn.transaction():
                before = _rows_read(conn)
                commit(two, _change(document, 62, base), base)
                after = _rows_read(conn)
            assert [table for table in after if after[table] - before[table] > MOST] == []


def test_a_rebase_reads_no_history_by_a_plan_made_when_there_was_none(database: Database) -> None:
    document = landscape.document(300)
    put(database, "s", document)
    with database.connect("postgres") as conn:
        conn.execute("vacuum analyze")
        one, two = (_reserved(conn, document, block) for block in (61, 62))
        commit(one, _change(document, 61), 1)
        serial = commit(two, _change(document, 62), 1).serial
        for size in range(VERSIONS):
            serial = commit(one, _change(document, 61, size), serial).serial
        with conn.transaction():
            before = _rows_read(conn)
            commit(two, _change(document, 62, 1), serial - 1)
            after = _rows_read(conn)
        assert [table for table in after if after[table] - before[table] > MOST] == []


def rows(conn: Connection, name: str) -> list[tuple[Any, ...]]:
    """Return the current rows of a state, but for what differs from state to state."""
    return conn.execute(_ROWS, (name,)).fetchall()


def _rows_read(conn: Connection) -> dict[str, int]:
    return dict(conn.execute(_READ).fetchall())


def _reserved(conn: Connection, document: Json, block: int) -> Run:
    needed = document["resources"][block]["instances"][1]["dependencies"]
    return writer(conn, _address(document, block), *((name, "read") for name in needed))


def _address(document: Json, block: int) -> str:
    header = document["resources"][block]
    return f"{header['module']}.{header['type']}.{header['name']}[1]"


def _change(document: Json, block: int, size: int = 0) -> Delta:
    header = document["resources"][block]
    changed = header["instances"][1]
    changed |= {"attributes": changed["attributes"] | {"size": size}}
    return delta(
        header | {"instances": [changed]},
        write=[_address(document, block)],
        lineage=document["lineage"],
    )
