"""An unmodified terraform from its first apply to destroy; rows follow."""

import pytest

from tests.acceptance.programs import Served, Terraform, backend

ONE = """
variable "word" { default = "first" }
resource "terraform_data" "one" { input = var.word }
output "word" { value = terraform_data.one.output }
"""


def _versions(served: Served, state: str) -> list[tuple[object, ...]]:
    return served.query(
        "select v.version_no, v.serial::int, v.source from state_versions as v"
        " where v.state_name = %s order by 1",
        state,
    )


@pytest.mark.parametrize("post_unlock", [False, True], ids=["UNLOCK", "POST"])
def test_apply_change_and_destroy(
    served: Served, terraform: Terraform, state: str, *, post_unlock: bool
) -> None:
    terraform.write(backend(served, state, post_unlock=post_unlock), "backend.tf")
    terraform.write(ONE)
    terraform("init")
    assert _versions(served, state) == []

    terraform("apply", "-auto-approve")
    assert _versions(served, state) == [(1, 1, "apply")]
    assert served.query(
        "select r.address, r.attributes #>> '{input,value}' from resources as r"
        " where r.state_name = %s",
        state,
    ) == [("terraform_data.one", "first")]

    assert "No changes" in terraform("apply", "-auto-approve")
    assert "No changes" in terraform("plan", "-detailed-exitcode")
    assert "No changes" in terraform("plan", "-lock=false", "-detailed-exitcode")
    assert len(_versions(served, state)) == 1

    terraform("apply", "-auto-approve", "-var", "word=second")
    assert terraform("output", "-raw", "word") == "second"
    assert served.query(
        "select o.name, o.value from outputs as o where o.state_name = %s", state
    ) == [("word", "second")]

    terraform("destroy", "-auto-approve")
    assert _versions(served, state) == [(1, 1, "apply"), (2, 2, "apply"), (3, 3, "apply")]
    assert terraform("state", "list") == ""
    assert served.query("select from resources as r where r.state_name = %s", state) == []
    assert served.query(
        "select h.create_serial::int, h.delete_serial::int, h.attributes #>> '{input,value}'"
        " from resource_history as h where h.state_name = %s order by 1",
        state,
    ) == [(1, 2, "first"), (2, 3, "second")]
    assert served.query("select from state_locks as l where l.state_name = %s", state) == []


def test_every_lock_of_a_run_is_in_the_audit_trail(
    served: Served, terraform: Terraform, state: str
) -> None:
    terraform.write(ONE)
    terraform("init")
    terraform("apply", "-auto-approve")
    terraform("plan")
    terraform("plan", "-lock=false")
    assert served.query(
        "select e.kind, e.detail ->> 'operation' from events as e where e.state_name = %s"
        " order by e.event_id",
        state,
    ) == [
        ("lock", "OperationTypeApply"),
        ("unlock", "OperationTypeApply"),
        ("lock", "OperationTypePlan"),
        ("unlock", "OperationTypePlan"),
    ]


def test_without_locking_apply_still_writes(
    served: Served, terraform: Terraform, state: str
) -> None:
    terraform.write(ONE)
    terraform("init")
    terraform("apply", "-auto-approve", "-lock=false")
    terraform("apply", "-auto-approve", "-lock=false", "-var", "word=second")
    assert _versions(served, state) == [(1, 1, "http_backend"), (2, 2, "http_backend")]
    assert served.query("select from events as e where e.state_name = %s", state) == []


def test_a_failed_resource_is_stored_as_tainted(
    served: Served, terraform: Terraform, state: str
) -> None:
    terraform.write("""
        resource "terraform_data" "good" {}
        resource "terraform_data" "bad" {
          depends_on = [terraform_data.good]
          provisioner "local-exec" { command = "exit 3" }
        }
    """)
    terraform("init")
    assert terraform.attempt("apply", "-auto-approve").exit_code == 1
    tainted = "select r.name, r.tainted from resources as r where r.state_name = %s order by 1"
    assert served.query(tainted, state) == [("bad", True), ("good", False)]

    terraform("untaint", "terraform_data.bad")
    assert served.query(tainted, state) == [("bad", False), ("good", False)]
    terraform("taint", "terraform_data.good")
    assert served.query(tainted, state) == [("bad", False), ("good", True)]
    assert "must be replaced" in terraform("plan")


def test_200_instances_in_keyed_modules(served: Served, terraform: Terraform, state: str) -> None:
    terraform.write("""
        module "site" {
          source   = "./site"
          for_each = toset([for i in range(20) : "s${i}"])
          name     = each.key
        }
    """)
    terraform.write(
        """
        variable "name" {}
        resource "terraform_data" "item" {
          count = 10
          input = "${var.name}-${count.index}"
        }
        """,
        "site/main.tf",
    )
    terraform("init")
    terraform("apply", "-auto-approve")
    question = f"select type, count(*) from resources where state_name = '{state}' group by 1"
    assert served.kld("psql", "--", "-Atc", question) == "terraform_data|200\n"
    assert served.query(
        "select count(distinct r.module), count(distinct r.address), count(distinct r.index_key),"
        " count(distinct r.create_version_no) from resources as r where r.state_name = %s",
        state,
    ) == [(20, 200, 10, 1)]
    assert len(terraform("state", "list").splitlines()) == 200
    assert "No changes" in terraform("plan")
