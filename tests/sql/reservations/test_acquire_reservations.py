"""Reserving scopes: all or none, who meets whom, leases, and who waits for what."""

import json
import uuid
from datetime import UTC, datetime

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clusters import Connection
from tests.documents import lock_info, resource, state
from tests.sql.engine import Run, Want, at, begin, rows, value
from tests.sql.locks.test_lock_state import lock
from tests.sql.reservations.test_scope_path import globs
from tests.sql.staging import refused, write


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(conn, "s", state(1, resource(), resource(module='module.keyed["a"]')))
    at(conn, "0")


def test_what_is_reserved_is_answered_in_the_order_it_was_wanted(conn: Connection) -> None:
    run = begin(conn)
    found = run.acquire("module.b", ("aws_x.y", "read"), "module.m.aws_x.y", lease="10 minutes")
    assert [(r["address_glob"], r["mode"], r["widened"]) for r in found] == [
        ("module.b", "write", False),
        ("aws_x.y", "read", False),
        ("module.m.aws_x.y", "write", True),
    ]
    assert [r["note"] is None for r in found] == [True, True, False]
    assert {r["expires_at"] for r in found} == {value(conn, "select now() + interval '10 minutes'")}
    assert len(run.held()) == 3


def test_what_is_held_longer_is_answered_with_its_own_end(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("aws_x.y", lease="10 minutes")
    found = run.acquire("aws_x.z", "aws_x.y", lease="1 minute")
    ends = {r["address_glob"]: r["expires_at"] for r in rows(
        conn, "select address_glob, expires_at from kl.resource_reservations where apply_id = %s",
        run.id,
    )}  # fmt: skip
    assert [r["expires_at"] for r in found] == [ends["aws_x.z"], ends["aws_x.y"]]
    assert ends["aws_x.z"] < ends["aws_x.y"]


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("module.web", "module.web2", False),
        ("module.web", "module.web2.aws_x.y", False),
        ("module.webX", "module.web_", False),
        ("aws_x.web_", "aws_x.webX", False),
        ("aws_x.y", "aws_x.y[0]", True),
        ("aws_x.y[0]", 'aws_x.y["0"]', False),
        ("aws_x.y[0]", "aws_x.y[1]", False),
        ("aws_x.y", "data.aws_x.y", False),
        ("*", 'module.m["a"].aws_x.y', True),
        ("module.m", 'module.m["a"].aws_x.y', True),
        ("module.m.*", "module.m[0]", True),
        ("module.m.aws_x.y", 'module.m["a"].aws_z.z', True),
        ("module.keyed.aws_x.y", 'module.keyed["b"].aws_x.y', True),
        ('module.keyed["a"].aws_x.y', 'module.keyed["b"].aws_x.y', False),
        ('module.keyed["a"]', 'module.keyed["a"].module.in.aws_x.y', True),
        ("aws_x.y", "module.m", False),
    ],
)
def test_overlapping_writes_are_refused_both_ways(
    conn: Connection, one: str, other: str, meet: bool
) -> None:
    first, second = begin(conn), begin(conn)
    for held, wanted in ((one, other), (other, one)):
        if meet:
            assert _conflict(first, held, second, wanted)
        else:
            first.acquire(held)
            second.acquire(wanted)
        first.release()
        second.release()


def _conflict(one: Run, held: str | Want, two: Run, wanted: str | Want) -> bool:
    one.acquire(held)
    with refused(two.conn, "KL301"):
        two.acquire(wanted)
    return True


@pytest.mark.parametrize(
    ("held", "wanted", "meet"),
    [("read", "read", False), ("read", "write", True), ("write", "read", True)],
)
def test_reads_meet_writes_and_not_reads(
    conn: Connection, held: str, wanted: str, meet: bool
) -> None:
    for one, other in (("module.m", 'module.m["a"].aws_x.y'), ("aws_x.y[0]", "*")):
        first, second = begin(conn), begin(conn)
        if meet:
            assert _conflict(first, (one, held), second, (other, wanted))
        else:
            first.acquire((one, held))
            second.acquire((other, wanted))
        first.release()
        second.release()


def test_conflict_tells_who_holds_what_until_when(conn: Connection) -> None:
    ann, bob = begin(conn, actor="ann"), begin(conn, actor="bob")
    ann.acquire("module.db.aws_x.y", ("module.net", "read"), holder="ann@kl")
    conn.execute("set local timezone = 'Asia/Kolkata'")
    with refused(conn, "KL301") as refusal:
        bob.acquire("aws_x.mine", "module.db", "module.net")
    ends: datetime = value(conn, "select now() + interval '15 minutes'")
    until = ends.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    assert f" until {until}, and 1 more; wait" in refusal.message
    common = {"holder": "ann@kl", "apply_id": str(ann.id), "expires_at": until}
    assert refusal.detail["conflicts"] == [
        common | {"address_glob": "module.db.aws_x.y", "mode": "write", "widened": True},
        common | {"address_glob": "module.net", "mode": "read", "widened": False},
    ]
    assert refusal.detail["conflict_count"] == 2
    assert bob.held() == [], "nothing of it is held, not even what is free"


def test_many_conflicts_are_counted_and_not_all_told(conn: Connection) -> None:
    ann, bob = begin(conn), begin(conn)
    ann.acquire(*(f"aws_x.y[{n}]" for n in range(150)))
    with refused(conn, "KL301") as refusal:
        bob.acquire("*")
    assert refusal.detail["conflict_count"] == 150
    assert len(refusal.detail["conflicts"]) == 100


def test_own_scopes_never_conflict_and_are_held_once(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("module.m", ("aws_x.y", "read"))
    run.acquire("module.m", "module.m[0]", "aws_x.y", "aws_x.y", "*", ("*", "read"))
    assert run.held() == [
        ("*", "read"),
        ("*", "write"),
        ("aws_x.y", "read"),
        ("aws_x.y", "write"),
        ("module.m", "write"),
        ("module.m[0]", "write"),
    ]


def test_acquiring_again_never_shortens_a_lease(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("aws_x.y", lease="1 hour")
    run.acquire("aws_x.y", lease="1 minute")
    at(conn, "30 minutes")
    assert len(run.renew()) == 1


def test_same_scope_of_many_globs_is_one_row(conn: Connection) -> None:
    run = begin(conn)
    assert len(run.acquire(*(f"module.new.aws_x.y[{n}]" for n in range(50)))) == 50
    assert len(run.held()) == 1


def test_client_may_say_that_a_call_has_no_key(conn: Connection) -> None:
    ann, bob = begin(conn), begin(conn)
    (found,) = ann.acquire("module.new.aws_x.y", unkeyed=["module.new"])
    assert (found["widened"], found["note"]) == (False, None)
    bob.acquire("module.new.aws_x.z", unkeyed=["module.new"])
    with refused(conn, "KL301"):
        begin(conn).acquire("module.new.aws_x.q")
    (found,) = begin(conn).acquire("module.keyed.aws_x.y", unkeyed=["module.keyed"])
    assert found["widened"], "the state knows better"


def test_what_is_below_a_scope_that_was_cut_meets_it(conn: Connection) -> None:
    steps = [f"module.{'n' * 190}{number}" for number in range(6)]
    calls = [".".join(steps[:depth]) for depth in range(1, 7)]
    begin(conn).acquire(f"{calls[-1]}.aws_x.y", unkeyed=calls)
    with refused(conn, "KL301"):
        begin(conn).acquire(f"{calls[3]}.aws_x.z", unkeyed=calls)
    begin(conn).acquire(f"{calls[2]}.aws_x.z", unkeyed=calls)


def test_nothing_wanted_is_nothing_held(conn: Connection) -> None:
    run = begin(conn)
    assert run.acquire() == []
    assert run.held() == []


@pytest.mark.parametrize("lease", ["0", "-1 second", "0.5 seconds", "25 hours", None])
def test_lease_without_bounds_is_refused(conn: Connection, lease: str | None) -> None:
    run = begin(conn)
    with refused(conn, "KL001") as refusal:
        run.acquire("*", lease=lease)  # type: ignore[arg-type]
    assert refusal.detail == {"pointer": "/lease_seconds"}


@pytest.mark.parametrize(
    ("want", "pointer"),
    [
        ({}, "/want"),
        (None, "/want"),
        ([1], "/want/0"),
        ([{"address_glob": "*", "mode": "read"}, {"address_glob": "*"}], "/want/1"),
        ([{"address_glob": 1, "mode": "read"}], "/want/0"),
        ([{"address_glob": "*", "mode": "Write"}], "/want/0"),
    ],
)
def test_what_is_no_list_of_scopes_is_refused(conn: Connection, want: object, pointer: str) -> None:
    with refused(conn, "KL001") as refusal:
        conn.execute(
            "select * from kl.acquire_reservations('s', %s, '', '1 minute', %s::jsonb, null)",
            (begin(conn).id, json.dumps(want)),
        )
    assert refusal.detail == {"pointer": pointer}


def test_module_that_is_none_is_pointed_at(conn: Connection) -> None:
    with refused(conn, "KL001") as refusal:
        begin(conn).acquire("module.new.aws_x.y", unkeyed=["new", "module.new"])
    assert refusal.detail["pointer"] == "/unkeyed_modules/0"


def test_glob_that_is_no_address_is_told(conn: Connection) -> None:
    run = begin(conn)
    for glob, told in (
        ("aws_x.*", {"address_glob": "aws_x.*"}),
        ("x", {"address": "x"}),
        ("module.m.module", {"address": "module.m.module"}),
    ):
        with refused(conn, "KL001") as refusal:
            run.acquire("aws_x.y", glob)
        assert refusal.detail.pop("pointer") == "/want/1/address_glob"
        assert refusal.detail == told
    assert run.held() == []


def test_run_reserves_in_its_own_state_alone(conn: Connection) -> None:
    write(conn, "other", state(1, lineage="other"))
    run = begin(conn, "other")
    with refused(conn, "KL001") as refusal:
        Run(conn, "s", run.id).acquire("*")
    assert refusal.detail["pointer"] == "/apply_id"
    with refused(conn, "KL201"):
        Run(conn, "typo", run.id).acquire("*")
    run.acquire("*")
    begin(conn, "s").acquire("*")


def test_plain_lock_does_not_keep_scopes_from_being_reserved(conn: Connection) -> None:
    lock(conn, "s", lock_info("one"))
    assert begin(conn).acquire("*")


def test_dead_lease_makes_room_and_its_run_has_expired(conn: Connection) -> None:
    ann, bob = begin(conn), begin(conn)
    ann.acquire("module.m", lease="1 minute")
    ann.lock()
    at(conn, "59 seconds")
    with refused(conn, "KL301"):
        bob.acquire("*")
    at(conn, "1 minute")
    bob.acquire("*")
    assert ann.status()["status"] == "expired"
    assert rows(conn, "select * from kl.state_locks") == []
    for work in (ann.lock, ann.finish, ann.abort, lambda: ann.acquire("aws_x.y")):
        with refused(conn, "KL306") as refusal:
            work()
        assert refusal.detail["status"] == "expired"
    with refused(conn, "KL305"):
        ann.renew()


def test_dead_lease_of_a_run_does_not_come_back_by_acquiring(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("module.m", lease="1 minute")
    at(conn, "2 minutes")
    with refused(conn, "KL306"):
        run.acquire("module.m")


def test_run_that_never_reserved_does_not_expire(conn: Connection) -> None:
    idle, other = begin(conn), begin(conn)
    other.acquire("module.m", lease="1 minute")
    at(conn, "1 day")
    begin(conn).acquire("*")
    assert idle.status()["status"] == "running"
    assert other.status()["status"] == "expired"


def test_run_with_one_live_lease_goes_on(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("module.a", lease="1 minute")
    run.acquire("module.b", lease="1 hour")
    run.lock()
    at(conn, "2 minutes")
    begin(conn).acquire("module.a")
    assert run.status()["status"] == "running"
    assert run.held() == [("module.b", "write")]
    assert run.lock() == f"state-engine-{run.id}"


def test_renewal_extends_live_leases_and_revives_none(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("module.a", lease="1 minute")
    run.acquire("module.b", lease="1 hour")
    at(conn, "2 minutes")
    assert [r["address_glob"] for r in run.renew("2 hours")] == ["module.b"]
    at(conn, "121 minutes")
    assert [r["address_glob"] for r in run.renew("1 minute")] == ["module.b"]
    at(conn, "122 minutes")
    with refused(conn, "KL305") as refusal:
        run.renew()
    assert refusal.detail == {"apply_id": str(run.id)}
    with refused(conn, "KL001"):
        run.renew("2 days")


def test_release_frees_once_and_the_run_goes_on(conn: Connection) -> None:
    run = begin(conn)
    run.acquire("module.a", "module.b")
    run.lock()
    assert (run.release(), run.release()) == (2, 0)
    assert rows(conn, "select * from kl.state_locks") == []
    assert run.status()["status"] == "running"
    with refused(conn, "KL305"):
        run.renew()
    run.acquire("module.a")


def test_holder_is_the_actor_unless_named(conn: Connection) -> None:
    begin(conn, actor="ann").acquire("*", holder=None)
    assert rows(conn, "select holder from kl.resource_reservations") == [{"holder": "ann"}]


def test_constraint_itself_keeps_scopes_apart(owner_conn: Connection) -> None:
    write(owner_conn, "t", state(1))
    run, other = begin(owner_conn, "t"), begin(owner_conn, "t")
    run.acquire("module.m")
    with pytest.raises(psycopg.errors.ExclusionViolation), owner_conn.transaction():
        owner_conn.execute(
            "insert into kl_internal.resource_reservations (state_id, apply_id, address_glob, "
            "mode, principal, acquired_at, expires_at, path, scope, occupancy) "
            "select r.state_id, %s, 'x', 'read', 'x', now(), now(), p.path, "
            "kl_internal.scope_range(p.path), '[0,1)' "
            "from kl_internal.resource_reservations as r "
            "cross join kl_internal.scope_path(null, 'module.m[0].aws_x.y', null) as p",
            (other.id,),
        )


@given(data=st.data())
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_conflicts_found_by_path_are_those_of_the_constraint(
    owner_conn: Connection, data: st.DataObject
) -> None:
    held = data.draw(st.lists(globs, min_size=1, max_size=5), label="held")
    wanted = data.draw(globs, label="wanted")
    modes = data.draw(st.lists(st.sampled_from(["read", "write"]), min_size=6, max_size=6))
    with owner_conn.transaction(force_rollback=True):
        name = f"p{uuid.uuid4()}"
        write(owner_conn, name, state(1))
        first, second = begin(owner_conn, name), begin(owner_conn, name)
        first.acquire(*((glob.text, mode) for glob, mode in zip(held, modes, strict=False)))
        query = (
            "select r.id from kl_internal.resource_reservations as r "
            "where r.apply_id = %s and r.scope && kl_internal.scope_range(p.path) "
            "and (r.mode = 'write' or %s = 'write')"
        )
        (path,) = owner_conn.execute(
            "select path from kl_internal.scope_path(null, %s, null)", (wanted.text,)
        ).fetchone()  # type: ignore[misc]
        meant = owner_conn.execute(
            query.replace("p.path", "%s").encode(), (first.id, path, modes[5])
        ).fetchall()
        found = owner_conn.execute(
            "select c.id from kl.states as s cross join lateral "
            "kl_internal.scope_conflicts(s.state_id, %s, array[%s], array[%s]) as c "
            "where s.state_name = %s",
            (second.id, path, modes[5], name),
        ).fetchall()
        assert sorted(found) == sorted(meant)
