"""What is installed in a database, beside what this release would install."""

from typing import Literal

from pyengine import db, embedded_guard, sqltree

Status = Literal["absent", "older", "current", "newer"]


async def status(conn: db.Connection) -> Status:
    """Compare what is installed with this release; any role that may read `kl` can ask."""
    with db.translated():
        cursor = await conn.execute(
            "select exists (select from pg_catalog.pg_class as c"
            " join pg_catalog.pg_namespace as n on n.oid = c.relnamespace"
            " where n.nspname = 'kl' and c.relname = 'installation')"
        )
        row = await cursor.fetchone()
        if row is None or not row[0]:
            return "absent"
        cursor = await conn.execute("select i.name, i.checksum from kl.installation as i")
        installed: dict[str, str] = dict(await cursor.fetchall())
    functions = installed.pop("functions", None)
    ours = sqltree.take_inventory()
    if installed.keys() - ours.migrations:
        return "newer"
    if ours.migrations - installed.keys() or functions != ours.functions_checksum:
        return "older"
    return "current"


async def prepare_embedded(conninfo: str) -> None:
    """Install into an embedded database unless what is there is current, or newer; harden it."""
    async with await db.connect(conninfo) as conn:
        if await status(conn) in ("absent", "older"):
            from pyengine.install import migrate  # with the parser of SQL, which few runs need

            await migrate(conninfo)
        await embedded_guard.harden(conn)
