"""Coroutines for the functions of schema `kl` behind refresh."""

from collections.abc import AsyncIterable
from decimal import Decimal
from typing import Any
from uuid import UUID

from msgspec import Struct
from psycopg.rows import class_row

from pyengine.db import Connection


class RefreshRun(Struct, frozen=True):
    """A refresh that has begun, and the version it reads."""

    refresh_run_id: UUID
    state_id: UUID
    version_id: UUID
    version_no: int
    serial: Decimal


class RefreshGroup(Struct, frozen=True):
    """The objects of one provider configuration. `config` is JSON text; None: not configured."""

    provider: str
    types: list[str]
    object_count: int
    config: str | None


class RefreshObject(Struct, frozen=True):
    """One stored object; JSON members are texts as they stand in the state."""

    resource_id: int
    path: str
    address: str
    type: str
    deposed: str
    schema_version: Decimal
    attributes: str | None
    attributes_flat: str | None
    sensitive_attributes: str | None
    private: str | None
    identity: str | None
    identity_schema_version: Decimal | None


class RefreshPreview(Struct, frozen=True):
    """What a commit would change."""

    resources_checked: int
    resources_failed: int
    resources_superseded: int
    resources_missing: int
    changed_addresses: list[str]


class RefreshCommit(Struct, frozen=True):
    """The version that a refresh became."""

    version_id: UUID
    version_no: int
    serial: Decimal
    resources_checked: int
    resources_changed: int
    resources_superseded: int
    changed_addresses: list[str]


async def begin_refresh(conn: Connection, state: str) -> RefreshRun:
    """Open the audit row of a refresh of the current version."""
    async with conn.cursor(row_factory=class_row(RefreshRun)) as cursor:
        await cursor.execute(
            "select refresh_run_id, state_id, version_id, version_no, serial "
            "from kl.begin_refresh(p_state => %(state)s)",
            {"state": state},
        )
        row = await cursor.fetchone()
    assert row is not None, "the function always returns a row"
    return row


async def refresh_groups(conn: Connection, run_id: UUID) -> list[RefreshGroup]:
    """Return the providers that a refresh needs."""
    async with conn.cursor(row_factory=class_row(RefreshGroup)) as cursor:
        await cursor.execute(
            "select provider, types, object_count, config::text as config "
            "from kl.refresh_groups(p_refresh_run_id => %(run_id)s)",
            {"run_id": run_id},
        )
        return await cursor.fetchall()


async def refresh_page(
    conn: Connection, run_id: UUID, provider: str, after: str, limit: int
) -> list[RefreshObject]:
    """Return the next objects of one provider, in path order."""
    async with conn.cursor(row_factory=class_row(RefreshObject)) as cursor:
        await cursor.execute(
            "select resource_id, path, address, type, deposed, "
            "schema_version, attributes, attributes_flat, sensitive_attributes, private, "
            "identity, identity_schema_version "
            "from kl.refresh_page(p_refresh_run_id => %(run_id)s, p_provider => %(provider)s, "
            "p_after => %(after)s, p_limit => %(limit)s)",
            {"run_id": run_id, "provider": provider, "after": after, "limit": limit},
        )
        return await cursor.fetchall()


async def copy_staged_reads(conn: Connection, rows: AsyncIterable[tuple[Any, ...]]) -> None:
    """Stage what was read: rows in the order of the columns named here."""
    statement = (
        "copy kl_internal.staged_reads (refresh_run_id, resource_id, outcome, schema_version, "
        "attributes, prior, sensitive_attributes, private, identity, identity_schema_version, "
        "error) from stdin"
    )
    async with conn.cursor() as cursor, cursor.copy(statement) as copy:
        async for row in rows:
            await copy.write_row(row)


async def preview_refresh(conn: Connection, run_id: UUID) -> RefreshPreview:
    """Tell what a commit would change, without changing it."""
    async with conn.cursor(row_factory=class_row(RefreshPreview)) as cursor:
        await cursor.execute(
            "select resources_checked, resources_failed, resources_superseded, "
            "resources_missing, changed_addresses "
            "from kl.preview_refresh(p_refresh_run_id => %(run_id)s)",
            {"run_id": run_id},
        )
        row = await cursor.fetchone()
    assert row is not None, "the function always returns a row"
    return row


async def commit_refresh(conn: Connection, run_id: UUID) -> RefreshCommit:
    """Make what was staged the next version."""
    async with conn.cursor(row_factory=class_row(RefreshCommit)) as cursor:
        await cursor.execute(
            "select version_id, version_no, serial, resources_checked, resources_changed, "
            "resources_superseded, changed_addresses "
            "from kl.commit_refresh(p_refresh_run_id => %(run_id)s)",
            {"run_id": run_id},
        )
        row = await cursor.fetchone()
    assert row is not None, "the function always returns a row"
    return row


async def finish_refresh(
    conn: Connection, run_id: UUID, status: str, checked: int, failed: int, summary: str | None
) -> None:
    """End a refresh that did not commit: succeeded (a dry run), failed or cancelled."""
    await conn.execute(
        "select kl.finish_refresh(p_refresh_run_id => %(run_id)s, p_status => %(status)s, "
        "p_checked => %(checked)s, p_failed => %(failed)s, p_error_summary => %(summary)s)",
        {
            "run_id": run_id,
            "status": status,
            "checked": checked,
            "failed": failed,
            "summary": summary,
        },
    )
