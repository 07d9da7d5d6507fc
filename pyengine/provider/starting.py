"""A provider between the start of its program and the first call: time for other work."""

from pathlib import Path
from typing import TYPE_CHECKING

from pyengine.provider.process import HANDSHAKE_TIMEOUT, ProviderProcess

if TYPE_CHECKING:
    from pyengine.provider.client import ProviderClient


class StartingProvider:
    """A program that was started, and in time the client that speaks to it."""

    def __init__(self, process: ProviderProcess) -> None:
        self._process = process
        self._client: ProviderClient | None = None

    @classmethod
    async def start(cls, executable: Path) -> "StartingProvider":
        """Start a provider program; go on at once. Raises provider_start_failed."""
        return cls(await ProviderProcess.start(executable))

    async def client(self) -> "ProviderClient":
        """Return the client; the first time wait for the program, as ProviderProcess.launch."""
        if self._client is None:
            # gRPC takes as long to load as a small program to start: both happen at a time.
            from pyengine.provider.client import ProviderClient

            await self._process.read_handshake(HANDSHAKE_TIMEOUT)
            self._client = ProviderClient(self._process)
        return self._client

    async def stop(self) -> None:
        """Ask the provider, if it can be asked already, to abort its work."""
        if self._client is not None:
            await self._client.stop()

    async def close(self) -> None:
        """End the program and leave nothing behind; one that nobody speaks to ends at once."""
        if self._client is not None:
            await self._client.close()
        else:
            await self._process.close(grace=0)
