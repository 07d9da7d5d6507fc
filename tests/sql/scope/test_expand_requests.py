"""kl.expand_scope: what of a request it refuses, and what may be left out."""

import json
from typing import Any

import pytest

from tests.clusters import Connection
from tests.documents import ENCRYPTED, Json, state
from tests.expansions import at, below, block, node
from tests.sql.engine import value
from tests.sql.scope.conftest import Expand
from tests.sql.staging import refused, write


@pytest.mark.parametrize(
    ("selectors", "context", "pointer"),
    [
        ([{"kind": "resource", "value": "aws_x.a"}], {}, "/selectors/0"),
        ([at("aws_x.a"), {"kind": "module_prefix"}], {}, "/selectors/1"),
        ([{"kind": 7, "value": "aws_x.a"}], {}, "/selectors/0/kind"),
        ([below(" ")], {}, "/selectors/0"),
        ([at("aws_x.a"), at("aws_x")], {}, "/selectors/1/value"),
        ([at("aws_x.a"), below("aws_x.a")], {}, "/selectors/1/value"),
        (
            [],
            {"removed_config_candidates": ["aws_x.a", "aws_x.a[-1]"]},
            "/client_context/removed_config_candidates/1",
        ),
        (7, {}, "/selectors"),
        ([7], {}, "/selectors"),
        ([], [], "/client_context"),
        ([], {"config_nodes": {}}, "/client_context/config_nodes"),
        (
            [],
            {"config_nodes": [{"address": "aws_x.a", "dependencies": "aws_x.b"}]},
            "/client_context/config_nodes/0/dependencies",
        ),
        ([], {"config_nodes": [{"dependencies": []}]}, "/client_context/config_nodes/0/address"),
        (
            [],
            {"config_nodes": [node("aws_x.a"), node("aws_x.b", "aws_x.a", "module.m")]},
            "/client_context/config_nodes/1/dependencies/1",
        ),
        (
            [],
            {"config_nodes": [{"address": "aws_x.a"}, {"address": "aws_x"}]},
            "/client_context/config_nodes/1/address",
        ),
        (
            [],
            {"config_nodes": [{"address": "aws_x.a", "dependencies": ["aws_x.b", "aws_x"]}]},
            "/client_context/config_nodes/0/dependencies/1",
        ),
        (
            [],
            {"explicit_read_candidates": [1]},
            "/client_context/explicit_read_candidates",
        ),
        (
            [],
            {"module_calls": [{"address": "module.a", "self_contained": "yes"}]},
            "/client_context/module_calls/0/self_contained",
        ),
        (
            [at("aws_x.a")],
            {"module_calls": [{"address": "module.a", "keyed": False}, {"address": "aws_x.a"}]},
            "/client_context/module_calls/1/address",
        ),
    ],
)
def test_what_is_wrong_is_pointed_at(
    conn: Connection,
    selectors: Any,  # noqa: ANN401
    context: Any,  # noqa: ANN401
    pointer: str,
) -> None:
    write(conn, "s", state(1, block("aws_x.a")))
    with refused(conn, "KL001") as refusal:
        conn.execute(
            "select kl.expand_scope('s', %s::jsonb, %s::jsonb, false)",
            (json.dumps(selectors), json.dumps(context)),
        )
    assert refusal.detail["pointer"] == pointer


@pytest.mark.parametrize(
    ("selectors", "context"),
    [
        ([at("module.a")], {}),
        ([below("aws_x.a")], {}),
        ([], {"config_nodes": [{}]}),
        ([], {"config_nodes": [node("aws_x.a", "var.b.c.d")]}),
    ],
)
def test_what_is_no_address_is_refused(
    conn: Connection, expand: Expand, selectors: list[Json], context: Json
) -> None:
    write(conn, "s", state(1, block("aws_x.a")))
    with refused(conn, "KL001"):
        expand(*selectors, **context)


def test_null_is_as_good_as_left_out(conn: Connection) -> None:
    write(conn, "s", state(1, block("aws_x.a")))
    for selectors, context in ((None, None), ("null", "null"), ("[]", '{"config_nodes": null}')):
        assert value(
            conn, "select kl.expand_scope('s', %s::jsonb, %s::jsonb, null)", selectors, context
        )


def test_an_encrypted_state_has_no_scopes(conn: Connection, expand: Expand) -> None:
    write(conn, "s", ENCRYPTED)
    with refused(conn, "KL002"):
        expand()


def test_a_scope_never_makes_a_state(conn: Connection, expand: Expand) -> None:
    with refused(conn, "KL201"):
        expand()
    assert value(conn, "select count(*) from kl.states where state_name = 's'") == 0
