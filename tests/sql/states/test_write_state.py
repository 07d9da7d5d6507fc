import json
import uuid

import pytest

from tests.clusters import Connection
from tests.documents import (
    ENCRYPTED,
    LINEAGE,
    OTHER_LINEAGE,
    encoded,
    instance,
    lock_info,
    resource,
    state,
)
from tests.equality import canonical
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import Upload, read, refused, stage, stage_keys, write

FIRST = state(3, resource("a"), resource("b"))
CHANGED = state(4, resource("a"), resource("b", instance({"id": "changed"})))


def _version(conn: Connection) -> tuple[int, ...]:
    row = conn.execute(
        "select version_no, serial::bigint, object_count, output_count from kl.states"
    ).fetchone()
    assert row is not None
    return row  # type: ignore[return-value]


def test_first_write_makes_the_state(conn: Connection) -> None:
    written = write(conn, "s", FIRST)
    assert (written.outcome, written.version_no, written.serial) == ("written", 1, 3)
    assert _version(conn) == (1, 3, 2, 0)
    assert canonical(read(conn, "s")) == canonical(encoded(FIRST))


def test_only_what_changed_closes_and_opens(conn: Connection) -> None:
    write(conn, "s", FIRST)
    upload = stage_keys(conn, CHANGED)
    assert upload.missing("s") == "{[1,2)}"
    upload.send(1)
    assert upload.write("s").outcome == "written"
    rows = conn.execute(
        "select address, create_version_no, delete_version_no "
        "from kl.resource_history order by 1, 2"
    ).fetchall()
    assert rows == [
        ("terraform_data.a", 1, None),
        ("terraform_data.b", 1, 2),
        ("terraform_data.b", 2, None),
    ]


def test_same_content_again_is_unchanged(conn: Connection) -> None:
    first = write(conn, "s", FIRST)
    again = write(conn, "s", FIRST)
    assert (again.outcome, again.version_id, again.version_no) == ("unchanged", first.version_id, 1)
    assert _version(conn)[0] == 1


def test_object_spelled_otherwise_keeps_its_row(conn: Connection) -> None:
    paths = [
        [{"type": "get_attr", "value": "x"}],
        [{"type": "get_attr", "value": "y"}],
    ]
    item = instance({"x": 1, "y": 2}, sensitive_attributes=paths, dependencies=["a.b", "c.d"])
    write(conn, "s", state(1, resource("a", item)))
    other = instance(
        {"y": 2, "x": 1}, sensitive_attributes=paths[::-1], dependencies=["c.d", "a.b"]
    )
    assert write(conn, "s", state(2, resource("a", other))).outcome == "written"
    assert conn.execute("select create_version_no from kl.resources").fetchall() == [(1,)]
    assert stage_keys(conn, state(3, resource("a", other))).missing("s") == "{}"


def test_attributes_come_back_in_the_order_they_came_in(conn: Connection) -> None:
    """Terraform compares bytes: another order makes every apply a write."""
    attributes = {"zz": {"value": 1.10, "type": "number"}, "a": [], "mmm": None}
    for serial, order in enumerate((["zz", "a", "mmm"], ["mmm", "zz", "a"], ["a", "mmm", "zz"]), 1):
        item = instance({name: attributes[name] for name in order}, identity=dict.fromkeys(order))
        body = encoded(state(serial, resource("a", item)))
        write(conn, "s", body)
        [block] = json.loads(read(conn, "s"))["resources"]
        assert list(block["instances"][0]["attributes"]) == order
        assert list(block["instances"][0]["identity"]) == order
        assert list(block["instances"][0]["attributes"]["zz"]) == ["value", "type"]
    assert conn.execute("select create_version_no from kl.resources").fetchall() == [(1,)]


def test_empty_attributes_beside_flat_ones_are_not_absent(conn: Connection) -> None:
    """Terraform reads the flat ones only where there are no others."""
    flat = {"attributes_flat": {"id": "a"}, "schema_version": 0}
    for serial, item in enumerate((flat, flat | {"attributes": {}}, flat), 1):
        body = encoded(state(serial, resource("a", item)))
        write(conn, "s", body)
        assert canonical(read(conn, "s")) == canonical(body)
    assert conn.execute("select create_version_no from kl.resources").fetchall() == [(3,)]


def test_change_of_the_header_alone_is_a_change(conn: Connection) -> None:
    write(conn, "s", FIRST)
    moved = state(4, *(r | {"provider": "provider.other"} for r in FIRST["resources"]))
    assert write(conn, "s", moved).outcome == "written"
    assert conn.execute("select distinct provider from kl.resources").fetchall() == [
        ("provider.other",)
    ]


def test_slices_that_were_not_sent_are_asked_for(conn: Connection) -> None:
    upload = stage_keys(conn, FIRST)
    assert upload.write("s").missing == "{[0,2)}"
    upload.send(1)
    written = upload.write("s")
    assert (written.outcome, written.missing, written.version_id) == ("incomplete", "{[0,1)}", None)
    upload.send(0)
    assert upload.write("s").outcome == "written"


def test_stage_is_empty_after_a_commit(conn: Connection) -> None:
    upload = stage(conn, FIRST)
    upload.write("s")
    assert upload.write("s").outcome == "lost"


@pytest.mark.parametrize("change", ["count", "digest", "upload"])
def test_stage_that_is_not_what_was_counted_is_lost(conn: Connection, change: str) -> None:
    upload = stage(conn, FIRST)
    objects = upload.objects + (change == "count")
    digest = bytes(32) if change == "digest" else upload.digest
    upload_id = uuid.uuid4() if change == "upload" else upload.id
    row = conn.execute(
        "select outcome, version_id from kl.write_state(p_name => 's', p_upload_id => %s, "
        "p_objects => %s, p_digest => %s, p_lock_id => null)",
        (upload_id, objects, digest),
    ).fetchone()
    assert row == ("lost", None)
    assert conn.execute("select count(*) from kl.states").fetchone() == (0,)


def test_empty_stage_is_never_an_empty_state(conn: Connection) -> None:
    write(conn, "s", FIRST)
    nothing = Upload(conn, stage_keys(conn, state(4)).document)
    assert nothing.write("s").outcome == "lost"
    assert _version(conn) == (1, 3, 2, 0)


@pytest.mark.parametrize("serial", [0, 2, 3])
def test_serial_that_does_not_rise_is_refused(conn: Connection, serial: int) -> None:
    write(conn, "s", FIRST)
    with refused(conn, "KL302") as refusal:
        write(conn, "s", CHANGED | {"serial": serial})
    assert refusal.detail == {
        "current_serial": 3,
        "serial": serial,
        "current_lineage": LINEAGE,
        "lineage": LINEAGE,
    }
    assert _version(conn)[0] == 1


def test_another_lineage_is_refused(conn: Connection) -> None:
    write(conn, "s", FIRST)
    with refused(conn, "KL302") as refusal:
        write(conn, "s", CHANGED | {"lineage": OTHER_LINEAGE})
    assert refusal.detail["lineage"] == OTHER_LINEAGE
    assert refusal.detail["current_lineage"] == LINEAGE


def test_locks_come_before_serials(conn: Connection) -> None:
    write(conn, "s", FIRST)
    info = lock_info("one")
    lock(conn, "s", info)
    with refused(conn, "KL303") as refusal:
        write(conn, "s", FIRST)
    assert refusal.detail == {"lock": info}
    with refused(conn, "KL304") as refusal:
        write(conn, "s", CHANGED, "two")
    assert refusal.detail == {"lock": info}
    assert write(conn, "s", FIRST, "one").outcome == "unchanged"


def test_lock_that_was_taken_away_is_refused(conn: Connection) -> None:
    write(conn, "s", FIRST)
    with refused(conn, "KL304") as refusal:
        write(conn, "s", CHANGED, "one")
    assert refusal.detail == {"lock_id": "one"}


def test_lock_that_forces_lets_anything_follow(conn: Connection) -> None:
    write(conn, "s", FIRST)
    lock(conn, "s", lock_info("one", "state-push"))
    assert write(conn, "s", state(1, lineage=OTHER_LINEAGE), "one").outcome == "written"
    [(detail,)] = conn.execute(
        "select detail from kl.events where kind = 'forced_write'"
    ).fetchall()
    assert (detail["previous_serial"], detail["serial"]) == (3, 1)
    assert (detail["previous_lineage"], detail["lineage"]) == (LINEAGE, OTHER_LINEAGE)


def test_events_of_a_locked_write_tell_whose_it_was(conn: Connection) -> None:
    write(conn, "s", FIRST)
    lock(conn, "s", lock_info("one", "state-push", Who="bob@ci"))
    conn.execute("select set_config('kl.actor', '', true)")  # a transaction of its own
    write(conn, "s", ENCRYPTED, "one")
    rows = conn.execute("select kind, actor, principal from kl.events order by event_id").fetchall()
    kinds = ("lock", "forced_write", "became_opaque")
    assert rows == [(kind, "bob@ci", "kl_server") for kind in kinds]


def test_version_tells_whose_write_it_was(conn: Connection) -> None:
    conn.execute("select set_config('kl.actor', 'ann@cli', true)")
    write(conn, "s", FIRST)
    lock(conn, "s", lock_info("one", Who="bob@ci"))
    write(conn, "s", CHANGED, "one")
    rows = conn.execute(
        "select source, operation, actor, principal from kl.state_versions order by version_no"
    ).fetchall()
    assert rows == [
        ("http_backend", None, "ann@cli", "kl_server"),
        ("apply", "OperationTypeApply", "bob@ci", "kl_server"),
    ]


def test_encrypted_document_is_kept_as_bytes(conn: Connection) -> None:
    write(conn, "s", FIRST)
    assert write(conn, "s", ENCRYPTED.replace(b'"serial":3', b'"serial":4')).outcome == "written"
    assert read(conn, "s") == ENCRYPTED.replace(b'"serial":3', b'"serial":4')
    assert conn.execute("select opaque, object_count from kl.states").fetchone() == (True, 0)
    assert conn.execute("select count(*) from kl.resources").fetchone() == (0,)
    assert canonical(read(conn, "s", "v1")) == canonical(encoded(FIRST))
    assert write(conn, "s", CHANGED | {"serial": 5}).outcome == "written"
    assert conn.execute("select count(*) from kl.resources").fetchone() == (2,)


def test_same_envelope_with_other_bytes_is_a_conflict(conn: Connection) -> None:
    write(conn, "s", ENCRYPTED)
    assert write(conn, "s", ENCRYPTED).outcome == "unchanged"
    with refused(conn, "KL302"):
        write(conn, "s", ENCRYPTED.replace(b"c2VjcmV0", b"c2VjcmV1"))


@pytest.mark.parametrize(
    ("document", "detail"),
    [
        (state(1, resource("a", mode="other")), {"address": "terraform_data.a"}),
        (
            state(1, resource("a", instance(status="planned"))),
            {"address": "terraform_data.a", "member": "status"},
        ),
        (
            state(1, resource("a", instance(), instance({"id": "b"}))),
            {"address": "terraform_data.a"},
        ),
        (state(1, outputs={"o": {"value": 1, "type": "text"}}), {"output": "o"}),
    ],
)
def test_document_that_cannot_be_read_is_refused(
    conn: Connection, document: dict[str, object], detail: dict[str, str]
) -> None:
    with refused(conn, "KL001") as refusal:
        write(conn, "s", document)
    assert refusal.detail == detail


def test_analyst_may_neither_stage_nor_write(analyst_conn: Connection) -> None:
    with refused(analyst_conn, "42501"):
        stage_keys(analyst_conn, FIRST)
    with refused(analyst_conn, "42501"):
        analyst_conn.execute("select kl.write_state('s', gen_random_uuid(), 0, sha256(''), null)")
