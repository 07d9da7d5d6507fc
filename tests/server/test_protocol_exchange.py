"""The example exchange of the protocol from its first request to its last, verbatim in shape.

The state, its ids and serials are this one's; all else is as the protocol has it.
"""

from typing import Any

import pytest

from tests.documents import LINEAGE, Json, lock_info
from tests.expansions import AWS, FIREWALL, KEY, PRIMARY, example_request, example_state
from tests.service import Backend

ALICE = "alice@example.com@kl"
CAPABILITIES = {
    "slice_fetch",
    "backend_closure_expansion",
    "resource_reservations",
    "terraform_visible_native_lock",
    "delta_commit",
    "native_state_rm",
    "native_state_mv",
    "native_resource_rollback",
}
EXPANDED = {
    "state",
    "contract_source",
    "scope_contract",
    "fetch_addresses",
    "realized_write_closure",
    "realized_read_closure",
    "missing_from_state",
    "undeployed_candidates",
    "unknown_missing_from_state",
    "reservation_candidates",
    "confidence",
    "notes",
}
CONTRACT = {
    "fetch_addresses",
    "write_addresses",
    "read_addresses",
    "config_required_nodes",
    "removed_config_nodes",
    "missing_from_state",
    "undeployed_candidates",
    "unknown_missing_from_state",
    "reservation_candidates",
    "confidence",
    "notes",
}
OBJECT = {
    "address",
    "provider",
    "schema_version",
    "attributes_json",
    "attributes_hash",
    "resource_version",
}
BLOCK: Json = {
    "mode": "managed",
    "type": "aws_db_instance",
    "name": "primary",
    "provider": AWS,
    "module": "module.database",
    "instances": [
        {
            "schema_version": 1,
            "attributes": {"identifier": "prod-db-v2"},
            "sensitive_attributes": [],
        }
    ],
}


@pytest.fixture
def example(backend: Backend) -> Backend:
    """A state as in the protocol's example."""
    assert backend.post(example_state()).status_code == 200
    return backend


def _asked(example: Backend, path: str, **members: Any) -> Json:  # noqa: ANN401 - any JSON
    answer = example.request("POST", f"/v1/state-engine/{path}", json=members)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_the_whole_exchange(example: Backend) -> None:
    url = f"https://api.example.com/v1/states/{example.name}"
    resolved = _asked(example, "state/resolve", state_url=url)
    assert resolved.keys() >= {"state_id", "workspace_id", "env_public_id", "lineage"}
    assert (resolved["serial"], resolved["creator"]) == (47, "http_backend")
    state = resolved["state"]
    parts = (resolved["workspace_id"], resolved["env_public_id"], resolved["state_name"])
    assert state == "/".join(parts)

    can = example.request("GET", "/v1/state-engine/capabilities").json()
    assert (can["protocol"], can["version"]) == ("state-engine", "v1")
    assert all(can["capabilities"][name] is True for name in CAPABILITIES)

    expanded = _asked(example, "scope/expand", state=state, **example_request())
    assert expanded.keys() >= EXPANDED
    contract = expanded["scope_contract"]
    assert contract.keys() >= CONTRACT
    assert (expanded["state"], expanded["confidence"]) == (state, "safe")

    addresses = contract["fetch_addresses"]
    fetched = _asked(example, "state/slice", state=state, addresses=addresses, base_serial=47)
    assert fetched.keys() >= {"state", "state_id", "lineage", "serial", "slice"}
    held = fetched["slice"]["resources"]
    assert {o["address"] for o in held} == {PRIMARY, KEY, FIREWALL}
    assert all(o.keys() >= OBJECT for o in held)
    assert {o["provider"] for o in held} == {"registry.terraform.io/hashicorp/aws"}
    assert fetched["slice"]["metadata"] == {"terraform_version": "1.11.4"}

    run = _asked(
        example,
        "apply-runs/begin",
        state=state,
        actor=ALICE,
        source_serial=47,
        info={"mode": "state-engine"},
    )
    assert run.keys() >= {"id", "state_id", "from_version_id"}
    assert (run["actor"], run["status"], run["source_serial"]) == (ALICE, "running", 47)
    mine = {"state": state, "apply_id": run["id"]}
    want = contract["reservation_candidates"]
    asked = {"holder": ALICE, "lease_seconds": 900, "want": want}
    assert _asked(example, "reservations/acquire", **mine, **asked)["ok"] is True
    locked = _asked(
        example, "terraform-lock/acquire", **mine, holder=ALICE, scope_summary=[PRIMARY]
    )
    assert locked == {"ok": True, "lock_id": f"state-engine-{run['id']}"}
    plain = example.lock(lock_info("plain"))
    assert (plain.status_code, plain.json()["ID"]) == (423, locked["lock_id"])

    delta = {
        "terraform_version": "1.13.4",
        "lineage": LINEAGE,
        "output_writes": {},
        "output_delete_set": [],
        "check_results": None,
        "write_set": [PRIMARY],
        "resources": [BLOCK],
    }
    commit = {**mine, "base_serial": 47, "mode": "delta", "delta": delta}
    done = _asked(example, "state/commit", **commit)
    assert done.keys() >= {"ok", "committed_serial", "new_version_id", "commit_mode"}
    assert (done["ok"], done["committed_serial"], done["commit_mode"]) == (True, 48, "delta")
    assert _asked(example, "state/commit", **commit) == done, "as before"

    stale = delta | {"resources": [BLOCK | {"instances": [{"attributes": {"identifier": "x"}}]}]}
    other = commit | {"base_serial": 46, "delta": stale}
    refused = example.request("POST", "/v1/state-engine/state/commit", json=other)
    assert refused.status_code == 409
    assert (refused.json()["error"], refused.json()["current_serial"]) == (
        "state_serial_conflict", 48,
    )  # fmt: skip

    status = example.request("GET", f"/v1/state-engine/apply-runs/{run['id']}/status").json()
    assert status["status"] == "running"
    ended = _asked(
        example,
        f"apply-runs/{run['id']}/finish",
        status="committed",
        committed_serial=48,
        resources_planned=1,
        resources_applied=1,
    )
    assert (ended["status"], ended["committed_serial"]) == ("committed", 48)
    assert _asked(example, "reservations/release", apply_id=run["id"])["ok"] is True
    assert _asked(example, "terraform-lock/release", apply_id=run["id"])["ok"] is True

    document = example.get().json()
    found = {r["name"]: r["instances"] for r in document["resources"]}
    assert found["primary"] == BLOCK["instances"]
    assert (found["main"][0]["attributes"], found["db"][0]["attributes"]) == (
        {"id": "main"}, {"id": "db"},
    )  # fmt: skip
    assert (document["serial"], document["terraform_version"]) == (48, "1.13.4")
    assert example.lock(lock_info("plain")).status_code == 200
