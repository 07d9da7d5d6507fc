"""A native writer and an unmodified terraform on one state: each sees the other's lock."""

from typing import Any

import httpx

from tests.acceptance.programs import Served, Terraform


def _ask(served: Served, path: str, **body: Any) -> httpx.Response:  # noqa: ANN401 - any JSON
    return httpx.post(f"{served.url}/v1/state-engine/{path}", json=body, timeout=60)


def _begin(served: Served, state: str) -> str:
    run = _ask(served, "apply-runs/begin", state=state, actor="alice@example.com@kl")
    assert run.status_code == 200, run.text
    apply_id = str(run.json()["id"])
    want = [{"address_glob": "module.database", "mode": "write"}]
    held = _ask(served, "reservations/acquire", state=state, apply_id=apply_id, want=want)
    assert held.status_code == 200, held.text
    return apply_id


def _lock(served: Served, state: str, apply_id: str) -> httpx.Response:
    return _ask(
        served,
        "terraform-lock/acquire",
        state=state,
        apply_id=apply_id,
        scope_summary=["module.database"],
    )


def test_terraform_sees_a_native_lock_and_prints_whose_it_is(
    served: Served, terraform: Terraform, state: str
) -> None:
    terraform.write('resource "terraform_data" "one" {}')
    terraform("init")
    terraform("apply", "-auto-approve")
    apply_id = _begin(served, state)
    terraform("plan")
    assert _lock(served, state, apply_id).status_code == 200
    terraform.write('resource "terraform_data" "two" {}')
    done = terraform.attempt("apply", "-auto-approve", "-no-color")
    assert done.exit_code == 1
    assert "Error acquiring the state lock" in done.err
    # Before 1.15 terraform prints of the holder's LockInfo the ID alone.
    assert f"already locked:\nID=state-engine-{apply_id}" in done.err
    told = httpx.request("LOCK", served.state_url(state), json={"ID": "x"}, timeout=60).json()
    assert (told["Who"], told["Operation"]) == ("alice@example.com@kl", "state engine write")
    assert "module.database" in told["Info"]
    assert terraform.attempt("force-unlock", "-force", f"state-engine-{apply_id}").exit_code == 0
    assert terraform.attempt("apply", "-auto-approve").exit_code == 1, "only the run's end frees it"
    with terraform.running("apply", "-auto-approve", "-lock-timeout=60s") as waiting:
        assert _ask(served, f"apply-runs/{apply_id}/abort", reason="test").status_code == 200
        done = waiting.finish()
        assert done.exit_code == 0, done.out


def test_native_writer_waits_for_terraform(
    served: Served, terraform: Terraform, state: str
) -> None:
    terraform.write('resource "terraform_data" "one" {}')
    terraform("init")
    terraform("apply", "-auto-approve")
    apply_id = _begin(served, state)
    info = {"ID": "plain", "Operation": "OperationTypeApply", "Who": "bob@laptop"}
    assert httpx.request("LOCK", served.state_url(state), json=info, timeout=60).status_code == 200
    refused = _lock(served, state, apply_id)
    assert (refused.status_code, refused.json()["Who"]) == (423, "bob@laptop")
    assert (
        httpx.request("UNLOCK", served.state_url(state), json=info, timeout=60).status_code == 200
    )
    assert _lock(served, state, apply_id).status_code == 200
    shown = served.kl("status", state)
    assert "module.database  write  alice@example.com@kl" in shown
    assert f"state-engine-{apply_id}" in shown
