"""/v1/openapi.json says what is served; whatever is sent to what it says is answered."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    response_schema_conformance,
    status_code_conformance,
)

from server.operations import OPERATIONS
from tests.documents import instance, resource, state
from tests.service import Server

_EXAMPLES = 10
_CHECKS = [status_code_conformance, response_schema_conformance]
_OUTPUTS = {"o": {"value": 1.5, "type": "number"}}
# What stands in place of made-up members, so that requests come further than the first check.
_REAL = {
    "address": "terraform_data.a",
    "addresses": ["terraform_data.a"],
    "version": "current",
    "from": "v1",
    "to": "current",
    "tag": "t",
    "base_serial": 1,
    "limit": 3,
}
_STATE_ENGINE: list[tuple[str, dict[str, Any]]] = [
    ("resolve", {}),
    ("expand", {"selectors": [{"kind": "resource_address", "value": "terraform_data.a"}]}),
    ("expand", {"selectors": [{"kind": "file_hint", "value": "a.tf"}]}),
    ("slice", {"addresses": ["terraform_data.a"], "outputs": ["*"]}),
    ("slice", {"addresses": ["terraform_data.a"], "outputs": ["*"], "format": "terraform-state"}),
]
_READING = {
    "/v1/admin/status": ["name"],
    "/v1/admin/history": ["name", "limit"],
    "/v1/admin/diff": ["name", "from", "to"],
    "/v1/admin/timeline": ["name", "address"],
    "/v1/admin/graph": ["name"],
}


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
def test_whatever_is_sent_gets_an_answer_of_the_contract(
    described: Any,  # noqa: ANN401
    service: Server,
    operation: str,
) -> None:
    method, path = operation.split(" ")
    backend = service.backend()
    real = _REAL | {"name": backend.name, "state": backend.name}

    @given(case=described[path][method].as_strategy(), use=st.sets(st.sampled_from(sorted(real))))
    @settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    def send(case: schemathesis.Case, use: set[str]) -> None:
        backend.post(state(1, resource("a"), resource("b"), outputs=_OUTPUTS))
        for place in (case.query, case.path_parameters, case.body):
            if isinstance(place, dict):
                place.update({name: real[name] for name in use & place.keys()})
        answer = case.call()
        assert answer.status_code != 500, answer.text
        case.validate_response(answer, checks=_CHECKS)

    send()


def test_answers_of_a_state_are_those_described(described: Any, service: Server) -> None:  # noqa: ANN401
    backend = service.backend()
    assert backend.post(state(1, resource("a"), outputs=_OUTPUTS)).status_code == 200
    assert backend.post(state(2, resource("b"), outputs=_OUTPUTS)).status_code == 200
    real = _REAL | {"name": backend.name, "to": "v2"}
    for path, asks in _READING.items():
        case = described[path]["GET"].Case(query={name: real[name] for name in asks})
        answer = case.call()
        assert answer.status_code == 200, answer.text
        assert answer.json(), path
        case.validate_response(answer, checks=_CHECKS)


def test_answers_of_the_state_engine_are_those_described(described: Any, service: Server) -> None:  # noqa: ANN401
    backend = service.backend()
    old = instance({"id": "old"}, deposed="0badcafe", identity={"a": 1}, identity_schema_version=0)
    made = resource("a", instance({"id": "a"}, new_member=1), old)
    assert backend.post(state(1, made, resource("b", old), outputs=_OUTPUTS)).status_code == 200
    case = described["/v1/state-engine/capabilities"]["GET"].Case()
    case.validate_response(case.call(), checks=_CHECKS)
    for verb, members in _STATE_ENGINE:
        [path] = [p for p in OPERATIONS if p.endswith(f"/{verb}")]
        case = described[path.removeprefix("POST ")]["POST"].Case(
            body={"state": backend.name} | members, media_type="application/json"
        )
        answer = case.call()
        assert answer.status_code == 200, answer.text
        case.validate_response(answer, checks=_CHECKS)


def test_what_the_state_engine_answers_is_described_in_full(service: Server) -> None:
    paths = service.client.get("/v1/openapi.json").json()["paths"]
    for path, item in paths.items():
        if path.startswith("/v1/state-engine/"):
            [operation] = item.values()
            assert operation["responses"]["200"]["content"]["application/json"]["schema"], path
