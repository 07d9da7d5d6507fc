"""Coroutines for scopes and slices of the state engine protocol; rules as in pyengine/api.py.

Answers that hold attributes or long lists stay the JSON text that the database made of them.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from msgspec import Struct
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from pyengine.db import Connection


class Identity(Struct, frozen=True):
    """Which state a name means, and how it stands. `creator` is the source of version 1."""

    state: str
    state_id: UUID
    workspace_id: str
    env_public_id: str
    state_name: str
    lineage: str
    serial: Decimal
    version_id: UUID
    creator: str


async def capabilities(conn: Connection) -> dict[str, bool]:
    """Return which parts of the protocol are installed, and allowed for the caller."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute("select kl.capabilities()")
        found: dict[str, bool] | None = await cursor.fetchone()
        assert found is not None, "the function always returns an object"
        return found


async def resolve_state(conn: Connection, name: str) -> Identity:
    """Return the identity of a state."""
    async with conn.cursor(row_factory=class_row(Identity)) as cursor:
        await cursor.execute(
            "select state, state_id, workspace_id, env_public_id, state_name, lineage, serial, "
            "version_id, creator from kl.resolve_state(p_name => %(name)s)",
            {"name": name},
        )
        identity = await cursor.fetchone()
        assert identity is not None, "the function returns a row or raises"
        return identity


async def expand_scope(
    conn: Connection,
    name: str,
    selectors: Sequence[Any],
    client_context: Any,  # noqa: ANN401 - any JSON
    *,
    require_safe: bool,
) -> str:
    """Return the scope of a native write, as JSON text."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.expand_scope(p_name => %(name)s, p_selectors => %(selectors)s, "
            "p_client_context => %(client_context)s, p_require_safe => %(require_safe)s)",
            {
                "name": name,
                "selectors": Jsonb(list(selectors)),
                "client_context": Jsonb(client_context),
                "require_safe": require_safe,
            },
        )
        return _text(await cursor.fetchone())


async def fetch_slice(
    conn: Connection,
    name: str,
    addresses: Sequence[str],
    outputs: Sequence[str],
    base_serial: int | None,
    base_version_id: UUID | None,
    form: str,
) -> str:
    """Return instances and outputs with all that Terraform keeps of them, as JSON text."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            # Lists in binary form: as text they take a fifth of the time of a slice to be quoted.
            "select kl.fetch_slice(p_name => %(name)s, p_addresses => %(addresses)b, "
            "p_outputs => %(outputs)b, p_base_serial => %(base_serial)s, "
            "p_base_version_id => %(base_version_id)s, p_format => %(format)s)",
            {
                "name": name,
                "addresses": list(addresses),
                "outputs": list(outputs),
                "base_serial": base_serial,
                "base_version_id": base_version_id,
                "format": form,
            },
        )
        return _text(await cursor.fetchone())


def _text(value: str | None) -> str:
    assert value is not None, "the function returns a text or raises"
    return value
