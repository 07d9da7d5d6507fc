from pathlib import Path

from tests.clusters import Connection

MIGRATIONS = Path(__file__).parents[3] / "sql" / "migrations"


def test_installation_lists_every_migration_and_the_functions(conn: Connection) -> None:
    rows = conn.execute("select name, checksum from kl.installation order by name").fetchall()
    names = {name for name, _ in rows}
    assert {path.stem for path in MIGRATIONS.glob("*.sql")} <= {
        n.removesuffix(".sql") for n in names
    }
    assert "functions" in names
    assert all(checksum for _, checksum in rows)
