"""A whole document committed by a run."""

import json

import pytest

from tests.clusters import Connection
from tests.documents import ENCRYPTED, instance, resource, state
from tests.equality import canonical
from tests.sql.commit.committing import commit, delta, serials, snapshot, writer
from tests.sql.engine import at, begin, rows
from tests.sql.staging import read, refused, write

A, B = "terraform_data.a", "terraform_data.b"
CHANGED = state(2, resource("a", instance({"id": "new"})), resource("b"))


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a"), resource("b")))


def test_a_snapshot_is_the_runs_version(conn: Connection) -> None:
    run = writer(conn, A)
    outcome, serial, version_id, missing = snapshot(run, CHANGED)
    assert (outcome, serial, missing) == ("written", 2, "{}")
    version = rows(conn, "select version_id, source, run_id, actor from kl.state_versions "
                   "where version_no = 2")[0]  # fmt: skip
    assert version == {
        "version_id": version_id,
        "source": "apply",
        "run_id": run.id,
        "actor": "ann@kl",
    }
    assert canonical(read(conn, "s")) == canonical(json.dumps(CHANGED))


def test_a_repeated_snapshot_is_answered_as_before(conn: Connection) -> None:
    run = writer(conn, A)
    first = snapshot(run, CHANGED)
    run.finish()
    other = writer(conn, B)
    commit(other, delta(resource("b", instance({"id": "later"}))), 2)
    assert snapshot(run, CHANGED) == ("unchanged", *first[1:])
    assert serials(conn) == [1, 2, 3]


def test_another_writer_since_the_base_refuses_a_snapshot(conn: Connection) -> None:
    other = writer(conn, B)
    commit(other, delta(resource("b", instance({"id": "x"}))))
    run = writer(conn, A)
    with refused(conn, "KL302") as refusal:
        snapshot(run, CHANGED | {"serial": 3})
    assert refusal.detail["current_serial"] == 2


def test_own_commits_since_the_base_do_not(conn: Connection) -> None:
    run = writer(conn, A)
    commit(run, delta(resource("a", instance({"id": "x"}))))
    assert snapshot(run, CHANGED | {"serial": 3})[1] == 3


def test_what_somebody_else_reserved_must_stay_as_it_is(conn: Connection) -> None:
    run = writer(conn, A)
    other = begin(conn, actor="bob")
    other.acquire((B, "read"), holder="bob@kl")
    with refused(conn, "KL301") as refusal:
        snapshot(run, state(2, resource("a")))
    assert refusal.detail["addresses"] == [B]
    assert refusal.detail["conflicts"][0]["holder"] == "bob@kl"
    with refused(conn, "KL301"):
        snapshot(run, state(2, resource("a"), resource("b", instance({"id": "new"}))))
    assert snapshot(run, CHANGED)[0] == "written"


def test_nothing_comes_where_somebody_else_reserved(conn: Connection) -> None:
    run = writer(conn, A)
    begin(conn).acquire("terraform_data.c")
    with refused(conn, "KL301") as refusal:
        snapshot(run, state(2, resource("a"), resource("b"), resource("c")))
    assert refusal.detail["addresses"] == ["terraform_data.c"]


def test_a_dead_lease_stands_in_no_snapshots_way(conn: Connection) -> None:
    run = begin(conn)
    run.acquire(A, lease="20 minutes")
    run.lock()
    begin(conn).acquire(B, lease="10 minutes")
    at(conn, "11 minutes")
    assert snapshot(run, state(2, resource("a")))[0] == "written"


def test_a_snapshot_with_other_outputs_is_another_request(conn: Connection) -> None:
    run = writer(conn, A)
    assert snapshot(run, CHANGED)[1] == 2
    other = CHANGED | {"outputs": {"o": {"value": 1, "type": "number"}}}
    with refused(conn, "KL302"):
        snapshot(run, other)
    assert snapshot(run, other | {"serial": 3})[1] == 3


def test_a_snapshot_needs_the_lock_and_a_running_run(conn: Connection) -> None:
    run = writer(conn, A)
    run.unlock()
    with refused(conn, "KL305"):
        snapshot(run, CHANGED)
    run.abort()
    with refused(conn, "KL306"):
        snapshot(run, CHANGED)


def test_a_snapshot_may_not_be_encrypted(conn: Connection) -> None:
    run = writer(conn, A)
    with refused(conn, "KL002"):
        snapshot(run, ENCRYPTED)  # type: ignore[arg-type]
    assert serials(conn) == [1]


def test_a_run_knows_what_it_committed_last_whatever_the_client_says(conn: Connection) -> None:
    run = writer(conn, A)
    snapshot(run, CHANGED)
    last = commit(run, delta(resource("a", instance({"id": "newer"}))), 2)
    for seen in (run.status(), run.finish("committed", 99)):
        assert (seen["to_version_id"], seen["committed_serial"]) == (last.version_id, 3)


def test_a_run_that_is_aborted_late_says_what_it_committed(conn: Connection) -> None:
    run = writer(conn, A)
    _, serial, version_id, _ = snapshot(run, CHANGED)
    other = writer(conn, B)
    commit(other, delta(resource("b", instance({"id": "x"}))), 2)
    seen = run.abort()
    assert (seen["to_version_id"], seen["committed_serial"]) == (version_id, serial)
