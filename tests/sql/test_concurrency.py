"""Two sessions at once: whoever waits is seen waiting, and nothing is lost or written twice."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
import pytest

from pyengine import db
from pyengine.importing import import_document
from tests.clusters import Connection, Database
from tests.documents import encoded, instance, lock_info, resource, state
from tests.equality import canonical
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import read, refused, stage, stage_keys, write
from tests.waiting import wait_for

T = TypeVar("T")

FIRST = state(1, resource("a"), resource("b"))
BY_ONE = state(2, resource("a", instance({"id": "one"})), resource("b"))
BY_TWO = state(2, resource("a"), resource("b", instance({"id": "two"})))


@dataclass
class Pair:
    """Two sessions of the server's role, and one that watches."""

    database: Database
    one: Connection
    two: Connection
    watcher: Connection
    pool: ThreadPoolExecutor

    def second(self, work: Callable[[Connection], T]) -> "Future[T]":
        """Let the second session work; return when it waits for a lock, or is done."""
        future = self.pool.submit(self._in_transaction, work)
        query = (
            "select exists (select from pg_locks as l where l.pid = %s and not l.granted), "
            "exists (select from pg_stat_activity as a where a.pid = %s "
            "and a.wait_event_type = 'Lock')"
        )
        pid = self.two.info.backend_pid
        wait_for(
            lambda: (
                future.done() or self.watcher.execute(query, (pid, pid)).fetchone() == (True, True)
            )
        )
        return future

    def _in_transaction(self, work: Callable[[Connection], T]) -> T:
        with self.two.transaction():
            return work(self.two)

    def versions(self) -> list[tuple[Any, ...]]:
        """Return every version of the state."""
        return self.watcher.execute(
            "select version_no, serial::bigint from kl.state_versions order by version_no"
        ).fetchall()


@pytest.fixture
def pair(database: Database) -> Iterator[Pair]:
    """Two sessions on a state of two resources."""
    yield from open_pair(database)


def open_pair(database: Database) -> Iterator[Pair]:
    """Open two sessions on a state of two resources, and a third that watches."""
    with (
        database.connect() as one,
        database.connect() as two,
        database.connect("postgres") as watcher,
        ThreadPoolExecutor(1) as pool,
    ):
        with one.transaction():
            write(one, "s", FIRST)
        yield Pair(database, one, two, watcher, pool)


@contextmanager
def _refused(sqlstate: str) -> Iterator[None]:
    with pytest.raises(psycopg.Error) as caught:
        yield
    assert caught.value.sqlstate == sqlstate


def test_of_two_writers_the_second_is_refused(pair: Pair) -> None:
    with pair.one.transaction():
        assert write(pair.one, "s", BY_ONE).outcome == "written"
        other = pair.second(lambda conn: write(conn, "s", BY_TWO))
        assert not other.done()
    with _refused("KL302"):
        other.result()
    assert pair.versions() == [(1, 1), (2, 2)]
    assert canonical(read(pair.one, "s")) == canonical(encoded(BY_ONE))


def test_second_writer_goes_on_when_the_first_gives_up(pair: Pair) -> None:
    with pair.one.transaction() as transaction:
        write(pair.one, "s", BY_ONE)
        other = pair.second(lambda conn: write(conn, "s", BY_TWO))
        raise psycopg.Rollback(transaction)
    assert other.result().outcome in ("written", "incomplete")
    assert canonical(read(pair.one, "s")) == canonical(encoded(BY_TWO))


def test_retry_that_races_its_first_attempt_makes_one_version(pair: Pair) -> None:
    with pair.one.transaction():
        write(pair.one, "s", BY_ONE)
        again = pair.second(lambda conn: write(conn, "s", BY_ONE))
        assert not again.done()
    assert again.result().outcome == "unchanged"
    assert pair.versions() == [(1, 1), (2, 2)]


def test_of_two_lockers_one_gets_it(pair: Pair) -> None:
    with pair.one.transaction():
        lock(pair.one, "s", lock_info("one"))
        other = pair.second(lambda conn: lock(conn, "s", lock_info("two")))
        assert not other.done()
    with _refused("KL303"):
        other.result()
    assert pair.watcher.execute("select lock_id from kl.state_locks").fetchall() == [("one",)]


def test_lock_request_sent_twice_at_once_is_one_lock(pair: Pair) -> None:
    with pair.one.transaction():
        lock(pair.one, "s", lock_info("one"))
        again = pair.second(lambda conn: lock(conn, "s", lock_info("one")))
    assert again.result() == "one"
    assert pair.watcher.execute("select count(*) from kl.events").fetchone() == (1,)


def test_first_lock_of_a_new_name_is_taken_once(pair: Pair) -> None:
    with pair.one.transaction():
        lock(pair.one, "new", lock_info("one"))
        other = pair.second(lambda conn: lock(conn, "new", lock_info("two")))
        assert not other.done()
    with _refused("KL303"):
        other.result()
    count = "select count(*) from kl_internal.states where name = 'new'"
    assert pair.watcher.execute(count).fetchone() == (1,)


def test_first_write_of_a_new_name_is_taken_once(pair: Pair) -> None:
    with pair.one.transaction():
        write(pair.one, "new", FIRST)
        other = pair.second(lambda conn: write(conn, "new", FIRST))
        assert not other.done()
    assert other.result().outcome == "unchanged"


def test_writer_whose_lock_is_freed_while_it_waits_is_refused(pair: Pair) -> None:
    with pair.one.transaction():
        lock(pair.one, "s", lock_info("one"))
    with pair.one.transaction():
        pair.one.execute("select kl.unlock_state('s', '')")
        late = pair.second(lambda conn: write(conn, "s", BY_ONE, "one"))
        assert not late.done()
    with _refused("KL304"):
        late.result()
    assert pair.versions() == [(1, 1)]


def test_writer_that_waits_for_a_deletion_starts_a_new_state(pair: Pair) -> None:
    with pair.one.transaction():
        pair.one.execute("select kl.delete_state('s')")
        late = pair.second(lambda conn: stage(conn, BY_ONE).write("s"))
        assert not late.done()
    written = late.result()
    assert (written.outcome, written.version_no) in [("written", 1), ("incomplete", None)]


def test_writer_in_between_makes_the_commit_ask_for_more(pair: Pair) -> None:
    with pair.two.transaction():
        upload = stage_keys(pair.two, BY_ONE | {"serial": 3})
        assert upload.missing("s") == "{[0,1)}"
        upload.send(0)
    with pair.one.transaction():
        write(pair.one, "s", BY_TWO)
    with pair.two.transaction():
        written = upload.write("s")
        assert (written.outcome, written.missing) == ("incomplete", "{[1,2)}")
        upload.send(1)
        assert upload.write("s").outcome == "written"
    assert canonical(read(pair.one, "s")) == canonical(encoded(BY_ONE | {"serial": 3}))
    assert [serial for _, serial in pair.versions()] == [1, 2, 3]


def test_writer_in_between_makes_the_same_serial_a_conflict(pair: Pair) -> None:
    upload = stage_keys(pair.two, BY_ONE)
    upload.send(0)
    with pair.one.transaction():
        write(pair.one, "s", BY_TWO)
    assert upload.write("s").outcome == "incomplete"  # it might have been a retry
    upload.send(1)
    with refused(pair.two, "KL302"):
        upload.write("s")
    assert pair.versions() == [(1, 1), (2, 2)]


def test_writer_in_between_that_brought_the_same_object(pair: Pair) -> None:
    upload = stage(pair.two, BY_ONE | {"serial": 3})
    with pair.one.transaction():
        write(pair.one, "s", BY_ONE)
    with pair.two.transaction():
        assert upload.write("s").outcome == "written"
    rows = pair.watcher.execute("select create_version_no from kl.resources order by address")
    assert rows.fetchall() == [(2,), (1,)]


@pytest.mark.parametrize("tables", ["staged_keys", "staged_slices", "both"])
def test_wiped_stage_is_lost_and_never_an_empty_state(pair: Pair, tables: str) -> None:
    upload = stage(pair.two, BY_ONE)
    names = ["staged_keys", "staged_slices"] if tables == "both" else [tables]
    pair.watcher.execute("set role kl_owner")
    for name in names:
        pair.watcher.execute(f"truncate kl_internal.{name}".encode())
    pair.watcher.execute("reset role")
    assert upload.write("s").outcome == "lost"
    assert pair.versions() == [(1, 1)]
    assert canonical(read(pair.one, "s")) == canonical(encoded(FIRST))


def test_read_of_a_version_is_the_same_while_others_write(pair: Pair) -> None:
    before = read(pair.one, "s", "v1", 1)
    state_id, head, tail = pair.one.execute(
        "select state_id, head, tail from kl.read_state('s')"
    ).fetchone() or (None, "", "")
    page = "select chunk, last_path from kl.read_state_page(%s, 1, %s, 1)"
    chunk, path = pair.one.execute(page, (state_id, "")).fetchone() or ("", "")
    with pair.two.transaction():
        write(pair.two, "s", state(2))
    rest, _ = pair.one.execute(page, (state_id, path)).fetchone() or ("", "")
    assert (head + chunk + rest + tail).encode() == before


def test_many_clients_that_lock_and_write_lose_nothing(database: Database) -> None:
    """Eight clients import documents over each other's; each success is one version."""
    tries, clients = 4, 8

    async def client(pool: db.Database, number: int) -> int:
        done = 0
        for attempt in range(tries):
            body = encoded(state(attempt + 1, resource("a", instance({"id": str(number)}))))
            try:
                caller = db.Caller(actor=str(number))
                answer = await import_document(pool, caller, "s", body, "import")
            except db.KilolockError as exc:
                assert exc.code == "state_serial_conflict"  # noqa: PT017 - each is expected
            else:
                done += answer.outcome == "written"
        return done

    async def run() -> int:
        async with db.Database(database.conninfo()) as pool:
            return sum(await asyncio.gather(*(client(pool, n) for n in range(clients))))

    written = asyncio.run(run())
    with database.connect("postgres") as conn:
        rows = conn.execute(
            "select version_no, serial::bigint from kl.state_versions order by version_no"
        ).fetchall()
        open_rows = conn.execute("select count(*) from kl.resources").fetchone()
        left = conn.execute(
            "select count(*) from kl.resource_history where delete_version_no is null"
        ).fetchone()
    assert written == len(rows) <= tries
    assert [number for number, _ in rows] == list(range(1, len(rows) + 1))
    assert [serial for _, serial in rows] == sorted({serial for _, serial in rows})
    assert open_rows == left == (1,)
