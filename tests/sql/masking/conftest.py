"""The state full of secrets that these tests share; nobody commits in it."""

from collections.abc import Iterator

import pytest

from tests.clusters import Cluster
from tests.sql.auth.planted import World
from tests.sql.masking.secrets import secrets_planted


@pytest.fixture(scope="module")
def secrets(cluster: Cluster) -> Iterator[World]:
    """A state with a secret of its own in every place that can hold one."""
    with secrets_planted(cluster) as made:
        yield made
