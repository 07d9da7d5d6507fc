"""A whole round, as `make demo` shows it: server, terraform, SQL; then everything stops."""

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx

from tests.acceptance.programs import (
    BIN,
    Served,
    Terraform,
    backend,
    environment,
    find_terraform,
    serving,
)

EXAMPLE = Path(__file__).parents[1] / "examples" / "demo"
STATE = "demo"
QUESTIONS = (
    """-- What is there?
select module, type, count(*)
from resources
group by 1, 2
order by 1 nulls first""",
    """-- What would a new network touch?
select address
from resource_dependencies
where depends_on = 'terraform_data.network'
order by 1""",
    """-- What did the last apply change, and from what?
select
    new.address,
    old.attributes #>> '{input,value,release}' as before,
    new.attributes #>> '{input,value,release}' as after
from resource_history as new
join resource_history as old
    on old.state_id = new.state_id
    and old.address = new.address
    and old.delete_version_no = new.create_version_no
where new.name = 'server'
order by 1""",
)


def main() -> None:
    """Run the demo; raise where anything fails."""
    with tempfile.TemporaryDirectory(prefix="kl-", dir="/tmp") as name:
        folder = Path(name)
        _say("Start a server; its PostgreSQL is embedded, in a folder of its own.")
        print("$ kld serve --data-dir DIR --listen 127.0.0.1:0", flush=True)
        with serving(folder / "data") as served:
            print(f"kilolock: listening on {served.url}", flush=True)
            terraform = find_terraform()
            if terraform is None:
                _post_sample(served)
            else:
                _apply(served, folder / "terraform", terraform)
            _look(served)
            _say("Stop.")
        assert served.process.returncode == 0, "the server did not stop in order"


def _apply(served: Served, folder: Path, program: str) -> None:
    shutil.copytree(EXAMPLE, folder)
    terraform = Terraform(folder, program)
    terraform.write(backend(served, STATE), "backend.tf")
    _say("Point an unmodified terraform at it.")
    print(backend(served, STATE))
    _show_terraform(terraform, "init")
    _show_terraform(terraform, "apply", "-auto-approve")
    _say("Roll out a release, to all sites but one.")
    _show_terraform(terraform, "apply", "-auto-approve", "-var", "release=1.1")


def _show_terraform(terraform: Terraform, *words: str) -> None:
    print(f"$ terraform {shlex.join(words)}", flush=True)
    lines = [line for line in terraform(*words).splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("Apply complete", "Terraform has been"))]
    print("\n".join(told or lines[-3:]), flush=True)


def _post_sample(served: Served) -> None:
    _say("There is no terraform on PATH: post a state that it wrote, and its successor.")
    document = json.loads((EXAMPLE / "sample.tfstate").read_text(encoding="utf-8"))
    _post(served, document)
    for resource in document["resources"]:
        if resource["name"] == "server" and "lima" not in resource["module"]:
            for instance in resource["instances"]:
                for member in ("input", "output"):
                    instance["attributes"][member]["value"]["release"] = "1.1"
    _post(served, document | {"serial": document["serial"] + 1})


def _post(served: Served, document: object) -> None:
    url = served.state_url(STATE)
    print(f"$ curl --data-binary @sample.tfstate {url}", flush=True)
    answer = httpx.post(url, json=document, timeout=60)
    answer.raise_for_status()
    print(answer.text, flush=True)


def _look(served: Served) -> None:
    _say("Look at it with kl.")
    _show(served, "kl", "list")
    _show(served, "kl", "status", STATE)
    _say("Ask in SQL.")
    for question in QUESTIONS:
        print(f"$ kld psql <<'SQL'\n{question};\nSQL", flush=True)
        print(_run(served, "kld", "psql", text=question + ";\n"), flush=True)


def _show(served: Served, *words: str) -> None:
    print(f"$ {shlex.join(words)}", flush=True)
    print(_run(served, *words), flush=True)


def _run(served: Served, program: str, *words: str, text: str = "") -> str:
    return subprocess.run(
        [str(BIN / program), *words],
        check=True,
        env=environment(KL_DATA_DIR=str(served.data_dir)),
        input=text,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.rstrip("\n")


def _say(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
