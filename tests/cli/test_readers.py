"""history, diff, resource, graph, tag: the same over SQL and over HTTP."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli import graph_view
from pyengine.api_readers import Node
from tests.cli.conftest import Kl
from tests.documents import instance, resource, state

SECRET = [[{"type": "get_attr", "value": "password"}]]
Put = Callable[..., None]


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A state name of the test's own."""
    return request.node.name


@pytest.fixture
def put(at: Kl, name: str, tmp_path: Path) -> Put:
    """Import documents as the next versions of the state."""

    def put(*documents: dict[str, Any]) -> None:
        for document in documents:
            path = tmp_path / "s.json"
            path.write_text(json.dumps(document))
            done = at("import", str(path), "--name", name)
            assert done.exit_code == 0, done.err

    return put


def _pair(serial: int, size: int, word: str = "hunter2") -> dict[str, Any]:
    attributes = {"id": "a", "size": size, "tags": {"x y": [1, 2]}, "password": word}
    return state(
        serial,
        resource("a", instance(attributes, sensitive_attributes=SECRET)),
        resource("b", instance({"id": "b"}, dependencies=["terraform_data.a"])),
    )


def test_history_lists_versions_newest_first(at: Kl, name: str, put: Put) -> None:
    put(_pair(1, 1), _pair(2, 2), state(3))
    done = at("history", name, "--format", "json")
    assert done.exit_code == 0
    shown = [(v["version_no"], v["opened"], v["closed"], v["objects"]) for v in done.json]
    assert shown == [(3, 0, 2, 0), (2, 1, 1, 2), (1, 2, 0, 2)]
    table = at("history", name, "-n", "1").out.decode().splitlines()
    assert len(table) == 2
    assert table[1].split()[0] == "v3"
    assert "ann@cli" in table[1]


def test_diff_names_attributes_and_keeps_every_digit(at: Kl, name: str, put: Put) -> None:
    large = 123456789012345678901234567890
    put(_pair(1, 1), _pair(2, large))
    done = at("diff", name, "@1", "--format", "json")
    assert done.json == [
        {
            "change": "changed",
            "address": "terraform_data.a",
            "deposed_key": None,
            "type": "terraform_data",
            "changed_parts": ["attributes"],
            "changes": [{"path": "size", "old": 1, "new": large}],
        }
    ]
    lines = at("diff", name, "v1", "v2").out.decode().splitlines()
    assert lines[1].split() == ["changed", "terraform_data.a", "size", "1", str(large)]
    assert lines[-1] == "0 added, 1 changed, 0 removed"


def test_diff_masks_what_is_sensitive(at: Kl, name: str, put: Put) -> None:
    put(_pair(1, 1, "hunter2"), _pair(2, 1, "correct horse"))
    done = at("diff", name, "@1", "--format", "json")
    masked = "(sensitive value)"
    assert done.json[0]["changes"] == [{"path": "password", "old": masked, "new": masked}]
    assert b"hunter2" not in done.out


def test_diff_backwards_tells_how_to_go_back(at: Kl, name: str, put: Put) -> None:
    put(_pair(1, 1), state(2, resource("c")))
    there = {(c["change"], c["address"]) for c in at("diff", name, "@1", "--format", "json").json}
    back = {(c["change"], c["address"]) for c in at("diff", name, "@0", "@1", "--format=json").json}
    ab = ("terraform_data.a", "terraform_data.b")
    assert there == {*(("removed", a) for a in ab), ("added", "terraform_data.c")}
    assert back == {*(("added", a) for a in ab), ("removed", "terraform_data.c")}


def test_resource_show_masks_and_goes_back_in_time(at: Kl, name: str, put: Put) -> None:
    put(_pair(1, 1), _pair(2, 2))
    shown = at("resource", "show", name, "terraform_data.a", "--format", "json").json
    assert [(o["address"], o["attributes"]["size"]) for o in shown] == [("terraform_data.a", 2)]
    assert shown[0]["attributes"]["password"] == "(sensitive value)"
    done = at("resource", "show", name, " terraform_data . a ", "--version", "@1")
    text = done.out.decode()
    assert '"size": 1,' in text
    assert "hunter2" not in text


def test_resource_history_tells_what_became_of_each_content(at: Kl, name: str, put: Put) -> None:
    put(_pair(1, 1), _pair(2, 2), state(3), _pair(4, 3))
    done = at("resource", "history", name, "terraform_data.a", "--format", "json")
    assert [(e["create_version_no"], e["status"]) for e in done.json] == [
        (4, "restored"),
        (2, "removed"),
        (1, "superseded"),
    ]
    assert done.json[1]["changes"] == [{"path": "size", "old": 1, "new": 2}]
    lines = at("resource", "history", name, "terraform_data.a").out.decode().splitlines()
    assert lines[0] == "terraform_data.a"
    assert lines[3].split()[-1] == "size"


def test_graph_draws_a_tree(at: Kl, name: str, put: Put) -> None:
    put(_pair(1, 1))
    assert at("graph", name).out.decode() == "terraform_data.b\n└─ terraform_data.a\n"
    up = at("graph", name, "terraform_data.a", "--dependents").out.decode()
    assert up == "terraform_data.a\n└─ terraform_data.b\n"
    assert at("graph", name, "terraform_data.a").out.decode() == "terraform_data.a\n"


def test_graph_has_formats_for_programs(at: Kl, name: str, put: Put) -> None:
    put(_pair(1, 1))
    assert at("graph", name, "--format", "json").json == [
        {"config_address": "terraform_data.a", "instances": 1, "depends_on": []},
        {
            "config_address": "terraform_data.b",
            "instances": 1,
            "depends_on": ["terraform_data.a"],
        },
    ]
    dot = at("graph", name, "--format", "dot").out.decode()
    assert '  "terraform_data.b" -> "terraform_data.a";\n' in dot
    mermaid = at("graph", name, "--format", "mermaid").out.decode().splitlines()
    assert mermaid[0] == "graph LR"
    assert mermaid[-1] == "  n1 --> n0"


def test_a_tree_ends_in_a_ring(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [Node("a", 1, ["b"]), Node("b", 3, ["a"]), Node("c", 1, ["b"])]
    graph_view.print_graph("tree", nodes, up=False)
    assert capsys.readouterr().out == "c\n└─ b (3)\n   └─ a\n      └─ b (3) …\n"


def test_tags_name_versions(at: Kl, name: str, put: Put) -> None:
    put(_pair(1, 1), _pair(2, 2))
    assert at("tag", "set", name, "good", "@1").out.decode() == f"{name}: good is v1\n"
    assert at("diff", name, "good", "--format", "json").json[0]["changes"][0]["new"] == 2
    assert at("history", name, "--format", "json").json[1]["tags"] == ["good"]
    moved = at("tag", "set", name, "good").out.decode()
    assert moved == f"{name}: good is v2, no longer v1\n"
    assert [t["tag"] for t in at("tag", "list", name, "--format", "json").json] == ["good"]
    assert at("tag", "unset", name, "good").out.decode() == f"{name}: good removed; it was v2\n"
    assert at("tag", "unset", name, "good").err.startswith("kl: version_not_found: ")
    assert at("export", name, "--version", "good").err.startswith("kl: version_not_found: ")


@pytest.mark.parametrize("tag", ["current", "@1", "17", "v17", "2024-01-01", " x", "", "a\nb"])
def test_what_means_a_version_already_is_no_tag(at: Kl, name: str, put: Put, tag: str) -> None:
    put(_pair(1, 1))
    done = at("tag", "set", name, "--", tag)
    assert (done.exit_code, done.err.split(":")[1]) == (1, " invalid_request")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("history", "nowhere"), "state_not_found"),
        (("diff", "nowhere", "@1"), "state_not_found"),
        (("diff", "{}", "v9"), "version_not_found"),
        (("diff", "{}", "@1", "tomorrow"), "version_not_found"),
        (("resource", "show", "{}", "terraform_data.z"), "address_not_found"),
        (("resource", "show", "{}", "terraform_data"), "invalid_request"),
        (("resource", "history", "{}", "terraform_data.a['x']"), "invalid_request"),
        (("graph", "{}", "terraform_data.z"), "address_not_found"),
        (("tag", "list", "nowhere"), "state_not_found"),
        (("tag", "set", "{}", "x", "v9"), "version_not_found"),
    ],
)
def test_what_is_not_there_is_named(
    at: Kl, name: str, put: Put, arguments: tuple[str, ...], code: str
) -> None:
    put(_pair(1, 1))
    done = at(*(argument.format(name) for argument in arguments))
    assert done.exit_code == 1
    assert done.err.startswith(f"kl: {code}: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [("diff", "x"), ("graph", "x", "--dependents"), ("resource",), ("resource", "show", "x")],
)
def test_wrong_usage_exits_2(at: Kl, arguments: tuple[str, ...]) -> None:
    assert at(*arguments).exit_code == 2


def test_pages_join_up(at: Kl, name: str, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.readers.PAGE", 2)
    put(state(1), state(2, *(resource(f"r{n}") for n in range(7))))
    assert len(at("diff", name, "v1", "--format", "json").json) == 7
    assert len(at("graph", name, "--format", "json").json) == 7
    assert len(at("history", name, "--format", "json").json) == 2
