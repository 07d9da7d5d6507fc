"""Check that every provider a state needs can be refreshed with."""

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from pyengine import api_providers, db
from pyengine.api_refresh import RefreshGroup
from pyengine.codec.errors import CodecError
from pyengine.provider.address import parse_config_address
from pyengine.provider.errors import ProviderError
from pyengine.refresh.providers import ProviderFactory


class Checked(Struct, frozen=True):
    """One provider of a state; `version` "builtin": part of Terraform. `problem` None: ready."""

    provider: str
    object_count: int
    is_configured: bool
    version: str | None = None
    protocol: int | None = None
    problem: str | None = None


async def check_providers(
    database: db.Database,
    caller: db.Caller,
    state: str,
    factory: ProviderFactory,
    concurrency: int,
) -> list[Checked]:
    """Find, launch and configure every provider that a state needs; in the order of addresses."""
    groups = await database.run(lambda conn: api_providers.required_providers(conn, state), caller)
    slots = asyncio.Semaphore(concurrency)

    async def check(group: RefreshGroup) -> Checked:
        async with slots:
            return await _check(factory, group)

    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(check(group)) for group in groups]
    return [task.result() for task in running]


async def _check(factory: ProviderFactory, group: RefreshGroup) -> Checked:
    checked = Checked(group.provider, group.object_count, group.config is not None)
    try:
        if parse_config_address(group.provider).source.is_builtin:
            return replace(checked, version="builtin")
        found = await factory.find(group.provider)
        checked = replace(checked, version=found.version)
        async with factory.configured(group, validate=True) as provider:
            checked = replace(checked, protocol=provider.client.protocol)
            unknown = [name for name in group.types if name not in provider.types]
    except (ProviderError, CodecError) as exc:
        return replace(checked, problem=exc.message)
    if unknown:
        return replace(checked, problem=f"it has no resource type {', '.join(unknown)}")
    return checked
