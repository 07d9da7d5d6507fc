"""A database that refreshes share; each test has a state and provider programs of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clusters import Cluster, Database
from tests.refreshing import Refreshing


@pytest.fixture(scope="session")
def refreshed_database(newest_cluster: Cluster) -> Iterator[Database]:
    """The database."""
    with newest_cluster.clone() as database:
        yield database


@pytest.fixture
def at(refreshed_database: Database, tmp_path: Path, request: pytest.FixtureRequest) -> Refreshing:
    """A state named after the test. Schemas are cached by version: a test has one of its own."""
    return Refreshing(refreshed_database, tmp_path, request.node.name)
