"""Committed states that reader tests share, and an analyst who reads them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg.rows import dict_row

from tests.clusters import Cluster, Connection, Database
from tests.documents import instance, resource, state
from tests.importing import put

CASES = Path(__file__).parents[2] / "cases"
SECRET = [
    [{"type": "get_attr", "value": "login"}, {"type": "get_attr", "value": "password"}],
]

Row = dict[str, Any]
Ask = Callable[..., list[Row]]


def lived(serial: int, size: int | None = None, word: str = "hunter2") -> dict[str, Any]:
    """Return a state with one resource whose size and secret change; None: without it."""
    if size is None:
        return state(serial, resource("other"))
    attributes = {
        "id": "a",
        "size": size,
        "login": {"user": "u", "password": word},
        "list": [{"x y": 1}, {"x y": size}],
    }
    return state(
        serial,
        resource("a", instance(attributes, sensitive_attributes=SECRET)),
        resource("other"),
    )


def chain() -> dict[str, Any]:
    """Return a ← b ← c, with transitive lists as Terraform stores them, and what stands beside."""
    return state(
        1,
        resource("a"),
        resource("b", instance({"id": "b"}, dependencies=["terraform_data.a"])),
        resource(
            "c",
            instance({"id": "c"}, dependencies=["terraform_data.a", "terraform_data.b"]),
        ),
        resource("d", instance({"id": "d"}, dependencies=["terraform_data.gone"])),
    )


@pytest.fixture(scope="module")
def readers_database(cluster: Cluster) -> Iterator[Database]:
    """A database with the states of this folder's tests."""
    with cluster.clone() as database:
        put(database, "lived", lived(1, 1), lived(2, 2), lived(3), lived(4, 3, "correct horse"))
        put(database, "secret", lived(1, 1), lived(2, 1, "correct horse"))
        put(database, "chain", chain())
        for folder in sorted(CASES.iterdir()):
            if (folder / "state.json").exists() and folder.name[:2] in (
                "05",
                "07",
                "08",
                "19",
                "20",
            ):
                put(database, folder.name[:2], json.loads((folder / "state.json").read_bytes()))
        yield database


@pytest.fixture
def analyst(readers_database: Database) -> Iterator[Connection]:
    """A session of the query door's login."""
    with readers_database.connect("kl_query") as connection:
        yield connection


@pytest.fixture
def ask(analyst: Connection) -> Ask:
    """Run a statement as an analyst; rows as dictionaries."""

    def ask(statement: str, *parameters: object) -> list[Row]:
        with analyst.cursor(row_factory=dict_row) as cursor:
            cursor.execute(statement.encode(), parameters)
            return cursor.fetchall()

    return ask
