"""What a native writer commits is what terraform itself would have made of the state."""

import json
from dataclasses import dataclass
from typing import Any

import httpx

from tests.acceptance.conftest import Folders
from tests.acceptance.programs import Served, Terraform

Json = dict[str, Any]
LEVEL = """
variable "word" {}
resource "terraform_data" "child" { input = var.word }
output "word" { value = terraform_data.child.output }
"""
MAIN = """
resource "terraform_data" "BASE" { input = "base" }
resource "terraform_data" "counted" {
  count = 2
  input = count.index
}
module "level" {
  source   = "./level"
  for_each = { p = "same", "q.r" = "WORD" }
  word     = "${terraform_data.BASE.output}/${each.value}"
}
output "word" { value = module.level["q.r"].word }
output "ids" { value = terraform_data.counted[*].id }
"""
NAMED = """
resource "terraform_data" "named" {
  for_each = toset(["x", "y.z"])
  input    = "${terraform_data.BASE.output}/${each.key}"
}
"""
WRITTEN = 'module.level["q.r"].terraform_data.child'


def _configuration(base: str = "a", word: str = "old", *, named: bool = True) -> str:
    text = MAIN + (NAMED if named else "")
    return text.replace("BASE", base).replace("WORD", word)


@dataclass(frozen=True)
class Client:
    """A program that knows the protocol and one state."""

    served: Served
    state: str

    def send(self, path: str, **body: Any) -> httpx.Response:  # noqa: ANN401 - any JSON
        """Ask whatever comes of it."""
        url = f"{self.served.url}/v1/state-engine/{path}"
        return httpx.post(url, json={"state": self.state} | body, timeout=60)

    def ask(self, path: str, **body: Any) -> Json:  # noqa: ANN401 - any JSON
        """Ask what must be answered."""
        answer = self.send(path, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()  # type: ignore[no-any-return]

    def change(self, operation: str, **body: Any) -> Json:  # noqa: ANN401 - any JSON
        """Preview an operation and do it: both foresee the same; return it."""
        foreseen = self.ask(f"{operation}/preview", **body)
        assert foreseen["committed_serial"] is None
        done = self.ask(f"{operation}/apply", **body)
        assert done["preview"] == foreseen["preview"]
        assert done["committed_serial"] == done["preview"]["base_serial"] + 1
        return done


def _fill(terraform: Terraform, configuration: str) -> None:
    terraform.write(LEVEL, "level/main.tf")
    terraform.write(configuration)
    terraform("init")


def _agree(client: Client, terraform: Terraform, configuration: str) -> None:
    """Terraform plans nothing, and lists what the rows say."""
    terraform.write(configuration)
    plan = terraform.attempt("plan", "-detailed-exitcode")
    assert (plan.exit_code, "No changes." in plan.out) == (0, True), plan
    rows = client.served.query("select address from resources where state_name = %s", client.state)
    assert sorted(terraform("state", "list").splitlines()) == sorted(row[0] for row in rows)


def _resolved(client: Client) -> Json:
    """Resolve by name, by address and by parts, which say the same."""
    told = client.ask("state/resolve")
    parts = {key: told[key] for key in ("workspace_id", "env_public_id", "state_name")}
    for form in ({"state_url": client.served.state_url(client.state)}, parts):
        answer = httpx.post(
            f"{client.served.url}/v1/state-engine/state/resolve", json=form, timeout=60
        )
        assert (answer.status_code, answer.json()) == (200, told)
    return told


def _applied(alone: Terraform, document: str) -> Json:
    """Let terraform apply the change to the slice alone; return the state it leaves."""
    _fill(alone, _configuration(word="new"))
    alone.write(document, "terraform.tfstate")
    done = alone("apply", "-auto-approve", f"-target={WRITTEN}")
    assert "Resources: 0 added, 1 changed, 0 destroyed" in done
    return json.loads((alone.folder / "terraform.tfstate").read_text("utf-8"))  # type: ignore[no-any-return]


def _delta(made: Json) -> Json:
    return {
        "lineage": made["lineage"],
        "terraform_version": made["terraform_version"],
        "write_set": [WRITTEN],
        "resources": [r for r in made["resources"] if r.get("module") == 'module.level["q.r"]'],
        "output_writes": {"word": made["outputs"]["word"]},
    }


def _refused(client: Client, terraform: Terraform, apply_id: str) -> None:
    """Plain terraform does not get in, and is told who holds the state."""
    done = terraform.attempt("apply", "-auto-approve", "-no-color")
    assert done.exit_code == 1
    assert f"already locked:\nID=state-engine-{apply_id}" in done.err
    told = httpx.request(
        "LOCK", client.served.state_url(client.state), json={"ID": "x"}, timeout=60
    )
    assert (told.status_code, told.json()["Who"]) == (423, "ann@kl")
    assert WRITTEN in told.json()["Info"]


def test_a_native_writer_does_what_terraform_would_have_done(
    served: Served, terraform: Terraform, folder: Folders, state: str
) -> None:
    client = Client(served, state)
    _fill(terraform, _configuration())
    terraform("apply", "-auto-approve")
    can = httpx.get(f"{served.url}/v1/state-engine/capabilities", timeout=60).json()["capabilities"]
    assert all(can.values()), can
    resolved = _resolved(client)

    chosen = [{"kind": "resource_address", "value": WRITTEN}]
    expanded = client.ask("scope/expand", selectors=chosen)
    scope = expanded["scope_contract"]
    assert expanded["version_id"] == resolved["version_id"]
    assert (scope["write_addresses"], scope["read_addresses"]) == ([WRITTEN], ["terraform_data.a"])
    base = {"base_serial": expanded["serial"], "version_id": expanded["version_id"]}
    fetched = {"addresses": scope["fetch_addresses"], "outputs": ["word"], **base}
    whole = client.ask("state/slice", **fetched)["slice"]
    assert {r["address"] for r in whole["resources"]} == set(scope["fetch_addresses"])
    document = client.send("state/slice", **fetched, format="terraform-state").text

    run = client.ask("apply-runs/begin", actor="ann@kl", source_serial=expanded["serial"])["id"]
    want = scope["reservation_candidates"]
    held = client.ask("reservations/acquire", apply_id=run, holder="ann@kl", want=want)
    assert len(held["reservations"]) == len(want)
    client.ask("terraform-lock/acquire", apply_id=run, holder="ann@kl", scope_summary=[WRITTEN])
    _refused(client, terraform, run)
    made = _delta(_applied(folder(), document))
    done = client.ask("state/commit", apply_id=run, mode="delta", delta=made, **base)
    assert done["committed_serial"] == expanded["serial"] + 1
    ended = client.ask(
        f"apply-runs/{run}/finish",
        status="committed",
        committed_serial=done["committed_serial"],
        resources_planned=1,
        resources_applied=1,
    )
    assert (ended["status"], ended["to_version_id"]) == ("committed", done["new_version_id"])
    assert client.ask("reservations/release", apply_id=run)["released"] == 0, "the end freed them"
    asked = {"name": state, "from": str(expanded["serial"])}
    differ = httpx.get(f"{served.url}/v1/admin/diff", params=asked, timeout=60).json()["items"]
    assert [d["address"] for d in differ] == [WRITTEN]
    _agree(client, terraform, _configuration(word="new"))
    assert terraform("output", "-raw", "word") == "base/new"


def test_terraform_finds_nothing_to_do_after_each_operation(
    served: Served, terraform: Terraform, state: str
) -> None:
    client = Client(served, state)
    _fill(terraform, _configuration())
    terraform("apply", "-auto-approve")

    moved = client.change("resource-move", address="terraform_data.a", to="terraform_data.b")
    assert len(moved["preview"]["dependents"]) == 4
    _agree(client, terraform, _configuration("b"))
    pulled = json.loads(terraform("state", "pull"))
    needed = [i.get("dependencies", []) for r in pulled["resources"] for i in r["instances"]]
    assert sorted(n for n in needed if n) == [["terraform_data.b"]] * 4

    client.change("resource-remove", address="terraform_data.named")
    _agree(client, terraform, _configuration("b", named=False))
    for key in ("x", "y.z"):
        back = client.change(
            "resource-rollback",
            address=f'terraform_data.named["{key}"]',
            to=moved["new_version_id"],
        )
        assert back["preview"]["action"] == "restore"
    _agree(client, terraform, _configuration("b"))
    restored = json.loads(terraform("state", "pull"))
    assert restored["resources"] == pulled["resources"]
