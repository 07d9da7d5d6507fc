"""Where refreshes of recorded cases happen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clusters import Cluster, Database
from tests.refreshing import Refreshing, place


@pytest.fixture(scope="session")
def refreshed_database(newest_cluster: Cluster) -> Iterator[Database]:
    """A database that the cases share."""
    with newest_cluster.clone() as database:
        yield database


@pytest.fixture
def at(refreshed_database: Database, tmp_path: Path, request: pytest.FixtureRequest) -> Refreshing:
    """A state named after the test, with provider programs of its own."""
    return place(refreshed_database, tmp_path, f"case-{request.node.name}")
