"""Wait until scopes of a state are freed: one session of its own listens for every waiter."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from pyengine import db
from pyengine.errors import KilolockError

_CHANNEL: Final = "kl_reservations"
_RETRY_SECONDS: Final = 1.0


class FreedScopes:
    """Wakes who waits for a state when a notification names it; listens once somebody waits."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._waiters: dict[str, set[asyncio.Event]] = {}
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def watch(self, state_id: str) -> AsyncIterator[asyncio.Event]:
        """Lend an event that is set whenever scopes of that state are freed."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        woken = asyncio.Event()
        waiters = self._waiters.setdefault(state_id, set())
        waiters.add(woken)
        try:
            yield woken
        finally:
            waiters.discard(woken)
            if not waiters:
                self._waiters.pop(state_id, None)

    async def close(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _listen(self) -> None:
        while True:
            try:
                with db.translated():
                    conn = await db.connect(self._conninfo, application_name="kld listen")
                    async with conn:
                        await conn.execute(f"listen {_CHANNEL}".encode())
                        self._wake(None)  # of what was said before, nobody knows
                        async for notice in conn.notifies():
                            self._wake(notice.payload)
            except KilolockError:
                # db.py has logged it; who waits meanwhile still asks again when a lease ends.
                await asyncio.sleep(_RETRY_SECONDS)

    def _wake(self, state_id: str | None) -> None:
        for name, waiters in self._waiters.items():
            if state_id in (None, name):
                for woken in waiters:
                    woken.set()
