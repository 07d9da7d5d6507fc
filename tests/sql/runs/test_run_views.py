"""The views about runs and reservations: what is there, under names, and what is over."""

from typing import Any

import pytest

from tests.clusters import Connection
from tests.documents import resource, state
from tests.sql.engine import begin
from tests.sql.staging import write


@pytest.fixture
def state_id(owner_conn: Connection) -> Any:  # noqa: ANN401 - a uuid
    """A state of two versions, written by the administrator's session."""
    write(owner_conn, "s", state(1))
    write(owner_conn, "s", state(2, resource()))
    row = owner_conn.execute("select s.state_id from kl.states as s").fetchone()
    assert row is not None
    return row[0]


def _apply(conn: Connection, state_id: Any) -> Any:  # noqa: ANN401 - uuids
    row = conn.execute(
        "insert into kl_internal.apply_runs (state_id, actor, principal, started_at) "
        "values (%s, 'ann@cli', 'kl_server', now()) returning id",
        (state_id,),
    ).fetchone()
    assert row is not None
    return row[0]


def test_apply_run_is_shown_with_its_state(owner_conn: Connection, state_id: Any) -> None:  # noqa: ANN401
    apply_id = _apply(owner_conn, state_id)
    rows = owner_conn.execute(
        "select apply_id, state_name, actor, status, finished_at from kl.apply_runs"
    ).fetchall()
    assert rows == [(apply_id, "s", "ann@cli", "running", None)]


def test_refresh_run_tells_from_which_version_to_which(
    owner_conn: Connection,
    state_id: Any,  # noqa: ANN401
) -> None:
    owner_conn.execute(
        "insert into kl_internal.refresh_runs (state_id, from_version_id, to_version_id, status) "
        "select v.state_id, v.id, w.id, 'succeeded' from kl_internal.state_versions as v "
        "inner join kl_internal.state_versions as w on w.state_id = v.state_id "
        "where v.state_id = %s and v.version_no = 1 and w.version_no = 2",
        (state_id,),
    )
    rows = owner_conn.execute(
        "select state_name, from_version_no, to_version_no, status from kl.refresh_runs"
    ).fetchall()
    assert rows == [("s", 1, 2, "succeeded")]


def test_only_live_reservations_are_shown(owner_conn: Connection, state_id: Any) -> None:  # noqa: ANN401
    del state_id
    run = begin(owner_conn)
    run.acquire("a.b", holder="ann")
    run.acquire(("c.d", "read"), lease="1 second")
    owner_conn.execute(
        "update kl_internal.resource_reservations set expires_at = now() where mode = 'read'"
    )
    rows = owner_conn.execute(
        "select state_name, address_glob, mode, holder, widened from kl.resource_reservations"
    ).fetchall()
    assert rows == [("s", "a.b", "write", "ann", False)]
