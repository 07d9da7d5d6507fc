"""kl.commit_refresh and kl.preview_refresh: all or nothing, and only what differs."""

import json

import pytest

from tests.clusters import Connection
from tests.documents import ENCRYPTED, Json, encoded, instance, lock_info, resource, state
from tests.equality import canonical
from tests.sql.locks.test_lock_state import lock
from tests.sql.refreshing import GONE, begin, refresh
from tests.sql.staging import read, refused, write

PATH = [{"type": "get_attr", "value": "id"}]
OTHER = [{"type": "get_attr", "value": "x"}]


def _asked(name: str) -> Json:
    """Return a resource of a provider that must be asked; Terraform's own need not."""
    return resource(name, provider='provider["registry.terraform.io/hashicorp/aws"]')


def _rows(conn: Connection) -> list[tuple[str, int]]:
    return conn.execute(  # type: ignore[return-value]
        "select address, create_version_no from kl.resources where state_name = 's' order by path"
    ).fetchall()


def _counts(conn: Connection) -> tuple[int, ...]:
    row = conn.execute(
        "select (select count(*) from kl.state_versions), "
        "(select count(*) from kl.resource_history)"
    ).fetchone()
    assert row is not None
    return row


def test_nothing_found_is_a_version_without_a_row(conn: Connection) -> None:
    document = state(7, resource("a"), resource("b"), outputs={"o": {"value": 1, "type": "number"}})
    write(conn, "s", document)
    run = begin(conn)
    run.read()
    assert run.commit() == (2, 8, 2, 0, 0, [])
    assert run.audit() == ("succeeded", 1, 2, 2, 0, 0, 0)
    assert _rows(conn) == [("terraform_data.a", 1), ("terraform_data.b", 1)]
    assert canonical(read(conn, "s")) == canonical(encoded(document | {"serial": 8}))
    assert conn.execute(
        "select source, run_id, object_count, output_count, terraform_version "
        "from kl.state_versions where version_no = 2"
    ).fetchone() == ("refresh", run.id, 2, 1, "1.11.4")


def test_empty_state_gets_a_version_too(conn: Connection) -> None:
    write(conn, "s", state(1))
    assert refresh(conn)[:3] == (2, 2, 0)


def test_changed_object_gets_a_row_and_keeps_all_else(conn: Connection) -> None:
    full = instance(
        {"id": "a", "tags": {"x": "1"}},
        status="tainted",
        dependencies=["terraform_data.b"],
        create_before_destroy=True,
        future=[1],
    )
    document = state(1, resource("a", full, later="x"), resource("b"))
    write(conn, "s", document)
    found = refresh(conn, a={"attributes": {"id": "a", "tags": {"x": "2"}}})
    assert found == (2, 2, 2, 1, 0, ["terraform_data.a"])
    assert _rows(conn) == [("terraform_data.a", 2), ("terraform_data.b", 1)]
    full["attributes"]["tags"]["x"] = "2"
    assert canonical(read(conn, "s")) == canonical(encoded(document | {"serial": 2}))
    assert canonical(read(conn, "s", "v1")) != canonical(read(conn, "s"))


def test_gone_object_is_closed(conn: Connection) -> None:
    document = state(1, resource("a"), resource("b"))
    write(conn, "s", document)
    assert refresh(conn, a=GONE) == (2, 2, 2, 1, 0, ["terraform_data.a"])
    assert canonical(read(conn, "s")) == canonical(encoded(state(2, resource("b"))))


def test_deposed_object_is_refreshed_and_named(conn: Connection) -> None:
    old = instance({"id": "old"}, deposed="0badcafe")
    write(conn, "s", state(1, resource("a", instance({"id": "new"}), old)))
    run = begin(conn)
    current, deposed = run.objects()
    run.stage(
        (current.resource_id, "read", 0, b'{"id":"new"}', None, None, None, None, None, None),
        (deposed.resource_id, "gone", *[None] * 8),
    )
    assert run.commit().changed_addresses == ["terraform_data.a (deposed object 0badcafe)"]
    assert canonical(read(conn, "s")) == canonical(
        encoded(state(2, resource("a", instance({"id": "new"}))))
    )


@pytest.mark.parametrize(
    "attributes",
    [
        '{ "n": 1.50, "id": "a", "list": [{"y": null, "x": 10}] }',
        '{"id":"a","list":[{"x":1e1,"y":null}],"n":15e-1}',
        '{"id":"\\u0061","n":1.5,"list":[{"x":10.0,"y":null}]}',
    ],
)
def test_spelling_is_no_difference(conn: Connection, attributes: str) -> None:
    stored = {"id": "a", "n": 1.5, "list": [{"x": 10, "y": None}]}
    write(conn, "s", state(1, resource("a", instance(stored))))
    assert refresh(conn, a={"attributes": attributes}).resources_changed == 0
    assert _rows(conn) == [("terraform_data.a", 1)]


@pytest.mark.parametrize(
    "attributes",
    [
        '{"id":"a","n":10000000000000000000001}',
        '{"id":"a","n":"10000000000000000000000"}',
        '{"id":"a"}',
        '{"id":"a","n":null}',
        '{"id":"a","n":10000000000000000000000,"m":null}',
        '{"id":"\\u0000","n":10000000000000000000000}',
    ],
)
def test_the_least_difference_is_one(conn: Connection, attributes: str) -> None:
    write(conn, "s", state(1, resource("a", instance({"id": "a", "n": 10**22}))))
    assert refresh(conn, a={"attributes": attributes}).resources_changed == 1
    (found,) = json.loads(read(conn, "s"))["resources"]
    assert found["instances"][0]["attributes"] == json.loads(attributes)


def test_what_the_provider_made_of_it_by_itself_is_no_difference(conn: Connection) -> None:
    """A set in another order, an attribute that its newer schema has and the state lacks."""
    stored = {"id": "a", "set": ["b", "a"]}
    write(conn, "s", state(1, resource("a", instance(stored))))
    settled = '{"id":"a","new":null,"set":["a","b"]}'
    found = refresh(conn, a={"attributes": settled, "prior": settled})
    assert found.resources_changed == 0
    assert _rows(conn) == [("terraform_data.a", 1)]
    changed = '{"id":"a","new":null,"set":["a","c"]}'
    assert refresh(conn, a={"attributes": changed, "prior": settled}).resources_changed == 1


@pytest.mark.parametrize(
    "change",
    [
        {"private": "bmV3"},
        {"identity": {"id": "new"}, "identity_schema_version": 1},
        {"identity_schema_version": 1},
        {"sensitive_attributes": [PATH, OTHER]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_metadata_is_kept_and_no_drift(conn: Connection, change: Json) -> None:
    one = instance({"id": "a", "set": ["b", "a"]}, private="b2xk", sensitive_attributes=[PATH])
    one |= {"identity": {"id": "a"}, "identity_schema_version": 0}
    write(conn, "s", state(1, resource("a", one)))
    settled = '{"id":"a","set":["a","b"]}'
    found = refresh(conn, a={"attributes": settled, "prior": settled, **change})
    assert (found.resources_changed, found.changed_addresses) == (0, [])
    assert _rows(conn) == [("terraform_data.a", 2)]
    assert canonical(read(conn, "s")) == canonical(
        encoded(state(2, resource("a", one | change)))
    ), "with its attributes in the order they were"
    assert conn.execute("select from kl.current_resource_drift").fetchall() == []


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ({"sensitive_attributes": [PATH, OTHER]}, {"sensitive_attributes": [OTHER, PATH, OTHER]}),
        ({"sensitive_attributes": None}, {"sensitive_attributes": []}),
        ({"private": ""}, {"private": None}),
        ({"private": None}, {"private": ""}),
        ({"identity": {"a": 1, "b": 2}}, {"identity": '{"b":2.0,"a":1}'}),
        ({"schema_version": None}, {"schema_version": 0}),
    ],
)
def test_metadata_that_means_the_same_is_no_change(
    conn: Connection, stored: Json, found: Json
) -> None:
    write(conn, "s", state(1, resource("a", instance(**stored))))
    refresh(conn, a=found)
    assert _rows(conn) == [("terraform_data.a", 1)]


def test_upgraded_object_is_kept_in_its_new_form(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a", instance({"id": "a", "old": "x"}, schema_version=1))))
    new = {"id": "a", "new": "x"}
    found = refresh(conn, a={"schema_version": 2, "attributes": new, "prior": new})
    assert found.changed_addresses == ["terraform_data.a"]
    assert canonical(read(conn, "s")) == canonical(
        encoded(state(2, resource("a", instance(new, schema_version=2))))
    )


def test_flatmap_gives_way_to_attributes(conn: Connection) -> None:
    flat = instance(attributes_flat={"id": "a"})
    del flat["attributes"]
    write(conn, "s", state(1, resource("a", flat)))
    refresh(conn, a={"attributes": {"id": "a"}, "prior": {"id": "a"}})
    assert canonical(read(conn, "s")) == canonical(
        encoded(state(2, resource("a", instance({"id": "a"}))))
    )


def test_one_failure_and_nothing_is_written(conn: Connection) -> None:
    write(conn, "s", state(1, _asked("a"), _asked("b")))
    run = begin(conn)
    one, other = run.objects()
    run.stage((one.resource_id, "gone", *[None] * 8))
    run.fail(other)
    before = _counts(conn)
    assert run.preview() == (2, 1, 0, 0, ["terraform_data.a"])
    with refused(conn, "KL001") as refusal:
        run.commit()
    assert refusal.detail == {"failed": 1, "missing": 0}
    assert _counts(conn) == before
    run.finish("failed", 2, 1, "1 of 2 objects failed")
    assert run.audit() == ("failed", 1, None, 2, 1, 1, 0)


def test_object_that_was_not_read_is_never_taken_as_gone(conn: Connection) -> None:
    write(conn, "s", state(1, _asked("a"), _asked("b")))
    run = begin(conn)
    one, _ = run.objects()
    run.stage((one.resource_id, "read", 0, b"{}", None, None, None, None, None, None))
    assert run.preview().resources_missing == 1
    with refused(conn, "KL001") as refusal:
        run.commit()
    assert refusal.detail == {"failed": 0, "missing": 1}


def test_what_terraform_provides_itself_stands_for_nothing_else(conn: Connection) -> None:
    write(conn, "s", state(1, _asked("a"), resource("b")))
    run = begin(conn)
    _, own = sorted(run.objects(), key=lambda o: o.address)
    run.stage((own.resource_id, "read", 0, b'{"id":"b"}', None, b"[]", *[None] * 4))
    with refused(conn, "KL001") as refusal:
        run.commit()
    assert refusal.detail == {"failed": 0, "missing": 1}


def test_wiped_stage_is_refused(conn: Connection) -> None:
    write(conn, "s", state(1, _asked("a")))
    run = begin(conn)
    with refused(conn, "KL001"):
        run.commit()


def test_reads_of_other_states_and_data_are_not_looked_at(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a")))
    write(conn, "other", state(1, resource("b")))
    (theirs,) = begin(conn, "other").objects()
    run = begin(conn)
    run.read()
    run.stage((theirs.resource_id, "gone", *[None] * 8))
    assert run.commit().resources_checked == 1
    assert canonical(read(conn, "other")) == canonical(encoded(state(1, resource("b"))))


def test_what_somebody_else_wrote_since_is_left_and_counted(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a"), resource("b"), resource("c"), resource("d")))
    run = begin(conn)
    run.read(a={"attributes": {"id": "read"}}, b=GONE, d={"attributes": {"id": "read"}})
    later = state(
        2,
        resource("a", instance({"id": "written"})),
        resource("b", instance({"id": "written"})),
        resource("d"),
        resource("e"),
    )
    write(conn, "s", later)
    assert run.preview() == (4, 0, 3, 0, ["terraform_data.d"])
    assert run.commit() == (3, 3, 4, 1, 3, ["terraform_data.d"])
    assert run.audit() == ("succeeded", 1, 3, 4, 1, 0, 3)
    later["resources"][2]["instances"][0]["attributes"] = {"id": "read"}
    assert canonical(read(conn, "s")) == canonical(encoded(later | {"serial": 3}))


@pytest.mark.parametrize("info", [lock_info("one"), lock_info("one", "OperationTypePlan")])
def test_foreign_lock_is_told_and_the_run_goes_on_after_it(conn: Connection, info: Json) -> None:
    write(conn, "s", state(1, resource("a")))
    run = begin(conn)
    run.read(a=GONE)
    lock(conn, "s", info)
    with refused(conn, "KL303") as refusal:
        run.commit()
    assert refusal.detail["lock"]["ID"] == "one"
    conn.execute("select kl.unlock_state('s', '')")
    assert run.commit().resources_changed == 1


def test_run_commits_once(conn: Connection) -> None:
    write(conn, "s", state(1))
    run = begin(conn)
    run.commit()
    with refused(conn, "KL306") as refusal:
        run.commit()
    assert refusal.detail == {"status": "succeeded"}
    assert _counts(conn)[0] == 2


def test_deleted_state_is_told(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a")))
    run = begin(conn)
    run.read()
    conn.execute("select kl.delete_state('s')")
    with refused(conn, "KL201"):
        run.commit()


def test_version_verifies(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a"), resource("b"), resource("c", instance({"n": "\0"}))))
    refresh(conn, a={"attributes": {"id": "\0"}, "private": "eA=="}, b=GONE)
    refresh(conn, c={"attributes": {"n": 10**30}})
    cursor: Json | None = {}
    while cursor is not None:
        row = conn.execute(
            "select next_cursor, damage from kl.verify_state('s', %s)",
            (json.dumps(cursor) if cursor else None,),
        ).fetchone()
        assert row is not None
        cursor, damage = row
        assert damage == []


def test_native_scopes_of_the_version_before_are_not_its_own(
    conn: Connection, owner_conn: Connection
) -> None:
    del conn
    write(owner_conn, "s", state(1))
    owner_conn.execute(
        "update kl_internal.state_versions set source = 'apply', "
        "written_scopes = '{[a,b)}'::kl_gist.scope_multirange"
    )
    refresh(owner_conn)
    assert owner_conn.execute(
        "select version_no, written_scopes::text from kl_internal.state_versions order by 1"
    ).fetchall() == [(1, "{[a,b)}"), (2, None)]


def test_state_that_the_client_encrypted_meanwhile_is_left_alone(conn: Connection) -> None:
    write(conn, "s", state(2, resource("a")))
    run = begin(conn)
    run.read(a={"attributes": {"id": "other"}})
    write(conn, "s", ENCRYPTED)
    before = _counts(conn)
    with refused(conn, "KL002"):
        run.commit()
    assert _counts(conn) == before
    assert read(conn, "s") == ENCRYPTED
