"""Write the README's list of objects from the comments in the catalog, as `make readme` does."""

import sys
from pathlib import Path

from tests.clusters import Database, running_cluster

README = Path(__file__).parents[1] / "README.md"
BEGIN = "<!-- objects: written by make readme from the comments in sql/ -->\n"
END = "<!-- end of objects -->\n"

_VIEWS = """
    select c.relname, obj_description(c.oid, 'pg_class')
    from pg_class as c
    where c.relnamespace = 'kl'::regnamespace and c.relkind = 'v'
    order by c.relname collate "C"
"""
_FUNCTIONS = """
    select
        p.proname || '('
            || array_to_string(coalesce(p.proargnames[:p.pronargs], '{}'), ', ') || ')',
        obj_description(p.oid, 'pg_proc')
    from pg_proc as p
    where p.pronamespace = 'kl'::regnamespace
        and has_function_privilege('kl_analyst', p.oid, 'execute') = %s
    order by p.proname collate "C"
"""


def objects(database: Database) -> str:
    """Return the list of what schema kl holds, as Markdown."""
    with database.connect("postgres") as conn:
        return "\n".join(
            _section(title, conn.execute(query.encode(), values).fetchall())
            for title, query, values in (
                ("Views", _VIEWS, ()),
                ("Functions for analysts", _FUNCTIONS, (True,)),
                ("Functions for the server and the command line", _FUNCTIONS, (False,)),
            )
        )


def _section(title: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| `{name}` | {_sentence(comment)} |" for name, comment in rows]
    return "\n".join([f"**{title}**", "", "| name | what it is |", "|---|---|", *lines, ""])


def _sentence(comment: str) -> str:
    """Return the first paragraph of a comment in one line."""
    return " ".join(comment.split("\n\n", 1)[0].split()).replace("|", "\\|")


def with_objects(text: str, listed: str) -> str:
    """Return the README's text with that list between the marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, "the README has lost the mark before the list of objects"
    assert end, "the README has lost the mark after the list of objects"
    return before + BEGIN + "\n" + listed + "\n" + END + after


def main() -> None:
    """Write the list."""
    with running_cluster("pg18") as cluster, cluster.clone() as database:
        listed = objects(database)
    README.write_text(with_objects(README.read_text(encoding="utf-8"), listed), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
