"""Commits and operations over HTTP, in the shapes of the protocol."""

import json
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.documents import LINEAGE, Json, instance, resource, state
from tests.equality import canonical
from tests.service import Backend, Server

A, B = "terraform_data.a", "terraform_data.b"
CHANGED = resource("a", instance({"id": "new"}))


@dataclass(frozen=True)
class Writer:
    """An apply run with its reservations and its lock."""

    backend: Backend
    id: str

    def commit(self, base: int = 1, **members: Any) -> httpx.Response:  # noqa: ANN401
        """Commit."""
        body = {"state": self.backend.name, "apply_id": self.id, "base_serial": base} | members
        return ask(self.backend, "state/commit", **body)


def ask(backend: Backend, path: str, **body: Any) -> httpx.Response:  # noqa: ANN401 - any JSON
    return backend.request("POST", f"/v1/state-engine/{path}", json=body)


def delta(*resources: Json, **members: Any) -> Json:  # noqa: ANN401 - any JSON
    names = [f"{r['type']}.{r['name']}" for r in resources]
    return {"lineage": LINEAGE, "write_set": names, "resources": list(resources)} | members


def writer(backend: Backend, *globs: str) -> Writer:
    """Begin, reserve and lock."""
    server: Server = backend.server
    name = backend.name
    [(apply_id,)] = server.as_kl_server(
        "select id from kl.begin_apply_run(%(name)s, 'ann@kl', null, '{}')", name=name
    )
    server.as_kl_server(
        "select * from kl.acquire_reservations(%(name)s, %(id)s, 'ann@kl', '15 minutes', "
        "%(want)s::jsonb, '{}')",
        name=name,
        id=apply_id,
        want=json.dumps([{"address_glob": glob, "mode": "write"} for glob in globs]),
    )
    server.as_kl_server(
        "select kl.acquire_native_lock(%(name)s, %(id)s, 'ann@kl', '{}')", name=name, id=apply_id
    )
    return Writer(backend, str(apply_id))


@pytest.fixture
def written(backend: Backend) -> Backend:
    """A state of two resources."""
    assert backend.post(state(1, resource("a"), resource("b"))).status_code == 200
    return backend


def test_a_delta_answers_as_the_protocol_says(written: Backend) -> None:
    answer = writer(written, A).commit(mode="delta", delta=delta(CHANGED, check_results=None))
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["ok"] is True
    assert (found["committed_serial"], found["commit_mode"]) == (2, "delta")
    assert len(found["new_version_id"]) == 36
    expected = state(2, CHANGED, resource("b"))
    assert canonical(written.get().content) == canonical(json.dumps(expected))


def test_every_digit_and_escape_gets_through(written: Backend) -> None:
    attributes = (
        r'{"z":1.50,"a":"\u0000\ud800\\ud800","big":123456789012345678901234567890,"e":1e400,'
        r'"pair":"\ud83d\ude00"}'
    )
    block = json.dumps(CHANGED).replace('{"id": "new"}', attributes)
    run = writer(written, A)
    body = (
        f'{{"state":"{written.name}","apply_id":"{run.id}","base_serial":1,"delta":{{"lineage":'
        f'"{LINEAGE}","write_set":["{A}"],"resources":[{block}]}}}}'
    )
    answer = written.request("POST", "/v1/state-engine/state/commit", content=body)
    assert answer.status_code == 200, answer.text
    assert attributes in written.get().text


@pytest.mark.parametrize("as_text", [True, False])
def test_a_snapshot_is_a_document_or_a_text_that_holds_one(written: Backend, as_text: bool) -> None:
    document = state(2, CHANGED, resource("b"))
    raw = json.dumps(document) if as_text else document
    answer = writer(written, A).commit(mode="snapshot", raw_state=raw, write_set=[A])
    assert answer.status_code == 200, answer.text
    assert (answer.json()["committed_serial"], answer.json()["commit_mode"]) == (2, "snapshot")
    assert canonical(written.get().content) == canonical(json.dumps(document))


@pytest.mark.parametrize("as_text", [True, False])
def test_the_older_form_of_a_delta(written: Backend, as_text: bool) -> None:
    document = state(9, CHANGED, resource("b", instance({"id": "untrusted"})))
    raw = json.dumps(document) if as_text else document
    answer = writer(written, A).commit(mode="delta", raw_state=raw, write_set=[A])
    assert answer.status_code == 200, answer.text
    expected = state(2, CHANGED, resource("b"))
    assert canonical(written.get().content) == canonical(json.dumps(expected))


def test_a_repeated_request_is_answered_as_before(written: Backend) -> None:
    run = writer(written, A)
    first = run.commit(delta=delta(CHANGED))
    assert run.commit(delta=delta(CHANGED)).json() == first.json()
    document = state(3, resource("a"), resource("b"))
    first = run.commit(2, mode="snapshot", raw_state=document)
    assert run.commit(2, mode="snapshot", raw_state=document).json() == first.json()
    assert written.versions() == 3


def test_conflicts_tell_what_a_client_needs(written: Backend) -> None:
    run = writer(written, A)
    run.commit(delta=delta(CHANGED))
    outside = run.commit(2, delta=delta(resource("b")))
    assert (outside.status_code, outside.json()["error"]) == (409, "reservation_lost")
    assert outside.json()["details"]["addresses"] == [B]
    writer(written, B)
    taken = run.commit(2, delta=delta(resource("b")))
    assert (taken.status_code, taken.json()["error"]) == (409, "reservation_conflict")
    assert taken.json()["conflicts"][0]["address_glob"] == B
    unknown = run.commit(9, delta=delta(CHANGED))
    assert (unknown.status_code, unknown.json()["error"]) == (409, "state_serial_conflict")
    assert unknown.json()["current_serial"] == 2


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({}, "/delta"),
        ({"delta": None}, "/delta"),
        ({"delta": []}, "/delta"),
        ({"delta": {"write_set": [1]}}, "/delta/write_set/0"),
        ({"mode": "snapshot"}, "/raw_state"),
        ({"mode": "snapshot", "raw_state": 1}, "/raw_state"),
        ({"mode": "snapshot", "raw_state": []}, "/raw_state"),
        ({"mode": "snapshot", "raw_state": "{"}, "/raw_state"),
        ({"mode": "snapshot", "raw_state": "[]"}, "/raw_state"),
        ({"mode": "snapshot", "raw_state": state(2) | {"version": 3}}, "/raw_state"),
        ({"mode": "snapshot", "raw_state": state(2) | {"resources": 1}}, "/raw_state"),
        ({"mode": "snapshot", "raw_state": state(2, resource("a", 1))}, "/raw_state"),
        ({"mode": "snapshot", "raw_state": state(2), "base_serial": None}, "/base_serial"),
        ({"mode": "other", "delta": {}}, "/mode"),
        ({"raw_state": "{", "write_set": [A]}, "/raw_state"),
        ({"raw_state": "[]", "write_set": [A]}, "/raw_state"),
        ({"raw_state": {"resources": 1}, "write_set": [A]}, "/raw_state/resources"),
        ({"raw_state": {}, "write_set": "x"}, "/write_set"),
        ({"raw_state": state(2, CHANGED)}, "/write_set"),
        (
            {"raw_state": state(2, resource("a", provider=5)), "write_set": [A]},
            "/raw_state/resources/0/provider",
        ),
        ({"delta": delta(CHANGED, resource("b", type=1))}, "/delta/resources/1/type"),
        ({"delta": delta(resource("a", 5))}, "/delta/resources/0/instances/0"),
        (
            {"delta": delta(resource("a", instance(private="?", schema_version="1")))},
            "/delta/resources/0/instances/0/schema_version",
        ),
        ({"delta": delta(resource("a", instance(private="?")))}, "/delta/resources"),
        ({"delta": delta(check_results=[1])}, "/delta/check_results"),
        ({"delta": delta(terraform_version="x")}, "/delta/terraform_version"),
        (
            {"delta": delta(output_writes={"o": {"value": 1}}, output_delete_set=["o"])},
            "/delta/output_delete_set",
        ),
        ({"base_serial": -1, "delta": {}}, "/base_serial"),
        ({"base_serial": "1", "delta": {}}, "/base_serial"),
        ({"version_id": "x", "delta": {}}, "/version_id"),
        ({"apply_id": "x", "delta": {}}, "/apply_id"),
    ],
)
def test_what_is_wrong_is_named_by_its_pointer(
    written: Backend, members: Json, pointer: str
) -> None:
    answer = writer(written, A).commit(**members)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request"), answer.text
    assert answer.json()["details"]["pointer"] == pointer


def test_operations_answer_preview_serial_and_version(written: Backend) -> None:
    name = written.name
    asked = {"state": name, "address": A, "to": "terraform_data.z"}
    seen = ask(written, "resource-move/preview", **asked).json()
    assert seen["committed_serial"] is None
    moved = ask(written, "resource-move/apply", **asked).json()
    assert moved["preview"] == seen["preview"]
    assert moved["committed_serial"] == 2
    moves = [{"address": "terraform_data.z", "to": A}]
    assert ask(written, "resource-move/apply", state=name, moves=moves).json()[
        "committed_serial"
    ] == 3  # fmt: skip
    for form in ({"address": A}, {"addresses": [B]}):
        seen = ask(written, "resource-remove/preview", state=name, **form).json()
        removed = ask(written, "resource-remove/apply", state=name, **form).json()
        assert removed["preview"] == seen["preview"]
        assert removed["preview"]["touches_cloud_objects"] is False
    back = {"state": name, "address": A, "to": "v1"}
    seen = ask(written, "resource-rollback/preview", **back).json()
    restored = ask(written, "resource-rollback/apply", **back).json()
    assert restored["preview"] == seen["preview"]
    assert (restored["preview"]["action"], restored["committed_serial"]) == ("restore", 6)
    assert len(restored["new_version_id"]) == 36


@pytest.mark.parametrize(
    ("path", "members", "status", "code"),
    [
        ("resource-remove/apply", {}, 400, "invalid_request"),
        ("resource-remove/apply", {"address": A, "addresses": [A]}, 400, "invalid_request"),
        ("resource-remove/apply", {"addresses": []}, 400, "invalid_request"),
        ("resource-remove/apply", {"address": "terraform_data.none"}, 404, "address_not_found"),
        ("resource-remove/apply", {"address": "a\u0000.b"}, 400, "invalid_request"),
        ("resource-move/apply", {"address": A}, 400, "invalid_request"),
        ("resource-move/apply", {"address": A, "to": B}, 400, "invalid_request"),
        ("resource-move/apply", {"moves": [{"address": A}]}, 400, "invalid_request"),
        ("resource-move/apply", {"address": A, "to": A, "moves": []}, 400, "invalid_request"),
        ("resource-move/apply", {"address": A, "to": A, "to_state": "no"}, 404, "state_not_found"),
        ("resource-move/apply", {"address": "a\u0000.b", "to": A}, 400, "invalid_request"),
        ("resource-rollback/apply", {"address": A}, 400, "invalid_request"),
        ("resource-rollback/apply", {"address": A, "to": "@9"}, 404, "version_not_found"),
    ],
)
def test_operations_that_cannot_be_are_refused(
    written: Backend, path: str, members: Json, status: int, code: str
) -> None:
    for step in (path, path.replace("apply", "preview")):
        answer = ask(written, step, state=written.name, **members)
        assert (answer.status_code, answer.json()["error"]) == (status, code), answer.text
    assert written.versions() == 1


@pytest.mark.parametrize(
    ("path", "members", "pointer"),
    [
        ("resource-remove/apply", {"address": "x"}, "/address"),
        ("resource-remove/apply", {"addresses": [A, "x"]}, "/addresses/1"),
        ("resource-move/apply", {"address": "x", "to": A}, "/address"),
        ("resource-move/apply", {"address": A, "to": "x"}, "/to"),
        ("resource-move/apply", {"moves": [{"address": A, "to": "x"}]}, "/moves/0/to"),
        ("resource-rollback/apply", {"address": "x", "to": "@0"}, "/address"),
    ],
)
def test_an_address_that_is_none_is_pointed_at_in_the_form_that_came(
    written: Backend, path: str, members: Json, pointer: str
) -> None:
    answer = ask(written, path, state=written.name, **members)
    assert (answer.status_code, answer.json()["details"]["pointer"]) == (400, pointer), answer.text
