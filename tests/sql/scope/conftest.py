"""Ask for scopes and slices of states in a transaction that is rolled back."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.clusters import Connection
from tests.documents import Json
from tests.sql.engine import value
from tests.sql.staging import write

CASES = Path(__file__).parents[2] / "cases"

Expand = Callable[..., Json]


@pytest.fixture
def expand(conn: Connection) -> Expand:
    """Expand selectors of state "s"; members of the client's context by keyword."""

    def expand(*selectors: Json, require_safe: bool = False, **context: Any) -> Json:  # noqa: ANN401
        text = value(
            conn,
            "select kl.expand_scope(p_name => 's', p_selectors => %s::jsonb, "
            "p_client_context => %s::jsonb, p_require_safe => %s)",
            json.dumps(selectors),
            json.dumps(context),
            require_safe,
        )
        found: Json = json.loads(text)
        return found

    return expand


@pytest.fixture
def contract(expand: Expand) -> Expand:
    """Expand as `expand` does; return the contract only."""

    def contract(*selectors: Json, **members: Any) -> Json:  # noqa: ANN401
        found: Json = expand(*selectors, **members)["scope_contract"]
        return found

    return contract


def slice_of(
    conn: Connection,
    *addresses: str,
    outputs: tuple[str, ...] = (),
    serial: int | None = None,
    version_id: object = None,
    form: str | None = None,
) -> Json:
    """Return a slice of state "s", its numbers as they are spelled."""
    text = value(
        conn,
        "select kl.fetch_slice(p_name => 's', p_addresses => %s, p_outputs => %s, "
        "p_base_serial => %s, p_base_version_id => %s, p_format => %s)",
        list(addresses),
        list(outputs),
        serial,
        version_id,
        form,
    )
    found: Json = json.loads(text, parse_float=Decimal)
    return found


def case(conn: Connection, number: str) -> None:
    """Write a case's state as "s"."""
    (folder,) = CASES.glob(f"{number}-*")
    write(conn, "s", (folder / "state.json").read_bytes())
