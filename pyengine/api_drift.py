"""Coroutines for the functions of schema `kl` behind drift."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct
from psycopg.rows import kwargs_row, scalar_row

from pyengine.api_readers import AttributeChange
from pyengine.db import Connection


class Drift(Struct, frozen=True):
    """One object that a refresh found changed or gone."""

    address: str
    type: str
    drift_kind: str
    changes: list[AttributeChange]
    detected_at_serial: Decimal
    detected_at: datetime
    refresh_run_id: UUID | None
    acknowledged_reason: str | None
    deposed_key: str | None


class Acknowledged(Struct, frozen=True):
    """How many objects an acknowledgement was about."""

    objects: int


async def list_current_drift(conn: Connection, state: str, limit: int) -> list[Drift]:
    """Return the drift of a state that no apply has settled."""
    async with conn.cursor(row_factory=kwargs_row(_drift)) as cursor:
        await cursor.execute(
            "select address, type, drift_kind, changes::text as changes, detected_at_serial, "
            "detected_at, refresh_run_id, acknowledged_reason, deposed_key "
            "from kl.list_current_drift(p_state => %(state)s, p_limit => %(limit)s)",
            {"state": state, "limit": limit},
        )
        return await cursor.fetchall()


async def ack_drift(conn: Connection, state: str, address: str, reason: str) -> int:
    """Acknowledge the drift at an address; return how many objects that were."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.ack_drift(p_state => %(state)s, p_address => %(address)s, "
            "p_reason => %(reason)s)",
            {"state": state, "address": address, "reason": reason},
        )
        return int(await cursor.fetchone() or 0)


def _drift(changes: str, **columns: Any) -> Drift:  # noqa: ANN401 - columns of a row
    return Drift(changes=msgspec.json.decode(changes, type=list[AttributeChange]), **columns)
