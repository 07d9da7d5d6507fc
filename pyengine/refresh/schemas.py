"""Schemas of providers: from the cache in the database, asked for once where it has none."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import msgspec
from msgspec import Struct

from pyengine import api_providers, db
from pyengine.codec.codec import Codec
from pyengine.codec.config import ProviderConfig
from pyengine.errors import KilolockError
from pyengine.provider.discovery import FoundProvider

if TYPE_CHECKING:
    from pyengine.provider.client import ProviderClient

Launch = Callable[[], Awaitable["ProviderClient"]]


class _WithIdentity(msgspec.Struct):
    identity: msgspec.Raw = msgspec.Raw(b"")


class TypeCodecs(Struct, frozen=True):
    """How the objects of one resource type are spelled, and their identities if they have any."""

    state: Codec
    identity: Codec | None

    @classmethod
    def compile(cls, schema: bytes | str) -> "TypeCodecs":
        """Compile a cached schema, which holds the identity's schema as a member."""
        identity = bytes(msgspec.json.decode(schema, type=_WithIdentity).identity)
        return cls(Codec(schema), Codec(identity) if identity else None)


class Schemas(Struct, frozen=True):
    """The schema of a provider's configuration, and codecs of those types that it knows."""

    config: ProviderConfig
    types: dict[str, TypeCodecs]


class SchemaCache:
    """The cache, for one command: two groups of one provider version ask it for schemas once."""

    def __init__(self, database: db.Database, caller: db.Caller) -> None:
        self._database = database
        self._caller = caller
        self._locks: defaultdict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def schemas(self, found: FoundProvider, types: list[str], launch: Launch) -> Schemas:
        """Return the schemas of a provider version; `launch` gives a client where none are kept."""
        source = str(found.address)
        async with self._locks[source, found.version]:
            kept = await self._database.run(
                lambda conn: api_providers.provider_schema(conn, source, found.version),
                self._caller,
            )
            if kept is None:
                return await self._fetch(found, types, await launch())
        texts = await self._database.run(
            lambda conn: api_providers.resource_schemas(conn, source, found.version, types),
            self._caller,
        )
        return _compiled(kept[1], texts.items())

    async def _fetch(
        self, found: FoundProvider, types: list[str], client: "ProviderClient"
    ) -> Schemas:
        schemas = await client.get_schema()
        identities = await client.identity_schemas()

        def text_of(name: str) -> bytes:
            text = schemas.resource(name)
            if name not in identities:
                return text
            # The version and the block stay as they are; the identity comes beside them.
            members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
            members["identity"] = msgspec.Raw(identities[name].schema)
            return msgspec.json.encode(members)

        async def rows(upload_id: UUID) -> AsyncIterator[tuple[UUID, str, bytes]]:
            for name in sorted(schemas.resource_types):
                yield upload_id, name, text_of(name)

        async def keep(conn: db.Connection) -> None:
            upload_id = uuid4()
            await api_providers.copy_staged_schemas(conn, rows(upload_id))
            await api_providers.cache_provider_schema(
                conn,
                upload_id,
                str(found.address),
                found.version,
                client.protocol,
                schemas.provider.decode(),
            )

        try:
            await self._database.run(keep, self._caller)
        except KilolockError as exc:
            if exc.code != "forbidden":
                raise  # who may write one environment only cannot keep a schema for all
        known = (name for name in types if name in schemas.resource_types)
        return _compiled(schemas.provider, ((name, text_of(name)) for name in known))


def _compiled(provider: bytes | str, types: Iterable[tuple[str, bytes | str]]) -> Schemas:
    return Schemas(
        ProviderConfig(provider), {name: TypeCodecs.compile(text) for name, text in types}
    )
