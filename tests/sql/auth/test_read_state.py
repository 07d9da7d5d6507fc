"""kl.read_state for a caller who may read outputs only."""

import json

from tests.clusters import Connection
from tests.documents import ENCRYPTED, LINEAGE, resource, state
from tests.sql.auth.acting import act, act_as_admin, new_token
from tests.sql.staging import refused, write

OUTPUTS = {"o": {"value": "x", "type": "string", "sensitive": True}}


def _only_outputs(conn: Connection) -> None:
    act_as_admin(conn)
    checks = [{"object_kind": "resource", "config_addr": "a.b", "status": "pass", "objects": None}]
    for serial in (1, 2):
        document = state(serial, resource("a"), outputs=OUTPUTS, check_results=checks, later="x")
        write(conn, "s", document)
    write(conn, "sealed", ENCRYPTED)
    act(conn, new_token(conn, "outputs:read"))


def test_outputs_come_without_anything_else(conn: Connection) -> None:
    _only_outputs(conn)
    row = conn.execute("select head || tail, object_count from kl.read_state('s')").fetchone()
    assert row is not None
    assert json.loads(row[0]) == {
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": 2,
        "lineage": LINEAGE,
        "outputs": OUTPUTS,
        "resources": [],
        "check_results": None,
    }
    assert row[1] == 0


def test_history_pages_and_encrypted_states_are_refused(conn: Connection) -> None:
    _only_outputs(conn)
    ids = conn.execute("select state_id, version_id from kl.read_state('s')").fetchone()
    assert ids is not None
    for query, values in (
        ("select head from kl.read_state('s', 'v1')", ()),
        ("select head from kl.read_state('s', '@0')", ()),
        ("select head from kl.read_state('sealed')", ()),
        ("select chunk from kl.read_state_page(%s, 2, '', 10)", ids[:1]),
        ("select kl.read_opaque_page(%s, 0)", ids[1:]),
        ("select kl.state_status('s')", ()),
        ("select name from kl.list_states()", ()),
        ("select kl.delete_state('s')", ()),
        ("select kl.lock_state('s', '{\"ID\": \"1\"}')", ()),
    ):
        with refused(conn, "KL102"):
            conn.execute(query.encode(), values)
    for view in ("states", "outputs", "resources", "state_versions", "events"):
        assert conn.execute(f"select * from kl.{view}".encode()).fetchall() == []
