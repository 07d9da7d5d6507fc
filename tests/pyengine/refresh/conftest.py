"""A database that refreshes share; after every test no provider process or folder may be left."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clusters import Cluster, Database
from tests.pyengine.provider.conftest import _nothing_is_left  # noqa: F401 - a fixture
from tests.refreshing import Refreshing, place


@pytest.fixture(scope="session")
def refreshed_database(newest_cluster: Cluster) -> Iterator[Database]:
    """The database."""
    with newest_cluster.clone() as database:
        yield database


@pytest.fixture
def at(refreshed_database: Database, tmp_path: Path, request: pytest.FixtureRequest) -> Refreshing:
    """A state named after the test, with provider programs of its own."""
    return place(refreshed_database, tmp_path, request.node.name)
