"""Private PostgreSQL clusters for tests: a migrated template, cheap clones of it."""

import asyncio
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from pyengine import install
from pyengine.embedded import EmbeddedServer, wheel_bin_dir

HELPERS = Path(__file__).parent / "sql" / "helpers.sql"
TEMPLATE = "kl_template"
_OLDEST = 15
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "64MB",
    "min_wal_size": "80MB",
    "max_wal_size": "1GB",
    "deadlock_timeout": "200ms",
    "log_min_messages": "warning",
}
# A collation of a language, as most databases have, ignores what separates the steps of a path.
_LOCALES = {"pg15": "locale_provider icu icu_locale 'en-US'"}

Connection = psycopg.Connection[Any]


def bin_dirs() -> dict[str, Path]:
    """Return where PostgreSQL programs are: the wheel's always, those of 15 where installed."""
    found = {"pg18": wheel_bin_dir()}
    oldest = Path(os.environ.get("KL_TEST_PG15_BIN", f"/usr/lib/postgresql/{_OLDEST}/bin"))
    return found | ({"pg15": oldest} if (oldest / "initdb").exists() else {})


@dataclass
class Database:
    """One database of a cluster, there for a test to commit into."""

    cluster: "Cluster"
    name: str

    def conninfo(self, user: str = "kl_server") -> str:
        """Return how `user` connects."""
        return self.cluster.conninfo(user, self.name)

    def connect(self, user: str = "kl_server", *, autocommit: bool = True) -> Connection:
        """Open a session; close it, or use it in a `with`."""
        return psycopg.connect(self.conninfo(user), autocommit=autocommit)


@dataclass
class Cluster:
    """A running cluster. `template` is migrated on first use."""

    name: str
    server: EmbeddedServer
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _template_ready: bool = False
    _admin: Connection | None = None

    @property
    def bin_dir(self) -> Path:
        """Return the folder of the programs that run the cluster."""
        return self.server.bin_dir

    def conninfo(self, user: str, database: str) -> str:
        """Return how `user` connects to `database`."""
        return self.server.conninfo(user, database)

    def execute(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as superuser, each in its own transaction."""
        if database != "postgres":
            with psycopg.connect(self.conninfo("postgres", database), autocommit=True) as conn:
                _run(conn, statements)
            return
        # Every clone needs several: they share a session.
        if self._admin is None or self._admin.closed:
            self._admin = psycopg.connect(self.conninfo("postgres", database), autocommit=True)
        _run(self._admin, statements)

    def close(self) -> None:
        """End the session that statements share."""
        if self._admin is not None:
            self._admin.close()

    @contextmanager
    def empty_database(self, *, owner: str = "postgres") -> Iterator[Database]:
        """Lend a database without Kilolock in it."""
        name = f"e{next(self._numbers)}"
        self.execute(f"create database {name} owner {owner} template template0")
        try:
            yield Database(self, name)
        finally:
            self.execute(f"drop database {name} with (force)")

    @contextmanager
    def clone(self) -> Iterator[Database]:
        """Lend a copy of the migrated template."""
        self._ensure_template()
        name = f"t{next(self._numbers)}"
        self.execute(
            f"create database {name} template {TEMPLATE} strategy file_copy",
            # Settings and rights of a database are not copied with it.
            f"revoke temporary on database {name} from public",
            f"""alter database {name} set search_path = "$user", public, kl""",
        )
        try:
            yield Database(self, name)
        finally:
            self.execute(f"drop database {name} with (force)")

    def _ensure_template(self) -> None:
        if self._template_ready:
            return
        self.execute(f"create database {TEMPLATE} template template0 {_LOCALES.get(self.name, '')}")
        asyncio.run(install.migrate(self.conninfo("postgres", TEMPLATE)))
        if HELPERS.exists():
            self.execute(HELPERS.read_text(encoding="utf-8"), database=TEMPLATE)
        self._template_ready = True


def _run(conn: Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        conn.execute(statement.encode())


def _roomy_memory() -> str | None:
    """Return a roomy file system in memory, where a clone takes a tenth of the time."""
    path = Path("/dev/shm")
    if os.access(path, os.W_OK) and shutil.disk_usage(path).free >= 8 << 30:
        return str(path)
    return None


@contextmanager
def short_folder() -> Iterator[Path]:
    """Lend a folder for a database, in memory where there is room.

    Its path is short: that of a socket must be.
    """
    with tempfile.TemporaryDirectory(prefix="kl-", dir=_roomy_memory() or "/tmp") as name:
        yield Path(name)


@contextmanager
def running_cluster(name: str, *, durable: bool = False) -> Iterator[Cluster]:
    """Run a cluster of the named version until the block ends; nothing of it remains.

    A durable one is on disk, with the settings that `kld serve` gives it: for measurements.
    """
    folder = Path(tempfile.mkdtemp(prefix="kl-", dir=(not durable and _roomy_memory()) or "/tmp"))
    settings = {} if durable else _SETTINGS
    server = EmbeddedServer(folder / name, bin_dir=bin_dirs()[name], settings=settings)
    cluster = Cluster(name, server)
    try:
        asyncio.run(server.start())
        try:
            yield cluster
        finally:
            cluster.close()
            asyncio.run(server.stop())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
