"""A delta takes and refuses what an upload does, however odd, and leaves the rows that it would."""

import itertools
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyengine.errors import KilolockError
from tests.clusters import Connection
from tests.documents import Json, instance, resource, state
from tests.sql.commit.committing import commit, delta, writer
from tests.sql.commit.test_delta_rows import KEY, STEP, rows
from tests.sql.staging import write

ABSENT = object()
HEADERS: dict[str, list[Any]] = {
    "mode": [["managed"], None, 5, "other", "data"],
    "type": [["a"], "", "é", None, 5],
    "name": [["x"], "ü", "a-b", "", None, 5, ABSENT],
    "module": [None, 5, ["module.m"], "module.m[0]", "bogus", "x", 'module.m["a"].module.n', ""],
    "provider": [
        None, ["p"], "bad", 'module.a.provider["a/b"].c', "provider.aws", 'provider["a/b/c"].é',
        'provider["a/b"] ', 'provider["a/b/c/d"]', 5, ABSENT,
    ],
    "each": ["list", None, 5],
    "instances": [{}, None, [[instance()]], [5], [None], [[]], "a", [instance(), instance()]],
}  # fmt: skip
MEMBERS: dict[str, list[Any]] = {
    "attributes": [None, [], 5, "a", ABSENT, [{"id": "a"}]],
    "schema_version": [-1, 1.0, 1e0, 10e-1, "1", 2**64, 2**64 - 1, True, [0], None, ABSENT],
    "status": ["", ["tainted"], "bad", "tainted", None, 5],
    "private": ["!", ["YQ=="], "YQ==", "", "YQ", "a", None, 5],
    "dependencies": [[], None, ["a.b"], "a.b", [5], [["a.b"]], {}, ["a.b", "a.b"], ["bogus"]],
    "sensitive_attributes": [None, {}, [STEP], [[STEP]], [[STEP, KEY]], "a", [5], [[5]], ABSENT],
    "create_before_destroy": ["true", None, [True], False, True],
    "index_key": [True, [0], [], None, 1.5, 10**12, "", 'a"b', "\u0001", {}, 0],
    "deposed": [
        "",
        "short",
        ["00000001"],
        "é0000001",
        "00000001",
        None,
        "0000 001",
        "00\n00001",
        "0000000A",
    ],
    "identity": [None, [], 5, {}, {"id": "a"}],
    "identity_schema_version": [-1, 1.0, "1", None, 1],
    "attributes_flat": [{"id": "a"}, {"id": 5}, None, {}, []],
    "provider": ['provider["a/b"]', "odd", 5, None],
    "other": [None, 5, {"a": [None]}],
}


def _outcome(conn: Connection, block: Json, *addresses: str) -> object:
    """Return the rows that a delta leaves, or an upload if no addresses say what a delta writes."""
    name = "part" if addresses else "whole"
    try:
        with conn.transaction(force_rollback=True):
            if addresses:
                write(conn, name, state(1))
                commit(writer(conn, "*", name=name), delta(block, write=list(addresses)))
            else:
                write(conn, name, state(1, block))
            return rows(conn, name)
    except psycopg.Error as error:
        return error.sqlstate
    except KilolockError:  # not even in the shape of a document
        return "KL001"


def _assert_same(conn: Connection, block: Json) -> None:
    whole = _outcome(conn, block)
    addresses = {str(row[0]["address"]) for row in whole} if isinstance(whole, list) else set()
    assert whole == "KL001" or isinstance(whole, list)
    if whole != []:  # a delta of nothing is refused
        assert _outcome(conn, block, *(addresses or {"terraform_data.x"})) == whole


def _with(target: Json, member: str, value: object) -> Json:
    return {k: v for k, v in (target | {member: value}).items() if v is not ABSENT}


@pytest.mark.parametrize("member", HEADERS)
def test_odd_members_of_a_resource(owner_conn: Connection, member: str) -> None:
    for value in HEADERS[member]:
        _assert_same(owner_conn, _with(resource("x", instance()), member, value))


@pytest.mark.parametrize("member", MEMBERS)
def test_odd_members_of_an_instance(owner_conn: Connection, member: str) -> None:
    for value in MEMBERS[member]:
        _assert_same(owner_conn, resource("x", _with(instance(), member, value)))


_odd = st.sampled_from([(m, v) for m, values in MEMBERS.items() for v in values])


# Every outcome is rolled back.
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(instances=st.lists(st.lists(_odd, max_size=4), min_size=1, max_size=3))
def test_odd_members_together(
    owner_conn: Connection, instances: list[list[tuple[str, Any]]]
) -> None:
    bodies = []
    for number, members in zip(itertools.count(), instances, strict=False):
        body = instance(index_key=number)
        for member, value in members:
            body = _with(body, member, value)
        bodies.append(body)
    _assert_same(owner_conn, resource("x", *bodies))
