"""The functions of schema `kl` that native writers begin, reserve, lock and end with.

Each takes the connection first and never commits; the caller owns the transaction.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from msgspec import Struct
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from pyengine.db import Connection


class BegunRun(Struct, frozen=True):
    """A native apply as it began."""

    id: UUID
    state_id: UUID
    from_version_id: UUID
    actor: str
    status: str
    source_serial: Decimal
    started_at: datetime


class ApplyRun(Struct, frozen=True):
    """A native apply. status: running, committed, failed, aborted or expired."""

    id: UUID
    state_id: UUID
    from_version_id: UUID | None
    actor: str | None
    status: str
    source_serial: Decimal | None
    started_at: datetime
    to_version_id: UUID | None
    committed_serial: Decimal | None
    resources_planned: int | None
    resources_applied: int | None
    error_summary: str | None
    finished_at: datetime | None


class Reservation(Struct, frozen=True):
    """A scope that is held. widened: it is more than address_glob names; note says why."""

    address_glob: str
    mode: str
    expires_at: datetime
    widened: bool
    note: str | None = None


async def state_name(conn: Connection, state_id: UUID | None) -> str:
    """Return the canonical name of a state that the caller may write."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select name_state from kl.name_state(p_state_id => %(state_id)s)",
            {"state_id": state_id},
        )
        return str(await cursor.fetchone())


async def begin_apply_run(
    conn: Connection,
    name: str,
    actor: str | None,
    source_serial: int | None,
    info: dict[str, Any] | None,
) -> BegunRun:
    """Begin a native apply of a state."""
    async with conn.cursor(row_factory=class_row(BegunRun)) as cursor:
        await cursor.execute(
            "select id, state_id, from_version_id, actor, status, source_serial, started_at "
            "from kl.begin_apply_run(p_name => %(name)s, p_actor => %(actor)s, "
            "p_source_serial => %(serial)s, p_info => %(info)s)",
            {
                "name": name,
                "actor": actor,
                "serial": source_serial,
                "info": None if info is None else Jsonb(info),
            },
        )
        row = await cursor.fetchone()
        assert row is not None, "the function always returns a row"
        return row


async def apply_run_status(conn: Connection, apply_id: UUID) -> ApplyRun:
    """Return how a native apply stands."""
    return await _run(
        conn,
        "select id, state_id, from_version_id, actor, status, source_serial, started_at, "
        "to_version_id, committed_serial, resources_planned, resources_applied, error_summary, "
        "finished_at from kl.apply_run_status(p_apply_id => %(apply_id)s)",
        {"apply_id": apply_id},
    )


async def finish_apply_run(
    conn: Connection,
    apply_id: UUID,
    status: str,
    committed_serial: int | None,
    resources_planned: int | None,
    resources_applied: int | None,
    error: str | None,
) -> ApplyRun:
    """End a native apply as committed or failed."""
    return await _run(
        conn,
        "select id, state_id, from_version_id, actor, status, source_serial, started_at, "
        "to_version_id, committed_serial, resources_planned, resources_applied, error_summary, "
        "finished_at from kl.finish_apply_run(p_apply_id => %(apply_id)s, p_status => %(status)s, "
        "p_committed_serial => %(serial)s, p_resources_planned => %(planned)s::integer, "
        "p_resources_applied => %(applied)s::integer, p_error => %(error)s)",
        {
            "apply_id": apply_id,
            "status": status,
            "serial": committed_serial,
            "planned": resources_planned,
            "applied": resources_applied,
            "error": error,
        },
    )


async def abort_apply_run(conn: Connection, apply_id: UUID, reason: str | None) -> ApplyRun:
    """End a native apply that will not commit any more."""
    return await _run(
        conn,
        "select id, state_id, from_version_id, actor, status, source_serial, started_at, "
        "to_version_id, committed_serial, resources_planned, resources_applied, error_summary, "
        "finished_at from kl.abort_apply_run(p_apply_id => %(apply_id)s, p_reason => %(reason)s)",
        {"apply_id": apply_id, "reason": reason},
    )


async def list_apply_runs(
    conn: Connection, name: str, limit: int, before: UUID | None
) -> list[ApplyRun]:
    """Return the native applies of a state before one, the newest first."""
    async with conn.cursor(row_factory=class_row(ApplyRun)) as cursor:
        await cursor.execute(
            "select id, state_id, from_version_id, actor, status, source_serial, started_at, "
            "to_version_id, committed_serial, resources_planned, resources_applied, "
            "error_summary, finished_at from kl.list_apply_runs(p_name => %(name)s, "
            "p_limit => %(limit)s::integer, p_before => %(before)s)",
            {"name": name, "limit": limit, "before": before},
        )
        return await cursor.fetchall()


async def acquire_reservations(
    conn: Connection,
    name: str,
    apply_id: UUID,
    holder: str | None,
    lease: timedelta,
    want: list[dict[str, str]],
    unkeyed_modules: list[str],
) -> list[Reservation]:
    """Reserve scopes, all or none."""
    async with conn.cursor(row_factory=class_row(Reservation)) as cursor:
        await cursor.execute(
            "select address_glob, mode, expires_at, widened, note "
            "from kl.acquire_reservations(p_name => %(name)s, p_apply_id => %(apply_id)s, "
            "p_holder => %(holder)s, p_lease => %(lease)s, p_want => %(want)s, "
            "p_unkeyed_modules => %(unkeyed)s)",
            {
                "name": name,
                "apply_id": apply_id,
                "holder": holder,
                "lease": lease,
                "want": Jsonb(want),
                "unkeyed": unkeyed_modules,
            },
        )
        return await cursor.fetchall()


async def renew_reservations(
    conn: Connection, apply_id: UUID, lease: timedelta
) -> list[Reservation]:
    """Let the live leases of an apply end that much after now."""
    async with conn.cursor(row_factory=class_row(Reservation)) as cursor:
        await cursor.execute(
            "select address_glob, mode, expires_at, widened "
            "from kl.renew_reservations(p_apply_id => %(apply_id)s, p_lease => %(lease)s)",
            {"apply_id": apply_id, "lease": lease},
        )
        return await cursor.fetchall()


async def release_reservations(conn: Connection, apply_id: UUID) -> int:
    """Free what an apply has reserved; return how many scopes that were."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.release_reservations(p_apply_id => %(apply_id)s)", {"apply_id": apply_id}
        )
        return int(await cursor.fetchone() or 0)


async def acquire_native_lock(
    conn: Connection, name: str, apply_id: UUID, holder: str | None, scope_summary: list[str]
) -> str:
    """Show a state as locked to plain Terraform; return the lock's ID."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.acquire_native_lock(p_name => %(name)s, p_apply_id => %(apply_id)s, "
            "p_holder => %(holder)s, p_scope_summary => %(summary)s)",
            {"name": name, "apply_id": apply_id, "holder": holder, "summary": scope_summary},
        )
        return str(await cursor.fetchone())


async def release_native_lock(
    conn: Connection, name: str | None, apply_id: UUID | None, lock_id: str | None
) -> str | None:
    """End the lock that plain Terraform sees; return its ID, None when it was not held."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.release_native_lock(p_name => %(name)s, p_apply_id => %(apply_id)s, "
            "p_lock_id => %(lock_id)s)",
            {"name": name, "apply_id": apply_id, "lock_id": lock_id},
        )
        return await cursor.fetchone()


async def _run(conn: Connection, query: str, values: dict[str, Any]) -> ApplyRun:
    async with conn.cursor(row_factory=class_row(ApplyRun)) as cursor:
        await cursor.execute(query.encode(), values)
        row = await cursor.fetchone()
        assert row is not None, "the function always returns a row"
        return row
