"""Recorded conversations of clients and servers, replayed step by step."""

import json
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest

from tests.clusters import Cluster
from tests.documents import Json
from tests.service import Backend, Server, running_server

HERE = Path(__file__).parent
PREFIX = "/v1/state/"
CASES = sorted(path.parent.name for path in HERE.glob("*/exchange.json"))


def _steps(case: str) -> list[Json]:
    steps: list[Json] = json.loads((HERE / case / "exchange.json").read_bytes())
    return steps


def _address(step: Json, unique: str) -> tuple[str, str]:
    """Return the state's name and the path here; each case has its own `demo`."""
    path, question, query = step["path"].removeprefix(PREFIX).partition("?")
    if path:
        path = f"{unique}-{path}" if path == "demo" else path
    return unquote(path), f"/v1/states/{path}{question}{query}"


def _body(step: Json) -> bytes:
    body = step.get("body", "")
    return (body if isinstance(body, str) else json.dumps(body)).encode()


@pytest.mark.parametrize("case", CASES)
def test_exchange_goes_as_recorded(service: Server, case: str) -> None:
    for number, step in enumerate(_steps(case), 1):
        name, path = _address(step, case)
        if "Authorization" in step.get("headers", {}):
            continue  # nobody is asked here: test_credentials_as_recorded
        answer = service.client.request(
            step["method"], path, content=_body(step), headers=step.get("headers")
        )
        _check(answer, step["expect"], service.backend(name), f"step {number}")


def _check(answer: httpx.Response, expect: Json, backend: Backend, label: str) -> None:
    told = f"{label}: {answer.status_code} {answer.text[:300]}"
    # An escaped slash is a slash here, so both spellings name one state.
    one_name = "alias" in expect.get("note", "")
    assert answer.status_code in ([200] if one_name else expect["status"]), told
    for member, value in expect.get("json_field", {}).items():
        assert answer.json()[member] == value, told
    if "body_contains" in expect:
        # The text holds a JSON string; how it is spaced is ours.
        assert expect["body_contains"] in answer.text, told
    if expect.get("body_nonempty"):
        assert answer.content, told
    if "versions_after" in expect:
        assert backend.versions() == expect["versions_after"], told


def test_credentials_as_recorded(newest_cluster: Cluster) -> None:
    steps = [
        s for s in _steps("29-names-and-basic-auth") if "Authorization" in s.get("headers", {})
    ]
    token = steps[0]["expect"]["as_password"]
    with (
        newest_cluster.clone() as database,
        running_server(database, KL_AUTH="static", KL_STATIC_TOKEN=token) as service,
    ):
        headers = [{k: v.encode() for k, v in step["headers"].items()} for step in steps]
        statuses = [service.client.get("/v1/states/demo", headers=h).status_code for h in headers]
    assert statuses == [404, 401, 401]


def test_blind_release_is_audited_with_the_lock_it_freed(service: Server) -> None:
    backend = service.backend()
    steps = _steps("22-force-unlock-without-id")
    for step in steps:
        service.client.request(step["method"], backend.path, content=_body(step))
    forced = [detail for kind, detail in backend.events() if kind == "force_unlock"]
    assert [detail["lock_id"][:8] for detail in forced] == ["11111111", "66666666"]
    assert all(detail["forced"] for detail in forced)


def test_destroyed_rows_close_at_the_version_that_emptied_the_state(service: Server) -> None:
    backend = service.backend()
    for step in _steps("26-empty-state-after-destroy")[1:3]:
        assert backend.post(_body(step)).status_code == 200
    found = service.as_kl_server(
        "select h.create_version_no, h.delete_version_no, h.delete_serial "
        "from kl.resource_history as h where h.state_name = %(name)s",
        name=backend.name,
    )
    assert found == [(1, 2, 2)]
