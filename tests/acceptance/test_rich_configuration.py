"""Modules, count, hostile for_each keys, sensitive values, checks: SQL says what terraform says."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tests.acceptance.programs import Served, Terraform

MAIN = r"""
variable "secret" {
  default   = "hunter2"
  sensitive = true
}

locals {
  keys = toset([
    "plain", "a.b", "q\"uote", "back\\slash", "[0]", "x\"] , y[\"", "d$${x}", "p%%{x}", "$${lit}",
    "nl\nnl", "tab\tx", "with space", "a/b/c", "*", "</script>&", "ünïcødé", "e\u0301", "😀",
    "\u2028ls", "\u00a0", "👩\u200d", "$x", "'", "#", ";--", "module.m",
  ])
}

resource "terraform_data" "k" {
  for_each = local.keys
  input    = { key = each.key, value = length(each.key), type = "string" }
}

resource "terraform_data" "numbers" {
  count = 3
  input = [count.index, 12345678901234567890123, 0.1, 1.5e-7, -0.5, null, true, "1", {}, []]
}

resource "terraform_data" "secret" {
  input            = var.secret
  triggers_replace = [terraform_data.numbers[1].id]
}

module "level" {
  source   = "./level"
  for_each = { for key in ["x.y", "q\"", "$${z}"] : key => length(key) }
  word     = each.key
  depends_on = [terraform_data.secret]
}

module "counted" {
  source = "./level"
  count  = 2
  word   = tostring(count.index)
}

check "passes" {
  assert {
    condition     = length(terraform_data.numbers) == 3
    error_message = "three numbers"
  }
}

check "fails" {
  assert {
    condition     = length(terraform_data.numbers) == 4
    error_message = "four \"numbers\""
  }
}

output "secret" {
  value     = var.secret
  sensitive = true
}
output "all" {
  value = {
    text   = "a<b>&\u2028"
    number = 12345678901234567890.5
    list   = [1, "two", null]
    keys   = local.keys
  }
}
output "nothing" { value = null }
"""
LEVEL = """
variable "word" {}
resource "terraform_data" "parent" { input = var.word }
module "below" {
  source = "./below"
  word   = terraform_data.parent.output
}
"""
BELOW = """
variable "word" {}
data "terraform_remote_state" "none" {
  count   = 0
  backend = "local"
}
resource "terraform_data" "child" {
  for_each = toset(["1", "01"])
  input    = "${var.word}/${each.key}"
}
"""
MASK = "(sensitive value)"


def _parsed(text: str) -> Any:  # noqa: ANN401 - any document
    return json.loads(text, parse_float=Decimal)


def _apply(terraform: Terraform, main: str = MAIN) -> None:
    terraform.write(main)
    terraform.write(LEVEL, "level/main.tf")
    terraform.write(BELOW, "level/below/main.tf")
    terraform("init")
    terraform("apply", "-auto-approve")


def _resources(module: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from module.get("resources", [])
    for child in module.get("child_modules", []):
        yield from _resources(child)


def _masked(value: Any, marks: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return what `show -json` tells with what it marks as sensitive replaced."""
    if marks is True:
        return MASK
    if isinstance(value, dict) and isinstance(marks, dict):
        return {k: _masked(v, marks.get(k)) for k, v in value.items()}
    if isinstance(value, list) and isinstance(marks, list):
        padded = marks + [None] * (len(value) - len(marks))
        return [_masked(v, mark) for v, mark in zip(value, padded, strict=True)]
    return value


def _plain(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return terraform_data's attributes without the type that a dynamic value carries.

    Its output is not marked sensitive in the state, whatever its input is: Terraform's own gap.
    """
    return {
        name: value["value"] if isinstance(value, dict) and name != "id" else value
        for name, value in attributes.items()
    }


def test_rows_equal_what_terraform_shows(served: Served, terraform: Terraform, state: str) -> None:
    _apply(terraform)
    shown = _parsed(terraform("show", "-json"))
    expected = {
        resource["address"]: (
            resource["mode"],
            resource["type"],
            resource["name"],
            resource.get("index"),
            sorted(resource.get("depends_on", [])),
            _masked(resource["values"], resource["sensitive_values"]),
        )
        for resource in _resources(shown["values"]["root_module"])
    }
    rows = served.query(
        "select r.address, r.mode, r.type, r.name, r.index_key::text,"
        " array(select unnest(r.dependencies) order by 1), r.attributes::text"
        " from resources as r where r.state_name = %s",
        state,
    )
    found = {
        address: (
            mode,
            kind,
            name,
            _parsed(index) if index else None,
            dependencies,
            _plain(_parsed(attributes)),
        )
        for address, mode, kind, name, index, dependencies, attributes in rows
    }
    assert found == expected
    assert len(rows) == len(expected) == 26 + 3 + 1 + 5 * 3

    listed = terraform("state", "list").splitlines()
    assert sorted(listed) == sorted(found)


def test_sensitive_values_are_masked_and_others_are_not(
    served: Served, terraform: Terraform, state: str
) -> None:
    _apply(terraform)
    [(text,)] = served.query(
        "select string_agg(r.attributes::text, '') from resources as r where r.state_name = %s",
        state,
    )
    assert text.count("hunter2") == 1  # terraform_data's output, which Terraform does not mark
    assert MASK in text
    outputs = served.query(
        "select o.name, o.sensitive, o.value::text from outputs as o where o.state_name = %s"
        " order by o.name",
        state,
    )
    assert [row[:2] for row in outputs] == [("all", False), ("secret", True)]
    assert _parsed(outputs[0][2]) == _parsed(terraform("output", "-json", "all"))
    assert _parsed(outputs[1][2]) == MASK
    [(raw,)] = served.query(
        "select v.raw_state::text from state_versions as v where v.state_name = %s", state
    )
    assert raw.count("hunter2") == 1
    assert "hunter2" in terraform("state", "pull")


def test_every_printed_address_finds_its_instance(
    served: Served, terraform: Terraform, state: str
) -> None:
    _apply(terraform)
    addresses = [
        row[0]
        for row in served.query(
            "select r.address from resources as r where r.state_name = %s", state
        )
    ]
    words = [word for address in addresses for word in ("-target", address)]
    assert "No changes" in terraform("plan", *words)
    removed = terraform("state", "rm", "-dry-run", *addresses)
    assert removed.count("Would remove ") == len(addresses)


def test_the_served_document_is_the_pushed_one(
    served: Served, terraform: Terraform, state: str
) -> None:
    terraform.write("", "backend.tf")
    _apply(terraform)
    written = _parsed((terraform.folder / "terraform.tfstate").read_text(encoding="utf-8"))
    (terraform.folder / "document.json").write_text(json.dumps(written, default=str))
    served.kl("import", str(terraform.folder / "terraform.tfstate"), "--name", state)
    exported = _parsed(served.kl("export", state))
    for document in (written, exported):
        for resource in document["resources"]:
            for instance in resource["instances"]:
                instance["sensitive_attributes"].sort(key=json.dumps)
        document["resources"].sort(
            key=lambda item: (item.get("module", ""), item["mode"], item["type"], item["name"])
        )
    assert exported == written
    assert {check["status"] for check in exported["check_results"]} >= {"pass", "fail"}


def test_nothing_changes_when_nothing_changed(
    served: Served, terraform: Terraform, state: str
) -> None:
    # Up to 1.11 terraform writes sensitive paths, and checks, in random order, and takes that for a
    # change: here is one of each at most.
    one_check = MAIN[: MAIN.index('check "fails"')] + MAIN[MAIN.index('output "secret"') :]
    _apply(terraform, one_check.replace("= var.secret\n  triggers", '= "plain"\n  triggers'))
    assert "No changes" in terraform("plan", "-detailed-exitcode")
    terraform("apply", "-auto-approve")
    assert served.query(
        "select s.version_no, s.serial::int, s.object_count from states as s"
        " where s.state_name = %s",
        state,
    ) == [(1, 1, 45)]


def test_order_of_sensitive_paths_changes_no_row(
    served: Served, terraform: Terraform, state: str
) -> None:
    _apply(terraform)
    for _ in range(3):
        terraform("apply", "-auto-approve")
    assert served.query(
        "select r.create_version_no, count(*) from resource_history as r where r.state_name = %s"
        " group by 1",
        state,
    ) == [(1, 45)]
