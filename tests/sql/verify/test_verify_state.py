"""kl.verify_state on a history with everything in it, whole and damaged by its owner."""

import asyncio
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pyengine import db
from pyengine.importing import import_document
from tests.clusters import Cluster, Connection, Database
from tests.documents import encoded, instance, resource, state

NAME = "ver ified"


def _documents() -> Iterator[bytes]:
    """Yield v1 to v6: objects change, go, come back; keyed, deposed, escaped, with dependencies."""
    kept = resource("kept", instance({"id": "k", "n": 1.50, "big": 10**30}))
    keyed = resource(
        "keyed",
        instance({"id": "0"}, index_key=0),
        instance({"id": "1"}, index_key=1, dependencies=["terraform_data.kept"]),
        instance({"id": "old"}, index_key=1, deposed="00000001"),
        module='module.m["a.b"].module.n',
    )
    odd = resource("odd", instance({"id": "\u0000x", "s": "é"}, index_key='k["0"]'))
    read = resource("read", instance({"id": "d"}, schema_version=3), mode="data")
    outputs = {"o": {"value": "x", "type": "string"}, "s": {"value": 1, "type": "number"}}
    yield encoded(state(1, kept, keyed, odd, read, outputs=outputs))
    for serial in (2, 3):
        changed = resource("read", instance({"id": "d", "serial": serial}), mode="data")
        yield encoded(state(serial, kept, keyed, odd, changed, outputs=outputs))
    yield encoded(state(4, keyed, odd, outputs={"o": {"value": "y", "type": "string"}}))
    yield encoded(state(5, kept, keyed, odd, read, outputs=outputs))
    yield encoded(state(6, kept, keyed, odd, read, outputs=outputs, terraform_version="1.12.0"))


@pytest.fixture(scope="module")
def history(cluster: Cluster) -> Iterator[Database]:
    """A database with that state; tests damage it in transactions that are rolled back."""

    async def fill(database: Database) -> None:
        async with db.Database(database.conninfo("kl_server")) as pool:
            for document in _documents():
                await import_document(pool, db.Caller(), NAME, bytearray(document), "import")

    with cluster.clone() as database:
        asyncio.run(fill(database))
        yield database


@pytest.fixture
def owner(history: Database) -> Iterator[Connection]:
    """A session that may damage the state."""
    with history.connect("postgres", autocommit=False) as connection:
        yield connection
        connection.rollback()


def _verify(conn: Connection, limit: int = 2000) -> list[dict[str, Any]]:
    damage: list[dict[str, Any]] = []
    cursor: dict[str, Any] | None = None
    parts, last = 0, 0
    while True:
        row = conn.execute(
            "select next_cursor, version_no, done, total, damage from kl.verify_state(%s, %s, %s)",
            (NAME, None if cursor is None else Jsonb(cursor), limit),
        ).fetchone()
        assert row is not None
        cursor, version_no, done, total, found = row
        parts += 1
        assert version_no == 6
        assert last <= done <= total
        last = done
        damage += found
        if cursor is None:
            assert done == total
            return damage
        assert parts < 200


def _short(damage: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(d["kind"], d["address"], d["from_version_no"], d["to_version_no"]) for d in damage]


@pytest.mark.parametrize("limit", [1, 2, 3, 2000])
def test_a_whole_history_is_sound_in_parts_of_any_size(history: Database, limit: int) -> None:
    with history.connect("kl_server") as conn:
        assert _verify(conn, limit) == []


KEYED = 'module.m["a.b"].module.n.terraform_data.keyed[1]'


@pytest.mark.parametrize("limit", [1, 2000])
@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("attributes", '\'{"id": "forged"}\'', "content"),
        ("private", "'eA=='", "content"),
        ("index_key", "'7'", "content"),
        ("sensitive_attributes", "'[[]]'", "content"),
        ("status", "'tainted'", "content"),
        ("schema_version", "9", "content"),
        ("content_hash", "content_hash + 1", "content"),
        ("address", "'terraform_data.other'", "address"),
        ("config_address", "'terraform_data.other'", "address"),
        ("type", "'null_resource'", "address"),
        ("name", "'other'", "address"),
        ("mode", "'data'", "address"),
        ("deposed", "'00000009'", "address"),
    ],
)
def test_a_changed_row_is_named(
    owner: Connection, column: str, value: str, problem: str, limit: int
) -> None:
    owner.execute(
        f"update kl_internal.resources set {column} = {value}"
        " where type = 'terraform_data' and name = 'keyed' and index_key = '1'"
        " and deposed = '' and closed_no is null".encode()
    )
    damage = [d for d in _verify(owner, limit) if d["kind"] == "resource"]
    assert [(d["from_version_no"], d["to_version_no"]) for d in damage] == [(1, 6)]
    assert problem in damage[0]["problem"]
    if column != "address":
        assert damage[0]["address"] == KEYED


def test_a_changed_row_of_the_past_is_named(owner: Connection) -> None:
    owner.execute(
        "update kl_internal.resources set attributes = '{}' where name = 'read' and opened_no = 2"
    )
    assert _short(_verify(owner)) == [("resource", "data.terraform_data.read", 2, 2)]


def test_a_module_that_does_not_parse_is_named_all_the_same(owner: Connection) -> None:
    owner.execute("update kl_internal.resources set module = '?' where name = 'keyed'")
    assert len(_verify(owner)) == 3


@pytest.mark.parametrize("limit", [1, 2000])
@pytest.mark.parametrize(
    ("where", "first", "last", "count"),
    [
        ("name = 'kept' and opened_no = 1", 1, 3, 1),
        ("name = 'kept' and opened_no = 5", 5, 6, 1),
        ("name = 'read' and opened_no = 2", 2, 2, 1),
        ("name = 'keyed'", 1, 6, 3),
    ],
)
def test_missing_rows_give_their_versions(
    owner: Connection, where: str, first: int, last: int, count: int, limit: int
) -> None:
    owner.execute(f"delete from kl_internal.resources where {where}".encode())
    damage = _verify(owner, limit)
    assert {d["kind"] for d in damage} == {"versions"}
    assert all(d["problem"] == f"{count} resource rows are missing" for d in damage)
    covered = [n for d in damage for n in range(d["from_version_no"], d["to_version_no"] + 1)]
    assert covered == list(range(first, last + 1))


def test_a_row_too_many_is_named(owner: Connection) -> None:
    owner.execute(
        "insert into kl_internal.resources (state_id, opened_no, closed_no, path, address,"
        " config_address, mode, type, name, content_hash, attributes)"
        " select state_id, 2, 4, path || 'x', 'terraform_data.forged', config_address, mode,"
        " type, 'forged', 4711, '{}' from kl_internal.resources where name = 'kept' limit 1"
    )
    damage = _verify(owner)
    assert ("versions", "terraform_data.forged", 2, 3) in _short(damage)
    assert any("too many" in d["problem"] for d in damage)
    assert any(d["kind"] == "resource" for d in damage)


def test_a_moved_range_gives_the_versions_between(owner: Connection) -> None:
    owner.execute("update kl_internal.resources set closed_no = 3 where name = 'kept'"
                  " and opened_no = 1")  # fmt: skip
    assert _short(_verify(owner)) == [("versions", None, 3, 3)]


def test_outputs_are_looked_at(owner: Connection) -> None:
    owner.execute(
        "update kl_internal.outputs set value = '\"z\"' where name = 'o' and opened_no = 4"
    )
    assert _short(_verify(owner)) == [("output", "output.o", 4, 4)]
    owner.execute("delete from kl_internal.outputs where name = 's' and opened_no = 1")
    assert ("versions", None, 1, 3) in _short(_verify(owner))


def test_dependency_lists_are_looked_at(owner: Connection) -> None:
    owner.execute("update kl_internal.dependency_sets set addresses = '{terraform_data.odd}'")
    damage = _verify(owner)
    assert _short(damage) == [("dependencies", KEYED, 1, None)]
    owner.rollback()
    owner.execute("update kl_internal.dependency_sets set config_addresses = '{x.y}'")
    assert _short(_verify(owner)) == [("dependencies", KEYED, 1, None)]
    owner.rollback()
    owner.execute("delete from kl_internal.dependency_sets")
    assert _verify(owner)[0]["problem"] == "its dependencies are missing"


@pytest.mark.parametrize(
    "change",
    [
        "content_digest = content_digest # 1",
        "object_count = object_count + 1",
        "output_count = 0",
        "serial = 40",
        "lineage = 'other'",
        "terraform_version = null",
        "check_results = '[]'",
        "actor = 'mallory'",
        "source = 'apply'",
        "created_at = created_at + interval '1 day'",
        "row_hash = 0",
    ],
)
def test_a_changed_version_is_named(owner: Connection, change: str) -> None:
    owner.execute(f"update kl_internal.state_versions set {change} where version_no = 3".encode())
    assert _short(_verify(owner)) == [("versions", None, 3, 3)]


def test_a_missing_version_is_named(owner: Connection) -> None:
    owner.execute("delete from kl_internal.state_versions where version_no = 2")
    damage = _verify(owner)
    assert _short(damage) == [("versions", None, 2, 2)]
    assert "missing" in damage[0]["problem"]


def test_a_state_that_points_back_is_named(owner: Connection) -> None:
    owner.execute("update kl_internal.states set current_version_no = 4")
    row = owner.execute("select next_cursor from kl.verify_state(%s)", (NAME,)).fetchone()
    assert row is not None
    row = owner.execute("select damage from kl.verify_state(%s, %s)",
                        (NAME, Jsonb(row[0]))).fetchone()  # fmt: skip
    assert row is not None
    assert _short(row[0]) == [("versions", None, 5, 6)]


@pytest.mark.parametrize(
    "cursor",
    [
        {},
        {"state_id": None},
        "x",
        [],
        {"step": "versions"},
        {"after": None},
        {"version_no": "a"},
        {"version_no": "6"},
        {"step": "versions", "after": 1, "digest": "x"},
    ],
)
def test_a_cursor_of_something_else_is_refused(history: Database, cursor: Any) -> None:  # noqa: ANN401 - any JSON
    with history.connect("kl_server") as conn:
        row = conn.execute(
            "select next_cursor from kl.verify_state(%s, null, 1)", (NAME,)
        ).fetchone()
        assert row is not None
        given = {**row[0], **cursor} if isinstance(cursor, dict) and cursor else cursor
        with pytest.raises(psycopg.Error) as caught:
            conn.execute("select damage from kl.verify_state(%s, %s)", (NAME, Jsonb(given)))
        assert caught.value.sqlstate == "KL001"


def test_an_unknown_state_and_an_analyst_are_refused(history: Database) -> None:
    with history.connect("kl_server") as conn, pytest.raises(psycopg.Error) as caught:
        conn.execute("select damage from kl.verify_state('nope')")
    assert caught.value.sqlstate == "KL201"
    with history.connect("kl_query") as conn, pytest.raises(psycopg.Error) as caught:
        conn.execute("select damage from kl.verify_state(%s)", (NAME,))
    assert caught.value.sqlstate == "42501"


def test_writes_meanwhile_are_not_looked_at(cluster: Cluster) -> None:
    documents = list(_documents())

    async def write(database: Database, document: bytes) -> None:
        async with db.Database(database.conninfo("kl_server")) as pool:
            await import_document(pool, db.Caller(), NAME, bytearray(document), "import")

    with cluster.clone() as database:
        asyncio.run(write(database, documents[0]))
        with database.connect("kl_server") as conn:
            cursor: Any = None
            for document in [*documents[1:], *[None] * 50]:
                row = conn.execute(
                    "select next_cursor, version_no, damage from kl.verify_state(%s, %s, 1)",
                    (NAME, None if cursor is None else Jsonb(cursor)),
                ).fetchone()
                assert row is not None
                cursor, version_no, damage = row
                assert (version_no, damage) == (1, [])
                if cursor is None:
                    return
                if document is not None:
                    asyncio.run(write(database, document))
            pytest.fail("it does not end")
