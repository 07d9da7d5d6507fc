"""Large documents go in over HTTP and come out equal."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.large import write_state
from tests.acceptance.programs import Served, Terraform

_SMALL = 10_700  # instances: 20 MB
_LARGE = 100_000  # 188 MB


def _post(url: str, path: Path) -> dict[str, Any]:
    with path.open("rb") as body:
        headers = {"Content-Length": str(path.stat().st_size)}
        answer = httpx.post(url, content=body, headers=headers, timeout=600)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def _received(url: str, path: Path, coding: str) -> Path:
    with (
        httpx.stream("GET", url, headers={"Accept-Encoding": coding}, timeout=600) as answer,
        path.open("wb") as file,
    ):
        assert answer.status_code == 200
        for block in answer.iter_bytes():
            file.write(block)
    return path


def _parsed(path: Path) -> Any:  # noqa: ANN401 - a document
    with path.open("rb") as file:
        return json.load(file)


def _round_trip(served: Served, state: str, folder: Path, instances: int, megabytes: int) -> None:
    url = served.state_url(state)
    first, second = folder / "first.json", folder / "second.json"
    write_state(first, instances)
    assert first.stat().st_size > megabytes * 1_000_000
    assert _post(url, first)["outcome"] == "written"
    assert _parsed(_received(url, folder / "got.json", "identity")) == _parsed(first)

    assert _post(url, first)["outcome"] == "unchanged"
    write_state(second, instances, serial=2, changed=instances // 2)
    assert _post(url, second)["outcome"] == "written"
    assert _parsed(_received(url, folder / "got.json", "gzip")) == _parsed(second)

    rows = served.query(
        "select h.create_version_no, h.delete_version_no, count(*), min(h.attributes ->> 'id')"
        " is not null from resource_history as h where h.state_name = %s group by 1, 2"
        " order by 1, 2",
        state,
    )
    assert rows == [
        (1, 2, 1, True),
        (1, None, instances - 1, True),
        (2, None, 1, True),
    ]
    served.kl("export", state, "--version", "v1", "-o", str(folder / "exported.json"))
    assert _parsed(folder / "exported.json") == _parsed(first)


def test_20_megabytes(served: Served, state: str, tmp_path: Path) -> None:
    _round_trip(served, state, tmp_path, _SMALL, 20)


@pytest.mark.slow
def test_188_megabytes(served: Served, state: str, tmp_path: Path) -> None:
    _round_trip(served, state, tmp_path, _LARGE, 188)


def test_terraform_pushes_and_pulls_20_megabytes(
    served: Served, terraform: Terraform, state: str
) -> None:
    terraform("init")
    path = terraform.folder / "large.json"
    write_state(path, _SMALL)
    terraform("state", "push", path.name)
    pulled = json.loads(terraform("state", "pull"))
    pushed = _parsed(path)
    assert pulled["resources"] == pushed["resources"]
    assert served.query(
        "select r.type, count(*) from resources as r where r.state_name = %s group by 1", state
    ) == [("widget_instance", _SMALL)]
