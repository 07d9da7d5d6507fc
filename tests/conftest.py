"""Fixtures that every test may use. SQL tests run on each PostgreSQL found on the machine."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.clusters import Cluster, Connection, Database, bin_dirs
from tests.service import Backend, Server
from tests.stock import Stock

# Some tests load gRPC, later ones start programs from the same process: it would remark on each.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

# How long an example takes says how busy the machine is, and nothing of the example.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave what is thorough to the slow tests, but for the newest PostgreSQL."""
    for item in items:
        if item.get_closest_marker("thorough") and isinstance(item, pytest.Function):
            callspec = getattr(item, "callspec", None)
            if callspec and callspec.params.get("cluster", max(bin_dirs())) != max(bin_dirs()):
                item.add_marker("slow")


@pytest.fixture(scope="session")
def stock() -> Iterator[Stock]:
    """What is started once and then kept: clusters, their shared databases, their servers."""
    with Stock() as kept:
        yield kept


@pytest.fixture(scope="session", params=sorted(bin_dirs(), reverse=True))
def cluster(request: pytest.FixtureRequest, stock: Stock) -> Cluster:
    """A private cluster per PostgreSQL version; whatever uses it runs once on each."""
    return stock.cluster(request.param)


@pytest.fixture(scope="session")
def shared_database(cluster: Cluster, stock: Stock) -> Database:
    """The migrated database that rolled-back tests share; nobody commits here."""
    return stock.shared_database(cluster)


@pytest.fixture
def database(cluster: Cluster) -> Iterator[Database]:
    """A migrated database of the test's own, for tests that commit."""
    with cluster.clone() as clone:
        yield clone


@pytest.fixture
def conn(shared_database: Database, stock: Stock) -> Iterator[Connection]:
    """A kl_server session in a transaction that is rolled back."""
    yield from _rolled_back(stock.session(shared_database, "kl_server"))


@pytest.fixture
def analyst_conn(shared_database: Database, stock: Stock) -> Iterator[Connection]:
    """A kl_query session, member of kl_analyst only, in a transaction that is rolled back."""
    yield from _rolled_back(stock.session(shared_database, "kl_query"))


@pytest.fixture
def owner_conn(shared_database: Database, stock: Stock) -> Iterator[Connection]:
    """An administrator's session acting as kl_owner, in a transaction that is rolled back."""
    for connection in _rolled_back(stock.session(shared_database, "postgres")):
        connection.execute("set local role kl_owner")
        yield connection


def _rolled_back(session: Connection) -> Iterator[Connection]:
    try:
        yield session
    finally:
        session.rollback()


@pytest.fixture(scope="session")
def newest_cluster(stock: Stock) -> Cluster:
    """A private cluster of the newest PostgreSQL, for tests of what lies above SQL."""
    return stock.cluster(max(bin_dirs()))


@pytest.fixture(scope="session")
def service(newest_cluster: Cluster, stock: Stock) -> Server:
    """A real server on a migrated database; each test has state names of its own."""
    return stock.server(newest_cluster)


@pytest.fixture(scope="session")
def each_service(cluster: Cluster, stock: Stock) -> Server:
    """A real server per PostgreSQL version; whatever uses it runs once on each."""
    return stock.server(cluster)


@pytest.fixture
def backend(service: Server) -> Backend:
    """A client for a state that no other test has."""
    return service.backend()
