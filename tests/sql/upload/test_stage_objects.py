import hashlib
import json

import pytest

from tests.clusters import Connection
from tests.documents import resource, state
from tests.sql.staging import Upload, stage_keys

KEYED = resource("a", {"index_key": "k", "schema_version": 0, "attributes": {"id": "1"}})


def _send_whole(upload: Upload, instances: list[bytes]) -> None:
    """Stage objects of one resource whose slices keep their index_key."""
    header = bytes(upload.document.headers[0])
    upload.conn.execute(
        "select kl.stage_objects('s', %s, %s, %s, %s, %b, %b, %b::bytea[], %b::bytea[], "
        "%b::bytea[], %b)",
        (
            upload.id,
            list(range(len(instances))),
            [1] * len(instances),
            list(range(1, len(instances) + 1)),
            [header],
            instances,
            [None] * len(instances),
            [b'{"id":"1"}'] * len(instances),
            [None] * len(instances),
            [hashlib.sha256(instance).digest() for instance in instances],
        ),
    )


@pytest.mark.parametrize("key", ['"k"', "7", '""', "null"])
def test_index_key_may_stay_in_the_slice(conn: Connection, key: str) -> None:
    upload = stage_keys(conn, state(1, KEYED))
    upload.missing("s")
    _send_whole(upload, [b'{"index_key":%b,"schema_version":0}' % key.encode()])
    upload.write("s")
    row = conn.execute("select address, index_key from kl.resources").fetchone()
    address = "terraform_data.a" + ("" if key == "null" else f"[{key}]")
    assert row == (address, json.loads(key))


def test_instances_that_share_a_slice_differ_by_their_keys(conn: Connection) -> None:
    instances = [
        {"index_key": n, "schema_version": 0, "attributes": {"id": str(n)}} for n in (1, 2, "x")
    ]
    upload = stage_keys(conn, state(1, resource("a", *instances)))
    upload.missing("s")
    assert len({parts.rest for n in range(3) if (parts := upload.document.parts(n))}) == 1
    upload.send()
    upload.write("s")
    rows = conn.execute("select index_key, attributes ->> 'id' from kl.resources order by path")
    assert rows.fetchall() == [(1, "1"), (2, "2"), ("x", "x")]
