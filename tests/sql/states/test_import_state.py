import pytest

from tests.clusters import Connection, Database
from tests.documents import encoded, instance, lock_info, resource, state
from tests.equality import canonical
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import read, refused, stage

FIRST = state(3, resource("a"))
CHANGED = state(4, resource("a", instance({"id": "changed"})))


@pytest.mark.parametrize("source", ["import", "refresh"])
def test_import_makes_a_version_of_that_source(conn: Connection, source: str) -> None:
    conn.execute("select set_config('kl.actor', 'ann@cli', true)")
    written = stage(conn, FIRST).import_("s", source)
    assert (written.outcome, written.version_no) == ("written", 1)
    rows = conn.execute("select source, operation, actor from kl.state_versions").fetchall()
    assert rows == [(source, None, "ann@cli")]
    assert canonical(read(conn, "s")) == canonical(encoded(FIRST))


def test_only_an_import_is_audited(conn: Connection) -> None:
    stage(conn, FIRST).import_("s")
    stage(conn, CHANGED).import_("s", "refresh")
    rows = conn.execute("select kind, detail from kl.events").fetchall()
    assert rows == [("import", {"version_no": 1, "serial": 3})]


def test_apply_needs_the_admin_right(conn: Connection, database: Database) -> None:
    with refused(conn, "KL102") as refusal:
        stage(conn, FIRST).import_("s", "apply")
    assert refusal.detail["scope"] == "admin"
    with database.connect("postgres", autocommit=False) as admin:
        assert stage(admin, FIRST).import_("s", "apply").outcome == "written"


@pytest.mark.parametrize("source", ["http_backend", "rollback", "", None])
def test_other_sources_are_refused(conn: Connection, source: str) -> None:
    with refused(conn, "KL001") as refusal:
        stage(conn, FIRST).import_("s", source)
    assert refusal.detail == {"source": source}


def test_same_content_again_is_unchanged(conn: Connection) -> None:
    stage(conn, FIRST).import_("s")
    assert stage(conn, FIRST).import_("s").outcome == "unchanged"


def test_serial_rules_hold(conn: Connection) -> None:
    stage(conn, CHANGED).import_("s")
    with refused(conn, "KL302") as refusal:
        stage(conn, FIRST).import_("s")
    assert (refusal.detail["current_serial"], refusal.detail["serial"]) == (4, 3)


def test_anybodys_lock_refuses_an_import(conn: Connection) -> None:
    info = lock_info("one", "state-push")
    lock(conn, "s", info)
    with refused(conn, "KL303") as refusal:
        stage(conn, FIRST).import_("s")
    assert refusal.detail == {"lock": info}
