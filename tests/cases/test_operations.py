"""Moves and removals that broke other tools, on the states of their cases."""

import json
from pathlib import Path

import pytest

from tests.clusters import Connection
from tests.documents import Json
from tests.sql.commit.committing import addresses, document, serials
from tests.sql.commit.operating import dependencies, move, named, remove
from tests.sql.staging import refused, write

HERE = Path(__file__).parent
DATA = "terraform_data"


def _put(conn: Connection, case: str) -> Json:
    [folder] = HERE.glob(f"{case}-*")
    body: Json = json.loads((folder / "state.json").read_text())
    write(conn, "s", body)
    return body


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("counted[0]", 'counted["a"]', [f"{DATA}.counted[1]", f'{DATA}.counted["a"]']),
        ("single", "single[0]", [f"{DATA}.single[0]"]),
        ("one_count[0]", "one_count", [f"{DATA}.one_count"]),
        ("counted", "module.m.terraform_data.counted", None),
        ("single", 'module.new["k.1"].terraform_data.single["x"]', None),
        ("counted[00]", "zero", [f"{DATA}.zero"]),
    ],
)
def test_keys_come_and_go_with_a_move(
    conn: Connection, source: str, target: str, found: list[str] | None
) -> None:
    body = _put(conn, "44")
    to = target if target.startswith("module") else f"{DATA}.{target}"
    done = move(conn, (f"{DATA}.{source}", to))
    assert set(found or [o["to"] for o in done["preview"]["objects"]]) <= set(addresses(conn))
    assert serials(conn) == [1, 2]
    before = sorted(
        json.dumps({k: v for k, v in i.items() if k != "index_key"}, sort_keys=True)
        for r in body["resources"]
        for i in r["instances"]
    )
    after = sorted(
        json.dumps({k: v for k, v in i.items() if k != "index_key"}, sort_keys=True)
        for r in document(conn)["resources"]
        for i in r["instances"]
    )
    assert after == before
    if source == "counted":
        assert sorted(a for a in addresses(conn) if a.startswith("module.m.")) == [
            f"module.m.{DATA}.counted[0]",
            f"module.m.{DATA}.counted[1]",
        ]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (f"{DATA}.counted", f'{DATA}.counted["a"]'),
        (f"{DATA}.one_count", f'{DATA}.one_count["a"]'),
        (f"{DATA}.counted[*]", f"{DATA}.z"),
        (f"{DATA}.counted[-1]", f"{DATA}.z"),
        (f'{DATA}.counted["0"]', f"{DATA}.z"),
        (f"{DATA}.single", "null_resource.single"),
        (f"{DATA}.single", f"data.{DATA}.single"),
    ],
)
def test_moves_that_terraform_refuses_change_nothing(
    conn: Connection, source: str, target: str
) -> None:
    _put(conn, "44")
    before = document(conn)
    with refused(conn, "KL203" if '"0"' in source else "KL001"):
        move(conn, (source, target))
    assert document(conn) == before


def test_dependents_follow_a_move(conn: Connection) -> None:
    _put(conn, "45")
    move(conn, ("widget_vpc.main", "widget_vpc.core"))
    assert dependencies(conn) == {
        'widget_subnet.a["a"]': ["widget_vpc.core"],
        "widget_subnet.lone": ["widget_vpc.other"],
        "widget_vm.v": ["widget_subnet.a", "widget_vpc.core"],
    }


def test_a_move_into_a_module_keeps_the_provider(conn: Connection) -> None:
    _put(conn, "45")
    target = 'module.n.widget_subnet.a["a"]'
    move(conn, ('widget_subnet.a["a"]', target))
    moved = document(conn)["resources"][-1]
    assert moved["provider"].endswith(".west")
    assert dependencies(conn)[target] == ["widget_vpc.main"]
    assert dependencies(conn)["widget_vm.v"] == ["module.n.widget_subnet.a", "widget_vpc.main"]


@pytest.mark.parametrize("target", ["widget_vpc.other", "widget_vpc.main"])
def test_an_occupied_target_is_refused(conn: Connection, target: str) -> None:
    _put(conn, "45")
    before = document(conn)
    with refused(conn, "KL001"):
        move(conn, ("widget_vpc.main", target))
    assert document(conn) == before


def test_a_removal_warns_of_its_dependents(conn: Connection) -> None:
    _put(conn, "45")
    done = remove(conn, "widget_vpc.main")
    assert named(done["preview"]["dependents"]) == ['widget_subnet.a["a"]', "widget_vm.v"]
    assert "2 objects" in done["preview"]["warnings"][0]
    assert dependencies(conn)["widget_vm.v"] == ["widget_subnet.a", "widget_vpc.main"]


def test_deposed_objects_go_along(conn: Connection) -> None:
    _put(conn, "08")
    move(conn, ("widget_thing.both", "widget_thing.moved"))
    moved = [a for a in addresses(conn) if a.startswith("widget_thing.moved")]
    assert len(moved) == 3
    remove(conn, "widget_thing.moved")
    remove(conn, "widget_thing.only_deposed")
    assert {a.split(".")[1].split("[")[0] for a in addresses(conn)} == {"tainted", "net"}
