import psycopg
import pytest

from tests.clusters import Connection

STATES = """
with workspace as (
    insert into kl_internal.workspaces (public_id, name) values ('ws_a1', 'other') returning id
), environment as (
    insert into kl_internal.environments (workspace_id, public_id, name)
    select w.id, 'env_b2', 'default' from workspace as w returning id
), state as (
    insert into kl_internal.states (environment_id, name, current_version_no, deleted_at)
    select e.id, s.name, s.version_no, s.deleted_at
    from environment as e
    cross join (
        values ('b', 1, null), ('a/c', 1, null), ('placeholder', 0, null), ('gone', 1, now())
    ) as s (name, version_no, deleted_at)
    returning id, current_version_no
)
insert into kl_internal.state_versions (
    state_id, version_no, serial, lineage, source, principal, created_at
)
select s.id, n.version_no, 18446744073709551615, '', 'import', 'x', now()
from state as s
cross join (values (1)) as n (version_no)
where s.current_version_no = 1;
"""


def test_states_are_listed_by_the_name_callers_use(owner_conn: Connection) -> None:
    owner_conn.execute(STATES)
    rows = owner_conn.execute(
        "select name, version_no, serial::text, locked_by from kl.list_states()"
        " where starts_with(name, 'ws_a1/')"
    ).fetchall()
    assert rows == [
        ("ws_a1/env_b2/a/c", 1, "18446744073709551615", None),
        ("ws_a1/env_b2/b", 1, "18446744073709551615", None),
    ]


def test_every_holder_of_a_lock_is_shown(owner_conn: Connection) -> None:
    owner_conn.execute(STATES)
    owner_conn.execute(
        "with lock as ("
        "  insert into kl_internal.state_locks"
        "  (state_id, kind, lock_id, lock_info, who, principal, apply_id, acquired_at)"
        "  select s.id, l.kind, l.lock_id, '{}', l.who, 'x', l.apply_id, now() + l.since"
        "  from kl_internal.states as s"
        "  cross join (values"
        "   ('native', 'n1', 'ann', gen_random_uuid(), interval '1 second'),"
        "   ('native', 'n2', '', gen_random_uuid(), interval '2 seconds'),"
        "   ('native', 'dead', 'eve', gen_random_uuid(), interval '3 seconds'),"
        "   ('terraform', 't', 'bob', null, interval '0')"
        "  ) as l (kind, lock_id, who, apply_id, since)"
        "  where s.name = 'a/c' returning *"
        "), run as ("
        "  insert into kl_internal.apply_runs (id, state_id, principal, started_at)"
        "  select l.apply_id, l.state_id, 'x', now() from lock as l where l.kind = 'native'"
        ") insert into kl_internal.resource_reservations"
        " (state_id, apply_id, address_glob, mode, principal, acquired_at, expires_at,"
        " path, scope, occupancy)"
        " select l.state_id, l.apply_id, l.lock_id, 'write', 'x', now(),"
        " now() + case when l.lock_id <> 'dead' then interval '1 hour' else interval '0' end,"
        " l.lock_id, kl_internal.scope_range(l.lock_id), '(,)'"
        " from lock as l where l.kind = 'native'"
    )
    row = owner_conn.execute(
        "select locked_by from kl.list_states() where name = 'ws_a1/env_b2/a/c'"
    ).fetchone()
    assert row == ("bob, ann, n2",)


def test_server_may_list_and_analyst_may_not(conn: Connection, analyst_conn: Connection) -> None:
    conn.execute("select name from kl.list_states()")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        analyst_conn.execute("select name from kl.list_states()")
