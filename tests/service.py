"""A real server on a database of its own, and a client that speaks as Terraform does."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from tests.clusters import Connection, Database
from tests.documents import Json, encoded

_SERVE = "from server.commands import main; main()"


@dataclass(frozen=True)
class Server:
    """A running `kld serve`, where it listens and what it stands on."""

    url: str
    database: Database
    client: httpx.Client
    superuser: Connection
    kl_server: Connection
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def backend(self, name: str | None = None) -> "Backend":
        """Return a client for one state, of a fresh name unless given."""
        return Backend(self, f"s{next(self._numbers)}" if name is None else name)

    def rows(self, query: str, **parameters: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
        """Return what a superuser's query finds."""
        return self.superuser.execute(query.encode(), parameters).fetchall()

    def as_kl_server(self, query: str, **parameters: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
        """Return what a query of the server's role finds."""
        return self.kl_server.execute(query.encode(), parameters).fetchall()


@contextmanager
def running_server(database: Database, **env: str) -> Iterator[Server]:
    """Run `kld serve` on a database until the block ends."""
    command = [sys.executable, "-c", _SERVE, "serve", "--listen", "127.0.0.1:0"]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("KL_", "TF_"))}
    variables = {**clean, "KL_DATABASE_URL": database.conninfo("kl_server"), **env}
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert "listening on" in line
            url = line.split()[-1]
            with (
                httpx.Client(base_url=url, timeout=60) as client,
                database.connect("postgres") as superuser,
                database.connect("kl_server") as kl_server,
            ):
                yield Server(url, database, client, superuser, kl_server)
        finally:
            process.terminate()


@dataclass(frozen=True)
class Backend:
    """Requests about one state, sent as Terraform's http backend sends them."""

    server: Server
    name: str

    @property
    def path(self) -> str:
        """Return the path of the state's address."""
        return f"/v1/states/{quote(self.name)}"

    def request(self, method: str, path: str | None = None, **options: Any) -> httpx.Response:  # noqa: ANN401
        """Send one request, to the state's address unless told otherwise."""
        return self.server.client.request(method, path or self.path, **options)

    def get(self) -> httpx.Response:
        """Read the current document."""
        return self.request("GET")

    def post(self, document: Json | bytes, lock_id: str | None = None) -> httpx.Response:
        """Write a document."""
        body = document if isinstance(document, bytes) else encoded(document)
        return self.request(
            "POST",
            content=body,
            params=None if lock_id is None else {"ID": lock_id},
            headers={"Content-Type": "application/json"},
        )

    def delete(self) -> httpx.Response:
        """Delete the state."""
        return self.request("DELETE")

    def lock(self, info: Json) -> httpx.Response:
        """Take the lock."""
        return self.request("LOCK", content=json.dumps(info))

    def unlock(self, info: Json | None) -> httpx.Response:
        """Give the lock back; None sends the empty, chunked body of force-unlock."""
        return self.request("UNLOCK", content=iter([]) if info is None else json.dumps(info))

    def export(self, version: str = "current") -> bytes:
        """Return the document at a version."""
        answer = self.request(
            "GET", "/v1/admin/export", params={"name": self.name, "version": version}
        )
        assert answer.status_code == 200, answer.text
        return answer.content

    def versions(self) -> int:
        """Return how many versions the state has."""
        found = self.server.as_kl_server(
            "select count(*) from kl.state_versions as v where v.state_name = %(name)s",
            name=self.name,
        )
        return int(found[0][0])

    def kept(self) -> int:
        """Return how many state rows of that name exist, placeholders included."""
        found = self.server.rows(
            "select count(*) from kl_internal.states as s "
            "where s.name = %(name)s and s.deleted_at is null",
            name=self.name,
        )
        return int(found[0][0])

    def events(self) -> list[tuple[str, Json]]:
        """Return the audit trail of the state: kind and detail."""
        return self.server.as_kl_server(
            "select e.kind, e.detail from kl.events as e "
            "where e.state_name = %(name)s order by e.event_id",
            name=self.name,
        )  # type: ignore[return-value]
