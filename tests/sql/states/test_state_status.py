import json
import re
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.clusters import Connection

STATE = """
with state as (
    insert into kl_internal.states (environment_id, name, current_version_no)
    select e.id, 'status-test', 4 from kl_internal.environments as e returning id
), version as (
    insert into kl_internal.state_versions (
        state_id, version_no, serial, lineage, source, principal, created_at
    )
    select s.id, n.version_no, n.version_no, 'l', n.source, 'x', now()
    from state as s
    cross join (
        values (1, 'refresh'), (2, 'import'), (3, 'refresh'), (4, 'apply')
    ) as n (version_no, source)
    returning id, state_id, version_no
)
select v.id, v.state_id from version as v order by v.version_no
"""


def _status(conn: Connection) -> dict[str, Any]:
    row = conn.execute("select kl.state_status(p_name => 'status-test')").fetchone()
    assert row is not None
    status: dict[str, Any] = row[0]
    return status


def _refreshed(conn: Connection, *pairs: tuple[Any, Any], status: str = "succeeded") -> None:
    for start, end in pairs:
        conn.execute(
            "insert into kl_internal.refresh_runs"
            " (state_id, from_version_id, to_version_id, status)"
            " select v.state_id, v.id, %s, %s from kl_internal.state_versions as v where v.id = %s",
            (end, status, start),
        )


def test_last_refresh_goes_from_the_version_its_run_began_at(owner_conn: Connection) -> None:
    versions = [row[0] for row in owner_conn.execute(STATE).fetchall()]
    imported = _status(owner_conn)["last_refresh"]
    assert (imported["from_version_no"], imported["to_version_no"]) == (2, 3)
    assert imported["refresh_run_id"] is None
    _refreshed(owner_conn, (versions[0], versions[2]))
    _refreshed(owner_conn, (versions[3], None), status="failed")
    ran = _status(owner_conn)["last_refresh"]
    assert (ran["from_version_no"], ran["to_version_no"]) == (1, 3)
    assert ran["refresh_run_id"] is not None


def test_only_what_runs_or_holds_now_is_listed(owner_conn: Connection) -> None:
    versions = owner_conn.execute(STATE).fetchall()
    _refreshed(owner_conn, (versions[3][0], None), status="running")
    _refreshed(owner_conn, (versions[3][0], None), status="cancelled")
    owner_conn.execute(
        "insert into kl_internal.apply_runs (state_id, principal, status, started_at)"
        " select %s, 'x', s.status, now()"
        " from (values ('running'), ('failed'), ('committed')) as s (status)",
        (versions[0][1],),
    )
    status = _status(owner_conn)
    assert [run["from_version_no"] for run in status["refresh_runs"]] == [4]
    assert len(status["apply_runs"]) == 1
    assert (status["locks"], status["reservations"]) == ([], [])


def test_times_are_utc_whatever_the_session_says(owner_conn: Connection) -> None:
    versions = owner_conn.execute(STATE).fetchall()
    _refreshed(owner_conn, (versions[0][0], None), status="running")
    owner_conn.execute("set local timezone = 'Asia/Tokyo'")
    status = _status(owner_conn)
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", status["refresh_runs"][0]["started_at"]
    )
    for text in (status["created_at"], status["current_version"]["created_at"]):
        assert datetime.fromisoformat(text).utcoffset() == timedelta(0)


def test_state_that_was_only_locked_is_not_found_and_names_its_lock(conn: Connection) -> None:
    conn.execute("select kl.lock_state('status-test', '{\"ID\": \"L\"}')")
    with pytest.raises(psycopg.Error) as refused:
        conn.execute("select kl.state_status('status-test')")
    assert refused.value.sqlstate == "KL201"
    assert json.loads(refused.value.diag.message_detail or "")["lock_id"] == "L"


@pytest.mark.parametrize(
    ("name", "sqlstate"), [("nowhere", "KL201"), ("", "KL001"), (None, "KL001")]
)
def test_names_of_no_state_are_refused(conn: Connection, name: str | None, sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as refused:
        conn.execute("select kl.state_status(%s)", (name,))
    assert refused.value.sqlstate == sqlstate


def test_analyst_may_not_ask(analyst_conn: Connection) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        analyst_conn.execute("select kl.state_status('x')")
