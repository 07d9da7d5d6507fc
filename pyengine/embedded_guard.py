"""What only the superuser of an embedded cluster can take from everybody else.

In a database that others share these rights are the administrator's business, so nothing of this
is done there; see docs/query.md.
"""

from typing import Final

from pyengine import db

# Whoever may log in could fill the disk with large objects or messages in the log of changes, or
# end a neighbour's statement.
_REVOKED: Final = (
    "lo_creat",
    "lo_create",
    "lo_from_bytea",
    "pg_cancel_backend",
    "pg_logical_emit_message",
    "pg_terminate_backend",
)


async def harden(conn: db.Connection) -> None:
    """Take from PUBLIC what could harm others, and bound the temporary files of kl_query."""
    with db.translated():
        cursor = await conn.execute(
            "select p.oid::regprocedure::text from pg_catalog.pg_proc as p"
            " where p.pronamespace = 'pg_catalog'::regnamespace and p.proname = any (%s)"
            " and pg_catalog.has_function_privilege('kl_query', p.oid, 'execute')",
            (list(_REVOKED),),
        )
        functions = [row[0] for row in await cursor.fetchall()]
        if not functions:
            return
        for function in functions:
            await conn.execute(f"revoke execute on function {function} from public".encode())
        await conn.execute("alter role kl_query set temp_file_limit = '1GB'")
