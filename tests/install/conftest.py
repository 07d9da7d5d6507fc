"""Clusters in which nothing of Kilolock exists, roles included."""

from collections.abc import Iterator

import pytest

from tests.clusters import Cluster, bin_dirs, running_cluster


@pytest.fixture(params=sorted(bin_dirs(), reverse=True))
def bare_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with running_cluster(request.param) as cluster:
        cluster.execute("drop role kl_server")
        yield cluster
