"""Run a command's work on the states that the settings name."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from cli.running import run
from cli.transport import Transport, open_transport
from pyengine.settings import Settings

T = TypeVar("T")


def call(
    settings: Settings,
    work: Callable[[Transport], Awaitable[T]],
    *,
    admin: bool = False,
    create: bool = False,
) -> T:
    """Run `work` with a transport; arguments as for `open_transport`."""

    async def opened() -> T:
        async with open_transport(settings, admin=admin, create=create) as transport:
            return await work(transport)

    return run(opened)
