"""One session for the properties of pure helpers."""

from collections.abc import Iterator

import pytest

from tests.clusters import Connection, Database


@pytest.fixture(scope="module")
def owner(shared_database: Database) -> Iterator[Connection]:
    """A session acting as kl_owner that writes nothing."""
    with shared_database.connect("postgres") as conn:
        conn.execute("set role kl_owner")
        conn.execute("set default_transaction_read_only = on")
        yield conn
