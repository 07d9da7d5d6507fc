"""kl.read_state, kl.read_state_page and kl.read_opaque_page: a document in pieces."""

from datetime import UTC, datetime

import pytest

from tests.clusters import Connection
from tests.documents import ENCRYPTED, encoded, instance, lock_info, resource, state
from tests.equality import canonical
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import read, refused, write

BLOCKS = [
    resource("a", *(instance({"id": str(n)}, index_key=n) for n in (10, 9, 2))),
    resource("a", instance(), instance(deposed="00000001"), module='module.m["k"]'),
    resource("b", mode="data", module="module.m[10]"),
    resource("b", mode="data"),
    resource("c", *(instance(index_key=k) for k in ("z", "é", "a\0", "A"))),
]


def _versions(conn: Connection) -> list[bytes]:
    """Write three versions, an hour apart; return what each must read as."""
    bodies = []
    for serial, blocks in ((5, BLOCKS), (6, BLOCKS[1:]), (9, [*BLOCKS[2:], resource("d")])):
        conn.execute("select kl_test.set_clock(%s)", (datetime(2026, 1, 1, serial, tzinfo=UTC),))
        bodies.append(encoded(state(serial, *blocks)))
        write(conn, "s", bodies[-1])
    return bodies


@pytest.mark.parametrize("page", [1, 2, 3, 7, 1000])
def test_pages_of_any_size_make_the_same_document(conn: Connection, page: int) -> None:
    bodies = _versions(conn)
    for number, body in enumerate(bodies, 1):
        assert canonical(read(conn, "s", f"v{number}", page)) == canonical(body)
        assert read(conn, "s", f"v{number}", page) == read(conn, "s", f"v{number}", 1000)


def test_objects_come_in_document_order(conn: Connection) -> None:
    _versions(conn)
    rows = conn.execute(
        "select address, deposed_key from kl.resources order by address, deposed_key"
    ).fetchall()
    assert len(rows) == 7
    text = read(conn, "s", "v1").decode()
    keys = ['"index_key":2,', '"index_key":9,', '"index_key":10,']
    assert sorted(keys, key=text.index) == keys


def test_version_is_named_in_many_ways(conn: Connection) -> None:
    bodies = _versions(conn)
    ids = conn.execute(
        "select version_id::text from kl.state_versions order by version_no"
    ).fetchall()
    named = {
        "current": 3, "@0": 3, "@1": 2, "@2": 1, "v1": 1, "v2": 2, "v3": 3, "5": 1, "6": 2, "9": 3,
        ids[0][0]: 1, ids[2][0].upper(): 3,
        "2026-01-01T05:30:00Z": 1, "2026-01-01 06:00+00": 2, "2026-01-02": 3, "2027-01-01": 3,
    }  # fmt: skip
    for name, number in named.items():
        assert canonical(read(conn, "s", name)) == canonical(bodies[number - 1]), name


@pytest.mark.parametrize(
    "version",
    [
        "@3", "v0", "v4", "4", "10", "", "x", "v", "@", "-1", "v99999999999999999999",
        "00000000-0000-0000-0000-000000000000", "2020-01-01", "2026-13-99", "yesterday",
    ],
)  # fmt: skip
def test_version_that_is_not_there_is_told(conn: Connection, version: str) -> None:
    _versions(conn)
    with refused(conn, "KL202") as refusal:
        read(conn, "s", version)
    assert refusal.detail["version"] == version


def test_serial_that_was_written_twice_means_the_latest(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a")))
    lock(conn, "s", lock_info("one", "state-push"))
    write(conn, "s", state(1, resource("b")), "one")
    assert b'"name":"b"' in read(conn, "s", "1")


def test_names_that_cannot_be_read(conn: Connection) -> None:
    with refused(conn, "KL201") as refusal:
        read(conn, "nothing")
    assert refusal.detail == {"state": "nothing"}
    for name in ("", "a//b", "../x", "x\n", "n" * 513):
        with refused(conn, "KL001"):
            read(conn, name)


def test_page_after_the_last_path_is_no_row(conn: Connection) -> None:
    write(conn, "s", state(1))
    [(state_id,)] = conn.execute("select state_id from kl.states").fetchall()
    call = "select * from kl.read_state_page(%s, 1, '', 10)"
    assert conn.execute(call, (state_id,)).fetchall() == []


def test_long_opaque_document_comes_in_runs(conn: Connection) -> None:
    body = ENCRYPTED.replace(b"c2VjcmV0", b"c2VjcmV0" * 400_000)
    write(conn, "s", body)
    assert read(conn, "s") == body
    [(version_id,)] = conn.execute("select version_id from kl.states").fetchall()
    call = "select octet_length(kl.read_opaque_page(%s, %s))"
    sizes = [conn.execute(call, (version_id, n)).fetchone() for n in range(5)]
    assert [size for (size,) in filter(None, sizes)] == [1 << 20] * 3 + [
        len(body) - (3 << 20),
        None,
    ]


@pytest.mark.parametrize("lost", ["0", "1", "chunk_no"])
def test_lost_bytes_of_an_opaque_document_are_no_end(owner_conn: Connection, lost: str) -> None:
    write(owner_conn, "s", ENCRYPTED.replace(b"c2VjcmV0", b"c2VjcmV0" * 400_000))
    owner_conn.execute(
        f"delete from kl_internal.opaque_chunks as c where c.chunk_no = {lost}".encode()
    )
    with refused(owner_conn, "XX001"):
        read(owner_conn, "s")


def test_state_deleted_and_made_again_reads_as_the_new_one(conn: Connection) -> None:
    write(conn, "s", state(7, resource("old")))
    conn.execute("select kl.delete_state(p_name => 's')")
    body = encoded(state(1, resource("new")))
    write(conn, "s", body)
    assert canonical(read(conn, "s", "v1")) == canonical(body)


def test_analyst_reads_views_only(analyst_conn: Connection) -> None:
    for call in (
        "select * from kl.read_state('s')",
        "select * from kl.read_state_page(gen_random_uuid(), 1, '', 1)",
        "select kl.read_opaque_page(gen_random_uuid(), 0)",
    ):
        with refused(analyst_conn, "42501"):
            analyst_conn.execute(call.encode())
