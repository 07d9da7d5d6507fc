"""kl.current_resource_drift, kl.list_current_drift and kl.ack_drift: what is drift, until when."""

from typing import Any

import pytest

from tests.clusters import Connection
from tests.documents import Json, instance, lock_info, resource, state
from tests.sql.auth.acting import act, new_token, one
from tests.sql.commit.committing import commit, delta, writer
from tests.sql.commit.operating import move
from tests.sql.locks.test_lock_state import lock
from tests.sql.refreshing import GONE, begin, refresh
from tests.sql.staging import refused, stage, write

SECRET = [[{"type": "get_attr", "value": "password"}]]


def _apply(conn: Connection, document: Json) -> None:
    lock(conn, "s", lock_info("apply"))
    write(conn, "s", document, "apply")
    conn.execute("select kl.unlock_state('s', '')")


def _drift(conn: Connection) -> list[tuple[Any, ...]]:
    return conn.execute(
        "select address, drift_kind, detected_at_serial from kl.current_resource_drift "
        "where state_name = 's' order by path"
    ).fetchall()


def _one(size: int, **members: Any) -> Json:  # noqa: ANN401 - any JSON
    return resource("a", instance({"id": "a", "size": size}, **members))


def test_changed_object(conn: Connection) -> None:
    write(conn, "s", state(4, _one(1), resource("b")))
    run = begin(conn)
    run.read(a={"attributes": {"id": "a", "size": 2}})
    run.commit()
    row = conn.execute(
        "select state_name, address, type, drift_kind, current_attributes, previous_attributes, "
        "detected_at_serial, refresh_run_id, changes, deposed_key, acknowledged_reason "
        "from kl.current_resource_drift"
    ).fetchall()
    assert row == [
        (
            *("s", "terraform_data.a", "terraform_data", "changed"),
            *({"id": "a", "size": 2}, {"id": "a", "size": 1}, 5, run.id),
            *([{"path": "size", "old": 1, "new": 2}], None, None),
        )
    ]
    assert conn.execute(
        "select d.detected_at_version_id = v.version_id, d.detected_at = v.created_at "
        "from kl.current_resource_drift as d cross join kl.state_versions as v "
        "where v.version_no = 2"
    ).fetchall() == [(True, True)]


def test_deleted_object(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    refresh(conn, a=GONE)
    assert conn.execute(
        "select drift_kind, current_attributes, previous_attributes, changes "
        "from kl.current_resource_drift"
    ).fetchall() == [
        (
            *("deleted", None, {"id": "a", "size": 1}),
            [{"path": "id", "old": "a"}, {"path": "size", "old": 1}],
        )
    ]
    refresh(conn)
    assert _drift(conn) == [("terraform_data.a", "deleted", 2)], "still gone"


def test_deposed_object_is_told_apart(conn: Connection) -> None:
    old = instance({"id": "old"}, deposed="0badcafe")
    write(conn, "s", state(1, resource("a", instance({"id": "new"}), old)))
    run = begin(conn)
    for stored in run.objects():
        run.stage((stored.resource_id, "gone", *[None] * 8))
    run.commit()
    assert conn.execute(
        "select address, deposed_key from kl.current_resource_drift order by path"
    ).fetchall() == [("terraform_data.a", None), ("terraform_data.a", "0badcafe")]


def test_baseline_is_what_was_written_last_by_no_refresh(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    refresh(conn, a={"attributes": {"id": "a", "size": 2}})
    refresh(conn, a={"attributes": {"id": "a", "size": 3}})
    assert conn.execute(
        "select previous_attributes -> 'size', current_attributes -> 'size', detected_at_serial "
        "from kl.current_resource_drift"
    ).fetchall() == [(1, 3, 3)]


def test_what_changed_back_is_no_drift(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    refresh(conn, a={"attributes": {"id": "a", "size": 2}})
    refresh(conn, a={"attributes": {"size": 1, "id": "a"}})
    assert _drift(conn) == []


def test_drift_stays_while_refreshes_find_it_again(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    refresh(conn, a={"attributes": {"id": "a", "size": 2}})
    refresh(conn)
    assert _drift(conn) == [("terraform_data.a", "changed", 2)]


def test_any_apply_settles_all_even_where_it_changes_nothing(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1), resource("b")))
    refresh(conn, a={"attributes": {"id": "a", "size": 2}}, b=GONE)
    assert len(_drift(conn)) == 2
    _apply(conn, state(3, _one(2)))
    assert _drift(conn) == []


def test_apply_before_the_refresh_settles_nothing(conn: Connection) -> None:
    _apply(conn, state(1, _one(1)))
    refresh(conn, a={"attributes": {"id": "a", "size": 2}})
    assert _drift(conn) == [("terraform_data.a", "changed", 2)]


def test_write_that_is_no_apply_settles_what_it_writes(conn: Connection) -> None:
    b = resource("b", instance({"id": "b"}))
    write(conn, "s", state(1, _one(1), b))
    refresh(conn, a={"attributes": {"id": "a", "size": 2}}, b={"attributes": {"id": "c"}})
    write(conn, "s", state(3, _one(5), resource("b", instance({"id": "c"}))))
    assert _drift(conn) == [("terraform_data.b", "changed", 2)]


@pytest.mark.parametrize(
    ("scopes", "left"),
    [
        (["terraform_data.a"], ["module.m.terraform_data.a", "terraform_data.ab"]),
        (["module.m"], ["terraform_data.a", "terraform_data.ab"]),
        (["module.m", "terraform_data.ab"], ["terraform_data.a"]),
        (None, []),
        ([], ["module.m.terraform_data.a", "terraform_data.a", "terraform_data.ab"]),
    ],
)
def test_native_apply_settles_what_it_had_reserved(
    owner_conn: Connection, scopes: list[str] | None, left: list[str]
) -> None:
    names = [resource("a"), resource("ab"), resource("a", module="module.m")]
    write(owner_conn, "s", state(1, *names))
    refresh(owner_conn, a={"attributes": {"id": "drifted"}}, ab={"attributes": {"id": "drifted"}})
    drifted = [block | {"instances": [instance({"id": "drifted"})]} for block in names]
    stage(owner_conn, state(3, *drifted)).import_("s", "apply")
    owner_conn.execute(
        "update kl_internal.state_versions as v set written_scopes = ("
        "select coalesce(range_agg(kl_internal.scope_range(kl_internal.glob_path(s.glob))), '{}') "
        "from unnest(%s::text[]) as s (glob)) where v.version_no = 3 and %s",
        (scopes, scopes is not None),
    )
    rows = owner_conn.execute(
        "select address from kl.current_resource_drift order by address"
    ).fetchall()
    assert [row[0] for row in rows] == left


def test_delta_of_an_apply_run_settles_what_the_run_had_reserved(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a"), resource("b")))
    found = {"attributes": {"id": "drifted"}}
    refresh(conn, a=found, b=found)
    run = writer(conn, "terraform_data.a")
    commit(run, delta(resource("a", instance({"id": "again"}))), base=2)
    assert _drift(conn) == [("terraform_data.b", "changed", 2)]
    assert conn.execute(
        "select address, cleared_by, settled_run_id from kl.drift_history('s')"
    ).fetchall() == [
        ("terraform_data.a", "apply", run.id),
        ("terraform_data.b", None, None),
    ]


def test_moved_drift_is_none_until_it_is_found_again(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    refresh(conn, a={"attributes": {"id": "a", "size": 2}})
    move(conn, ("terraform_data.a", "terraform_data.z"))
    assert _drift(conn) == []
    refresh(conn, z={"attributes": {"id": "a", "size": 3}})
    assert _drift(conn) == [("terraform_data.z", "changed", 4)]


def test_upgrade_is_told_from_change(conn: Connection) -> None:
    write(conn, "s", state(1, *(resource(n, instance({"id": n, "v": 0})) for n in "abcd")))
    new: Json = {"id": "x", "v": 1}
    found = refresh(
        conn,
        a={"schema_version": 1, "attributes": new, "prior": new},
        b={"schema_version": 1, "attributes": new | {"id": "y"}, "prior": new},
        c={"schema_version": 1},
        d={"attributes": new, "prior": new | {"id": "y"}},
    )
    assert found.changed_addresses == [f"terraform_data.{n}" for n in "abd"]
    kinds = [("terraform_data.a", "upgraded", 2)]
    kinds += [(f"terraform_data.{n}", "changed", 2) for n in "bd"]
    assert _drift(conn) == kinds

    refresh(conn, a={"attributes": new | {"id": "z"}, "prior": new})
    kinds[0] = ("terraform_data.a", "changed", 3)
    assert _drift(conn) == kinds, "an upgrade hides no later change"


def test_flatmap_rewritten_is_an_upgrade(conn: Connection) -> None:
    flat = instance(attributes_flat={"id": "a"})
    del flat["attributes"]
    write(conn, "s", state(1, resource("a", flat)))
    refresh(conn, a={"attributes": {"id": "a"}, "prior": {"id": "a"}})
    assert _drift(conn) == [("terraform_data.a", "upgraded", 2)]


def test_imported_refresh_counts_and_has_no_run(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1), resource("b")))
    stage(conn, state(2, _one(2), resource("new"))).import_("s", "refresh")
    assert _drift(conn) == [("terraform_data.a", "changed", 2), ("terraform_data.b", "deleted", 2)]
    assert conn.execute(
        "select refresh_run_id from kl.current_resource_drift limit 1"
    ).fetchone() == (None,)


@pytest.mark.parametrize(("source", "baseline"), [("move", 1), ("rollback", 2), ("remove", 2)])
def test_a_move_sets_no_baseline(owner_conn: Connection, source: str, baseline: int) -> None:
    write(owner_conn, "s", state(1, _one(1)))
    write(owner_conn, "s", state(2, _one(2)))
    owner_conn.execute(
        "update kl_internal.state_versions set source = %s where version_no = 2", (source,)
    )
    refresh(owner_conn, a={"attributes": {"id": "a", "size": 3}})
    assert owner_conn.execute(
        "select previous_attributes -> 'size' from kl.current_resource_drift"
    ).fetchall() == [(baseline,)]


def test_drift_of_what_a_move_brought_is_seen(owner_conn: Connection) -> None:
    write(owner_conn, "s", state(1, resource("old")))
    write(owner_conn, "s", state(2, _one(1)))
    owner_conn.execute("update kl_internal.state_versions set source = 'move' where version_no = 2")
    refresh(owner_conn, a={"attributes": {"id": "a", "size": 3}})
    assert _drift(owner_conn) == [("terraform_data.a", "changed", 3)]


def test_sensitive_values_are_masked_and_their_change_is_seen(conn: Connection) -> None:
    secret = instance({"id": "a", "password": "hunter2"}, sensitive_attributes=SECRET)
    write(conn, "s", state(1, resource("a", secret)))
    refresh(conn, a={"attributes": {"id": "a", "password": "hunter3"}})
    for relation in (
        "kl.current_resource_drift",
        "kl.list_current_drift('s', null)",
        "kl.drift_findings",
        "kl.drift_history('s')",
    ):
        (text, changes), *more = conn.execute(
            f"select d::text, d.changes from {relation} as d".encode()
        ).fetchall()
        assert more == []
        assert "hunter" not in text
        mask = "(sensitive value)"
        assert changes == [{"path": "password", "old": mask, "new": mask}]


def test_list_is_in_document_order_and_bounded(conn: Connection) -> None:
    counted = [instance({"id": f"a{n}"}, index_key=n) for n in (10, 2)]
    write(conn, "s", state(1, resource("a", *counted), resource("b")))
    refresh(conn, a=GONE, b=GONE)
    query = "select address, drift_kind from kl.list_current_drift('s', %s)"
    every = [(f"terraform_data.{name}", "deleted") for name in ("a[2]", "a[10]", "b")]
    assert conn.execute(query, (None,)).fetchall() == every
    assert conn.execute(query, (2,)).fetchall() == every[:2]
    assert conn.execute(query, (0,)).fetchall() == []


def test_list_tells_a_deposed_object_from_the_current_one(conn: Connection) -> None:
    old = instance({"id": "old"}, deposed="0badcafe")
    write(conn, "s", state(1, resource("a", instance({"id": "new"}), old)))
    refresh(conn, a=GONE)
    found = conn.execute("select address, deposed_key from kl.list_current_drift('s', null)")
    assert found.fetchall() == [("terraform_data.a", None), ("terraform_data.a", "0badcafe")]


def test_list_raises_for_a_state_that_is_not_there(conn: Connection) -> None:
    with refused(conn, "KL201"):
        conn.execute("select * from kl.list_current_drift('typo', 5)")
    write(conn, "s", state(1))
    assert conn.execute("select * from kl.list_current_drift('s', 5)").fetchall() == []
    with refused(conn, "KL201"):
        conn.execute("select * from kl.list_current_drift('typo', 5)")


def test_acknowledged_drift_stays_with_the_reason(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1), resource("b")))
    refresh(conn, a={"attributes": {"id": "a", "size": 2}}, b=GONE)
    conn.execute("select set_config('kl.actor', 'ann@cli', true)")
    assert one(conn, "select kl.ack_drift('s', 'resource.terraform_data.a', 'planned')") == 1
    query = (
        "select address, acknowledged_reason, acknowledged_by, acknowledged_at is not null "
        "from kl.current_resource_drift order by path"
    )
    assert conn.execute(query.encode()).fetchall() == [
        ("terraform_data.a", "planned", "ann@cli", True),
        ("terraform_data.b", None, None, False),
    ]
    assert one(conn, "select kl.ack_drift('s', 'terraform_data.a', 'again')") == 1
    assert conn.execute(query.encode()).fetchall()[0][1] == "again"
    assert conn.execute(
        "select detail from kl.events where kind = 'ack_drift' order by event_id"
    ).fetchall()[-1] == ({"address": "terraform_data.a", "reason": "again"},)

    refresh(conn, a={"attributes": {"id": "a", "size": 3}})
    assert conn.execute(query.encode()).fetchall()[0][1] is None, "new drift is not acknowledged"


def test_acknowledgement_of_a_resource_is_of_all_its_instances(conn: Connection) -> None:
    keyed = [instance({"id": k}, index_key=k) for k in ("a", "a.b")]
    write(conn, "s", state(1, resource("x", *keyed), resource("x2")))
    refresh(conn, x=GONE, x2=GONE)
    assert one(conn, "select kl.ack_drift('s', %s, 'r')", 'terraform_data.x["a"]') == 1
    assert one(conn, "select kl.ack_drift('s', 'terraform_data.x', 'r')") == 2


def test_acknowledgement_needs_drift_a_reason_and_the_right(conn: Connection) -> None:
    write(conn, "s", state(1, _one(1)))
    with refused(conn, "KL203") as refusal:
        conn.execute("select kl.ack_drift('s', 'terraform_data.a', 'r')")
    assert refusal.detail == {"state": "s", "address": "terraform_data.a"}
    with refused(conn, "KL201"):
        conn.execute("select kl.ack_drift('typo', 'terraform_data.a', 'r')")
    refresh(conn, a=GONE)
    for reason in ("", " ", None):
        with refused(conn, "KL001"):
            conn.execute("select kl.ack_drift('s', 'terraform_data.a', %s)", (reason,))
    with refused(conn, "KL001"):
        conn.execute("select kl.ack_drift('s', 'terraform_data.', 'r')")
    for scope, lacking in (("state:read", "state:write"), ("state:write", "state:read")):
        act(conn, new_token(conn, scope, name=scope))
        with refused(conn, "KL102") as refusal:
            conn.execute("select kl.ack_drift('s', 'terraform_data.a', 'r')")
        assert refusal.detail["scope"] == lacking
    act(conn, new_token(conn, "state:read", "state:write"))
    assert one(conn, "select kl.ack_drift('s', 'terraform_data.a', 'r')") == 1


def test_composed_spelling_of_a_key_is_acknowledged_where_only_one_matches(
    conn: Connection,
) -> None:
    key = {"index_key": "e\u0301"}
    write(conn, "s", state(1, _one(1, **key)))
    refresh(conn, a={"attributes": {"id": "a", "size": 2}})
    call = "select kl.ack_drift('s', %s, 'known')"
    assert conn.execute(call, ('terraform_data.a["\u00e9"]',)).fetchone() == (1,)
    assert conn.execute(call, ('terraform_data.a["e\u0301"]',)).fetchone() == (1,)
