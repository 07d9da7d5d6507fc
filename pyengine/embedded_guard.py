"""What only the superuser of an embedded cluster can take from everybody else.

In a database that others share these rights are the administrator's business, so nothing of this
is done there; see docs/query.md.
"""

from typing import Final

from pyengine import db

# Whoever may log in could fill the disk with large objects, or end a neighbour's statement.
_REVOKED: Final = (
    "lo_creat(integer)",
    "lo_create(oid)",
    "lo_from_bytea(oid, bytea)",
    "pg_cancel_backend(integer)",
    "pg_terminate_backend(integer, bigint)",
)


async def harden(conninfo: str) -> None:
    """Take from PUBLIC what could harm others, and bound the temporary files of kl_query."""
    async with await db.connect(conninfo) as conn:
        with db.translated():
            cursor = await conn.execute(
                "select pg_catalog.has_function_privilege("
                "'kl_query', 'pg_catalog.pg_terminate_backend(integer, bigint)', 'execute')"
            )
            row = await cursor.fetchone()
            if row is None or not row[0]:
                return
            for function in _REVOKED:
                statement = f"revoke execute on function pg_catalog.{function} from public"
                await conn.execute(statement.encode())
            await conn.execute("alter role kl_query set temp_file_limit = '1GB'")
