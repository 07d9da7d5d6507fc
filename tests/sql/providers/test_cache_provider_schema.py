"""kl.cache_provider_schema: one row per type, and what it calls sensitive is masked at once."""

import json
import uuid
from typing import Any

from tests.clusters import Connection
from tests.documents import instance, resource, state
from tests.sql.auth.acting import act, new_environment, new_token
from tests.sql.staging import refused, write

SOURCE = "registry.terraform.io/acme/widget"
BLOCK: dict[str, Any] = {
    "attributes": [
        {"name": "id", "type": "string"},
        {"name": "token", "type": "string", "sensitive": True},
        {
            "name": "peers",
            "nested_type": {
                "nesting": "LIST",
                "attributes": [
                    {"name": "host", "type": "string"},
                    {"name": "key", "type": "string", "sensitive": True},
                ],
            },
        },
    ],
    "block_types": [
        {
            "type_name": "login",
            "nesting": "SINGLE",
            "block": {
                "attributes": [{"name": "word", "type": "string", "sensitive": True}],
                "block_types": [],
            },
        }
    ],
}


def _stage(conn: Connection, block: dict[str, Any]) -> uuid.UUID:
    upload_id = uuid.uuid4()
    with conn.cursor().copy(
        "copy kl_internal.staged_schemas (upload_id, type, schema) from stdin"
    ) as copy:
        schema = json.dumps({"version": 1, "block": block}).encode()
        copy.write_row((upload_id, "widget_thing", schema))
    return upload_id


def _cache(conn: Connection, version: str, block: dict[str, Any]) -> int:
    row = conn.execute(
        "select kl.cache_provider_schema(%s, %s, %s, 5, '{}')",
        (_stage(conn, block), SOURCE, version),
    ).fetchone()
    assert row is not None
    return int(row[0])


def _attributes(conn: Connection) -> dict[str, Any]:
    row = conn.execute("select attributes from kl.resources where state_name = 's'").fetchone()
    assert row is not None
    found: dict[str, Any] = row[0]
    return found


def test_types_are_kept_once(conn: Connection) -> None:
    assert _cache(conn, "1.0.0", BLOCK) == 1
    assert _cache(conn, "1.0.0", BLOCK) == 0
    rows = conn.execute(
        "select type, schema -> 'version' from kl.resource_schemas(%s, '1.0.0', %s)",
        (SOURCE, ["widget_thing", "widget_other"]),
    ).fetchall()
    assert [tuple(row) for row in rows] == [("widget_thing", 1)]


def test_what_the_schema_calls_sensitive_is_masked(conn: Connection) -> None:
    attributes = {
        "id": "w-1",
        "token": "s3cret",
        "peers": [{"host": "a", "key": "k1"}, {"host": "b", "key": None}],
        "login": {"word": "w"},
    }
    write(conn, "s", state(1, resource("a", instance(attributes), type="widget_thing")))
    assert _attributes(conn) == attributes
    _cache(conn, "1.0.0", BLOCK)
    mask = "(sensitive value)"
    assert _attributes(conn) == {
        "id": "w-1",
        "token": mask,
        "peers": [{"host": "a", "key": mask}, {"host": "b", "key": None}],
        "login": {"word": mask},
    }


def test_a_later_schema_only_adds_to_the_mask(conn: Connection) -> None:
    write(
        conn,
        "s",
        state(1, resource("a", instance({"id": "w", "token": "t"}), type="widget_thing")),
    )
    _cache(conn, "1.0.0", BLOCK)
    plain = {"attributes": [{"name": "id", "type": "string", "sensitive": True}], "block_types": []}
    _cache(conn, "2.0.0", plain)
    assert set(_attributes(conn).values()) == {"(sensitive value)"}


def test_configuration_schema_is_found_by_source_and_version(conn: Connection) -> None:
    _cache(conn, "1.0.0", BLOCK)
    query = "select protocol, provider from kl.provider_schema(%s, %s)"
    assert conn.execute(query, (SOURCE, "1.0.0")).fetchall() == [(5, {})]
    assert conn.execute(query, (SOURCE, "1.0.1")).fetchall() == []
    assert conn.execute(query, ("registry.terraform.io/acme/other", "1.0.0")).fetchall() == []


def test_versions_are_kept_apart(conn: Connection) -> None:
    _cache(conn, "1.0.0", BLOCK)
    _cache(conn, "2.0.0", {"attributes": [], "block_types": []})
    query = "select schema -> 'block' from kl.resource_schemas(%s, %s, '{widget_thing}')"
    assert conn.execute(query, (SOURCE, "1.0.0")).fetchall() == [(BLOCK,)]
    assert conn.execute(query, (SOURCE, "2.0.0")).fetchall() == [
        ({"attributes": [], "block_types": []},)
    ]


def test_stage_is_emptied_whether_or_not_it_was_needed(owner_conn: Connection) -> None:
    for _ in range(2):
        _cache(owner_conn, "1.0.0", BLOCK)
        left = owner_conn.execute("select count(*) from kl_internal.staged_schemas").fetchone()
        assert left == (0,)


def test_stage_of_who_never_came_back_is_swept(owner_conn: Connection) -> None:
    _stage(owner_conn, BLOCK)
    for minutes, expected in ((59, (1,)), (61, (0,))):
        owner_conn.execute("select kl_test.set_clock(now() + %s * interval '1 minute')", (minutes,))
        owner_conn.execute("select kl.sweep_uploads(p_older_than => interval '1 hour')")
        left = owner_conn.execute("select count(*) from kl_internal.staged_schemas").fetchone()
        assert left == expected


def test_cache_is_everybodys_so_one_environment_cannot_write_it(conn: Connection) -> None:
    place = new_environment(conn)
    act(conn, new_token(conn, "state:write", environment=place))
    with refused(conn, "KL102"):
        conn.execute(
            "select kl.cache_provider_schema(gen_random_uuid(), %s, '1.0.0', 5, '{}')", (SOURCE,)
        )
    act(conn, new_token(conn, "state:read", environment=place, name="reader"))
    for call in ("provider_schema(%s, '1.0.0')", "resource_schemas(%s, '1.0.0', '{x}')"):
        assert conn.execute(f"select * from kl.{call}".encode(), (SOURCE,)).fetchall() == []
    act(conn, new_token(conn, "outputs:read", environment=place, name="outputs"))
    for call in ("provider_schema(%s, '1.0.0')", "resource_schemas(%s, '1.0.0', '{x}')"):
        with refused(conn, "KL102"):
            conn.execute(f"select * from kl.{call}".encode(), (SOURCE,))
