"""Coroutines for the functions of schema `kl` behind provider schemas and configurations."""

from collections.abc import AsyncIterable
from datetime import datetime
from uuid import UUID

from msgspec import Struct
from psycopg.rows import class_row, scalar_row

from pyengine.api_refresh import RefreshGroup
from pyengine.db import Connection


class ProviderConfig(Struct, frozen=True):
    """The stored configuration of one provider of a state; `config` is JSON text."""

    provider: str
    config: str
    actor: str | None
    updated_at: datetime


async def provider_schema(conn: Connection, source: str, version: str) -> tuple[int, str] | None:
    """Return protocol and configuration schema (JSON text) of a cached provider version."""
    async with conn.cursor() as cursor:
        await cursor.execute(
            "select protocol, provider::text "
            "from kl.provider_schema(p_source => %(source)s, p_version => %(version)s)",
            {"source": source, "version": version},
        )
        row = await cursor.fetchone()
    return None if row is None else (int(row[0]), str(row[1]))


async def resource_schemas(
    conn: Connection, source: str, version: str, types: list[str]
) -> dict[str, str]:
    """Return the cached schemas (JSON text) of these resource types."""
    async with conn.cursor() as cursor:
        await cursor.execute(
            "select type, schema::text from kl.resource_schemas(p_source => %(source)s, "
            "p_version => %(version)s, p_types => %(types)s)",
            {"source": source, "version": version, "types": types},
        )
        return {str(kind): str(schema) for kind, schema in await cursor.fetchall()}


async def copy_staged_schemas(
    conn: Connection, rows: AsyncIterable[tuple[UUID, str, bytes]]
) -> None:
    """Stage resource schemas: upload id, type, JSON text."""
    statement = "copy kl_internal.staged_schemas (upload_id, type, schema) from stdin"
    async with conn.cursor() as cursor, cursor.copy(statement) as copy:
        async for row in rows:
            await copy.write_row(row)


async def cache_provider_schema(
    conn: Connection, upload_id: UUID, source: str, version: str, protocol: int, provider: str
) -> int:
    """Keep a provider's staged schemas; return how many, 0 when they were there."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.cache_provider_schema(p_upload_id => %(upload_id)s, "
            "p_source => %(source)s, p_version => %(version)s, p_protocol => %(protocol)s, "
            "p_provider => %(provider)s::jsonb)",
            {
                "upload_id": upload_id,
                "source": source,
                "version": version,
                "protocol": protocol,
                "provider": provider,
            },
        )
        return int(await cursor.fetchone() or 0)


async def configure_provider(conn: Connection, state: str, provider: str, config: str) -> None:
    """Keep the configuration (JSON text) that a refresh gives one provider."""
    await conn.execute(
        "select kl.configure_provider(p_state => %(state)s, p_provider => %(provider)s, "
        "p_config => %(config)s::jsonb)",
        {"state": state, "provider": provider, "config": config},
    )


async def provider_configs(conn: Connection, state: str) -> list[ProviderConfig]:
    """Return the provider configurations of a state."""
    async with conn.cursor(row_factory=class_row(ProviderConfig)) as cursor:
        await cursor.execute(
            "select provider, config::text as config, actor, updated_at "
            "from kl.provider_configs(p_state => %(state)s)",
            {"state": state},
        )
        return await cursor.fetchall()


async def required_providers(conn: Connection, state: str) -> list[RefreshGroup]:
    """Return the providers that a refresh of a state would need."""
    async with conn.cursor(row_factory=class_row(RefreshGroup)) as cursor:
        await cursor.execute(
            "select provider, types, object_count, config::text as config "
            "from kl.required_providers(p_state => %(state)s)",
            {"state": state},
        )
        return await cursor.fetchall()


async def remove_provider_config(conn: Connection, state: str, provider: str) -> bool:
    """Forget one provider's configuration; return whether there was one."""
    async with conn.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(
            "select kl.remove_provider_config(p_state => %(state)s, p_provider => %(provider)s)",
            {"state": state, "provider": provider},
        )
        return bool(await cursor.fetchone())
