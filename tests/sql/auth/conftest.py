"""The world that these tests share; nobody commits in it."""

from collections.abc import Iterator

import pytest

from tests.clusters import Cluster
from tests.sql.auth.planted import World, planted


@pytest.fixture(scope="module")
def world(cluster: Cluster) -> Iterator[World]:
    """A state full of marks, and callers who have no right to it."""
    with planted(cluster) as made:
        yield made
