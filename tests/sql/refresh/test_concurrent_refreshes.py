"""A refresh beside writers and other refreshes: whoever waits is seen waiting."""

import psycopg
import pytest

from tests.clusters import Connection
from tests.documents import encoded, instance, resource, state
from tests.equality import canonical
from tests.sql.refreshing import GONE, Committed, Run, begin
from tests.sql.staging import read, write
from tests.sql.test_concurrency import Pair

BY_PLAIN = state(2, resource("a", instance({"id": "plain"})), resource("b"))
FOUND = {"attributes": {"id": "found"}}


def _commit(run: Run, conn: Connection) -> Committed:
    return Run(conn, run.id, run.state_id, run.version_no).commit()


def _staged(pair: Pair, **changes: object) -> Run:
    with pair.two.transaction():
        run = begin(pair.two)
        run.read(**changes)  # type: ignore[arg-type]
    return run


def test_refresh_that_waits_for_a_plain_write_leaves_what_it_wrote(pair: Pair) -> None:
    run = _staged(pair, a=FOUND, b=FOUND)
    with pair.one.transaction():
        write(pair.one, "s", BY_PLAIN)
        late = pair.second(lambda conn: _commit(run, conn))
        assert not late.done()
    assert late.result() == (3, 3, 2, 1, 1, ["terraform_data.b"])
    assert canonical(read(pair.one, "s")) == canonical(
        encoded(
            state(
                3,
                resource("a", instance({"id": "plain"})),
                resource("b", instance({"id": "found"})),
            )
        )
    )


def test_plain_write_that_waits_for_a_refresh_is_refused(pair: Pair) -> None:
    with pair.one.transaction():
        run = begin(pair.one)
        run.read(a=FOUND)
        assert run.commit().serial == 2
        late = pair.second(lambda conn: write(conn, "s", BY_PLAIN))
        assert not late.done()
    with pytest.raises(psycopg.Error) as caught:
        late.result()
    assert caught.value.sqlstate == "KL302"
    assert pair.versions() == [(1, 1), (2, 2)]


def test_refresh_goes_on_when_the_writer_gives_up(pair: Pair) -> None:
    run = _staged(pair, a=GONE)
    with pair.one.transaction() as transaction:
        write(pair.one, "s", BY_PLAIN)
        late = pair.second(lambda conn: _commit(run, conn))
        raise psycopg.Rollback(transaction)
    assert late.result() == (2, 2, 2, 1, 0, ["terraform_data.a"])


def test_of_two_refreshes_each_makes_a_version_and_one_the_rows(pair: Pair) -> None:
    second = _staged(pair, a=FOUND, b=FOUND)
    with pair.one.transaction():
        first = begin(pair.one)
        first.read(a=FOUND)
        assert first.commit() == (2, 2, 2, 1, 0, ["terraform_data.a"])
        late = pair.second(lambda conn: _commit(second, conn))
        assert not late.done()
    assert late.result() == (3, 3, 2, 1, 1, ["terraform_data.b"])
    rows = pair.watcher.execute("select create_version_no from kl.resources order by address")
    assert rows.fetchall() == [(2,), (3,)]


def test_the_same_commit_sent_twice_at_once_is_one_version(pair: Pair) -> None:
    with pair.one.transaction():
        write(pair.one, "s", state(2))
        run = begin(pair.one)
    with pair.one.transaction():
        run.commit()
        again = pair.second(lambda conn: _commit(run, conn))
        assert not again.done()
    with pytest.raises(psycopg.Error) as caught:
        again.result()
    assert caught.value.sqlstate == "KL306"
    assert pair.versions() == [(1, 1), (2, 2), (3, 3)]


def test_run_that_is_committed_cannot_be_cancelled_any_more(pair: Pair) -> None:
    run = _staged(pair, a=FOUND)
    with pair.one.transaction():
        _commit(run, pair.one)
        late = pair.second(
            lambda conn: Run(conn, run.id, run.state_id, run.version_no).finish("cancelled")
        )
        assert not late.done()
    with pytest.raises(psycopg.Error) as caught:
        late.result()
    assert caught.value.sqlstate == "KL306"
    assert Run(pair.one, run.id, run.state_id, 1).audit()[:3] == ("succeeded", 1, 2)


def test_refresh_that_waits_for_a_deletion_finds_no_state(pair: Pair) -> None:
    run = _staged(pair, a=GONE)
    with pair.one.transaction():
        pair.one.execute("select kl.delete_state('s')")
        late = pair.second(lambda conn: _commit(run, conn))
        assert not late.done()
    with pytest.raises(psycopg.Error) as caught:
        late.result()
    assert caught.value.sqlstate == "KL201"
