"""A condition of an analyst's own must not see rows that a view hides from that analyst."""

from typing import Final

import pytest

from tests.clusters import Connection
from tests.sql.auth.calls import outcome
from tests.sql.auth.planted import MARK, World

PLANS: Final = ("", "enable_hashjoin", "enable_nestloop", "enable_mergejoin")
_COLUMNS: Final = """
select c.relname::text, a.attname::text
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
where c.relkind = 'v' and c.relnamespace = 'kl'::regnamespace
    and c.relname not in ('error_codes', 'installation')
order by 1, a.attnum
"""


def _limited(world: World) -> Connection:
    return world.connect(next(c for c in world.foreign if c.name == "limited analyst"))


def _probe(view: str, column: str) -> bytes:
    return f"select 1 from {view} as v where (v.{column}::text)::integer > 0".encode()


@pytest.mark.parametrize("plan", PLANS)
def test_errors_of_a_cast_show_no_hidden_row(world: World, plan: str) -> None:
    with _limited(world) as conn:
        if plan:
            conn.execute(f"set {plan} = off".encode())
        for view, column in conn.execute(_COLUMNS.encode()).fetchall():
            result = outcome(conn, _probe(f"kl.{view}", column))
            assert (result.sqlstate, result.rows) == ("", []), (view, column, result.text)


def test_the_probe_finds_what_a_view_without_barrier_shows(world: World) -> None:
    with world.database.connect("postgres") as root:
        root.execute(
            "create view kl.leaky as select v.lineage from kl_internal.state_versions as v"
            " join kl_internal.visible_states as s on s.id = v.state_id"
        )
        try:
            root.execute("grant select on kl.leaky to kl_analyst")
            with _limited(world) as conn:
                texts = []
                for plan in PLANS:
                    if plan:
                        conn.execute(f"set {plan} = off".encode())
                    texts.append(outcome(conn, _probe("kl.leaky", "lineage")).text)
                assert any(MARK in text for text in texts)
        finally:
            root.execute("drop view kl.leaky")


def test_every_view_that_hides_rows_is_a_barrier(world: World) -> None:
    with world.database.connect("postgres") as root:
        rows = root.execute(
            "select c.relname::text from pg_class as c"
            " where c.relkind = 'v' and c.relnamespace = 'kl'::regnamespace"
            " and c.relname not in ('error_codes', 'installation')"
            " and c.reloptions is distinct from array['security_barrier=true']"
        ).fetchall()
        assert rows == []
