"""kl.resolve_state and kl.capabilities."""

from tests.clusters import Connection
from tests.documents import lock_info, resource, state
from tests.sql.engine import rows, value
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import refused, stage, write


def test_a_name_in_any_form_is_the_same_state(conn: Connection) -> None:
    stage(conn, state(1, resource())).import_("s")
    write(conn, "s", state(2, resource()))
    (found,) = rows(conn, "select * from kl.resolve_state(p_name => 's')")
    assert found["state"] == f"{found['workspace_id']}/{found['env_public_id']}/s"
    assert (found["state_name"], found["serial"], found["creator"]) == ("s", 2, "import")
    assert rows(conn, "select * from kl.resolve_state(p_name => %s)", found["state"]) == [found]


def test_the_creator_is_the_source_of_the_first_version(conn: Connection) -> None:
    write(conn, "s", state(1, resource()))
    assert value(conn, "select creator from kl.resolve_state('s')") == "http_backend"


def test_resolving_makes_no_state(conn: Connection) -> None:
    with refused(conn, "KL201"):
        conn.execute("select * from kl.resolve_state('typo')")
    lock(conn, "placeholder", lock_info("1"))
    with refused(conn, "KL201"):
        conn.execute("select * from kl.resolve_state('placeholder')")


def test_capabilities_are_what_is_installed(conn: Connection, owner_conn: Connection) -> None:
    found = value(conn, "select kl.capabilities()")
    assert found["slice_fetch"]
    assert found["backend_closure_expansion"]
    owner_conn.execute("drop function kl.expand_scope(text, jsonb, jsonb, boolean)")
    without = value(owner_conn, "select kl.capabilities()")
    assert not without["backend_closure_expansion"]
    assert without["slice_fetch"]


def test_a_caller_without_rights_has_no_capabilities(conn: Connection) -> None:
    conn.execute("set local kl.auth = 'database'")
    assert not any(value(conn, "select kl.capabilities()").values())
