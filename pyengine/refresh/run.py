"""The refresh of one state, from the audit row that opens it to the version that it becomes."""

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Final

from pyengine import api_refresh, db
from pyengine.api_refresh import RefreshCommit, RefreshGroup, RefreshRun
from pyengine.errors import KilolockError
from pyengine.provider.address import parse_config_address
from pyengine.provider.discovery import SearchPath
from pyengine.provider.errors import ProviderError
from pyengine.refresh.group import GroupRun, HaltedError, Work, first_of
from pyengine.refresh.outcome import Options, Progress, Result, Status
from pyengine.refresh.providers import ProviderFactory, settled
from pyengine.refresh.staging import storable

_LOCK_POLL: Final = 0.5


async def refresh(
    database: db.Database,
    caller: db.Caller,
    state: str,
    options: Options,
    search: SearchPath,
    environ: Mapping[str, str],
    progress: Progress,
) -> Result:
    """Refresh the current version of a state.

    Returns what came of it, failed objects included. Raises KilolockError for what is about the
    whole run, and CancelledError; the run's row in the database tells of these, too.
    """
    run = await settled(database.run(lambda c: api_refresh.begin_refresh(c, state), caller))
    result: Result | None = None
    try:
        async with ProviderFactory(database, caller, search, environ) as factory:
            begun = _Refresh(database, caller, state, options, run, factory, progress)
            result = await begun.run()
    except asyncio.CancelledError:
        # While providers end, the run is over: what it wrote is written.
        if result is None:
            raise
    return result


class _Refresh:
    def __init__(
        self,
        database: db.Database,
        caller: db.Caller,
        state: str,
        options: Options,
        run: RefreshRun,
        factory: ProviderFactory,
        progress: Progress,
    ) -> None:
        self._database = database
        self._caller = caller
        self._state = state
        self._options = options
        self._run = run
        self._progress = progress
        self._total = 0
        self._work = Work(
            database, caller, run.refresh_run_id, factory, options, noted=self._report
        )

    async def run(self) -> Result:
        """Read, then commit or not; whatever happens, close the run."""
        try:
            return await self._outcome()
        except asyncio.CancelledError:
            await self._give_up("cancelled", "interrupted")
            raise
        except KilolockError as exc:
            await self._give_up("failed", exc.message)
            raise
        except BaseException as exc:
            await self._give_up("failed", f"unexpected {type(exc).__name__}")
            raise

    async def _outcome(self) -> Result:
        limit = asyncio.timeout(self._options.timeout)
        try:
            _raise_if_cancelled()
            async with limit:
                await self._read()
                return await self._conclude()
        except HaltedError:
            return await settled(self._end("failed", self._failed_summary()))
        except TimeoutError:
            if not limit.expired():
                raise
            summary = f"not done within {self._options.timeout} s (--timeout)"
            return await settled(self._end("cancelled", summary))

    async def _give_up(self, status: Status, summary: str) -> None:
        """Close the run on the way out; where even that fails, the first error stays the one."""
        try:
            await settled(self._end(status, summary))
        except KilolockError as exc:
            logging.getLogger("kilolock.refresh").warning(
                "refresh run %s stays open: %s", self._run.refresh_run_id, exc.message
            )

    async def _read(self) -> None:
        groups = await self._database.run(
            lambda conn: api_refresh.refresh_groups(conn, self._run.refresh_run_id), self._caller
        )
        asked = [group for group in groups if not _is_builtin(group)]
        everything = sum(group.object_count for group in groups)
        self._total = sum(group.object_count for group in asked)
        self._work.tally.skipped = everything - self._total
        self._report()
        slots = asyncio.Semaphore(self._options.concurrency)
        waiting = len(asked)

        async def run(group: RefreshGroup) -> None:
            nonlocal waiting
            async with slots:
                waiting -= 1
                await GroupRun(self._work, group).run()
                if waiting:
                    await self._work.factory.ended()  # makes room for the next one's program

        try:
            async with asyncio.TaskGroup() as tasks:
                for group in asked:
                    tasks.create_task(run(group))
        except BaseExceptionGroup as exc:
            raise first_of(exc) from exc

    async def _conclude(self) -> Result:
        if self._work.tally.failures:
            return await settled(self._end("failed", self._failed_summary(), compare=True))
        if self._options.dry_run:
            return await settled(self._end("succeeded", None, compare=True))
        commit = await self._commit()
        return self._result(
            "succeeded",
            to=commit,
            changed=commit.changed_addresses,
            superseded=commit.resources_superseded,
        )

    async def _commit(self) -> RefreshCommit:
        """Commit; wait while somebody else has the state locked, as long as that may take."""
        until = time.monotonic() + self._options.lock_timeout
        while True:
            try:
                # What is under way is let through: only its end tells whether it happened.
                return await settled(
                    self._database.run(
                        lambda conn: api_refresh.commit_refresh(conn, self._run.refresh_run_id),
                        self._caller,
                    )
                )
            except KilolockError as exc:
                left = until - time.monotonic()
                if exc.code != "terraform_locked" or left <= 0:
                    raise
            await asyncio.sleep(min(_LOCK_POLL, left))

    async def _end(self, status: Status, summary: str | None, *, compare: bool = False) -> Result:
        """Close a run that commits nothing; `compare` what was staged with what is stored."""
        tally, run_id = self._work.tally, self._run.refresh_run_id
        summary = summary and storable(summary)
        changed: list[str] = []
        superseded = 0
        if compare:
            preview = await self._database.run(
                lambda conn: api_refresh.preview_refresh(conn, run_id), self._caller
            )
            changed, superseded = preview.changed_addresses, preview.resources_superseded
            if preview.resources_missing and status == "succeeded":
                raise KilolockError(
                    "internal", f"{preview.resources_missing} objects were read and lost again"
                )
        await self._database.run(
            lambda conn: api_refresh.finish_refresh(
                conn, run_id, status, tally.checked, len(tally.failures), summary
            ),
            self._caller,
        )
        return self._result(status, changed=changed, superseded=superseded, summary=summary)

    def _result(
        self,
        status: Status,
        *,
        changed: list[str],
        superseded: int,
        to: RefreshCommit | None = None,
        summary: str | None = None,
    ) -> Result:
        tally = self._work.tally
        return Result(
            state=self._state,
            refresh_run_id=self._run.refresh_run_id,
            status=status,
            dry_run=self._options.dry_run,
            from_version_no=self._run.version_no,
            from_serial=self._run.serial,
            to_version_no=to.version_no if to else None,
            to_serial=to.serial if to else None,
            resources_checked=tally.checked,
            resources_changed=len(changed),
            resources_failed=len(tally.failures),
            resources_superseded=superseded,
            resources_skipped=tally.skipped,
            changed_addresses=changed,
            failures=tally.failures,
            crashes=tally.crashes,
            warnings=tally.warnings,
            error_summary=summary,
        )

    def _failed_summary(self) -> str:
        failures = self._work.tally.failures
        first = failures[0]
        many = f"{len(failures)} objects failed; the first" if failures[1:] else "1 object failed"
        return f"{many}: {first.address}: {first.message}"

    def _report(self) -> None:
        self._progress(self._work.tally.checked, self._total)


def _is_builtin(group: RefreshGroup) -> bool:
    try:
        return parse_config_address(group.provider).source.is_builtin
    except ProviderError:
        return False  # it fails when it is looked for, object by object


def _raise_if_cancelled() -> None:
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
