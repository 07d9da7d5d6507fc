"""The objects of one provider configuration, read from one process."""

import asyncio
from collections.abc import Callable
from typing import Final
from uuid import UUID

from msgspec import Struct, field

from pyengine import db
from pyengine.api_refresh import RefreshGroup, RefreshObject
from pyengine.codec.errors import CodecError
from pyengine.errors import KilolockError
from pyengine.provider.diagnostics import Diagnostic
from pyengine.provider.errors import ProviderError
from pyengine.refresh.objects import ObjectReader
from pyengine.refresh.outcome import Crash, Options, Tally, Warned
from pyengine.refresh.providers import ProviderFactory
from pyengine.refresh.staging import ObjectSource, Stage

_LONGEST_OUTPUT: Final = 20_000


class HaltedError(Exception):
    """The first failure of a refresh that goes no further than that."""


class Work(Struct):
    """What the groups of one run share."""

    database: db.Database
    caller: db.Caller
    run_id: UUID
    factory: ProviderFactory
    options: Options
    noted: Callable[[], None]
    tally: Tally = field(default_factory=Tally)


class GroupRun:
    """Refreshes a group. Raises HaltedError, and what goes wrong between us and the database."""

    def __init__(self, work: Work, group: RefreshGroup) -> None:
        self._work = work
        self._group = group
        place = (work.database, work.caller, work.run_id)
        self._source = ObjectSource(*place, group.provider)
        self._stage = Stage(*place)
        self._in_flight: dict[int, str] = {}
        self._ended: ProviderError | None = None

    async def run(self) -> None:
        """Stage an outcome for every object of the group."""
        try:
            async with self._work.factory.configured(self._group) as provider:
                self._warn(None, provider.warnings)
                await self._read_all(ObjectReader(provider))
        except (ProviderError, CodecError) as exc:  # before the first object: about all of them
            if isinstance(exc, ProviderError) and exc.code == "provider_crashed":
                self._note_end(exc)
            await self._fail_all(exc)
        await self._stage.flush()

    async def _read_all(self, reader: ObjectReader) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(self._work.options.parallelism):
                    tasks.create_task(self._read_some(reader))
        except BaseExceptionGroup as exc:
            raise first_of(exc) from exc

    async def _read_some(self, reader: ObjectReader) -> None:
        while (stored := await self._source.next()) is not None:
            if self._ended is not None:
                await self._fail(stored, self._ended)
                continue
            self._in_flight[stored.resource_id] = label(stored)
            try:
                found = await reader.read(stored)
            except (ProviderError, CodecError) as exc:
                if isinstance(exc, ProviderError) and exc.code == "provider_crashed":
                    self._note_end(exc)
                await self._fail(stored, exc)
            else:
                self._warn(label(stored), found.warnings)
                self._work.tally.read += 1
                await self._stage.read(stored, found)
                self._work.noted()
            finally:
                del self._in_flight[stored.resource_id]

    def _note_end(self, error: ProviderError) -> None:
        """Keep the last words of a provider that ended, and what it had been asked first."""
        if self._ended is None:
            self._ended = ProviderError(
                error.code, "not read: the provider had ended", error.details
            )
            longest = next(iter(self._in_flight.values()), None)
            code, output = error.details["exit_code"], error.details["output"]
            self._work.tally.crashes.append(
                Crash(self._group.provider, longest, code, output[-_LONGEST_OUTPUT:])
            )

    async def _fail_all(self, error: KilolockError) -> None:
        while (stored := await self._source.next()) is not None:
            await self._fail(stored, error)

    async def _fail(self, stored: RefreshObject, error: KilolockError) -> None:
        self._work.tally.fail(label(stored), self._group.provider, error)
        await self._stage.failed(stored, error.message)
        self._work.noted()
        if self._work.options.fail_fast:
            raise HaltedError

    def _warn(self, address: str | None, warnings: tuple[Diagnostic, ...]) -> None:
        self._work.tally.warnings += (
            Warned(address, self._group.provider, warning) for warning in warnings
        )


def label(stored: RefreshObject) -> str:
    """Return an object's address, telling a deposed object from the current one."""
    return (
        f"{stored.address} (deposed object {stored.deposed})" if stored.deposed else stored.address
    )


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error that ended a group of tasks: the first that is not only a way to say so."""
    found = group.exceptions[0]
    return first_of(found) if isinstance(found, BaseExceptionGroup) else found
