"""Begin, status, finish, abort and list of native applies."""

import uuid

import pytest

from tests.clusters import Connection
from tests.documents import resource, state
from tests.sql.auth.acting import act, new_token
from tests.sql.engine import at, begin, rows, value
from tests.sql.locks.test_lock_state import INFO, lock
from tests.sql.staging import refused, write

BEGIN = "select * from kl.begin_apply_run(%s, %s, %s, %s::jsonb)"


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(conn, "s", state(7, resource()))


def test_run_starts_from_the_current_version(conn: Connection) -> None:
    (run,) = rows(conn, BEGIN, "s", "ann@kl", None, '{"mode": "state-engine"}')
    version = rows(conn, "select version_id, state_id from kl.state_versions")[0]
    assert run["from_version_id"] == version["version_id"]
    assert run["state_id"] == version["state_id"]
    assert (run["actor"], run["status"], run["source_serial"]) == ("ann@kl", "running", 7)
    assert rows(conn, "select principal, info from kl.apply_runs") == [
        {"principal": "kl_server", "info": {"mode": "state-engine"}}
    ]


def test_run_keeps_the_serial_that_it_was_planned_from(conn: Connection) -> None:
    (run,) = rows(conn, BEGIN, "s", None, 5, None)
    assert (run["source_serial"], run["actor"]) == (5, "kl_server")


def test_run_makes_no_state(conn: Connection) -> None:
    lock(conn, "placeholder", INFO)
    for name in ("typo", "placeholder"):
        with refused(conn, "KL201"):
            conn.execute(BEGIN, (name, "a", None, None))
    assert rows(conn, "select * from kl.apply_runs") == []


@pytest.mark.parametrize(
    ("serial", "info", "pointer"),
    [
        (-1, "{}", "/source_serial"),
        (2**64, "{}", "/source_serial"),
        ("1.5", "{}", "/source_serial"),
        (1, "[]", "/info"),
        (1, "3", "/info"),
        (1, "null", "/info"),
    ],
)
def test_what_is_no_serial_or_info_is_refused(
    conn: Connection, serial: int | str, info: str, pointer: str
) -> None:
    with refused(conn, "KL001") as refusal:
        conn.execute(BEGIN, ("s", "a", serial, info))
    assert refusal.detail == {"pointer": pointer}


def test_finish_ends_the_run_and_frees_what_it_held(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("aws_x.y", "module.m")
    run.lock()
    done = run.finish("committed", 8)
    assert (done["status"], done["committed_serial"]) == ("committed", 8)
    assert (done["resources_planned"], done["resources_applied"]) == (3, 2)
    assert done["finished_at"] is not None
    assert run.held() == []
    assert rows(conn, "select * from kl.state_locks") == []
    assert run.status() == done


def test_finish_again_is_answered_as_before(conn: Connection) -> None:
    run = begin(conn)
    done = run.finish("failed")
    at(conn, "1 hour")
    assert run.finish("failed") == done
    with refused(conn, "KL306") as refusal:
        run.finish("committed")
    assert refusal.detail == {"apply_id": str(run.id), "status": "failed"}
    with refused(conn, "KL306"):
        run.abort()


@pytest.mark.parametrize("status", ["running", "aborted", "expired", "", None, "x"])
def test_run_finishes_as_committed_or_failed(conn: Connection, status: str | None) -> None:
    run = begin(conn)
    with refused(conn, "KL001") as refusal:
        run.finish(status)  # type: ignore[arg-type]
    assert refusal.detail == {"pointer": "/status"}
    assert run.status()["status"] == "running"


@pytest.mark.parametrize("serial", [-1, 2**64, 10**30])
def test_run_finishes_with_a_serial(conn: Connection, serial: int) -> None:
    run = begin(conn)
    with refused(conn, "KL001") as refusal:
        run.finish("committed", serial)
    assert refusal.detail == {"pointer": "/committed_serial"}


def test_abort_frees_what_the_run_held(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("*")
    run.lock()
    done = run.abort("changed my mind")
    assert (done["status"], done["error_summary"]) == ("aborted", "changed my mind")
    assert run.abort("again") == done
    assert (run.held(), rows(conn, "select * from kl.state_locks")) == ([], [])
    with refused(conn, "KL306"):
        run.finish()
    with refused(conn, "KL306"):
        run.acquire("*")


def test_unknown_run_is_absent(conn: Connection) -> None:
    absent = uuid.uuid4()
    run = begin(conn)
    for query in (
        "select * from kl.apply_run_status(%s)",
        "select * from kl.finish_apply_run(%s, 'failed', null, null, null, null)",
        "select * from kl.abort_apply_run(%s, null)",
        "select * from kl.renew_reservations(%s, '1 minute')",
        "select * from kl.release_reservations(%s)",
        "select * from kl.list_apply_runs('s', 10, %s)",
        "select * from kl.acquire_reservations('s', %s, '', '1 minute', '[]', null)",
        "select * from kl.acquire_native_lock('s', %s, '', null)",
    ):
        with refused(conn, "KL204") as refusal:
            conn.execute(query.encode(), (absent,))
        assert refusal.detail == {"apply_id": str(absent)}
    assert run.status()["status"] == "running"


def test_nobody_ends_or_uses_the_run_of_another_but_an_admin_aborts_it(conn: Connection) -> None:
    ann = new_token(conn, "state:read", "state:write", name="ann")
    bob = new_token(conn, "state:read", "state:write", name="bob")
    root = new_token(conn, "admin", name="root")
    act(conn, ann)
    run = begin(conn)
    run.acquire("*")
    run.lock()
    for token in (bob, root):
        act(conn, token)
        assert run.status()["status"] == "running"
        for work in (run.finish, run.renew, run.release, run.lock, run.unlock):
            with refused(conn, "KL102") as refusal:
                work()
            assert refusal.detail == {"apply_id": str(run.id)}
        with refused(conn, "KL102"):
            run.acquire("aws_x.y")
    act(conn, bob)
    with refused(conn, "KL102"):
        run.abort()
    assert run.held() == [("*", "write")]
    act(conn, root)
    assert run.abort("bob went home")["status"] == "aborted"
    assert run.held() == []
    act(conn, ann)
    run = begin(conn)
    run.finish()
    act(conn, bob)
    with refused(conn, "KL102"):
        run.finish()


def test_reader_may_look_and_not_begin(conn: Connection) -> None:
    run = begin(conn)
    act(conn, new_token(conn, "state:read"))
    assert run.status()["status"] == "running"
    with refused(conn, "KL102"):
        begin(conn)
    with refused(conn, "KL102"):
        run.abort()


def test_runs_are_listed_in_pages_newest_first(conn: Connection) -> None:
    ids = []
    for minute in range(5):
        at(conn, f"{minute} minutes")
        ids.append(begin(conn).id)
    write(conn, "other", state(1, lineage="other"))
    begin(conn, "other")
    query = "select l.id from kl.list_apply_runs('s', 2, %s) as l"
    found, before = [], None
    while page := [row["id"] for row in rows(conn, query, before)]:
        found += page
        before = page[-1]
    assert found == ids[::-1]
    for limit in (0, 1001, None):
        with refused(conn, "KL001"):
            conn.execute("select * from kl.list_apply_runs('s', %s, null)", (limit,))


def test_status_shows_what_runs_holds_and_is_reserved(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("module.m.aws_x.y", ("aws_x.z", "read"))
    run.lock("module.m.aws_x.y")
    status = value(conn, "select kl.state_status('s')")
    assert [r["apply_id"] for r in status["apply_runs"]] == [str(run.id)]
    assert [(k["kind"], k["lock_id"]) for k in status["locks"]] == [
        ("native", f"state-engine-{run.id}")
    ]
    assert [(r["address_glob"], r["mode"], r["widened"]) for r in status["reservations"]] == [
        ("aws_x.z", "read", False),
        ("module.m.aws_x.y", "write", True),
    ]
    at(conn, "1 hour")
    status = value(conn, "select kl.state_status('s')")
    assert (status["locks"], status["reservations"]) == ([], [])
