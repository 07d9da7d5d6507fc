"""Clusters in which nothing of Kilolock exists, roles included."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from tests.clusters import Cluster, bin_dirs
from tests.stock import Stock


@pytest.fixture(params=sorted(bin_dirs(), reverse=True))
def bare_cluster(request: pytest.FixtureRequest, stock: Stock) -> Iterator[Cluster]:
    cluster = stock.bare_cluster(request.param)
    _drop_roles(cluster)
    yield cluster
    _drop_roles(cluster)


def _drop_roles(cluster: Cluster) -> None:
    with psycopg.connect(cluster.conninfo("postgres", "postgres"), autocommit=True) as conn:
        roles = conn.execute(
            "select rolname from pg_roles"
            " where rolname <> current_user and not starts_with(rolname, 'pg_')"
        ).fetchall()
        if roles:
            names = sql.SQL(", ").join(sql.Identifier(name) for (name,) in roles)
            conn.execute(sql.SQL("drop role {}").format(names))
