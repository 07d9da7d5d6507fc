"""Whatever an analyst can read, call or provoke: no planted secret is in it."""

import re
from typing import Final

import pytest

from tests.clusters import Connection
from tests.sql.auth.calls import Outcome, functions, outcome, outcomes
from tests.sql.auth.planted import World
from tests.sql.masking.secrets import ANALYST, NUMBER, PUBLIC, SECRET

_ENCODED: Final = "enE5"  # SECRET in base64, as private holds it
_FOUND: Final = re.compile(rf".{{0,60}}(?:{SECRET}|{_ENCODED}|{NUMBER // 10}\d).{{0,40}}")

# Conditions whose error or plan could tell what they compared; {} is a column.
PROBES: Final = (
    "select v.{0} from kl.{1} as v",
    "select 1 from kl.{1} as v where ({0}::text)::integer = 0",
    "select ({0}::text)::uuid from kl.{1} as v",
    "select 1 / (length({0}::text) - length({0}::text)) from kl.{1} as v",
    "select convert_from('\\xff'::bytea || convert_to({0}::text, 'UTF8'), 'UTF8') from kl.{1} as v",
    "explain (analyze, verbose) select 1 from kl.{1} as v where {0}::text ~ '('",
    "select ({0}::text)::xml from kl.{1} as v",
)
JSON_PROBES: Final = (
    "select jsonb_path_query({0}, 'strict $.**.double()') from kl.{1} as v",
    "select jsonb_path_query({0}, 'strict $.password.datetime()') from kl.{1} as v",
    "select ({0} ->> 'password')::integer from kl.{1} as v",
    "select ({0} ->> 'pin')::date from kl.{1} as v",
    "select x.* from kl.{1} as v, jsonb_to_record({0}) as x (password integer, list integer[])",
    "select jsonb_populate_record(null::kl.states, {0}) from kl.{1} as v",
    "select query_to_xml($$ select v.{0} from kl.{1} as v $$, true, true, '')",
    "select word from ts_stat($$ select to_tsvector('simple', v.{0}) from kl.{1} as v $$)",
)
_COLUMNS: Final = """
select c.relname::text, a.attname::text, a.atttypid = 'jsonb'::regtype
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
where c.relkind = 'v' and c.relnamespace = 'kl'::regnamespace
order by 1, a.attnum
"""


def _clean(result: Outcome, place: object) -> None:
    found = _FOUND.search(result.text.replace("\\n", " "))
    assert found is None, f"{place}: {found[0] if found else ''}"


def test_no_view_shows_a_secret(secrets: World) -> None:
    with secrets.connect(ANALYST) as conn:
        for view in sorted({row[0] for row in conn.execute(_COLUMNS.encode()).fetchall()}):
            result = outcome(conn, f"select to_jsonb(v) from kl.{view} as v".encode())
            assert not result.sqlstate, (view, result.text)
            assert result.rows, f"{view} is empty: plant something in it"
            _clean(result, view)


def test_no_function_tells_a_secret(secrets: World) -> None:
    with secrets.connect(ANALYST) as conn:
        answered = set()
        for function in functions(conn):
            for result in outcomes(secrets, conn, function):
                _clean(result, (function.name, result.arguments))
                if result.rows:
                    answered.add(function.name)
        assert {"raw_state", "resources_at", "diff_versions", "resource_timeline"} <= answered


def test_no_version_rendered_shows_a_secret(secrets: World) -> None:
    with secrets.connect(ANALYST) as conn:
        result = outcome(conn, b"select v.raw_state from kl.state_versions as v")
        assert len(result.rows) == 4
        _clean(result, "raw_state")


def test_what_is_not_sensitive_stays(secrets: World) -> None:
    with secrets.connect(ANALYST) as conn:
        row = conn.execute(
            "select r.attributes from kl.resources as r"
            " where r.address = 'terraform_data.a' and r.deposed_key is null"
        ).fetchone()
        assert row is not None
        shown = row[0]
        assert shown["id"] == f"{PUBLIC}-3"
        assert shown["list"] == [
            {"key": "(sensitive value)", "name": PUBLIC},
            {"key": None, "name": PUBLIC},
        ]
        assert shown["deep"]["a"][0]["b"] == {"c": ["(sensitive value)"], "d": PUBLIC}
        assert shown["map"]["open"] == PUBLIC
        assert shown["gone"] is None
        assert conn.execute(
            "select r.attributes -> 'config' -> 'value' ->> 'address' from kl.resources as r"
            " where r.mode = 'data'"
        ).fetchone() == (f"https://h.example/v1/states/{secrets.state}",)
        assert conn.execute("select o.value from kl.outputs as o where o.name = 'open'").fetchone()


# Thousands of queries: once is enough.
_once = pytest.mark.parametrize("cluster", ["pg18"], indirect=True, scope="session")


@_once
@pytest.mark.parametrize("probe", PROBES)
def test_no_error_tells_a_secret(secrets: World, probe: str) -> None:
    with secrets.connect(ANALYST) as conn:
        for view, column, _ in conn.execute(_COLUMNS.encode()).fetchall():
            _probe(conn, probe, view, column)


@_once
@pytest.mark.parametrize("probe", JSON_PROBES)
def test_no_error_over_json_tells_a_secret(secrets: World, probe: str) -> None:
    with secrets.connect(ANALYST) as conn:
        for view, column, is_json in conn.execute(_COLUMNS.encode()).fetchall():
            if is_json:
                _probe(conn, probe, view, column)


def _probe(conn: Connection, probe: str, view: str, column: str) -> None:
    _clean(outcome(conn, probe.format(column, view).encode()), (view, column))


@pytest.mark.parametrize(
    "query",
    [
        "select kl_internal.caller_grant()",
        "select * from kl_internal.resources",
        "select * from kl_internal.api_tokens",
        "select kl_internal.masked_attributes('{}', '[]')",
        "select pg_read_file('postgresql.conf')",
        "select kl.reveal('x', 'y')",
        "select count(*) from pg_statistic",
    ],
)
def test_what_is_private_is_refused(secrets: World, query: str) -> None:
    with secrets.connect(ANALYST) as conn:
        assert outcome(conn, query.encode()).sqlstate == "42501"


def test_statistics_hold_no_secret(secrets: World) -> None:
    with secrets.database.connect("postgres") as root:
        root.execute("analyze kl_internal.resources, kl_internal.outputs")
    with secrets.connect(ANALYST) as conn:
        assert outcome(conn, b"select * from pg_stats where schemaname = 'kl_internal'").rows == []
        plan = b"explain (verbose) select 1 from kl.resources as r where r.attributes ->> 'id' > ''"
        _clean(outcome(conn, plan), "plan")


def test_an_analyst_with_a_schema_cannot_bend_the_mask(secrets: World) -> None:
    """Operators of the reader's own, first on the path, are not what the views use."""
    with secrets.database.connect("postgres") as root:
        root.execute("create schema own authorization kl_query")
        try:
            with secrets.connect(ANALYST) as conn:
                for statement in _BENT:
                    conn.execute(statement.encode())
                for query in (
                    b"select to_jsonb(r) from kl.resources as r",
                    b"select to_jsonb(r) from kl.resource_history as r",
                    b"select to_jsonb(r) from kl.outputs as r",
                    b"select v.raw_state from kl.state_versions as v",
                ):
                    result = outcome(conn, query)
                    assert result.rows, result.text
                    _clean(result, query)
        finally:
            root.execute("drop schema own cascade")


_BENT: Final = (
    "set default_transaction_read_only = off",
    "set search_path = own, pg_catalog, kl",
    "create function yes(text, text) returns boolean language sql immutable as 'select true'",
    "create function yes(jsonb, jsonb) returns boolean language sql immutable as 'select true'",
    "create function no(text, text) returns boolean language sql immutable as 'select false'",
    "create operator own.~ (leftarg = text, rightarg = text, function = yes)",
    "create operator own.= (leftarg = jsonb, rightarg = jsonb, function = yes)",
    "create operator own.<> (leftarg = text, rightarg = text, function = yes)",
    "create operator own.= (leftarg = text, rightarg = text, function = no)",
)
