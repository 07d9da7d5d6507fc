"""The event loop of a command."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click

T = TypeVar("T")

_TERMINATED = 143


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work`; SIGTERM cancels it, and `kl` ends as programs do that it ended."""

    async def cancellable() -> T:
        task = asyncio.current_task()
        assert task is not None
        # Leave in order: a shared embedded database is stopped by the last that leaves.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work()

    try:
        return asyncio.run(cancellable())
    except asyncio.CancelledError:
        raise click.exceptions.Exit(_TERMINATED) from None
