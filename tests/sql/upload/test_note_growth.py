"""What is needed to plan is known once a write has made it old, not when autovacuum comes by."""

from tests.clusters import Connection, Database
from tests.documents import instance, resource, state
from tests.sql.engine import value
from tests.sql.staging import write

MANY = 2_000


def _known(conn: Connection) -> tuple[int, int]:
    """Return how many rows resources has, as far as is known, and how many columns are known."""
    rows = value(
        conn, "select reltuples from pg_class where oid = 'kl_internal.resources'::regclass"
    )
    columns = value(
        conn,
        "select count(*) from pg_stats where schemaname = 'kl_internal' "
        "and tablename in ('resources', 'dependency_sets')",
    )
    return int(rows), int(columns)


def _write(conn: Connection, name: str, objects: int) -> None:
    instances = (
        instance(index_key=n, dependencies=[f"terraform_data.d{n}"]) for n in range(objects)
    )
    write(conn, name, state(1, resource("a", *instances)))


def test_a_large_state_is_known_when_it_is_written(database: Database) -> None:
    with database.connect("postgres") as root, database.connect("kl_server") as conn:
        _write(conn, "small", 5)
        assert _known(root) == (-1, 0)
        _write(conn, "large", MANY)
        known, columns = _known(root)
        assert known >= MANY
        assert columns == 8
        _write(conn, "other", MANY // 20)
        assert _known(root) == (known, columns)
        _write(conn, "third", MANY // 2)
        assert _known(root)[0] >= known + MANY // 2


def test_a_slice_of_what_was_just_written_reads_what_it_has(database: Database) -> None:
    with database.connect("postgres") as root, database.connect("kl_server") as conn:
        _write(conn, "s", MANY)
        query = (
            "select sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) "
            "from pg_index as i where i.indrelid = 'kl_internal.resources'::regclass"
        )
        with root.transaction():
            before = int(value(root, query))
            wanted = [f"terraform_data.a[{n}]" for n in range(100)]
            root.execute("select kl.fetch_slice('s', %s, '{}', null, null, null)", (wanted,))
            assert int(value(root, query)) - before <= 3 * len(wanted)
