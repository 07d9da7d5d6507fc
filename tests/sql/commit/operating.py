"""Operations on a state in SQL: remove, move, roll back."""

import json
from typing import Any

from tests.clusters import Connection
from tests.documents import Json
from tests.sql.engine import rows


def remove(conn: Connection, *addresses: str, apply: bool = True, name: str = "s") -> Json:
    """Remove objects, or preview that."""
    return rows(
        conn,
        "select * from kl.remove_resources(p_name => %s, p_addresses => %s, p_apply => %s, "
        "p_actor => 'ann@kl')",
        name,
        list(addresses),
        apply,
    )[0]


def move(
    conn: Connection,
    *moves: tuple[str, str],
    apply: bool = True,
    name: str = "s",
    to: str | None = None,
) -> Json:
    """Move objects, or preview that."""
    return rows(
        conn,
        "select * from kl.move_resources(p_name => %s, p_moves => %s::jsonb, p_to_name => %s, "
        "p_apply => %s, p_actor => 'ann@kl')",
        name,
        json.dumps([{"address": source, "to": target} for source, target in moves]),
        to,
        apply,
    )[0]


def roll_back(
    conn: Connection, address: str, to: str, *, apply: bool = True, name: str = "s"
) -> Json:
    """Roll objects back, or preview that."""
    return rows(
        conn,
        "select * from kl.rollback_resource(p_name => %s, p_address => %s, p_to => %s, "
        "p_apply => %s, p_actor => 'ann@kl')",
        name,
        address,
        to,
        apply,
    )[0]


def named(listed: list[Json]) -> list[Any]:
    """Return the addresses of listed objects, with the deposed key where there is one."""
    return [
        o["address"] if o["deposed_key"] is None else (o["address"], o["deposed_key"])
        for o in listed
    ]


def dependencies(conn: Connection, name: str = "s") -> dict[str, list[str]]:
    """Return the dependencies of every object that has some, as the document lists them."""
    found = conn.execute(
        "select r.address, r.dependencies from kl.resources as r "
        "where r.state_name = %s and r.dependencies <> '{}' order by r.path",
        (name,),
    ).fetchall()
    return {address: sorted(listed) for address, listed in found}
