"""The extension's own look at every PL/pgSQL body, where it is installed."""

import pytest

from tests.clusters import Database

# Codes of remarks that are no faults here, each with its reason.
IGNORED = {
    "00000": "style and performance remarks carry no SQLSTATE of their own",
    "2F005": "a loop without exit that returns from inside has no end to reach",
}


def test_plpgsql_bodies_hold_what_they_promise(database: Database) -> None:
    with database.connect("postgres") as conn:
        available = conn.execute(
            "select exists (select from pg_available_extensions where name = 'plpgsql_check')"
        ).fetchone()
        if available != (True,):
            pytest.skip("plpgsql_check is not installed for this PostgreSQL")
        conn.execute("create extension plpgsql_check")
        remarks = conn.execute(
            "select p.oid::regprocedure::text, c.lineno, c.level, c.sqlstate, c.message"
            " from pg_proc as p"
            " join pg_language as l on l.oid = p.prolang"
            " cross join lateral plpgsql_check_function_tb("
            "  p.oid, fatal_errors => false, performance_warnings => false,"
            "  extra_warnings => true) as c"
            " where l.lanname = 'plpgsql' and p.prorettype <> 'trigger'::regtype"
            " and p.pronamespace in ('kl'::regnamespace, 'kl_internal'::regnamespace)"
            " and c.sqlstate <> all (%s)"
            " order by 1, 2",
            (list(IGNORED),),
        ).fetchall()
    assert remarks == []
