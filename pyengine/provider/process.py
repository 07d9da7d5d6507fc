"""Run one provider program: launch, handshake, drain its output, end it, leave nothing behind.

The program gets a process group, a private socket folder and a watchdog. The watchdog waits on a
pipe that only this process holds: when we are killed, however hard, it kills the group and removes
the folder. A gate keeps the program from starting before the watchdog knows whom to watch.
"""

import asyncio
import logging
import os
import shutil
import signal
import tempfile
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pyengine.provider.errors import ProviderError
from pyengine.provider.handshake import COOKIE, COOKIE_NAME, PROTOCOLS, Handshake, parse_handshake

HANDSHAKE_TIMEOUT: Final = 60.0
_LOG: Final = "kilolock.provider"
_GRACE: Final = 2.0
_TAIL_BYTES: Final = 64 * 1024
_LONGEST_LINE: Final = 1 << 20
_LONGEST_FOLDER: Final = 70
_NOT_INHERITED: Final = frozenset(
    {"PLUGIN_CLIENT_CERT", "PLUGIN_MULTIPLEX_GRPC", "PLUGIN_UNIX_SOCKET_GROUP"}
)
# Reads the group to watch, then waits: a line means all is well, the end of input that we are gone.
_WATCHDOG: Final = (
    'IFS= read -r group || exit 0; IFS= read -r _ && exit 0; kill -s KILL -- "-$group" 2>/dev/null;'
    ' rm -rf -- "$1"'
)
_GATE: Final = 'IFS= read -r _ || exit 1; exec "$@" </dev/null'


class ProviderProcess:
    """A running provider program; make one with `launch`, end it with `close`."""

    def __init__(
        self,
        executable: Path,
        folder: Path,
        process: asyncio.subprocess.Process,
        watchdog: asyncio.subprocess.Process,
    ) -> None:
        self.executable = executable
        self._folder = folder
        self._process = process
        self._watchdog = watchdog
        self._log = logging.getLogger(_LOG)
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._first_line: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._drains = [
            asyncio.create_task(self._drain(process.stdout, first=True)),
            asyncio.create_task(self._drain(process.stderr)),
        ]
        self._closing: asyncio.Task[None] | None = None
        self.handshake: Handshake

    @classmethod
    async def launch(
        cls,
        executable: Path,
        *,
        env: Mapping[str, str] | None = None,
        handshake_timeout: float = HANDSHAKE_TIMEOUT,
    ) -> "ProviderProcess":
        """Start a program and read its handshake.

        `env` is added to our environment. Raises provider_start_failed, quoting what the program
        wrote; then nothing of it is left.
        """
        running = await cls.start(executable, env=env)
        try:
            await running.read_handshake(handshake_timeout)
        except BaseException:
            await running.close(grace=0)
            raise
        return running

    @classmethod
    async def start(
        cls, executable: Path, *, env: Mapping[str, str] | None = None
    ) -> "ProviderProcess":
        """Start a program; its handshake is for the caller to read. Raises as `launch`."""
        folder = _socket_folder()
        try:
            return await cls._start(executable, folder, env or {})
        except OSError as exc:
            shutil.rmtree(folder, ignore_errors=True)
            raise ProviderError(
                "provider_start_failed", f"{executable.name} cannot be started: {exc.strerror}"
            ) from exc
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    @classmethod
    async def _start(
        cls, executable: Path, folder: Path, env: Mapping[str, str]
    ) -> "ProviderProcess":
        watchdog = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            _WATCHDOG,
            "watchdog",
            str(folder),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        try:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                _GATE,
                "gate",
                str(executable),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(env, folder, _silencing(executable)),
                start_new_session=True,
                limit=_LONGEST_LINE,
            )
        except BaseException:
            await _dismiss(watchdog)
            raise
        running = cls(executable, folder, process, watchdog)
        try:
            await _write(watchdog, f"{process.pid}\n")
            await _write(process, "go\n")
            _close_pipes(process)
        except BaseException:
            await running.close(grace=0)
            raise
        return running

    @property
    def pid(self) -> int:
        """The program's process id, which is also its group's."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How the program ended: an exit status, minus a signal, or None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until the program has ended; return its exit code."""
        return await self._process.wait()

    def output_tail(self) -> str:
        """Return the last lines the program wrote, at most 64 KiB."""
        return b"".join(self._tail).decode(errors="replace")

    async def drained(self, timeout: float = 1.0) -> None:
        """Wait until the output of an ended program has been read to its end, or `timeout`."""
        await asyncio.wait(self._drains, timeout=timeout)

    async def close(self, grace: float = _GRACE, *, asked: bool = True) -> None:
        """End the program: wait `grace` seconds, SIGTERM, SIGKILL; remove its folder. Repeatable.

        SIGTERM comes at once where it was not `asked` to end. All goes on to its end even when the
        caller is cancelled.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(grace, asked=asked))
        await asyncio.shield(self._closing)

    async def _close(self, grace: float, *, asked: bool) -> None:
        try:
            if grace > 0 and not (asked and await self._ended_within(grace)):
                self._signal(signal.SIGTERM)
                await self._ended_within(grace)
            self._signal(signal.SIGKILL)  # the group: children of the program, too
            await self._process.wait()
            await _dismiss(self._watchdog)
            await self.drained(0.5)
        finally:
            for drain in self._drains:
                drain.cancel()
            await asyncio.gather(*self._drains, return_exceptions=True)
            _close_pipes(self._process)
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _ended_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), seconds)
        return self._process.returncode is not None

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def read_handshake(self, timeout: float) -> None:
        """Wait for the first line and keep what it says in `handshake`."""
        done, _ = await asyncio.wait({self._first_line}, timeout=timeout)
        if not done:
            raise ProviderError(
                "provider_start_failed",
                f"{self.executable.name} printed no handshake within {timeout:g} s{self._said()}",
            )
        line = self._first_line.result()
        if not line:
            await self._ended_within(1.0)
            await self.drained()
            code = "" if self.exit_code is None else f" (exit code {self.exit_code})"
            raise ProviderError(
                "provider_start_failed",
                f"{self.executable.name} ended without a handshake{code}{self._said()}",
            )
        try:
            self.handshake = parse_handshake(line)
        except ProviderError as exc:
            raise ProviderError(exc.code, f"{self.executable.name}: {exc.message}") from exc

    def _said(self) -> str:
        text = self.output_tail().strip()
        return f"; it wrote: {text[-2000:]}" if text else ""

    async def _drain(self, stream: asyncio.StreamReader | None, *, first: bool = False) -> None:
        assert stream is not None
        rest = b""
        while chunk := await stream.read(1 << 16):
            self._remember(chunk)
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()[-_LONGEST_LINE:]
            for line in lines:
                text = line.decode(errors="replace").strip()
                if first and text and not self._first_line.done():
                    self._first_line.set_result(text)
                elif text:
                    self._log.debug("%s: %s", self.executable.name, text)
        if first and not self._first_line.done():
            self._first_line.set_result(rest.decode(errors="replace").strip())

    def _remember(self, chunk: bytes) -> None:
        self._tail.append(chunk)
        self._tail_size += len(chunk)
        while self._tail_size - len(self._tail[0]) > _TAIL_BYTES:
            self._tail_size -= len(self._tail.popleft())


def _environment(
    extra: Mapping[str, str], folder: Path, silencing: Mapping[str, str]
) -> dict[str, str]:
    # Our own settings hold credentials that are none of a provider's business.
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in _NOT_INHERITED and not name.startswith("KL_")
    }
    env = {**silencing, **env, **extra}
    env.update(
        {
            COOKIE_NAME: COOKIE,
            "PLUGIN_PROTOCOL_VERSIONS": ",".join(map(str, PROTOCOLS)),
            "PLUGIN_MIN_PORT": "10000",
            "PLUGIN_MAX_PORT": "25000",
            "PLUGIN_UNIX_SOCKET_DIR": str(folder),
            "TMPDIR": str(folder),
        }
    )
    return env


def _silencing(executable: Path) -> dict[str, str]:
    """Return what keeps a program from writing lines that nobody would see.

    Some providers spend a tenth of their time on them, and they hold whole answers of a cloud:
    none of that belongs into the last words of a crash.
    """
    levels = {"TF_LOG_SDK": "off"}
    if not logging.getLogger(_LOG).isEnabledFor(logging.DEBUG):
        name = executable.name.removeprefix("terraform-provider-").partition("_")[0]
        levels[f"TF_LOG_PROVIDER_{name.upper().replace('-', '_')}"] = "warn"
    return levels


def _socket_folder() -> Path:
    base = tempfile.gettempdir()
    if len(base) > _LONGEST_FOLDER:
        base = "/tmp"  # noqa: S108 - a socket path must be short; the folder is private
    return Path(tempfile.mkdtemp(prefix="kl-", dir=base))


async def _write(process: asyncio.subprocess.Process, text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(text.encode())
    await process.stdin.drain()


async def _dismiss(watchdog: asyncio.subprocess.Process) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):
        # The first line where it has not had one; the second tells that all is well.
        await _write(watchdog, "0\n0\n")
    await watchdog.wait()
    _close_pipes(watchdog)


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
