"""What an installation left in the catalogs, in a form that can be compared."""

import subprocess

from msgspec.structs import replace

from pyengine import sqltree
from pyengine.sqltree import SqlTree
from tests.clusters import Database


def dump(database: Database) -> str:
    """Return the schema as pg_dump sees it: objects, owners, rights, comments."""
    program = database.cluster.bin_dir / "pg_dump"
    text = subprocess.run(
        [program, "--schema-only", "--dbname", database.conninfo("postgres")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    # The restrict lines carry a random key.
    return "\n".join(line for line in text.splitlines() if "restrict " not in line)


def first_migrations(count: int) -> SqlTree:
    """Return the tree as it stood when it had `count` migrations and no functions yet."""
    tree = sqltree.load()
    return replace(tree, migrations=tree.migrations[:count], functions=())


def roles(database: Database) -> dict[str, bool]:
    """Return our roles and whether each may log in."""
    with database.connect("postgres") as conn:
        return dict(
            conn.execute(
                "select rolname, rolcanlogin from pg_roles where starts_with(rolname, 'kl_')"
            ).fetchall()
        )
