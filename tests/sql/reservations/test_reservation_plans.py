"""Reserving costs what is wanted, not what is held; renewing touches no index."""

import pytest

from tests.clusters import Connection
from tests.documents import state
from tests.sql.engine import Run, begin, value
from tests.sql.staging import write

HELD = 2_000
WANTED = 100
_TABLE = "'kl_internal.resource_reservations'::regclass"


def _held(conn: Connection) -> Run:
    write(conn, "t", state(1))
    run = begin(conn, "t")
    run.acquire(*(f'module.held["k"].aws_x.y[{n}]' for n in range(HELD)))
    return run


def _read(conn: Connection) -> int:
    """Return how many rows this transaction has read through any index, and in scans."""
    return int(
        value(
            conn,
            "select sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) "
            f"+ pg_stat_get_xact_tuples_returned({_TABLE}) "
            f"from pg_index as i where i.indrelid = {_TABLE}",
        )
    )


@pytest.mark.parametrize("analyzed", [False, True])
def test_conflicts_are_found_by_index(owner_conn: Connection, analyzed: bool) -> None:
    if analyzed:  # when nobody held anything, as it is most of the time
        owner_conn.execute("analyze kl_internal.resource_reservations")
    run = _held(owner_conn)
    other = begin(owner_conn, "t")
    query = (
        "with wanted as (select array_agg(p.path) as paths, array_agg('write'::text) as modes "
        "from generate_series(1, %s) as n cross join lateral "
        "kl_internal.scope_path(null, format('module.held[\"z\"].aws_x.y[%%s]', n), null) as p) "
        "select count(*) from wanted as w cross join lateral "
        "kl_internal.scope_conflicts(%s, %s, w.paths, w.modes)"
    )
    state_id = run.status()["state_id"]
    before = _read(owner_conn)
    assert value(owner_conn, query, WANTED, state_id, other.id) == 0
    # What contains them may be looked for by reading all once; never once for each.
    assert _read(owner_conn) - before <= HELD + 2 * WANTED


def test_renewal_touches_no_index(owner_conn: Connection) -> None:
    run = _held(owner_conn)
    query = f"select pg_stat_get_xact_tuples_hot_updated({_TABLE})"
    before = value(owner_conn, query)
    assert len(run.renew()) == HELD
    assert value(owner_conn, query) - before == HELD
