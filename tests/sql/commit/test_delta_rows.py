"""A delta leaves the rows that an upload would, and reads little more than it changes."""

from typing import Any

import pytest

from tests import landscape
from tests.clusters import Connection, Database
from tests.documents import Json, instance, resource, state
from tests.importing import put
from tests.sql.commit.committing import Delta, commit, delta, writer
from tests.sql.engine import Run
from tests.sql.staging import write

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
    assert _staged(owner_conn) == []


@pytest.mark.parametrize("size", [1, 2])
def test_a_delta_leaves_nothing_in_the_stage(owner_conn: Connection, size: int) -> None:
    write(owner_conn, "s", state(1, resource("x", instance({"size": 1}))))
    outputs = {"o": {"value": 1, "type": "number"}}
    change = delta(resource("x", instance({"size": size})), output_writes=outputs)
    commit(writer(owner_conn, "terraform_data.x"), change)
    assert [row[2] for row in rows(owner_conn, "s")] == [f'{{"size":{size}}}']
    assert _staged(owner_conn) == []


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


def _staged(conn: Connection) -> list[str]:
    """Return the tables of the stage that hold anything."""
    tables = ("upload_objects", "upload_resources", "upload_dependencies", "staged_slices")
    return [
        table
        for table in tables
        if conn.execute(f"select from kl_internal.{table} limit 1".encode()).fetchone() is not None
    ]


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
