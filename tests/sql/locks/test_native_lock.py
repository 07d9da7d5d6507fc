"""The native lock: what plain Terraform sees of a native write, and the lock matrix both ways."""

import json
from collections.abc import Callable

import pytest

from tests.clusters import Connection
from tests.documents import lock_info, resource, state
from tests.sql.auth.acting import act, new_token
from tests.sql.engine import Run, at, begin, rows, value
from tests.sql.locks.test_lock_state import INFO, lock
from tests.sql.staging import refused, stage, write

Plain = Callable[[Connection], object]

PLAIN: dict[str, Plain] = {
    "LOCK": lambda conn: lock(conn, "s", lock_info("one")),
    "POST": lambda conn: write(conn, "s", state(2, resource("b"))),
    "POST with an ID": lambda conn: write(conn, "s", state(2, resource("b")), "one"),
    "import": lambda conn: stage(conn, state(2, resource("b"))).import_("s"),
    "DELETE": lambda conn: conn.execute("select kl.delete_state('s')"),
}


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(conn, "s", state(1, resource()))
    at(conn, "0")


def _writing(conn: Connection, *globs: str, actor: str = "ann@kl") -> Run:
    run = begin(conn, actor=actor)
    run.acquire(*globs, lease="1 minute")
    run.lock(*globs)
    return run


@pytest.mark.parametrize("name", PLAIN)
def test_native_lock_keeps_plain_terraform_out(conn: Connection, name: str) -> None:
    run = _writing(conn, "module.db")
    with refused(conn, "KL303") as refusal:
        PLAIN[name](conn)
    info = refusal.detail["lock"]
    assert info["ID"] == f"state-engine-{run.id}"
    assert info["Operation"] == "state engine write"
    assert info["Who"] == "ann@kl"
    assert info["Path"] == "s"
    assert "module.db" in info["Info"]
    assert set(info) == set(INFO)
    assert "kl unlock" not in refusal.message, "it would not help"


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "POST with an ID"])
@pytest.mark.parametrize("end", ["unlock", "release", "finish", "abort", "expiry", "nothing held"])
def test_plain_terraform_works_when_no_native_lock_is_live(
    conn: Connection, name: str, end: str
) -> None:
    run = _writing(conn, "module.db")
    match end:
        case "expiry":
            at(conn, "1 minute")
        case "nothing held":
            run.unlock()
            run.acquire("*")
        case _:
            getattr(run, end)()
    PLAIN[name](conn)
    if end == "expiry":
        assert run.status()["status"] == "expired"


def test_plain_lock_keeps_native_writers_out(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("module.db")
    lock(conn, "s", INFO)
    with refused(conn, "KL303") as refusal:
        run.lock()
    assert refusal.detail == {"lock": INFO}
    conn.execute("select kl.unlock_state('s', '')")
    assert run.lock()


def test_disjoint_writers_hold_one_lock_each(conn: Connection) -> None:
    first, second = _writing(conn, "module.a"), _writing(conn, "module.b", actor="bob")
    found = rows(conn, "select apply_id, kind, lock_id from kl.state_locks order by acquired_at")
    assert [row["apply_id"] for row in found] == [first.id, second.id]
    first.finish()
    with refused(conn, "KL303") as refusal:
        lock(conn, "s", lock_info("one"))
    assert refusal.detail["lock"]["ID"] == f"state-engine-{second.id}"
    second.finish()
    assert lock(conn, "s", lock_info("one")) == "one"


def test_taken_twice_is_one_lock(conn: Connection) -> None:
    run = _writing(conn, "module.a")
    assert run.lock("something else") == f"state-engine-{run.id}"
    assert value(conn, "select count(*) from kl.state_locks") == 1
    kinds = [row["kind"] for row in rows(conn, "select kind from kl.events order by event_id")]
    assert kinds == ["native_lock"]


def test_lock_needs_a_live_reservation(conn: Connection) -> None:
    run = begin(conn)
    with refused(conn, "KL305") as refusal:
        run.lock()
    assert refusal.detail == {"apply_id": str(run.id)}
    run.acquire("module.db", lease="1 minute")
    at(conn, "2 minutes")
    with refused(conn, "KL306"):
        run.lock()


def test_the_id_of_a_native_lock_opens_nothing_to_plain_terraform(conn: Connection) -> None:
    run = _writing(conn, "module.db")
    with refused(conn, "KL303"):
        write(conn, "s", state(2, resource("b")), f"state-engine-{run.id}")


@pytest.mark.parametrize("end", ["release", "finish", "abort"])
def test_the_lock_goes_at_once_with_what_is_reserved(conn: Connection, end: str) -> None:
    run = _writing(conn, "module.db")
    getattr(run, end)()
    kinds = [row["kind"] for row in rows(conn, "select kind from kl.events order by event_id")]
    assert kinds == ["native_lock", "native_unlock"]


def test_nobody_unlocks_a_native_lock_and_who_names_it_is_told(conn: Connection) -> None:
    run = _writing(conn, "module.a")
    lock_id = f"state-engine-{run.id}"
    for query, given in (
        ("select kl.force_unlock('s', %s)", None),
        ("select kl.force_unlock('s', %s)", lock_id),
        ("select kl.unlock_state('s', %s)", json.dumps({"ID": lock_id})),
    ):
        with refused(conn, "KL303") as refusal:
            conn.execute(query.encode(), (given,))
        assert refusal.detail["lock"]["ID"] == lock_id
    # What may be a retry, and what says nothing, is answered as if nothing were held.
    for text in ("", json.dumps(INFO)):
        assert value(conn, "select kl.unlock_state('s', %s)", text) is None
    assert value(conn, "select count(*) from kl.state_locks") == 1
    at(conn, "1 day")
    assert rows(conn, "select * from kl.force_unlock('s', null)") == []


@pytest.mark.parametrize("by", ["apply_id", "lock_id", "both"])
def test_lock_is_released_by_run_or_by_id_and_scopes_stay(conn: Connection, by: str) -> None:
    run = _writing(conn, "module.a")
    _writing(conn, "module.b", actor="bob")
    lock_id = f"state-engine-{run.id}"
    query = "select kl.release_native_lock('s', %s, %s)"
    given = {"apply_id": (run.id, None), "lock_id": (None, lock_id), "both": (run.id, lock_id)}[by]
    assert value(conn, query, *given) == lock_id
    assert value(conn, query, *given) is None
    assert run.held() == [("module.a", "write")]
    assert value(conn, "select count(*) from kl.state_locks") == 1
    kinds = [row["kind"] for row in rows(conn, "select kind from kl.events order by event_id")]
    assert kinds == ["native_lock", "native_lock", "native_unlock"]


def test_release_names_a_lock(conn: Connection) -> None:
    run = _writing(conn, "module.a")
    with refused(conn, "KL001") as refusal:
        value(conn, "select kl.release_native_lock('s', null, null)")
    assert refusal.detail == {"pointer": "/apply_id"}
    assert value(conn, "select kl.release_native_lock('s', %s, 'other')", run.id) is None
    with refused(conn, "KL201"):
        value(conn, "select kl.release_native_lock('typo', %s, null)", run.id)
    assert value(conn, "select count(*) from kl.state_locks") == 1


def test_lock_id_of_another_principal_frees_nothing(conn: Connection) -> None:
    ann, bob = (new_token(conn, "state:write", "state:read", name=n) for n in ("ann", "bob"))
    act(conn, ann)
    run = _writing(conn, "module.a")
    act(conn, bob)
    with refused(conn, "KL102"):
        value(conn, "select kl.release_native_lock('s', null, %s)", f"state-engine-{run.id}")
    assert value(conn, "select count(*) from kl.state_locks") == 1


def test_what_the_lock_says_of_its_scope_is_bounded(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("module.a")
    run.lock(*(f'module.a["{n}{"x" * 5000}"]' for n in range(400)), holder="ann\x1b[31m\n\"'")
    with refused(conn, "KL303") as refusal:
        lock(conn, "s", lock_info("one"))
    info = refusal.detail["lock"]
    assert len(info["Info"]) < 1200
    assert "and 395 more" in info["Info"]
    assert info["Who"] == "ann\x1b[31m\n\"'"
    assert len(json.dumps(info)) < 2000


@pytest.mark.parametrize("summary", [None, []])
def test_lock_without_summary_is_taken(conn: Connection, summary: list[str] | None) -> None:
    run = begin(conn)
    run.acquire("module.a")
    value(conn, "select kl.acquire_native_lock('s', %s, null, %s)", run.id, summary)
    (row,) = rows(conn, "select who, operation, apply_id from kl.state_locks")
    assert row == {"who": "ann@kl", "operation": "state engine write", "apply_id": run.id}


def test_dead_native_lock_is_shown_by_nothing(conn: Connection) -> None:
    _writing(conn, "module.a")
    at(conn, "1 minute")
    assert value(conn, "select kl.state_status('s')")["locks"] == []
    assert value(conn, "select locked_by from kl.list_states()") is None
