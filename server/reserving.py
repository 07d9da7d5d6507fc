"""Reserve scopes for a client that is ready to wait for them."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

from pyengine import db
from pyengine.errors import KilolockError
from server.freed_scopes import FreedScopes

T = TypeVar("T")

# Those who wait for one scope ask one after the other, not all at once.
_JITTER_SECONDS: Final = 0.25


async def reserve(
    database: db.Database,
    freed: FreedScopes,
    caller: db.Caller,
    work: Callable[[db.Connection], Awaitable[T]],
    wait_seconds: float,
) -> T:
    """Run `work`; while it conflicts, again whenever scopes are freed or a lease ends.

    Raises the last `reservation_conflict` when the time is up.
    """
    deadline = asyncio.get_running_loop().time() + wait_seconds
    try:
        return await database.run(work, caller)
    except KilolockError as exc:
        if not _may_wait(exc, deadline):
            raise
        state_id = str(exc.details["state_id"])
    async with freed.watch(state_id) as woken:
        while True:
            woken.clear()
            try:
                return await database.run(work, caller)
            except KilolockError as exc:
                if not _may_wait(exc, deadline):
                    raise
                ends = int(exc.details["first_expires_in_ms"]) / 1000
            await _pause(woken, min(ends, _left(deadline)))


def _may_wait(error: KilolockError, deadline: float) -> bool:
    return error.code == "reservation_conflict" and _left(deadline) > 0


def _left(deadline: float) -> float:
    return deadline - asyncio.get_running_loop().time()


async def _pause(woken: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(woken.wait(), max(seconds, 0))
    await asyncio.sleep(random.uniform(0, min(_JITTER_SECONDS, max(seconds, 0))))  # noqa: S311
