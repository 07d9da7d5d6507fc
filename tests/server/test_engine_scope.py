"""/v1/state-engine over HTTP: capabilities, identity, scope, slice."""

import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.clusters import Cluster
from tests.documents import Json, instance, resource, state
from tests.expansions import (
    FIREWALL,
    GROUP,
    KEY,
    PRIMARY,
    at,
    block,
    example_contract,
    example_request,
    example_state,
)
from tests.service import Backend, running_server
from tests.sql.engine import Run, begin, value
from tests.sql.staging import stage


def _ask(backend: Backend, path: str, **members: Any) -> httpx.Response:  # noqa: ANN401
    body = {"state": backend.name, **members}
    return backend.request("POST", f"/v1/state-engine{path}", json=body)


def _asked(backend: Backend, path: str, **members: Any) -> Json:  # noqa: ANN401
    answer = _ask(backend, path, **members)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def _refused(answer: httpx.Response, status: int, code: str) -> Json:
    assert answer.status_code == status, answer.text
    assert answer.json()["error"] == code
    details: Json = answer.json()["details"]
    return details


@pytest.fixture
def example(backend: Backend) -> Backend:
    """A state as in the protocol's example."""
    assert backend.post(example_state()).status_code == 200
    return backend


def test_each_form_of_identity_is_the_same_state(example: Backend) -> None:
    found = _asked(example, "/state/resolve")
    assert found["state_name"] == example.name
    assert (found["serial"], found["creator"]) == (47, "http_backend")
    forms: list[Json] = [
        {"state": found["state"]},
        {"state_url": f"https://api.invalid/prefix/v1/states/{quote(found['state'])}"},
        {m: found[m] for m in ("workspace_id", "env_public_id", "state_name")},
    ]
    for form in forms:
        answer = example.request("POST", "/v1/state-engine/state/resolve", json=form)
        assert answer.json() == found


def test_resolving_never_creates(backend: Backend) -> None:
    _refused(_ask(backend, "/state/resolve"), 404, "state_not_found")
    _refused(_ask(backend, "/scope/expand"), 404, "state_not_found")
    _refused(_ask(backend, "/state/slice"), 404, "state_not_found")
    assert backend.kept() == 0


def test_the_example_exchange(example: Backend) -> None:
    scope = _asked(example, "/scope/expand", **example_request())
    assert scope["scope_contract"] == example_contract()
    assert scope["state"] == _asked(example, "/state/resolve")["state"]
    found = _asked(
        example,
        "/state/slice",
        addresses=scope["scope_contract"]["fetch_addresses"],
        base_serial=scope["serial"],
    )
    assert found["serial"] == 47
    resources = {r["address"]: r for r in found["slice"]["resources"]}
    assert resources[PRIMARY]["attributes_json"] == {"id": "primary"}
    assert found["slice"]["outputs"] == []


def test_unsafe_answers_200_unless_asked_for_safety(backend: Backend) -> None:
    backend.post(state(1, block("aws_x.a", needs=["aws_x.gone"])))
    found = _asked(backend, "/scope/expand", selectors=[at("aws_x.a")])
    assert found["confidence"] == found["scope_contract"]["confidence"] == "unsafe"
    answer = _ask(backend, "/scope/expand", selectors=[at("aws_x.a")], require_safe=True)
    details = _refused(answer, 422, "unsafe_scope_closure")
    assert details["missing"] == ["aws_x.gone"]


def test_a_slice_says_what_is_missing_and_what_changed(example: Backend) -> None:
    details = _refused(
        _ask(example, "/state/slice", addresses=[KEY, GROUP]), 422, "slice_incomplete"
    )
    assert details["missing"] == [GROUP]
    changed = example_state(48)
    changed["resources"][0] = block(KEY, needs=["aws_x.y"])
    example.post(changed)
    details = _refused(
        _ask(example, "/state/slice", addresses=[KEY], base_serial=47),
        409,
        "state_serial_conflict",
    )
    assert (details["addresses"], details["current_serial"]) == ([KEY], 48)
    assert _asked(example, "/state/slice", addresses=[PRIMARY], base_serial=47)["serial"] == 48


def test_numbers_and_odd_text_pass_unchanged(backend: Backend) -> None:
    odd = '{"n": 1.50000000000000000000000000001, "big": 1e400, "nul": "a\\u0000b", "s": "\\ud800"}'
    document = state(1, resource("a", instance({"odd": "PLACE"})))
    body = backend.server.client.build_request("POST", "/", json=document).content
    assert backend.post(body.replace(b'"PLACE"', odd.encode())).status_code == 200
    for form in (None, "terraform-state"):
        answer = _ask(backend, "/state/slice", addresses=["terraform_data.a"], format=form)
        assert odd.replace(" ", "") in answer.text.replace(" ", "")


@pytest.mark.parametrize(
    ("path", "members", "pointer"),
    [
        ("/scope/expand", {"selectors": "x"}, "/selectors"),
        ("/scope/expand", {"selectors": [{"kind": "module_prefix"}]}, "/selectors/0/value"),
        ("/scope/expand", {"selectors": [{"kind": "x", "value": "y"}]}, "/selectors/0"),
        ("/scope/expand", {"selectors": [at("aws_x.\0")]}, "/selectors/0/value"),
        (
            "/scope/expand",
            {"client_context": {"config_nodes": [{"address": "a.b", "dependencies": [1]}]}},
            "/client_context/config_nodes/0/dependencies/0",
        ),
        ("/scope/expand", {"require_safe": "no"}, "/require_safe"),
        ("/state/slice", {"addresses": [None]}, "/addresses/0"),
        ("/state/slice", {"base_serial": "47"}, "/base_serial"),
        ("/state/slice", {"version_id": "x"}, "/version_id"),
        ("/state/slice", {"format": "x"}, "/format"),
    ],
)
def test_wrong_types_are_pointed_at(
    example: Backend, path: str, members: Json, pointer: str
) -> None:
    details = _refused(_ask(example, path, **members), 400, "invalid_request")
    assert details["pointer"] == pointer


def test_unknown_members_and_nulls_are_no_error(example: Backend) -> None:
    _asked(example, "/scope/expand", selectors=None, client_context={"x": 1}, y=2)
    _asked(example, "/state/slice", addresses=None, outputs=None, base_serial=None, z=[])


def test_a_version_id_is_a_base(example: Backend) -> None:
    version = _asked(example, "/state/resolve")["version_id"]
    assert _asked(example, "/state/slice", addresses=[KEY], version_id=version)["serial"] == 47
    _refused(
        _ask(example, "/state/slice", addresses=[KEY], version_id=str(uuid.uuid4())),
        404,
        "version_not_found",
    )


Exercise = Callable[[Backend], object]


def _begin(backend: Backend) -> Run:
    return begin(backend.server.kl_server, backend.name)


def _apply_runs(backend: Backend) -> None:
    assert _begin(backend).abort()["status"] == "aborted"
    run = _begin(backend)
    assert run.status()["status"] == "running"
    assert run.finish("failed")["status"] == "failed"


def _reservations(backend: Backend) -> None:
    run = _begin(backend)
    assert run.acquire("aws_x.capability")
    assert run.renew()
    assert run.release() == 1


def _lock(backend: Backend) -> None:
    run = _begin(backend)
    run.acquire("aws_x.capability")
    assert run.lock() == run.unlock()
    run.abort()


def _slice(backend: Backend, form: str | None = None) -> None:
    assert _asked(backend, "/state/slice", addresses=[KEY], format=form)


def _delta(backend: Backend) -> None:
    run = _begin(backend)
    run.acquire(KEY)
    run.lock()
    delta = {"write_set": [KEY], "resources": [block(KEY, needs=["aws_x.y"])]}
    query = "select committed_serial from kl.commit_delta(%s, %s, null, %s, %s)"
    base = _asked(backend, "/state/resolve")
    values = (backend.name, run.id, base["version_id"], json.dumps(delta))
    assert value(run.conn, query, *values) == base["serial"] + 1
    run.finish()


def _snapshot(backend: Backend) -> None:
    run = _begin(backend)
    run.acquire("*")
    run.lock()
    base = _asked(backend, "/state/resolve")
    upload = stage(run.conn, example_state(base["serial"] + 1))
    query = "select outcome from kl.commit_snapshot(%s, %s, null, %s, %s, %s, %s)"
    values = (backend.name, run.id, base["version_id"], upload.id, upload.objects, upload.digest)
    assert value(run.conn, query, *values) == "written"
    run.finish()


def _operation(query: str) -> Exercise:
    def operate(backend: Backend) -> None:
        conn = backend.server.kl_server
        assert value(conn, f"select preview from kl.{query}", backend.name)

    return operate


EXERCISES: Mapping[str, Exercise] = {
    "slice_fetch": _slice,
    "slice_as_terraform_state": lambda backend: _slice(backend, "terraform-state"),
    "backend_closure_expansion": lambda backend: _asked(backend, "/scope/expand"),
    "apply_runs": _apply_runs,
    "resource_reservations": _reservations,
    "terraform_visible_native_lock": _lock,
    "delta_commit": _delta,
    "snapshot_commit": _snapshot,
    "native_state_rm": _operation(f"remove_resources(%s, array['{FIREWALL}'], false, 'ann')"),
    "native_state_mv": _operation(
        f"""move_resources(%s, '[{{"address": "{KEY}", "to": "aws_kms_key.other"}}]', null, """
        "false, 'ann')"
    ),
    "native_resource_rollback": _operation(f"rollback_resource(%s, '{KEY}', '@0', false, 'ann')"),
}


def test_no_capability_is_claimed_that_nothing_exercises(example: Backend) -> None:
    answer = example.request("GET", "/v1/state-engine/capabilities").json()
    assert (answer["protocol"], answer["version"]) == ("state-engine", "v1")
    claimed = {name for name, there in answer["capabilities"].items() if there}
    assert {"slice_fetch", "backend_closure_expansion"} <= claimed
    assert claimed <= set(EXERCISES)
    for name in sorted(claimed):
        EXERCISES[name](example)


def test_capabilities_are_the_callers(newest_cluster: Cluster) -> None:
    with newest_cluster.clone() as database:
        with database.connect("postgres") as owner:
            row = owner.execute(
                "select token from kl.create_token(p_name => 'reader', p_scopes => '{state:read}', "
                "p_environment => null, p_state_prefix => null, p_lifetime => null)"
            ).fetchone()
        assert row is not None
        with running_server(database, KL_AUTH="database") as server:
            path = "/v1/state-engine/capabilities"
            assert server.client.get(path).status_code == 401
            bearer = {"Authorization": f"Bearer {row[0]}"}
            found = server.client.get(path, headers=bearer).json()["capabilities"]
            assert found["slice_fetch"]
            assert not found["delta_commit"]
            assert not found["resource_reservations"]
