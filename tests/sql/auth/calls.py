"""Calls of every function of schema kl, made up from the catalog."""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg
import pytest
from psycopg.rows import tuple_row

from tests.clusters import Connection
from tests.documents import BUILTIN, lock_info
from tests.sql.auth.planted import ADDRESS, LIMITED, LOCK, MARK, World

MOST: Final = 150
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

FUNCTIONS: Final = """
select
    p.oid::regprocedure::text,
    p.proname::text,
    p.provolatile = 'v',
    coalesce(p.proargnames[:p.pronargs], '{}'),
    array(select t::regtype::text from unnest(p.proargtypes::oid[]) as t)
from pg_proc as p
where p.pronamespace = 'kl'::regnamespace
order by 1
"""


@dataclass(frozen=True)
class Function:
    """A function of schema kl."""

    signature: str
    name: str
    volatile: bool
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Outcome:
    """What a call came to: an error, or rows."""

    arguments: tuple[Any, ...]
    sqlstate: str
    rows: list[tuple[Any, ...]]
    text: str

    @property
    def refused(self) -> bool:
        """Tell whether it was refused for want of a right, or of anything by that name."""
        return self.sqlstate[:3] in ("KL1", "KL2") or self.sqlstate == "42501"

    @property
    def empty(self) -> bool:
        """Tell whether it answered, with nothing."""
        return not self.sqlstate and all(v is None for row in self.rows for v in row)

    def unsaid(self) -> str:
        """Return all it said without what the caller said first."""
        said = {str(a) for a in self.arguments}
        said |= {word for argument in said for word in _UUID.findall(argument)}
        text = self.text
        for word in sorted(said, key=len, reverse=True):
            if len(word) > 3:
                text = text.replace(word, "")
        return text


def functions(conn: Connection) -> list[Function]:
    """Return every function of schema kl."""
    return [
        Function(signature, name, volatile, tuple(zip(names, types, strict=True)))
        for signature, name, volatile, names, types in conn.execute(FUNCTIONS).fetchall()
    ]


def outcomes(world: World, conn: Connection, function: Function) -> Iterator[Outcome]:
    """Call a function with every combination of arguments that fit; nothing stays."""
    pools = [_values(world, name, kind) for name, kind in function.parameters]
    words = ", ".join(f"{name} => {_typed(kind)}" for name, kind in function.parameters)
    query = f"select * from kl.{function.name}({words})".encode()
    every = list(itertools.product(*pools))
    for arguments in every[:: -(-len(every) // MOST)]:
        yield outcome(conn, query, arguments)


def outcome(conn: Connection, query: bytes, arguments: Sequence[Any] = ()) -> Outcome:
    """Run a query in a transaction that is rolled back; return what came of it."""
    try:
        with conn.transaction(force_rollback=True), conn.cursor(row_factory=tuple_row) as cursor:
            rows = cursor.execute(query, arguments or None).fetchall()
    except psycopg.Error as exc:
        said = [getattr(exc.diag, part) for part in _SAID]
        return Outcome(tuple(arguments), exc.sqlstate or "none", [], " ".join(filter(None, said)))
    return Outcome(tuple(arguments), "", rows, str(rows))


_SAID: Final = (
    "message_primary",
    "message_detail",
    "message_hint",
    "context",
    "internal_query",
    "column_name",
    "constraint_name",
)


def _typed(kind: str) -> str:
    if kind.endswith("state_versions"):
        # Anybody can write down a row with a version's id.
        return "jsonb_populate_record(null::kl.state_versions, %s::jsonb)"
    return f"%s::{kind}"


def _values(world: World, name: str, kind: str) -> list[Any]:
    ids, upload = world.ids, world.upload
    by_name: dict[str, list[Any]] = {
        "p_name": [world.state],
        "p_state": [world.state],
        "p_version": ["current", "v1", ids["version"], f"{MARK}-tag"],
        "p_from": ["v1", ids["version"]],
        "p_to": ["current"],
        "p_address": list(world.addresses),
        "p_lock_id": [LOCK["ID"], None],
        "p_lock_info": [json.dumps(LOCK), json.dumps(lock_info("x")), ""],
        "p_source": ["import", "apply"],
        "p_scope": ["state:read", "state:write", "outputs:read", "admin"],
        "p_scopes": [["admin"]],
        "p_type": ["terraform_data"],
        "p_tag": [f"{MARK}-tag", "fresh"],
        "p_after": [""],
        "p_limit": [100],
        "p_before": [None, ids["apply"]],
        "p_upload_id": [ids["upload"]],
        "p_objects": [upload.objects],
        "p_digest": [upload.digest],
        "p_ordinals": [[0]],
        "p_blocks": [[1]],
        "p_forms": [[1]],
        "p_headers": [[b"{}"]],
        "p_slices": [[b"{}"]],
        "p_keys": [[b"0"]],
        "p_attributes": [[b"{}"]],
        "p_identities": [[b"{}"]],
        "p_digests": [[upload.digest]],
        "p_deposed_key": [""],
        "p_environment": [world.environment],
        "p_environments": [[world.environment], []],
        "p_login": [LIMITED],
        "p_workspace": [world.environment.partition("/")[0]],
        "p_lifetime": [None],
        "p_token": [world.reader.token],
        "p_state_id": [ids["state"]],
        "p_version_id": [ids["version"], ids["sealed"]],
        "p_apply_id": [ids["apply"]],
        "p_refresh_run_id": [ids["refresh"]],
        "p_provider text": [BUILTIN],
        "p_status": ["failed"],
    }
    by_type: dict[str, list[Any]] = {
        "text": [world.state, ADDRESS, ids["state"], ids["apply"], json.dumps(LOCK), "current"],
        "text[]": [[ADDRESS], ["x"]],
        "uuid": [ids["state"], ids["version"], ids["sealed"], ids["apply"], ids["refresh"]],
        "uuid[]": [[ids["state"]]],
        "bigint": [0, 1, 2],
        "integer": [0, 1],
        "numeric": [2],
        "boolean": [True, False],
        "jsonb": ["{}", "[]", json.dumps([{"address": ADDRESS, "mode": "write"}])],
        "json": ["{}", "[]"],
        "bytea": [b""],
        "interval": ["1 hour"],
        "timestamp with time zone": ["2030-01-01"],
    }
    if kind.endswith("state_versions"):
        return [json.dumps({"version_id": ids["version"], "state_id": ids["state"]})]
    for key in (f"{name} {kind}", name):
        if key in by_name:
            return by_name[key]
    if kind not in by_type:
        pytest.fail(f"teach {__name__} values of type {kind}, for {name}")
    return by_type[kind]
