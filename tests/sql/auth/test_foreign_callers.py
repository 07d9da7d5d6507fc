"""Every function and view of schema kl, asked by callers with no right to what is there.

A function that forgets to ask who calls fails here: there is no list of functions to check, only
one of those that need not.
"""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.clusters import Connection
from tests.sql.auth.calls import Function, functions, outcome, outcomes
from tests.sql.auth.planted import MARK, Caller, World

# Function: why anybody may call it.
OPEN: Final = {
    "address_path": "computes from its argument alone",
    "capabilities": "what is installed, and what the caller may do with it",
    "sweep_uploads": "drops what is stale for everybody; the server calls it for nobody",
    "provider_schema": "what a provider's publisher says, of no state",
    "resource_schemas": "the same",
    "touch_token": "marks the caller's own token; there is nothing to get",
}
# Caller and function: why that caller may.
ALLOWED: Final = {
    ("outputs only", "read_state"): "outputs are what it may read; tested in test_read_state",
    ("outputs only", "require_access"): "with the scope that it has",
}
OPEN_VIEWS: Final = {
    "error_codes": "constants",
    "installation": "what is installed, nothing of any state",
}

CALLERS: Final = (
    "other environment",
    "other prefix",
    "expired",
    "revoked",
    "unknown",
    "no token",
    "outputs only",
    "limited analyst",
)


def _caller(world: World, name: str) -> Caller:
    assert tuple(c.name for c in world.foreign) == CALLERS
    return next(c for c in world.foreign if c.name == name)


def _told(world: World, text: str) -> bool:
    return any(word in text for word in (MARK, *world.ids.values()))


def _offences(world: World, conn: Connection, caller: str, function: Function) -> Iterator[str]:
    if function.name in OPEN or (caller, function.name) in ALLOWED:
        return
    checked = False
    for result in outcomes(world, conn, function):
        call = f"{caller}: {function.name}{result.arguments}"
        checked = checked or result.refused or (result.empty and not function.volatile)
        if _told(world, result.unsaid()):
            yield f"{call} tells {result.text}"
        elif result.sqlstate and not result.refused and not result.sqlstate.startswith("KL0"):
            yield f"{call} fails with {result.sqlstate}: {result.text}"
        elif not result.sqlstate and (function.volatile or not result.empty):
            yield f"{call} answers {result.rows}"
    if not checked:
        yield f"{caller}: {function.name} never got as far as asking who calls"


@pytest.mark.parametrize("name", CALLERS)
def test_functions_give_a_foreign_caller_nothing(world: World, name: str) -> None:
    with world.connect(_caller(world, name)) as conn:
        found = [o for f in functions(conn) for o in _offences(world, conn, name, f)]
    assert found == []


@pytest.mark.parametrize("name", CALLERS)
def test_views_show_a_foreign_caller_nothing(world: World, name: str) -> None:
    with world.connect(_caller(world, name)) as conn:
        for view in _views(conn):
            result = outcome(conn, f"select * from kl.{view}".encode())
            assert not _told(world, result.text), view
            assert view in OPEN_VIEWS or result.refused or not result.rows, (view, result.rows)


def test_the_same_calls_give_an_admin_something(world: World) -> None:
    """Without this the tests above could pass for want of arguments that mean anything."""
    with world.connect(world.admin) as conn:
        for function in functions(conn):
            got = [r for r in outcomes(world, conn, function) if not r.refused and not r.empty]
            assert got or function.name in OPEN, (
                f"teach calls.py arguments with which {function.signature} answers"
            )
        for view in _views(conn):
            assert outcome(conn, f"select * from kl.{view}".encode()).rows, view


_NOSY: Final = "from kl_internal.state_versions as v where v.version_no = 1"


@pytest.mark.parametrize("volatility", ["stable", "volatile"])
@pytest.mark.parametrize(
    ("returns", "body"),
    [
        ("numeric", f"select v.serial {_NOSY}"),
        ("uuid", f"select v.state_id {_NOSY}"),
        ("text", f"select v.lineage::integer::text {_NOSY}"),
        ("void", "select"),
    ],
)
def test_a_function_that_does_not_ask_is_found(
    world: World, volatility: str, returns: str, body: str
) -> None:
    if (returns, volatility) == ("void", "stable"):
        return  # answers nothing and changes nothing
    with world.database.connect("postgres") as root:
        root.execute(
            f"create function kl.forgetful(p_name text) returns {returns} language sql"
            f" {volatility} security definer as $$ {body} $$".encode()
        )
        try:
            root.execute("grant execute on function kl.forgetful(text) to kl_server")
            with world.connect(_caller(world, "no token")) as conn:
                made = next(f for f in functions(conn) if f.name == "forgetful")
                assert list(_offences(world, conn, "no token", made)) != []
        finally:
            root.execute("drop function kl.forgetful(text)")


def test_exemptions_name_what_there_is(world: World) -> None:
    with world.connect(world.admin) as conn:
        names = {f.name for f in functions(conn)}
        assert set(OPEN) <= names
        assert {function for _, function in ALLOWED} <= names
        assert set(OPEN_VIEWS) <= set(_views(conn))


def _views(conn: Connection) -> list[str]:
    rows = conn.execute(
        "select c.relname::text from pg_class as c where c.relkind = 'v'"
        " and c.relnamespace = 'kl'::regnamespace order by 1"
    ).fetchall()
    return [row[0] for row in rows]
