"""The views about states: one row per what, at which version, and what they leave out."""

from typing import Any

from tests.clusters import Connection, Database
from tests.documents import BUILTIN, LINEAGE, instance, lock_info, resource, state
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import write


def _rows(conn: Connection, query: str) -> list[tuple[Any, ...]]:
    return conn.execute(query.encode()).fetchall()


def test_states_has_one_row_per_written_state(conn: Connection) -> None:
    write(conn, "a/b", state(3, resource("x"), terraform_version="1.9.0"))
    write(
        conn, "a/b", state(4, resource("x"), resource("y", instance(), instance(deposed="0" * 8)))
    )
    lock(conn, "placeholder", lock_info("one"))
    rows = _rows(
        conn,
        "select state_name, version_no, serial::bigint, lineage, terraform_version, object_count, "
        "output_count, opaque, source, updated_at >= created_at from kl.states",
    )
    assert rows == [("a/b", 2, 4, LINEAGE, "1.11.4", 3, 0, False, "http_backend", True)]
    [(name,)] = _rows(conn, "select state from kl.states")
    workspace, environment, *rest = name.split("/")
    assert (workspace[:3], environment[:4], rest) == ("ws_", "env_", ["a", "b"])


def test_state_versions_keeps_every_write(conn: Connection) -> None:
    write(conn, "s", state(3))
    lock(conn, "s", lock_info("one", "state-push"))
    write(conn, "s", state(1, resource()), "one")
    rows = _rows(
        conn,
        "select version_no, serial::bigint, object_count, operation, is_current "
        "from kl.state_versions order by version_no",
    )
    assert rows == [(1, 3, 0, None, False), (2, 1, 1, "state-push", True)]


def test_resources_shows_the_current_objects(conn: Connection) -> None:
    item = instance(
        {"id": "x"},
        index_key="k",
        status="tainted",
        schema_version=2,
        dependencies=["data.a.b"],
        create_before_destroy=True,
    )
    write(conn, "s", state(1, resource("gone"), resource("kept")))
    write(conn, "s", state(2, resource("kept"), resource("new", item, module='module.m["q"]')))
    rows = _rows(
        conn,
        "select address, module, mode, type, name, index_key, provider, tainted, schema_version, "
        "attributes, dependencies, create_before_destroy, create_version_no, "
        "create_serial::bigint, config_address from kl.resources order by address",
    )
    assert [row[0] for row in rows] == [
        'module.m["q"].terraform_data.new["k"]',
        "terraform_data.kept",
    ]
    assert rows[0][1:] == (
        'module.m["q"]', "managed", "terraform_data", "new", "k", BUILTIN, True, 2, {"id": "x"},
        ["data.a.b"], True, 2, 2, "module.m.terraform_data.new",
    )  # fmt: skip
    assert rows[1][7:14] == (False, 0, {"id": "kept"}, [], False, 1, 1)


def test_instance_provider_wins_over_the_resources(conn: Connection) -> None:
    keyed = 'provider["registry.opentofu.org/a/b"].al["eu"]'
    write(conn, "s", state(1, resource("a", instance(provider=keyed))))
    assert _rows(conn, "select provider from kl.resources") == [(keyed,)]


def test_resource_history_tells_who_opened_and_closed(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a")))
    lock(conn, "s", lock_info("one"))
    write(conn, "s", state(5, resource("a", instance({"id": "b"}))), "one")
    write(conn, "s", state(6), "one")
    rows = _rows(
        conn,
        "select attributes ->> 'id', create_serial::bigint, create_source, create_actor, "
        "delete_serial::bigint, delete_source, delete_actor from kl.resource_history "
        "order by create_version_no",
    )
    assert rows == [
        ("a", 1, "http_backend", "kl_server", 5, "apply", "ann@ci-1"),
        ("b", 5, "apply", "ann@ci-1", 6, "apply", "ann@ci-1"),
    ]


def test_outputs_shows_values_and_hides_sensitive_ones(conn: Connection) -> None:
    outputs = {
        "plain": {"value": [1], "type": ["list", "number"]},
        "secret": {"value": "x", "type": "string", "sensitive": True},
        "public": {"value": "x", "type": "string", "sensitive": False},
    }
    write(conn, "s", state(1, outputs=outputs))
    write(conn, "s", state(2, outputs=outputs | {"plain": {"value": 2, "type": "number"}}))
    rows = _rows(
        conn, "select name, value, type, sensitive, create_version_no from kl.outputs order by name"
    )
    assert rows == [
        ("plain", 2, "number", False, 2),
        ("public", "x", "string", False, 1),
        ("secret", "(sensitive value)", "string", True, 1),
    ]


def test_equal_output_keeps_its_row_and_absent_one_closes(conn: Connection) -> None:
    kept = {"value": {"b": 1, "a": 2}, "type": ["map", "number"]}
    write(conn, "s", state(1, outputs={"kept": kept, "gone": {"value": 1, "type": "number"}}))
    write(conn, "s", state(2, outputs={"kept": kept | {"value": {"a": 2, "b": 1}}}))
    assert _rows(conn, "select name, create_version_no from kl.outputs") == [("kept", 1)]
    assert _rows(conn, "select output_count from kl.state_versions order by version_no") == [
        (2,),
        (1,),
    ]


def test_dependencies_stand_for_every_instance(conn: Connection) -> None:
    keyed = [instance({"id": k}, index_key=k) for k in ("x", "y")]
    deposed = instance({"id": "old"}, index_key="x", deposed="00000001")
    user = instance(dependencies=["module.m.terraform_data.a", "terraform_data.missing"])
    write(
        conn,
        "s",
        state(
            1,
            resource("a", *keyed, deposed, module="module.m[0]"),
            resource("a", instance(), module="module.m[1]"),
            resource("user", user),
        ),
    )
    rows = _rows(
        conn,
        "select address, depends_on, depends_on_address from kl.resource_dependencies "
        "order by 2, 3",
    )
    a = "module.m.terraform_data.a"
    assert rows == [
        ("terraform_data.user", a, 'module.m[0].terraform_data.a["x"]'),
        ("terraform_data.user", a, 'module.m[0].terraform_data.a["y"]'),
        ("terraform_data.user", a, "module.m[1].terraform_data.a"),
        ("terraform_data.user", "terraform_data.missing", None),
    ]


def test_dependency_lists_are_stored_once(database: Database) -> None:
    items = [instance(index_key=n, dependencies=["a.b", "c.d"]) for n in range(5)]
    with database.connect("kl_server") as conn, conn.transaction():
        write(conn, "s", state(1, resource("a", *items), resource("b", items[0])))
    with database.connect("postgres") as conn:
        rows = _rows(conn, "select addresses, config_addresses from kl_internal.dependency_sets")
    assert rows == [(["a.b", "c.d"], ["a.b", "c.d"])]


def test_three_kinds_of_keys_are_told_apart(conn: Connection) -> None:
    items = [instance(index_key=0), instance({"id": "b"}, index_key="0"), instance({"id": "c"})]
    write(conn, "s", state(1, resource("a", *items)))
    rows = _rows(conn, "select address, jsonb_typeof(index_key) from kl.resources order by 1")
    assert rows == [
        ("terraform_data.a", None),
        ('terraform_data.a["0"]', "string"),
        ("terraform_data.a[0]", "number"),
    ]
