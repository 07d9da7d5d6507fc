"""Native writers at once: whoever waits is seen waiting, and nothing is lost."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import psycopg
import pytest

from tests.clusters import Connection, Database
from tests.documents import instance, resource, state
from tests.sql.commit.committing import commit, delta, document, serials, snapshot, writer
from tests.sql.commit.operating import move, remove
from tests.sql.engine import Run, begin
from tests.sql.staging import write
from tests.waiting import wait_for

T = TypeVar("T")
A, B = "terraform_data.a", "terraform_data.b"
WRITERS = 8
ROUNDS = 4


def _changed(name: str, value: str = "new") -> dict[str, object]:
    return resource(name, instance({"id": value}))


@dataclass
class Sessions:
    """Two sessions of the server's role, and one that watches."""

    one: Connection
    two: Connection
    watcher: Connection
    pool: ThreadPoolExecutor

    def second(self, work: Callable[[Connection], T]) -> "Future[T]":
        """Let the second session work; return when it waits for a lock, or is done."""
        future = self.pool.submit(self._in_transaction, work)
        query = "select from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
        pid = self.two.info.backend_pid
        wait_for(
            lambda: future.done() or self.watcher.execute(query, (pid,)).fetchone() is not None
        )
        return future

    def _in_transaction(self, work: Callable[[Connection], T]) -> T:
        with self.two.transaction():
            return work(self.two)


@pytest.fixture
def sessions(database: Database) -> Iterator[Sessions]:
    """Two sessions on a state of two resources, and one on another."""
    with (
        database.connect() as one,
        database.connect() as two,
        database.connect("postgres") as watcher,
        ThreadPoolExecutor(1) as pool,
    ):
        write(one, "s", state(1, resource("a"), resource("b")))
        write(one, "t", state(1, resource("z")))
        yield Sessions(one, two, watcher, pool)


def _refused(future: "Future[T]", sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        future.result()
    assert caught.value.sqlstate == sqlstate


def test_disjoint_commits_wait_for_each_other_and_both_stay(sessions: Sessions) -> None:
    first, second = writer(sessions.one, A), writer(sessions.two, B)
    with sessions.one.transaction():
        commit(first, delta(_changed("a")))
        other = sessions.second(lambda _: commit(second, delta(_changed("b"))))
        assert not other.done()
    assert other.result().serial == 3
    ids = [r["instances"][0]["attributes"]["id"] for r in document(sessions.one)["resources"]]
    assert ids == ["new", "new"]


def test_a_commit_that_waits_for_a_writer_is_compared_with_it(sessions: Sessions) -> None:
    """b is written on a base that is older than what became of what it depends on."""
    first, second = writer(sessions.one, A), writer(sessions.two, B)
    dependent = resource("b", instance({"id": "new"}, dependencies=[A]))
    with sessions.one.transaction():
        commit(first, delta(_changed("a")))
        late = sessions.second(lambda _: commit(second, delta(dependent)))
        assert not late.done()
    _refused(late, "KL302")
    assert serials(sessions.one) == [1, 2]


def test_a_commit_that_waits_for_its_abort_is_refused(sessions: Sessions) -> None:
    run = writer(sessions.one, A)
    with sessions.one.transaction():
        run.abort()
        late = sessions.second(lambda conn: commit(Run(conn, "s", run.id), delta(_changed("a"))))
        assert not late.done()
    _refused(late, "KL306")


def test_a_commit_that_waits_while_its_state_is_deleted_finds_none(sessions: Sessions) -> None:
    run = begin(sessions.one)

    def small(conn: Connection) -> object:
        return commit(Run(conn, "s", run.id), delta(_changed("a")))

    def whole(conn: Connection) -> object:
        return snapshot(Run(conn, "s", run.id), state(2, resource("a")))

    for work in (small, whole):
        with sessions.one.transaction():
            sessions.one.execute("select kl.delete_state('s')")
            late = sessions.second(work)
            assert not late.done()
        _refused(late, "KL201")
        write(sessions.one, "s", state(1, resource("a"), resource("b")))
        run = begin(sessions.one)


def test_a_request_sent_twice_at_once_is_one_version(sessions: Sessions) -> None:
    run = writer(sessions.one, A)
    with sessions.one.transaction():
        first = commit(run, delta(_changed("a")))
        again = sessions.second(lambda conn: commit(Run(conn, "s", run.id), delta(_changed("a"))))
        assert not again.done()
    assert again.result() == first
    assert serials(sessions.one) == [1, 2]


def test_of_two_moves_to_one_place_the_second_is_refused(sessions: Sessions) -> None:
    with sessions.one.transaction():
        move(sessions.one, (A, "terraform_data.m"))
        other = sessions.second(lambda conn: move(conn, (B, "terraform_data.m")))
        assert not other.done()
    _refused(other, "KL001")


def test_a_removal_that_waits_for_a_reservation_sees_it(sessions: Sessions) -> None:
    with sessions.one.transaction():
        writer(sessions.one, A)
        other = sessions.second(lambda conn: remove(conn, A))
        assert not other.done()
    _refused(other, "KL301")


def test_moves_between_two_states_in_both_directions_never_deadlock(sessions: Sessions) -> None:
    with sessions.one.transaction():
        move(sessions.one, (A, A), to="t")
        other = sessions.second(lambda conn: move(conn, ("terraform_data.z", B), name="t", to="s"))
        assert not other.done()
    _refused(other, "KL001")  # b is there
    with sessions.one.transaction():
        move(sessions.one, (B, B), to="t")
        other = sessions.second(
            lambda conn: move(conn, ("terraform_data.z", "terraform_data.z"), name="t", to="s")
        )
        assert not other.done()
    assert other.result()["to_committed_serial"] == 4


@pytest.mark.parametrize("backwards", [False, True])
def test_a_move_locks_the_state_with_the_lesser_id_first(
    sessions: Sessions, database: Database, backwards: bool
) -> None:
    """Whoever waits for it holds nothing yet, so that no two can wait for each other."""
    found = sessions.watcher.execute("select s.name from kl_internal.states as s order by s.id")
    lesser, greater = (name for (name,) in found)
    source, target = (greater, lesser) if backwards else (lesser, greater)
    address = {"s": A, "t": "terraform_data.z"}[source]
    row = "select from kl_internal.states as s where s.name = %s for update nowait"
    with database.connect("postgres") as holder, holder.transaction():
        holder.execute(row, (lesser,))
        other = sessions.second(
            lambda conn: move(conn, (address, "terraform_data.m"), name=source, to=target)
        )
        assert not other.done()
        holder.execute(row, (greater,))
    assert other.result()["to_committed_serial"] == 2


def test_many_disjoint_writers_lose_nothing(database: Database) -> None:
    """Each commits again and again on the base that it once read."""
    with database.connect() as conn:
        write(conn, "s", state(1, *(resource(f"r{n}") for n in range(WRITERS))))

    def work(number: int) -> None:
        with database.connect() as conn:
            run = writer(conn, f"terraform_data.r{number}")
            for attempt in range(ROUNDS):
                commit(run, delta(_changed(f"r{number}", str(attempt))))
            run.finish()

    async def all_at_once() -> None:
        await asyncio.gather(*(asyncio.to_thread(work, n) for n in range(WRITERS)))

    asyncio.run(all_at_once())
    with database.connect() as conn:
        found = [r["instances"][0]["attributes"]["id"] for r in document(conn)["resources"]]
        assert found == [str(ROUNDS - 1)] * WRITERS
        assert serials(conn) == list(range(1, WRITERS * ROUNDS + 2))
