"""Two native writers at once: whoever waits is seen waiting, and disjoint ones both get it."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.clusters import Database
from tests.documents import lock_info
from tests.sql.engine import Run, begin
from tests.sql.locks.test_lock_state import lock
from tests.sql.test_concurrency import Pair, open_pair


@pytest.fixture
def pair(database: Database) -> Iterator[Pair]:
    """Two sessions on a state of two resources."""
    yield from open_pair(database)


@pytest.fixture
def runs(pair: Pair) -> tuple[Run, Run]:
    """A run of each session."""
    return begin(pair.one, actor="ann"), begin(pair.two, actor="bob")


@contextmanager
def _refused(sqlstate: str) -> Iterator[None]:
    with pytest.raises(psycopg.Error) as caught:
        yield
    assert caught.value.sqlstate == sqlstate


@pytest.mark.parametrize("second", ["module.m", 'module.m["a"].aws_x.y', "*"])
def test_of_two_who_race_for_a_scope_one_gets_it(
    pair: Pair, runs: tuple[Run, Run], second: str
) -> None:
    one, two = runs
    with pair.one.transaction():
        one.acquire("module.m")
        other = pair.second(lambda _: two.acquire("aws_x.free", second))
        assert not other.done(), "it waits for the first to make up its mind"
    with _refused("KL301"):
        other.result()
    assert (one.held(), two.held()) == ([("module.m", "write")], [])


def test_second_gets_it_when_the_first_gives_up(pair: Pair, runs: tuple[Run, Run]) -> None:
    one, two = runs
    with pair.one.transaction() as transaction:
        one.acquire("module.m")
        other = pair.second(lambda _: two.acquire("module.m"))
        assert not other.done()
        raise psycopg.Rollback(transaction)
    assert len(other.result()) == 1
    assert (one.held(), two.held()) == ([], [("module.m", "write")])


def test_disjoint_scopes_are_both_held(pair: Pair, runs: tuple[Run, Run]) -> None:
    one, two = runs
    one.acquire("module.web")
    other = pair.second(lambda _: two.acquire("module.web2", "module.web_"))
    assert other.done(), "what is held keeps nobody waiting"
    other.result()
    assert len(one.held()) + len(two.held()) == 3
    one.lock()
    assert pair.second(lambda _: two.lock()).result() == f"state-engine-{two.id}"


def test_release_lets_the_next_one_in(pair: Pair, runs: tuple[Run, Run]) -> None:
    one, two = runs
    one.acquire("*")
    with pair.one.transaction():
        one.release()
        other = pair.second(lambda _: two.acquire("*"))
        assert not other.done()
    assert len(other.result()) == 1


@pytest.mark.parametrize("end", ["release", "finish", "abort"])
def test_what_ends_waits_for_what_is_being_reserved_and_frees_it(
    pair: Pair, runs: tuple[Run, Run], end: str
) -> None:
    one, _ = runs
    one.acquire("module.m")
    again = Run(pair.two, "s", one.id)
    with pair.one.transaction():
        one.acquire("module.n")
        other = pair.second(lambda _: getattr(again, end)())
        assert not other.done()
    other.result()
    assert one.held() == []


def test_plain_and_native_lock_race_and_one_gets_it(pair: Pair, runs: tuple[Run, Run]) -> None:
    one, _ = runs
    one.acquire("*")
    with pair.one.transaction():
        one.lock()
        other = pair.second(lambda conn: lock(conn, "s", lock_info("plain")))
        assert not other.done()
    with _refused("KL303"):
        other.result()
    one.finish()
    late = begin(pair.two)
    with pair.one.transaction():
        lock(pair.one, "s", lock_info("plain"))
        other = pair.second(lambda _: late.acquire("*"))
        assert not other.done()
    other.result()
    with _refused("KL303"):
        late.lock()


def test_abort_by_two_at_once_ends_the_run_once(pair: Pair, runs: tuple[Run, Run]) -> None:
    one, _ = runs
    one.acquire("*")
    again = Run(pair.two, "s", one.id)
    with pair.one.transaction():
        one.abort("first")
        other = pair.second(lambda _: again.abort("second"))
        assert not other.done()
    assert other.result()["error_summary"] == "first"


def test_renewal_that_races_the_end_of_its_lease_is_refused(
    pair: Pair, runs: tuple[Run, Run]
) -> None:
    one, two = runs
    two.acquire("*")
    with pair.one.transaction():
        pair.one.execute("select kl_test.set_clock(now() + interval '1 hour')")
        one.acquire("*")
        other = pair.second(lambda _: two.renew())
        assert not other.done()
    with _refused("KL305"):
        other.result()
    assert two.status()["status"] == "expired"


def test_freed_scopes_and_shorter_leases_are_told_to_who_listens(
    pair: Pair, runs: tuple[Run, Run]
) -> None:
    one, two = runs
    (state_id,) = pair.one.execute("select state_id::text from kl.states").fetchone() or ("",)
    pair.watcher.execute("listen kl_reservations")
    one.acquire("module.m")
    one.renew()
    one.renew(lease="1 minute")
    one.release()
    one.release()
    one.acquire("module.m")
    one.abort()
    two.acquire("module.m")
    with pair.one.transaction():
        pair.one.execute("select kl_test.set_clock(now() + interval '1 hour')")
        begin(pair.one).acquire("module.n")  # finds that the lease has ended
    told = [notice.payload for notice in pair.watcher.notifies(timeout=60, stop_after=4)]
    assert told == [state_id] * 4


def test_a_deleted_state_is_told_to_who_listens(pair: Pair, runs: tuple[Run, Run]) -> None:
    one, two = runs
    (state_id,) = pair.one.execute("select state_id::text from kl.states").fetchone() or ("",)
    one.acquire("module.m")
    pair.watcher.execute("listen kl_reservations")
    pair.one.execute("select kl.delete_state('s')")
    [told] = [notice.payload for notice in pair.watcher.notifies(timeout=60, stop_after=1)]
    assert told == state_id
    with _refused("KL201"):
        two.acquire("module.m")
