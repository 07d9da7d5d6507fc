"""kl.cache_provider_schema: one row per type, and what it calls sensitive is masked at once."""

import json
import uuid
from typing import Any

from tests.clusters import Connection
from tests.documents import instance, resource, state
from tests.sql.staging import write

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


def _cache(conn: Connection, version: str, block: dict[str, Any]) -> int:
    upload_id = uuid.uuid4()
    with conn.cursor().copy(
        "copy kl_internal.staged_schemas (upload_id, type, schema) from stdin"
    ) as copy:
        schema = json.dumps({"version": 1, "block": block}).encode()
        copy.write_row((upload_id, "widget_thing", schema))
    row = conn.execute(
        "select kl.cache_provider_schema(%s, %s, %s, 5, '{}')", (upload_id, SOURCE, version)
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
