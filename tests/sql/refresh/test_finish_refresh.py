"""kl.finish_refresh: one audit row, whatever came of the run."""

from typing import Any

import pytest

from tests.clusters import Connection
from tests.documents import ENCRYPTED, resource, state
from tests.sql.auth.acting import one
from tests.sql.refreshing import GONE, begin
from tests.sql.staging import refused, write


@pytest.mark.parametrize("status", ["succeeded", "failed", "cancelled"])
def test_run_ends_without_a_version(conn: Connection, status: str) -> None:
    write(conn, "s", state(1, resource("a"), resource("b")))
    run = begin(conn)
    run.read(a=GONE)
    run.finish(status, 2, 0, "for a reason")
    assert run.audit() == (status, 1, None, 2, 1, 0, 0)
    assert conn.execute(
        "select error_summary, finished_at >= started_at from kl.refresh_runs"
    ).fetchone() == ("for a reason", True)
    assert one(conn, "select count(*) from kl.state_versions") == 1


def test_run_that_read_nothing_ends(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a")))
    run = begin(conn)
    run.finish("cancelled", 0, 0, None)
    assert run.audit() == ("cancelled", 1, None, 0, 0, 0, 0)


def test_run_whose_reads_cannot_be_compared_ends_too(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a")))
    run = begin(conn)
    (stored,) = run.objects()
    run.stage((stored.resource_id, "read", 0, b"{no JSON", *[None] * 6))
    run.finish("failed", 1, 0, "interrupted")
    assert run.audit() == ("failed", 1, None, 1, None, 0, None)


def test_dry_run_of_a_state_encrypted_meanwhile_cannot_succeed(conn: Connection) -> None:
    write(conn, "s", state(2, resource("a")))
    run = begin(conn)
    run.read(a=GONE)
    write(conn, "s", ENCRYPTED)
    with refused(conn, "KL002"):
        run.finish("succeeded", 1, 0)
    assert run.audit()[0] == "running"
    run.finish("failed", 1, 0, "encrypted")
    assert run.audit() == ("failed", 1, None, 1, 0, 0, 1)


@pytest.mark.parametrize("status", ["running", "done", "", None])
def test_other_ends_are_refused(conn: Connection, status: Any) -> None:  # noqa: ANN401
    write(conn, "s", state(1))
    run = begin(conn)
    with refused(conn, "KL001") as refusal:
        run.finish(status)
    assert refusal.detail == {"status": status}
    assert run.audit()[0] == "running"


def test_run_ends_once(conn: Connection) -> None:
    write(conn, "s", state(1))
    run = begin(conn)
    run.finish("failed")
    for end in (lambda: run.finish("cancelled"), run.commit, run.preview):
        with refused(conn, "KL306") as refusal:
            end()
        assert refusal.detail == {"status": "failed"}


def test_what_was_staged_is_dropped(owner_conn: Connection) -> None:
    write(owner_conn, "s", state(1, resource("a")))
    for end in ("finish", "commit"):
        run = begin(owner_conn)
        run.read()
        assert one(owner_conn, "select count(*) from kl_internal.staged_reads") == 1
        run.finish("failed") if end == "finish" else run.commit()
        assert one(owner_conn, "select count(*) from kl_internal.staged_reads") == 0


def test_run_whose_client_is_gone_is_ended_by_the_sweep(owner_conn: Connection) -> None:
    def sweep(hours: int) -> tuple[str, str, int]:
        owner_conn.execute("select kl_test.set_clock(now() + %s * interval '1 hour')", (hours,))
        if hours > 24:  # late has staged something just now
            owner_conn.execute(
                "update kl_internal.staged_reads set staged_at = kl_internal.clock() "
                "where refresh_run_id = %s",
                (late.id,),
            )
        owner_conn.execute("select kl.sweep_uploads(p_older_than => interval '1 hour')")
        staged = one(owner_conn, "select count(*) from kl_internal.staged_reads")
        return lost.audit()[0], late.audit()[0], staged

    write(owner_conn, "s", state(1, resource("a")))
    lost, late = begin(owner_conn), begin(owner_conn)
    lost.read()
    late.read()
    assert sweep(23) == ("running", "running", 2)
    assert sweep(25) == ("failed", "running", 1)
    with refused(owner_conn, "KL306"):
        lost.commit()
    assert late.commit().resources_checked == 1


def test_run_whose_client_is_gone_is_ended_by_the_next(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a")))
    lost = begin(conn)
    conn.execute("select kl_test.set_clock(now() + interval '25 hours')")
    begin(conn)
    assert lost.audit()[0] == "failed"


def test_status_tells_what_runs_and_from_which_version_to_which(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a")))
    run = begin(conn)
    running = one(conn, "select kl.state_status('s')")["refresh_runs"]
    assert [r["refresh_run_id"] for r in running] == [str(run.id)]
    run.read()
    run.commit()
    begin(conn).finish("failed")
    status = one(conn, "select kl.state_status('s')")
    assert status["refresh_runs"] == []
    last = status["last_refresh"]
    assert (last["from_version_no"], last["to_version_no"]) == (1, 2)
