"""The calls that a refresh makes of its provider, and nothing else."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

from pyengine.codec.codec import Codec
from pyengine.codec.config import ProviderConfig
from pyengine.provider.client import ProviderClient
from pyengine.provider.discovery import SearchPath
from tests.acceptance.refreshing import KEYS, SOURCE, Refreshing
from tests.documents import Json


@dataclass(frozen=True)
class Calls:
    """The calls of a refresh: the program, its configuration, every object as text and wire."""

    executable: Path
    config: bytes
    objects: tuple[tuple[bytes, bytes], ...]

    @classmethod
    def prepare(cls, at: Refreshing, document: Json) -> "Calls":
        """Find, compile and encode what the calls need."""
        found = SearchPath.from_environment((at.mirror,)).find(SOURCE)
        config = ProviderConfig(_provider_schema(at, found.version)).build(_config(at), KEYS)
        codec = Codec(resource_schemas(at, ("aws_iam_group",))["aws_iam_group"])
        (block,) = document["resources"]
        texts = [json.dumps(one["attributes"]).encode() for one in block["instances"]]
        return cls(found.executable, config, tuple((text, codec.encode(text)) for text in texts))

    async def make(self, parallelism: int) -> None:
        """Launch, configure, upgrade, read and close."""
        waiting = iter(self.objects)

        async def some(client: ProviderClient) -> None:
            for text, wire in waiting:
                await client.upgrade_resource_state("aws_iam_group", 0, text)
                await client.read_resource("aws_iam_group", wire, private=b"null", identity=None)

        client = await ProviderClient.open(self.executable)
        async with client:
            await client.configure(self.config, validate=False)  # as kl refresh does
            async with asyncio.TaskGroup() as tasks:
                for _ in range(parallelism):
                    tasks.create_task(some(client))


def _config(at: Refreshing) -> str:
    [(config,)] = at.served.query(
        "select c.config::text from kl.provider_configs(%s) as c", at.state, user="kl_server"
    )
    return str(config)


def _provider_schema(at: Refreshing, version: str) -> str:
    [(schema,)] = at.served.query(
        "select s.provider::text from kl.provider_schema(%s, %s) as s",
        f"registry.terraform.io/{SOURCE}",
        version,
        user="kl_server",
    )
    return str(schema)


def resource_schemas(at: Refreshing, types: tuple[str, ...]) -> dict[str, str]:
    """Return the cached schemas of some resource types."""
    rows = at.served.query(
        "select r.type, r.schema::text from kl_internal.provider_resource_schemas as r "
        "where r.type = any (%s)",
        list(types),
        user="postgres",
    )
    return dict(rows)
