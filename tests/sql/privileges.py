"""The rights on every object of schemas kl and kl_internal, one line each."""

from pathlib import Path

from tests.clusters import Connection, running_cluster

GOLDEN = Path(__file__).parent / "privileges.txt"

_QUERY = """
with roles (role) as (
    values ('kl_server'), ('kl_analyst'), ('kl_query'), ('kl_secrets'), ('public')
),
objects as (
    select
        case when c.relkind = 'v' then 'view' else 'table' end as kind,
        n.nspname || '.' || c.relname as object,
        c.oid,
        array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'] as rights
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname in ('kl', 'kl_internal')
        and c.relkind in ('r', 'p', 'v', 'm')
    union all
    select
        'function', p.oid::regprocedure::text, p.oid, array['EXECUTE']
    from pg_proc as p
    join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname in ('kl', 'kl_internal')
    union all
    select 'schema', n.nspname, n.oid, array['USAGE', 'CREATE']
    from pg_namespace as n
    where n.nspname in ('kl', 'kl_internal')
)
select concat_ws(' ', r.role, o.kind, o.object, g.granted)
from roles as r
cross join objects as o
cross join unnest(o.rights) as g (granted)
where case o.kind
    when 'function' then has_function_privilege(r.role, o.oid, g.granted)
    when 'schema' then has_schema_privilege(r.role, o.oid, g.granted)
    else has_table_privilege(r.role, o.oid, g.granted)
end
"""


def granted(conn: Connection) -> list[str]:
    """Return a line per role, object and right that the role has; functions with all types."""
    conn.execute("set local search_path = pg_catalog")
    return sorted(line for (line,) in conn.execute(_QUERY.encode()).fetchall())


def main() -> None:
    """Write the list as this checkout's SQL has it."""
    with (
        running_cluster("pg18") as cluster,
        cluster.clone() as database,
        database.connect("postgres", autocommit=False) as conn,
    ):
        lines = granted(conn)
    GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
