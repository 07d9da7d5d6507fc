"""What a test session starts once and keeps to its end, whichever order the tests come in."""

from contextlib import AbstractContextManager, ExitStack, closing
from typing import Self, TypeVar

from tests.clusters import Cluster, Connection, Database, running_cluster
from tests.service import Server, running_server

T = TypeVar("T")


class Stock:
    """Clusters, databases and servers, started when first asked for."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._clusters: dict[str, Cluster] = {}
        self._databases: dict[str, Database] = {}
        self._servers: dict[str, Server] = {}
        self._bare_clusters: dict[str, Cluster] = {}
        self._sessions: dict[str, Connection] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def cluster(self, version: str) -> Cluster:
        """Return the cluster of a PostgreSQL version."""
        return self._kept(self._clusters, version, running_cluster(version))

    def bare_cluster(self, version: str) -> Cluster:
        """Return another cluster of a version; nothing of Kilolock is to be left in it."""
        return self._kept(self._bare_clusters, version, running_cluster(version))

    def session(self, database: Database, user: str) -> Connection:
        """Return a session that tests share one after the other; each rolls back what it did.

        What it has compiled and planned stays, as in the sessions of a server.
        """
        conninfo = database.conninfo(user)
        kept = self._sessions.get(conninfo)
        if kept is None or kept.closed:
            opened = database.connect(user, autocommit=False)
            self._sessions[conninfo] = self._stack.enter_context(closing(opened))
        return self._sessions[conninfo]

    def shared_database(self, cluster: Cluster) -> Database:
        """Return the migrated database of a cluster that nobody commits in."""
        return self._kept(self._databases, cluster.name, cluster.clone())

    def server(self, cluster: Cluster) -> Server:
        """Return the server on a migrated database of its own in a cluster."""
        if cluster.name in self._servers:
            return self._servers[cluster.name]
        database = self._stack.enter_context(cluster.clone())
        return self._kept(self._servers, cluster.name, running_server(database))

    def _kept(self, shelf: dict[str, T], key: str, maker: AbstractContextManager[T]) -> T:
        if key not in shelf:
            shelf[key] = self._stack.enter_context(maker)
        return shelf[key]
