"""Locks as terraform meets them: contention, waiting, stale locks, interrupted and killed runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.acceptance.conftest import Folders
from tests.acceptance.programs import Running, Served, Terraform, backend
from tests.waiting import wait_for

# Each apply makes "first", says so, and goes on when the file `go` is there.
SLOW = """
resource "terraform_data" "first" {}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "touch started; while [ ! -e go ]; do sleep 0.1; done"
  }
}
"""


def _lock(served: Served, state: str) -> tuple[str, str] | None:
    rows = served.query(
        "select l.lock_id, l.operation from state_locks as l where l.state_name = %s", state
    )
    return rows[0] if rows else None  # type: ignore[return-value]


def _names(served: Served, state: str) -> list[str]:
    return [
        row[0]
        for row in served.query(
            "select r.name from resources as r where r.state_name = %s order by 1", state
        )
    ]


@contextmanager
def _working(terraform: Terraform) -> Iterator[Running]:
    """Run an apply of SLOW that stays in its provisioner; it holds the lock."""
    terraform.write(SLOW)
    terraform("init")
    with terraform.running("apply", "-auto-approve") as run:
        started = terraform.folder / "started"
        wait_for(lambda: started.exists() or run.process.poll() is not None)
        assert run.process.poll() is None, run.finish().out
        yield run


def _go(terraform: Terraform) -> None:
    (terraform.folder / "go").touch()


def test_the_second_one_fails_naming_the_holder_or_waits(
    served: Served, terraform: Terraform, folder: Folders, state: str
) -> None:
    second = folder()
    second.write(backend(served, state), "backend.tf")
    second.write('resource "terraform_data" "second" {}')
    second("init")
    with _working(terraform) as first:
        held = _lock(served, state)
        assert held is not None
        assert held[1] == "OperationTypeApply"

        done = second.attempt("apply", "-auto-approve")
        assert done.exit_code == 1
        assert "Error acquiring the state lock" in done.err
        assert held[0] in done.err
        assert second.attempt("plan").exit_code == 1
        assert second.attempt("plan", "-lock=false").exit_code == 0

        with second.running("apply", "-auto-approve", "-lock-timeout=60s") as waiting:
            _go(terraform)
            assert first.finish().exit_code == 0
            done = waiting.finish()
            assert done.exit_code == 0, done.out
    # The second configuration has none of the first one's resources.
    assert _names(served, state) == ["second"]
    assert served.query(
        "select count(distinct v.lineage), bool_and(v.source = 'apply') from state_versions as v"
        " where v.state_name = %s",
        state,
    ) == [(1, True)]
    assert _lock(served, state) is None


def test_a_conflict_carries_the_holders_whole_lock_info(
    served: Served, terraform: Terraform, state: str
) -> None:
    with _working(terraform) as run:
        answer = httpx.request(
            "LOCK",
            served.state_url(state),
            json={"ID": "mine", "Operation": "x", "Who": "me"},
            timeout=60,
        )
        held = _lock(served, state)
        assert held is not None
        assert answer.status_code == 423
        assert answer.json() | {"ID": held[0], "Operation": held[1]} == answer.json()
        assert {"Info", "Who", "Version", "Created", "Path"} <= answer.json().keys()
        _go(terraform)
        assert run.finish().exit_code == 0


def test_kl_status_shows_who_is_at_work(served: Served, terraform: Terraform, state: str) -> None:
    terraform.write('resource "terraform_data" "zero" {}')
    terraform("init")
    terraform("apply", "-auto-approve")
    with _working(terraform) as run:
        held = _lock(served, state)
        assert held is not None
        [lock] = json.loads(served.kl("status", state, "--format", "json"))["locks"]
        assert (lock["lock_id"], lock["operation"]) == held
        assert lock["age_seconds"] >= 0
        _go(terraform)
        assert run.finish().exit_code == 0


def test_a_killed_run_leaves_a_lock_that_force_unlock_frees(
    served: Served, terraform: Terraform, state: str
) -> None:
    with _working(terraform) as run:
        run.kill()
    held = _lock(served, state)
    assert held is not None
    assert terraform.attempt("apply", "-auto-approve").exit_code == 1

    terraform("force-unlock", "-force", held[0])
    assert _lock(served, state) is None
    assert served.query(
        "select e.detail ->> 'lock_id' from events as e"
        " where e.state_name = %s and e.kind = 'force_unlock'",
        state,
    ) == [(held[0],)]
    _go(terraform)
    terraform("apply", "-auto-approve")
    assert _names(served, state) == ["first", "slow"]


def test_an_interrupted_run_stores_what_it_made(
    served: Served, terraform: Terraform, state: str
) -> None:
    with _working(terraform) as run:
        run.interrupt()
        done = run.finish()
        assert done.exit_code == 1
        assert "Interrupt received" in done.out
    assert _lock(served, state) is None
    assert _names(served, state) == ["first", "slow"]
    assert served.query(
        "select r.name from resources as r where r.state_name = %s and r.tainted", state
    ) == [("slow",)]
    _go(terraform)
    assert "1 destroyed" in terraform("apply", "-auto-approve")


def test_a_run_whose_lock_was_taken_away_cannot_write(
    served: Served, terraform: Terraform, folder: Folders, state: str
) -> None:
    other = folder()
    other.write(backend(served, state), "backend.tf")
    other.write('resource "terraform_data" "other" {}')
    other("init")
    with _working(terraform) as run:
        served.kl("unlock", state)
        other("apply", "-auto-approve")
        _go(terraform)
        done = run.finish()
        assert done.exit_code == 1
        assert "HTTP error: 409" in done.out
    assert _names(served, state) == ["other"]
    # What it could not store is in errored.tfstate, as with every backend.
    assert '"slow"' in (terraform.folder / "errored.tfstate").read_text(encoding="utf-8")


def test_a_state_that_terraform_works_on_is_not_deleted(
    served: Served, terraform: Terraform, state: str
) -> None:
    terraform.write('resource "terraform_data" "zero" {}')
    terraform("init")
    terraform("apply", "-auto-approve")
    with _working(terraform) as run:
        assert httpx.delete(served.state_url(state), timeout=60).status_code == 423
        _go(terraform)
        assert run.finish().exit_code == 0
    assert httpx.delete(served.state_url(state), timeout=60).status_code == 200
    assert httpx.delete(served.state_url(state), timeout=60).status_code == 404
    assert "No state file was found" in terraform.attempt("state", "list").err
    assert served.query("select from states as s where s.state_name = %s", state) == []
