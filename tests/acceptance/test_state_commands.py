"""terraform state push, pull, mv, rm, replace-provider, and migration from a local file."""

import json
from typing import Any

import pytest

from tests.acceptance.conftest import Folders
from tests.acceptance.programs import Served, Terraform, backend

TWO = """
resource "terraform_data" "one" { input = 1 }
resource "terraform_data" "two" {
  for_each = toset(["a", "b"])
  input    = terraform_data.one.id
}
"""


def _apply(terraform: Terraform) -> None:
    terraform.write(TWO)
    terraform("init")
    terraform("apply", "-auto-approve")


def _addresses(served: Served, state: str) -> list[str]:
    rows = served.query(
        "select r.address from resources as r where r.state_name = %s order by 1", state
    )
    return [row[0] for row in rows]


def _serials(served: Served, state: str) -> list[tuple[int, str | None]]:
    return served.query(
        "select v.serial::int, v.operation from state_versions as v where v.state_name = %s"
        " order by v.version_no",
        state,
    )  # type: ignore[return-value]


def _events(served: Served, state: str, kind: str) -> list[dict[str, Any]]:
    rows = served.query(
        "select e.detail from events as e where e.state_name = %s and e.kind = %s"
        " order by e.event_id",
        state,
        kind,
    )
    return [row[0] for row in rows]


def _edited(terraform: Terraform, **members: object) -> str:
    """Write what `state pull` gives with members replaced; return the file's name."""
    document = json.loads(terraform("state", "pull")) | members
    (terraform.folder / "edited.json").write_text(json.dumps(document), encoding="utf-8")
    return "edited.json"


def test_mv_and_rm_move_and_close_rows(served: Served, terraform: Terraform, state: str) -> None:
    _apply(terraform)
    terraform("state", "mv", 'terraform_data.two["a"]', 'terraform_data.two["x.y/z"]')
    assert _addresses(served, state) == [
        "terraform_data.one",
        'terraform_data.two["b"]',
        'terraform_data.two["x.y/z"]',
    ]
    terraform("state", "rm", 'terraform_data.two["x.y/z"]')
    assert _addresses(served, state) == ["terraform_data.one", 'terraform_data.two["b"]']
    assert sorted(terraform("state", "list").splitlines()) == _addresses(served, state)
    assert [operation for _, operation in _serials(served, state)] == [
        "OperationTypeApply",
        "state-mv",
        "state-rm",
    ]
    assert served.query(
        "select h.address, h.create_version_no, h.delete_version_no from resource_history as h"
        " where h.state_name = %s and h.name = 'two' order by 1, 2",
        state,
    ) == [
        ('terraform_data.two["a"]', 1, 2),
        ('terraform_data.two["b"]', 1, None),
        ('terraform_data.two["x.y/z"]', 2, 3),
    ]


def test_replace_provider_changes_headers_only_and_is_stored(
    served: Served, terraform: Terraform, state: str
) -> None:
    _apply(terraform)
    terraform(
        "state",
        "replace-provider",
        "-auto-approve",
        "terraform.io/builtin/terraform",
        "registry.terraform.io/acme/widget",
    )
    assert served.query(
        "select distinct r.provider, r.create_version_no from resources as r"
        " where r.state_name = %s",
        state,
    ) == [('provider["registry.terraform.io/acme/widget"]', 2)]


def test_push_of_what_was_pulled_is_no_version(
    served: Served, terraform: Terraform, state: str
) -> None:
    _apply(terraform)
    pushed = _edited(terraform)
    terraform("state", "push", pushed)
    assert len(_serials(served, state)) == 1
    assert _events(served, state, "forced_write") == []


def test_push_without_force_is_the_clients_to_refuse(
    served: Served, terraform: Terraform, state: str
) -> None:
    _apply(terraform)
    done = terraform.attempt("state", "push", _edited(terraform, serial=0))
    assert done.exit_code == 1
    assert "serial" in done.err
    done = terraform.attempt("state", "push", _edited(terraform, lineage="another"))
    assert done.exit_code == 1
    assert "lineage" in done.err
    assert len(_serials(served, state)) == 1


def test_forced_push_may_lower_the_serial_and_history_holds(
    served: Served, terraform: Terraform, state: str
) -> None:
    _apply(terraform)
    terraform("state", "push", _edited(terraform, serial=40, outputs={}))
    lower = _edited(terraform, serial=5, resources=[])
    terraform("state", "push", "-force", lower)
    other = _edited(terraform, lineage="another lineage", serial=6)
    terraform("state", "push", "-force", other)
    assert _serials(served, state) == [
        (1, "OperationTypeApply"),
        (41, "state-push"),
        (6, "state-push"),
        (7, "state-push"),
    ]
    events = _events(served, state, "forced_write")
    assert [(e["previous_serial"], e["serial"]) for e in events] == [(41, 6), (6, 7)]
    assert events[1]["lineage"] == "another lineage"
    assert json.loads(terraform("state", "pull"))["serial"] == 7
    assert (
        served.query(
            "select h.create_serial::int, h.delete_serial::int from resource_history as h"
            " where h.state_name = %s",
            state,
        )
        == [(1, 6)] * 3
    )
    for reference in ("v1", "v2"):
        assert len(json.loads(served.kl("export", state, "--version", reference))["resources"]) == 2
    assert json.loads(served.kl("export", state, "--version", "v3"))["resources"] == []


@pytest.mark.parametrize("exists", [False, True], ids=["new", "existing"])
def test_migration_from_a_local_file(
    served: Served, folder: Folders, state: str, *, exists: bool
) -> None:
    if exists:
        other = folder()
        other.write(backend(served, state), "backend.tf")
        other.write('resource "terraform_data" "other" {}')
        other("init")
        other("apply", "-auto-approve")
    terraform = folder()
    _apply(terraform)
    document = json.loads((terraform.folder / "terraform.tfstate").read_text(encoding="utf-8"))

    terraform.write(backend(served, state), "backend.tf")
    terraform("init", "-migrate-state", "-force-copy")
    pulled = json.loads(terraform("state", "pull"))
    assert pulled["resources"] == document["resources"]
    assert (pulled["lineage"] == document["lineage"]) is exists
    assert _serials(served, state)[-1][1] == "migration destination state"
    assert len(_events(served, state, "forced_write")) == int(exists)
    assert "No changes" in terraform("plan")
    assert served.query("select from state_locks as l where l.state_name = %s", state) == []


def test_migration_from_one_state_to_another(
    served: Served, terraform: Terraform, state: str
) -> None:
    _apply(terraform)
    before = json.loads(terraform("state", "pull"))
    terraform.write(backend(served, f"{state}-b"), "backend.tf")
    terraform("init", "-migrate-state", "-force-copy")
    after = json.loads(terraform("state", "pull"))
    assert after["resources"] == before["resources"]
    assert _addresses(served, state) == _addresses(served, f"{state}-b")


def test_kl_export_pushes_back(served: Served, terraform: Terraform, state: str) -> None:
    _apply(terraform)
    first = served.kl("export", state)
    terraform("apply", "-auto-approve", "-destroy")
    (terraform.folder / "first.json").write_text(first, encoding="utf-8")
    terraform("state", "push", "-force", "first.json")
    assert "No changes" in terraform("plan")
    assert len(_addresses(served, state)) == 3


def test_another_order_of_keys_is_taken_over_and_changes_nothing(
    served: Served, terraform: Terraform, state: str
) -> None:
    _apply(terraform)
    document = json.loads(terraform("state", "pull"))
    for resource in document["resources"]:
        for instance in resource["instances"]:
            instance["attributes"] = dict(reversed(instance["attributes"].items()))
    (terraform.folder / "turned.json").write_text(
        json.dumps(document | {"serial": 2}), encoding="utf-8"
    )
    terraform("state", "push", "turned.json")
    turned = json.loads(terraform("state", "pull"))
    assert [
        list(instance["attributes"])
        for resource in turned["resources"]
        for instance in resource["instances"]
    ] == [["triggers_replace", "output", "input", "id"]] * 3

    # Terraform writes its own order back, once.
    terraform("apply", "-auto-approve")
    terraform("apply", "-auto-approve")
    assert len(_serials(served, state)) == 3
    assert served.query(
        "select distinct r.create_version_no from resources as r where r.state_name = %s", state
    ) == [(1,)]
