"""What a native request starts from, and what is no base of it."""

import uuid
from typing import Any

import pytest

from tests.clusters import Connection
from tests.documents import OTHER_LINEAGE, lock_info, resource, state
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import refused, write


@pytest.fixture
def versions(owner_conn: Connection) -> list[uuid.UUID]:
    """Serials 1, 2, 2 of one lineage, after a serial 7 of another; the ids, oldest first."""
    write(owner_conn, "s", state(7, lineage=OTHER_LINEAGE))
    lock(owner_conn, "s", lock_info("force", "state-push"))
    for serial, name in ((1, "a"), (2, "b"), (2, "c")):
        write(owner_conn, "s", state(serial, resource(name)), "force")
    rows = owner_conn.execute("select v.version_id from kl.state_versions as v order by version_no")
    return [row[0] for row in rows.fetchall()]


def _base(conn: Connection, serial: int | None = None, version_id: uuid.UUID | None = None) -> Any:  # noqa: ANN401 - a uuid
    row = conn.execute(
        "select (kl_internal.base_version(s, %s::numeric, %s::uuid)).id "
        "from kl_internal.states as s where s.name = 's'",
        (serial, version_id),
    ).fetchone()
    assert row is not None
    return row[0]


def test_a_serial_is_the_oldest_version_with_it(
    owner_conn: Connection, versions: list[uuid.UUID]
) -> None:
    assert _base(owner_conn, 1) == versions[1]
    assert _base(owner_conn, 2) == versions[2]


def test_a_version_id_is_that_version(owner_conn: Connection, versions: list[uuid.UUID]) -> None:
    assert _base(owner_conn, None, versions[3]) == versions[3]
    assert _base(owner_conn, 2, versions[3]) == versions[3]


@pytest.mark.parametrize(("serial", "number"), [(7, None), (3, None), (1, 3), (None, 0), (7, 0)])
def test_another_lineage_or_an_unknown_serial_is_a_conflict(
    owner_conn: Connection, versions: list[uuid.UUID], serial: int | None, number: int | None
) -> None:
    version_id = None if number is None else versions[number]
    with refused(owner_conn, "KL302") as refusal:
        _base(owner_conn, serial, version_id)
    assert refusal.detail["current_serial"] == 2
    assert refusal.detail["current_version_id"] == str(versions[3])


def test_an_unknown_version_id_is_absent(owner_conn: Connection, versions: list[uuid.UUID]) -> None:
    assert versions
    with refused(owner_conn, "KL202"):
        _base(owner_conn, None, uuid.uuid4())


def test_no_base_is_a_bad_request(owner_conn: Connection, versions: list[uuid.UUID]) -> None:
    assert versions
    with refused(owner_conn, "KL001") as refusal:
        _base(owner_conn)
    assert refusal.detail["pointer"] == "/base_serial"
