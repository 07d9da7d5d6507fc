import json

from tests.clusters import Connection, Database
from tests.documents import ENCRYPTED, Json, encoded, instance, resource, state
from tests.equality import canonical
from tests.sql.staging import refused, write

_RAW = (
    "select v.raw_state from kl.state_versions as v where v.version_no = %s and v.state_name = 's'"
)
SECRET = "s3cr3t"


def _raw(conn: Connection, version_no: int = 1) -> Json:
    row = conn.execute(_RAW, (version_no,)).fetchone()
    assert row is not None
    document: Json = row[0]
    return document


def _secretive() -> Json:
    path = [{"type": "get_attr", "value": "password"}]
    item = instance(
        {"id": "a", "password": SECRET},
        sensitive_attributes=[path],
        private="cHJpdmF0ZQ==",
        identity={"account": "1"},
    )
    output = {"value": SECRET, "type": "string", "sensitive": True}
    return state(1, resource("a", item), outputs={"o": output})


def test_server_sees_the_document_of_any_version(conn: Connection) -> None:
    bodies = [encoded(_secretive()), encoded(state(2, resource("b")))]
    for body in bodies:
        write(conn, "s", body)
    for number, body in enumerate(bodies, 1):
        assert canonical(json.dumps(_raw(conn, number))) == canonical(body)


def test_analyst_sees_no_secret(database: Database) -> None:
    with database.connect("kl_server") as conn, conn.transaction():
        write(conn, "s", _secretive())
    with database.connect("kl_query") as conn:
        document = _raw(conn)
    assert SECRET not in json.dumps(document)
    [block] = document["resources"]
    [item] = block["instances"]
    assert item["attributes"]["id"] == "a"
    assert {"private", "identity"}.isdisjoint(item)
    assert document["serial"] == 1


def test_encrypted_state_has_no_raw_state(conn: Connection) -> None:
    write(conn, "s", ENCRYPTED)
    with refused(conn, "KL002") as refusal:
        _raw(conn)
    assert "kl export" in refusal.message
    assert list(refusal.detail) == ["version_id"]


def test_select_star_does_not_render(conn: Connection) -> None:
    write(conn, "s", ENCRYPTED)
    assert conn.execute("select * from kl.state_versions").fetchone() is not None
