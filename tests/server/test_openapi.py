"""/v1/openapi.json says what is served; whatever is sent to what it says is answered."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import (
    response_schema_conformance,
    status_code_conformance,
)

from server.operations import OPERATIONS
from tests.service import Server

_EXAMPLES = 15
_CHECKS = [status_code_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def described(service: Server) -> Any:  # noqa: ANN401 - schemathesis has no public type for it
    return schemathesis.openapi.from_url(f"{service.url}/v1/openapi.json")


def _served(paths: dict[str, Any]) -> Iterator[str]:
    for path, item in paths.items():
        for method in {**item, **item.get("x-methods", {})}:
            if method != "x-methods":
                yield f"{method.upper()} {path}"


def test_every_route_is_described_and_nothing_else(service: Server) -> None:
    described = service.client.get("/v1/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    assert sorted(_served(described["paths"])) == sorted(OPERATIONS)
    for path, item in described["paths"].items():
        for method in item.keys() - {"x-methods"}:
            assert item[method]["summary"], f"{method} {path}"


@pytest.mark.parametrize("operation", [key for key in OPERATIONS if "LOCK /" not in key])
def test_whatever_is_sent_gets_an_answer_of_the_contract(described: Any, operation: str) -> None:  # noqa: ANN401
    method, path = operation.split(" ")

    @given(case=described[path][method].as_strategy())
    @settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    def send(case: schemathesis.Case) -> None:
        answer = case.call()
        assert answer.status_code != 500, answer.text
        case.validate_response(answer, checks=_CHECKS)

    send()
