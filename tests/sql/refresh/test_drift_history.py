"""kl.drift_findings and kl.drift_history: every drift ever found, and what became of it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clusters import Connection
from tests.documents import Json, instance, lock_info, resource, state
from tests.sql.auth.acting import one
from tests.sql.locks.test_lock_state import lock
from tests.sql.refreshing import GONE, begin, refresh
from tests.sql.staging import refused, stage, write

_HISTORY = """
select address, drift_kind, found_version_no, cleared_by, settled_version_no, settled_by
from kl.drift_history('s')
"""


def _history(conn: Connection) -> list[tuple[Any, ...]]:
    return conn.execute(_HISTORY.encode()).fetchall()


def _sized(size: int) -> Json:
    return {"attributes": {"id": "a", "size": size}}


def _one(size: int) -> Json:
    return resource("a", instance({"id": "a", "size": size}))


def _apply(conn: Connection, document: Json) -> None:
    lock(conn, "s", lock_info("apply", Who="ann@ci"))
    write(conn, "s", document, "apply")
    conn.execute("select kl.unlock_state('s', '')")


def test_open_drift_has_been_cleared_by_nothing(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1), resource("b")))
    conn.execute("select set_config('kl.actor', 'ann@cli', true)")
    run = begin(conn)
    run.read(a=_sized(2), b=GONE)
    run.commit()
    assert conn.execute(
        "select address, type, drift_kind, changes, found_version_no, found_serial, found_by, "
        "refresh_run_id, cleared_by, cleared_at, settled_version_no from kl.drift_history('s')"
    ).fetchall() == [
        (
            *("terraform_data.a", "terraform_data", "changed"),
            *([{"path": "size", "old": 1, "new": 2}], 2, 2, "ann@cli", run.id, None, None, None),
        ),
        (
            *("terraform_data.b", "terraform_data", "deleted"),
            *([{"path": "id", "old": "b"}], 2, 2, "ann@cli", run.id, None, None, None),
        ),
    ]


def test_apply_clears_it_and_it_stays_in_the_history(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    refresh(conn, a=_sized(2))
    refresh(conn)
    _apply(conn, state(4, _one(2)))
    refresh(conn, a=_sized(3))
    _apply(conn, state(6, _one(2)))
    assert _history(conn) == [
        ("terraform_data.a", "changed", 2, "apply", 4, "apply"),
        ("terraform_data.a", "changed", 5, "apply", 6, "apply"),
    ]
    assert conn.execute(
        "select h.settled_actor, h.cleared_at = v.created_at from kl.drift_history('s') as h "
        "inner join kl.state_versions as v on v.version_no = h.settled_version_no"
    ).fetchall() == [("ann@ci", True), ("ann@ci", True)]


def test_later_refresh_clears_it_by_finding_something_else(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    refresh(conn, a=_sized(2))
    refresh(conn, a=_sized(3))
    refresh(conn, a=_sized(1))
    assert _history(conn) == [
        ("terraform_data.a", "changed", 2, "refresh", 3, "refresh"),
        ("terraform_data.a", "changed", 3, "refresh", 4, "refresh"),
    ]
    assert conn.execute(
        "select found_attributes -> 'size', previous_attributes -> 'size' "
        "from kl.drift_findings order by found_version_no"
    ).fetchall() == [(2, 1), (3, 1)]


def test_changed_then_gone(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    refresh(conn, a=_sized(2))
    refresh(conn, a=GONE)
    stage(conn, state(4, _one(2))).import_("s", "refresh")
    assert _history(conn) == [
        ("terraform_data.a", "changed", 2, "refresh", 3, "refresh"),
        ("terraform_data.a", "deleted", 3, "refresh", 4, "refresh"),
        ("terraform_data.a", "changed", 4, None, None, None),
    ]


def test_acknowledgement_clears_it_unless_a_write_was_first(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1), resource("b")))
    refresh(conn, a=_sized(2), b=GONE)
    conn.execute("select set_config('kl.actor', 'bob@cli', true)")
    conn.execute("select kl.ack_drift('s', 'terraform_data.a', 'planned')")
    query = (
        "select cleared_by, settled_by, acknowledged_reason, acknowledged_by, "
        "cleared_at = acknowledged_at from kl.drift_history('s', 'terraform_data.a')"
    )
    acked = ("acknowledgement", None, "planned", "bob@cli", True)
    assert conn.execute(query.encode()).fetchall() == [acked]
    _apply(conn, state(3, _one(2)))
    assert conn.execute(query.encode()).fetchall() == [
        ("acknowledgement", "apply", "planned", "bob@cli", True)
    ]
    assert one(conn, "select cleared_by from kl.drift_history('s', 'terraform_data.b')") == "apply"


def test_other_writes_clear_what_they_write(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1), resource("b")))
    refresh(conn, a=_sized(2), b={"attributes": {"id": "c"}})
    write(conn, "s", state(3, _one(5), resource("b", instance({"id": "c"}))))
    assert _history(conn) == [
        ("terraform_data.a", "changed", 2, "http_backend", 3, "http_backend"),
        ("terraform_data.b", "changed", 2, None, None, None),
    ]


def test_metadata_makes_no_history(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    refresh(conn, a={"private": "bmV3"})
    assert _history(conn) == []


def test_history_of_one_address(conn: Connection) -> None:
    keyed = [instance({"id": k}, index_key=k) for k in ("a", "b")]
    write(conn, "s", state(1, resource("x", *keyed), resource("x2")))
    refresh(conn, x=GONE, x2=GONE)
    query = "select address from kl.drift_history('s', %s)"
    x = [('terraform_data.x["a"]',), ('terraform_data.x["b"]',)]
    for address, found in (
        ("terraform_data.x", x),
        ('terraform_data.x["b"]', x[1:]),
        ("terraform_data.x2", [("terraform_data.x2",)]),
        (None, [*x, ("terraform_data.x2",)]),
    ):
        assert conn.execute(query, (address,)).fetchall() == found
    with refused(conn, "KL203"):
        conn.execute(query, ("terraform_data.typo",))


def test_history_raises_for_a_state_that_is_not_there(conn: Connection) -> None:
    with refused(conn, "KL201"):
        conn.execute("select * from kl.drift_history('typo')")


def test_analysts_read_it(analyst_conn: Connection) -> None:
    assert analyst_conn.execute("select * from kl.drift_findings").fetchall() == []
    with refused(analyst_conn, "KL201"):
        analyst_conn.execute("select * from kl.drift_history('typo')")


_steps = st.lists(
    st.tuples(
        st.sampled_from(["apply", "a", "b", "push", "refresh", "refresh", "import"]),
        st.sampled_from([None, 1, 2, 3]),
        st.sampled_from([None, 1, 2]),
    ),
    min_size=1,
    max_size=7,
)


@pytest.mark.thorough
@given(steps=_steps)
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_life(owner_conn: Connection, steps: list[tuple[str, int | None, int | None]]) -> None:
    """Whatever happens: what is drift now, and what ever was, is what the rule says."""
    with owner_conn.transaction(force_rollback=True):
        history = [("push", {"a": 1, "b": 1})]
        write(owner_conn, "s", _document(1, history[0][1]))
        for kind, a, b in steps:
            sizes = {name: size for name, size in (("a", a), ("b", b)) if size is not None}
            serial = len(history) + 1
            if kind == "push":
                write(owner_conn, "s", _document(serial, sizes))
            elif kind == "refresh":
                before = history[-1][1]
                sizes = {name: size for name, size in sizes.items() if name in before}
                found = {n: _sized(sizes[n]) if n in sizes else GONE for n in before}
                refresh(owner_conn, "s", **found)
            else:
                source = "refresh" if kind == "import" else "apply"
                stage(owner_conn, _document(serial, sizes)).import_("s", source)
            if kind in ("a", "b"):
                owner_conn.execute(
                    "update kl_internal.state_versions set written_scopes = "
                    "kl_gist.scope_multirange(kl_internal.scope_range(kl.address_path(%s))) "
                    "where version_no = %s",
                    (f"terraform_data.{kind}", serial),
                )
            history.append((kind, sizes))
        for name in ("a", "b"):
            expected = _model(name, history)
            rows = owner_conn.execute(
                "select found_version_no, drift_kind, settled_version_no "
                "from kl.drift_history('s', %s)",
                (f"terraform_data.{name}",),
            ).fetchall()
            assert rows == expected, history
            now = owner_conn.execute(
                "select detected_at_serial, drift_kind from kl.current_resource_drift "
                "where address = %s",
                (f"terraform_data.{name}",),
            ).fetchall()
            assert now == [(found, kind) for found, kind, settled in expected if settled is None]


def _document(serial: int, sizes: dict[str, int]) -> Json:
    return state(serial, *(resource(n, instance({"id": "a", "size": s})) for n, s in sizes.items()))


def _model(name: str, history: list[tuple[str, dict[str, int]]]) -> list[tuple[Any, ...]]:
    """Return (found, kind, settled) by the words of the rule."""
    baseline: int | None = None
    current: int | None = None
    found: list[tuple[Any, ...]] = []
    for number, (kind, sizes) in enumerate(history, start=1):
        size = sizes.get(name)
        settles = kind in ("apply", name) or size != current
        if found and found[-1][2] is None and settles:
            found[-1] = (*found[-1][:2], number)
        if size != current:
            if kind in ("refresh", "import"):
                if baseline is not None and size != baseline:
                    found.append((number, "deleted" if size is None else "changed", None))
            elif size is not None:
                baseline = size
        current = size
    return found
