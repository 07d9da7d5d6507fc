"""A slice as a state document is one that terraform itself reads."""

import json
from urllib.parse import urlsplit

import httpx

from tests.acceptance.conftest import Folders
from tests.acceptance.programs import Served, Terraform

CONFIGURATION = """
resource "terraform_data" "base" { input = "b" }
resource "terraform_data" "many" {
  for_each = toset(["a", "b.c"])
  input    = terraform_data.base.output
}
resource "terraform_data" "other" {}
output "base" { value = terraform_data.base.id }
"""


def _slice(served: Served, state: str, *addresses: str) -> str:
    url = urlsplit(served.state_url(state))
    answer = httpx.post(
        f"{url.scheme}://{url.netloc}/v1/state-engine/state/slice",
        json={
            "state": state,
            "addresses": addresses,
            "outputs": ["base"],
            "format": "terraform-state",
        },
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    return answer.text


def test_terraform_reads_a_slice(
    served: Served, terraform: Terraform, folder: Folders, state: str
) -> None:
    terraform.write(CONFIGURATION)
    terraform("init")
    terraform("apply", "-auto-approve")
    wanted = ["terraform_data.base", 'terraform_data.many["b.c"]']
    alone = folder()
    alone.write(CONFIGURATION)
    alone.write(_slice(served, state, *wanted), "slice.tfstate")
    alone("init")
    assert alone("state", "list", "-state=slice.tfstate").splitlines() == wanted
    shown = json.loads(alone("show", "-json", "slice.tfstate"))["values"]
    whole = json.loads(terraform("show", "-json"))["values"]
    kept = [r for r in whole["root_module"]["resources"] if r["address"] in wanted]
    assert shown["root_module"]["resources"] == kept
    assert shown["outputs"] == whole["outputs"]
    # With the slice as its state, a plan of what is in it changes nothing.
    alone.write(_slice(served, state, *wanted), "terraform.tfstate")
    plan = alone.attempt("plan", "-detailed-exitcode", f"-target={wanted[1]}")
    assert plan.exit_code == 0, plan
    # An empty slice is an empty state.
    alone.write(_slice(served, state), "empty.tfstate")
    assert alone("state", "list", "-state=empty.tfstate") == ""
