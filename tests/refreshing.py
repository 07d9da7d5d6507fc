"""States of stub providers, refreshed as `kl refresh` does it."""

import asyncio
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.rows import dict_row

from pyengine import api_providers, db, download
from pyengine.provider.discovery import SearchPath
from pyengine.refresh.outcome import Options, Progress, Result
from pyengine.refresh.run import refresh
from tests.clusters import Database
from tests.documents import Json, instance, state
from tests.importing import put
from tests.provider_stub.install import install_stub

SOURCE = "registry.terraform.io/acme/widget"
PROVIDER = f'provider["{SOURCE}"]'
SCHEMA: Json = {
    "version": 1,
    "block": {
        "attributes": [
            {"name": "id", "type": "string", "computed": True},
            {"name": "size", "type": "number", "optional": True},
            {"name": "tags", "type": ["set", "string"], "optional": True},
            {"name": "secret", "type": "string", "optional": True, "sensitive": True},
        ],
        "block_types": [],
    },
}


def thing(name: str, **members: Any) -> Json:  # noqa: ANN401 - any JSON
    """Return the attributes of a `widget_thing` as the stub and the state have them."""
    return {"id": name, "secret": None, "size": 1, "tags": ["a"]} | members


def widget(name: str, *instances: Json, **members: Any) -> Json:  # noqa: ANN401 - any JSON
    """Return a resource block of the stub provider; one plain instance unless some are given."""
    plain = instance(
        thing(name),
        schema_version=1,
        sensitive_attributes=[[{"type": "get_attr", "value": "secret"}]],
    )
    return {
        "mode": "managed",
        "type": "widget_thing",
        "name": name,
        "provider": PROVIDER,
        **members,
        "instances": list(instances) or [plain],
    }


def error(summary: str, severity: str = "ERROR", **members: Any) -> Json:  # noqa: ANN401 - any JSON
    """Return an answer of the stub that is one diagnostic."""
    return {"diagnostics": [{"severity": severity, "summary": summary, **members}]}


@dataclass
class Refreshing:
    """A database, a folder of provider programs, and states that nobody else has."""

    database: Database
    mirror: Path
    name: str
    version: str
    _seen: int = 0

    def provider(self, source: str = SOURCE, version: str = "", **scenario: Any) -> None:  # noqa: ANN401 - JSON
        """Install the stub as a provider; its calls go into `calls`.

        Its version is one that no other test has cached a schema of.
        """
        scenario = {"schema": SCHEMA, "log": str(self._log), **scenario}
        install_stub(self.mirror, scenario, source=source, version=version or self.version)

    def put(self, *resources: Json, serial: int = 1, source: str = "import", **top: Any) -> None:  # noqa: ANN401 - JSON
        """Import a document as the next version of the state."""
        put(self.database, self.name, state(serial, *resources, **top), source=source)

    def configure(self, provider: str, config: Json) -> None:
        """Store a provider's configuration."""

        async def work() -> None:
            async with db.Database(self.database.conninfo("kl_server")) as pool:
                await pool.run(
                    lambda conn: api_providers.configure_provider(
                        conn, self.name, provider, json.dumps(config)
                    )
                )

        asyncio.run(work())

    def refresh(self, environ: dict[str, str] | None = None, **options: Any) -> Result:  # noqa: ANN401
        """Refresh the state."""
        return asyncio.run(self.refreshing(environ, **options))

    async def refreshing(
        self,
        environ: dict[str, str] | None = None,
        progress: Progress = lambda _done, _total: None,
        **options: Any,  # noqa: ANN401
    ) -> Result:
        """Refresh the state, as a coroutine."""
        search = SearchPath.from_environment([self.mirror], environ={"HOME": "/nonexistent"})
        chosen = Options(**{"concurrency": 2, "lock_timeout": 0} | options)
        async with db.Database(self.database.conninfo("kl_server"), max_size=8) as pool:
            return await refresh(
                pool, db.Caller(actor="ann@ci"), self.name, chosen, search, environ or {}, progress,
            )  # fmt: skip

    @property
    def _log(self) -> Path:
        return self.mirror / "calls.log"

    def calls(self, *names: str) -> list[Json]:
        """Return the calls that providers got since this was asked last; only those named."""
        text = self._log.read_bytes() if self._log.exists() else b""
        whole = text[self._seen : text.rfind(b"\n") + 1]
        self._seen += len(whole)
        calls = [json.loads(line) for line in whole.splitlines()]
        return [call for call in calls if not names or call["call"] in names]

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Return what kl_server's query finds, `%(name)s` being the state's name."""
        with self.database.connect("kl_server") as conn, conn.cursor(row_factory=dict_row) as found:
            return found.execute(query.encode(), {"name": self.name}).fetchall()

    def document(self, version: str = "current") -> Json:
        """Return the document of a version as Terraform gets it, numbers as their texts."""

        async def read() -> bytes:
            async with db.Database(self.database.conninfo("kl_server")) as pool:
                chunks = download.render(pool, self.name, version, db.Caller())
                return b"".join([chunk async for chunk in chunks])

        document: Json = json.loads(asyncio.run(read()), parse_int=str, parse_float=str)
        return document

    def instances(self) -> dict[str, Json]:
        """Return the instances of the current document by resource name."""
        return {
            block["name"]: item
            for block in self.document()["resources"]
            for item in block["instances"]
        }

    def versions(self) -> list[tuple[int, str]]:
        """Return the state's versions: serial and source."""
        rows = self.rows(
            "select v.serial::int as serial, v.source from kl.state_versions as v"
            " where v.state_name = %(name)s order by v.version_no"
        )
        return [(row["serial"], row["source"]) for row in rows]

    def last_run(self) -> dict[str, Any]:
        """Return the row of the last refresh."""
        return self.rows(
            "select r.* from kl.refresh_runs as r where r.state_name = %(name)s"
            " order by r.started_at desc limit 1"
        )[0]

    def drift(self) -> dict[str, list[str]]:
        """Return the addresses that drifted and the paths that changed; `gone` when it vanished."""
        rows = self.rows(
            "select d.address, d.drift_kind, d.changes from kl.current_resource_drift as d"
            " where d.state_name = %(name)s"
        )
        return {
            row["address"]: ["gone"]
            if row["drift_kind"] == "deleted"
            else sorted(change["path"] for change in row["changes"])
            for row in rows
        }


def place(database: Database, mirror: Path, name: str) -> Refreshing:
    """Return a place of its own for a test of that name; schemas are cached by version."""
    return Refreshing(database, mirror, name, f"1.0.{zlib.crc32(name.encode())}")


async def until(condition: Callable[[], bool], seconds: int = 60) -> None:
    """Wait until a condition holds; fail when it does not in time."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - it comes true in another process
            await asyncio.sleep(0.02)
