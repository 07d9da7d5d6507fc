"""Provider programs that are found, running and configured, as one state wants them."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

from msgspec import Struct

from pyengine import db
from pyengine.api_refresh import RefreshGroup
from pyengine.codec.errors import CodecError
from pyengine.provider.address import parse_config_address
from pyengine.provider.diagnostics import Diagnostic
from pyengine.provider.discovery import FoundProvider, SearchPath
from pyengine.provider.errors import ProviderError
from pyengine.provider.starting import StartingProvider

if TYPE_CHECKING:
    from pyengine.provider.client import ProviderClient
    from pyengine.refresh.schemas import SchemaCache, TypeCodecs

T = TypeVar("T")


class Provider(Struct, frozen=True):
    """A configured provider. `types` lacks the resource types that it does not know."""

    found: FoundProvider
    client: "ProviderClient"
    types: Mapping[str, "TypeCodecs"]
    warnings: tuple[Diagnostic, ...]


class ProviderFactory:
    """Finds, launches and configures; one for a command, which leaves it when all is done.

    A provider that is no longer needed ends while the command goes on.
    """

    def __init__(
        self,
        database: db.Database,
        caller: db.Caller,
        search: SearchPath,
        environ: Mapping[str, str],
    ) -> None:
        self._place = (database, caller)
        self._search = search
        self._environ = environ
        self._ending: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._ending:
            await settled(task)

    @cached_property
    def schemas(self) -> "SchemaCache":
        """The schemas of every provider that this command meets."""
        # Like what speaks to a provider, the codec is loaded while the first program starts.
        from pyengine.refresh.schemas import SchemaCache

        return SchemaCache(*self._place)

    async def ended(self) -> None:
        """Wait until every program that is no longer needed has ended."""
        if self._ending:
            await asyncio.wait(self._ending)

    async def find(self, provider: str) -> FoundProvider:
        """Find the program of a provider, given its full address. Raises ProviderError."""
        source = str(parse_config_address(provider).source)
        return await asyncio.to_thread(self._search.find, source)  # it may have to hash a program

    @asynccontextmanager
    async def launched(self, found: FoundProvider) -> AsyncIterator[StartingProvider]:
        """Lend a provider that starts. Leaving by an exception tells it to stop its work."""
        starting = await StartingProvider.start(found.executable)
        try:
            yield starting
        except BaseException:
            await settled(starting.stop())
            raise
        finally:
            self._ending.append(asyncio.create_task(starting.close()))

    @asynccontextmanager
    async def configured(
        self, group: RefreshGroup, *, validate: bool = False
    ) -> AsyncIterator[Provider]:
        """Lend a provider with the configuration that was stored for it, or an empty one.

        Raises ProviderError, and CodecError where the configuration does not fit the schema.
        """
        found = await self.find(group.provider)
        async with self.launched(found) as starting:
            schemas = await self.schemas.schemas(found, group.types, starting.client)
            try:
                config = schemas.config.build(group.config or "{}", self._environ)
            except CodecError as exc:
                raise CodecError(
                    f"the configuration of {group.provider} does not fit"
                    f" ({exc.message}); see `kl provider configure`"
                ) from exc
            client = await starting.client()
            try:
                warnings = await client.configure(config, validate=validate)
            except ProviderError as exc:
                if group.config is not None or exc.code != "provider_failed":
                    raise
                raise ProviderError(
                    exc.code,
                    f"{exc.message} (no configuration is stored for {group.provider}; see"
                    " `kl provider configure`)",
                    exc.details,
                    exc.diagnostics,
                ) from exc
            yield Provider(found, client, schemas.types, warnings)


async def settled(work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Run `work` to its end, even if the caller is cancelled meanwhile: then as if it were not."""
    task = asyncio.ensure_future(work)
    while True:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.done():
                return task.result()
