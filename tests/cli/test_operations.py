"""kl state rm and mv, kl rollback resource: the same over SQL and over HTTP."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Done, Kl, Place
from tests.documents import ENCRYPTED, OTHER_LINEAGE, instance, lock_info, resource, state

A, B, G = "terraform_data.a", "terraform_data.b", "terraform_data.g"
KEYS = ('x"y', "a.b[0]", "${not}", "%{no}", "line\nbreak", "back\\slash", "\x1b[31m", "  two", "-é")
Put = Callable[..., None]


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A state name of the test's own."""
    return request.node.name


@pytest.fixture
def put(at: Kl, name: str, tmp_path: Path) -> Put:
    """Import a document as the next version of the state, or of another one."""

    def put(document: dict[str, Any], other: str | None = None) -> None:
        path = tmp_path / "s.json"
        path.write_text(json.dumps(document))
        done = at("import", str(path), "--name", other or name)
        assert done.exit_code == 0, done.err

    return put


def _pair(serial: int = 1, **attributes: object) -> dict[str, Any]:
    """Return a state in which b depends on a."""
    return state(
        serial,
        resource("a", instance({"id": "a"} | attributes)),
        resource("b", instance({"id": "b"}, dependencies=[A])),
    )


def _addresses(at: Kl, name: str) -> list[str]:
    """Return the address of every object; a deposed one with its key."""
    found = []
    for block in at("export", name).json["resources"]:
        for each in block["instances"]:
            key = each.get("index_key")
            address = f"{block['type']}.{block['name']}"
            found.append(
                address
                + ("" if key is None else f"[{json.dumps(key)}]")
                + (f" {each['deposed']}" if "deposed" in each else "")
            )
    return found


def _quoted(key: str) -> str:
    """Return a key as Terraform writes it in an address."""
    text = json.dumps(key, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")
    return text.replace("\\u001b", "\x1b")


def _versions(at: Kl, name: str) -> list[dict[str, Any]]:
    versions: list[dict[str, Any]] = at("history", name, "--format", "json").json
    return versions


def _refused(done: Done, code: str) -> None:
    assert (done.exit_code, done.out) == (1, b""), done
    assert done.err.startswith(f"kl: {code}: ")
    assert done.err.count("\n") == 1


def test_removal_is_previewed_then_made(at: Kl, name: str, put: Put) -> None:
    put(_pair())
    asked = ("state", "rm", name, "--address", A, "--format", "json")
    preview = at(*asked, "--dry-run")
    assert preview.exit_code == 0
    assert preview.json["committed_serial"] is None
    assert preview.json["new_version_id"] is None
    assert _addresses(at, name) == [A, B]
    done = at(*asked)
    assert done.exit_code == 0
    assert done.json["preview"] == preview.json["preview"]
    assert done.json["preview"]["touches_cloud_objects"] is False
    assert done.json["preview"]["objects"] == [{"address": A, "deposed_key": None}]
    assert done.json["preview"]["dependents"] == [{"address": B, "deposed_key": None}]
    newest, before = _versions(at, name)
    assert done.json["committed_serial"] == newest["serial"] == 2
    assert (newest["source"], newest["actor"]) == ("remove", "ann@cli")
    assert before["source"] == "import"
    assert _addresses(at, name) == [B]


def test_what_people_read_tells_dependents_warnings_and_the_cloud(
    at: Kl, name: str, put: Put
) -> None:
    put(_pair())
    lines = at("state", "rm", "--dry-run", name, "--address", A).out.decode().splitlines()
    assert lines[:4] == ["ADDRESS           DEPOSED", f"{A}  -", "dependents:", f"  {B}"]
    assert lines[4] == "warnings:"
    assert lines[6:] == [
        f"{name}: 1 object would be removed, after serial 1; dry run",
        "only the state changes: no cloud object is created, changed or destroyed",
    ]
    done = at("state", "rm", name, "--address", A, "--address", B)
    lines = done.out.decode().splitlines()
    assert lines[1:3] == [f"{A}  -", f"{B}  -"]
    assert lines[3].startswith(f"{name}: 2 objects removed, serial 2, version ")
    assert "no cloud object" in lines[4]


def test_several_addresses_go_at_once_or_not_at_all(at: Kl, name: str, put: Put) -> None:
    put(state(1, resource("a"), resource("b"), resource("c")))
    absent = at("state", "rm", name, "--address", A, "--address", "terraform_data.none")
    _refused(absent, "address_not_found")
    assert "terraform_data.none" in absent.err
    assert _addresses(at, name) == [A, B, "terraform_data.c"]
    assert at("state", "rm", "--address", A, name, "--address", B).exit_code == 0
    assert _addresses(at, name) == ["terraform_data.c"]
    assert len(_versions(at, name)) == 2


def test_moves_are_taken_in_pairs_and_rewrite_dependencies(at: Kl, name: str, put: Put) -> None:
    put(_pair())
    swap = ("state", "mv", name, "--from", A, "--to", B, "--from", B, "--to", A)
    preview = at(*swap, "--dry-run").out.decode().splitlines()
    assert preview[0].split() == ["ADDRESS", "TO", "DEPOSED"]
    assert preview[1].split() == [A, B, "-"]
    assert preview[-2] == f"{name}: 2 objects would be moved, after serial 1; dry run"
    done = at("--format", "json", *swap)
    assert [(o["address"], o["to"]) for o in done.json["preview"]["objects"]] == [(A, B), (B, A)]
    assert (done.json["committed_serial"], done.json["to_version_id"]) == (2, None)
    document = at("export", name).json
    ids = {r["name"]: r["instances"][0]["attributes"]["id"] for r in document["resources"]}
    assert ids == {"a": "b", "b": "a"}
    assert document["resources"][0]["instances"][0]["dependencies"] == [B]


def test_a_move_to_another_state_makes_a_version_of_both(at: Kl, name: str, put: Put) -> None:
    other = f"{name}-other"
    put(_pair())
    put(state(7, resource("z"), lineage=OTHER_LINEAGE), other)
    moved = ("state", "mv", name, "--from", B, "--to", "terraform_data.n", "--to-state", other)
    preview = at(*moved, "--dry-run", "--format", "json").json
    assert preview["preview"]["to_state"] == other
    assert any(A in warning for warning in preview["preview"]["warnings"])
    assert _addresses(at, other) == ["terraform_data.z"]
    lines = at(*moved).out.decode().splitlines()
    assert lines[-2].startswith(f"{name}: 1 object moved to {other}, serial 2, version ")
    assert f"; {other}: serial 8, version " in lines[-2]
    assert _addresses(at, name) == [A]
    assert _addresses(at, other) == ["terraform_data.n", "terraform_data.z"]
    _refused(at(*moved[:-1], f"{name}-none"), "state_not_found")


def test_rollback_brings_one_resource_back(at: Kl, name: str, put: Put) -> None:
    put(_pair(1, size=1))
    put(_pair(2, size=2))
    back = ("rollback", "resource", name, "--address", A, "--to", "@1")
    preview = at(*back, "--dry-run", "--format", "json").json
    assert preview["preview"]["action"] == "replace"
    assert preview["new_version_id"] is None
    assert len(_versions(at, name)) == 2
    lines = at(*back).out.decode().splitlines()
    assert lines[0].split() == ["ACTION", "ADDRESS", "DEPOSED"]
    assert lines[1].split() == ["replace", A, "-"]
    assert lines[-2].startswith(f"{name}: 1 object brought back, serial 3, version ")
    document = at("export", name).json
    assert document["resources"][0]["instances"][0]["attributes"]["size"] == 1
    assert _versions(at, name)[0]["source"] == "rollback"


def test_rollback_restores_removes_or_changes_nothing(at: Kl, name: str, put: Put) -> None:
    put(state(1, resource("a")))
    put(state(2, resource("b")))
    for address, action in ((A, "restore"), (B, "remove")):
        back = ("rollback", "resource", "--to", "v1", "--address", address, name)
        assert at(*back, "--format=json").json["preview"]["action"] == action
    assert _addresses(at, name) == [A]
    done = at("rollback", "resource", name, "--address", A, "--to", "1", "--format", "json")
    assert (done.exit_code, done.json["new_version_id"]) == (0, None)
    text = at("rollback", "resource", name, "--address", A, "--to", "1").out.decode()
    assert f"{name}: nothing differs from serial 1\n" in text
    assert len(_versions(at, name)) == 4


def test_deposed_objects_go_along(at: Kl, name: str, put: Put) -> None:
    both = resource("a", instance({"id": "now"}), instance({"id": "old"}, deposed="12345678"))
    put(state(1, both, resource("b")))
    mv = ("state", "mv", name, "--from", A, "--to", "terraform_data.c")
    assert at(*mv).out.decode().splitlines()[2].split() == [A, "terraform_data.c", "12345678"]
    moved = ["terraform_data.c", "terraform_data.c 12345678"]
    assert _addresses(at, name) == [B, *moved]
    assert at("state", "rm", name, "--address", "terraform_data.c").exit_code == 0
    assert _addresses(at, name) == [B]
    back = ("rollback", "resource", name, "--address", "terraform_data.c", "--to", "@1")
    objects = at(*back, "--format", "json").json["preview"]["objects"]
    assert [(o["action"], o["deposed_key"]) for o in objects] == [
        ("restore", None),
        ("restore", "12345678"),
    ]
    assert _addresses(at, name) == [B, *moved]


def test_dependents_that_are_deposed_are_told(at: Kl, name: str, put: Put) -> None:
    deposed = instance({"id": "old"}, deposed="12345678", dependencies=[A])
    put(state(1, resource("a"), resource("b", deposed)))
    text = at("state", "rm", name, "--dry-run", "--address", A).out.decode()
    assert f"  {B} (deposed 12345678)\n" in text


@pytest.mark.parametrize("key", KEYS)
def test_a_hostile_key_names_one_instance_and_steers_nothing(
    at: Kl, name: str, put: Put, key: str
) -> None:
    def instances(*, size: int) -> dict[str, Any]:
        each = (instance({"id": k, "size": size}, index_key=k) for k in (*KEYS, "other"))
        return resource("g", *each, each="map")

    put(state(1, instances(size=1)))
    put(state(2, instances(size=2)))
    address = f"{G}[{_quoted(key)}]"
    back = at("rollback", "resource", name, "--address", address, "--to", "@1")
    assert back.exit_code == 0, back.err
    mv = at("state", "mv", name, "--from", address, "--to", f'{G}["new"]')
    assert mv.exit_code == 0, mv.err
    shown = at("resource", "show", name, f'{G}["new"]', "--format", "json").json
    assert [o["attributes"] for o in shown] == [{"id": key, "size": 1}]
    put_back = at("state", "mv", name, "--from", f'{G}["new"]', "--to", address)
    assert put_back.exit_code == 0, put_back.err
    rm = at("state", "rm", name, "--address", address)
    assert rm.exit_code == 0, rm.err
    left = {f"{G}[{json.dumps(other)}]" for other in (*KEYS, "other") if other != key}
    assert set(_addresses(at, name)) == left
    for done in (back, mv, put_back, rm):
        assert b"\x1b" not in done.out
        assert len(done.out.splitlines()) == 4


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("state", "rm", "--address", "module.m"), "invalid_request"),
        (("state", "rm", "--address", ""), "invalid_request"),
        (("state", "rm", "--address", f"{A}[0]"), "address_not_found"),
        (("state", "mv", "--from", A, "--to", "x"), "invalid_request"),
        (("state", "mv", "--from", A, "--to", "other_type.a"), "invalid_request"),
        (("state", "mv", "--from", A, "--to", B), "invalid_request"),
        (("state", "mv", "--from", "terraform_data.n", "--to", A), "address_not_found"),
        (("rollback", "resource", "--address", A, "--to", "@7"), "version_not_found"),
        (("rollback", "resource", "--address", "x", "--to", "@0"), "invalid_request"),
        (("rollback", "resource", "--address", G, "--to", "@0"), "address_not_found"),
    ],
)
def test_what_cannot_be_is_refused_in_preview_and_in_earnest(
    at: Kl, name: str, put: Put, args: tuple[str, ...], code: str
) -> None:
    put(_pair())
    _refused(at(*args, name, "--dry-run"), code)
    _refused(at(*args, name), code)
    _refused(at(*args, f"{name}-none"), "state_not_found")
    assert len(_versions(at, name)) == 1


@pytest.mark.parametrize(
    "args",
    [
        ("state",),
        ("rollback",),
        ("state", "list"),
        ("state", "rm", "s"),
        ("state", "rm", "s", A),
        ("state", "mv", "s", "--from", A),
        ("state", "mv", "s", "--from", A, "--from", B, "--to", A),
        ("state", "rm", "s", "--address", "bad\udcff"),
        ("state", "mv", "s", "--from", A, "--to", B, "--to-state", "bad\udcff"),
        ("rollback", "resource", "s", "--address", A),
        ("rollback", "resource", "s", "--to", "@1"),
        ("rollback", "resource", "s", "--address", A, "--address", B, "--to", "@1"),
    ],
)
def test_wrong_usage_is_exit_2(at: Kl, args: tuple[str, ...]) -> None:
    done = at(*args)
    assert (done.exit_code, done.out) == (2, b"")


def test_a_held_lock_stops_the_operation_not_its_preview(
    at: Kl, name: str, put: Put, place: Place
) -> None:
    put(_pair())
    lock = json.dumps(lock_info("11111111-1111-4111-8111-111111111111"))
    with place.database.connect() as conn:
        conn.execute("select kl.lock_state(%s, %s)", (name, lock))
    for args in (
        ("state", "rm", name, "--address", A),
        ("state", "mv", name, "--from", A, "--to", G),
        ("rollback", "resource", name, "--address", A, "--to", "@0"),
    ):
        assert at(*args, "--dry-run").exit_code == 0
        _refused(at(*args), "terraform_locked")
    assert len(_versions(at, name)) == 1


def test_a_reservation_that_covers_the_address_stops_it_and_is_told_before(
    at: Kl, name: str, put: Put, place: Place
) -> None:
    put(state(1, resource("a"), resource("b")))
    with place.database.connect() as conn:
        [run] = conn.execute(
            "select id from kl.begin_apply_run(%s, 'eve@kl', null, '{}')", (name,)
        ).fetchone() or [None]
        conn.execute(
            "select * from kl.acquire_reservations(%s, %s, 'eve@kl', '15 minutes', %s, '{}')",
            (name, run, json.dumps([{"address_glob": A, "mode": "write"}])),
        )
    preview = at("state", "rm", name, "--address", A, "--dry-run").out.decode()
    assert f"reserved in {name}:\n  {A} (write) by eve@kl until " in preview
    refused = at("state", "rm", name, "--address", A)
    _refused(refused, "reservation_conflict")
    assert "eve@kl" in refused.err
    _refused(at("state", "mv", name, "--from", B, "--to", f"{A}[0]"), "reservation_conflict")
    _refused(at("rollback", "resource", name, "--address", A, "--to", "@0"), "reservation_conflict")
    assert at("state", "rm", name, "--address", B).exit_code == 0
    assert _addresses(at, name) == [A]


def test_a_reservation_in_the_other_state_counts_too(
    at: Kl, name: str, put: Put, place: Place
) -> None:
    other = f"{name}-other"
    put(state(1, resource("a")))
    put(state(1, resource("z"), lineage=OTHER_LINEAGE), other)
    with place.database.connect() as conn:
        [run] = conn.execute(
            "select id from kl.begin_apply_run(%s, 'eve@kl', null, '{}')", (other,)
        ).fetchone() or [None]
        conn.execute(
            "select * from kl.acquire_reservations(%s, %s, 'eve@kl', '15 minutes', %s, '{}')",
            (other, run, json.dumps([{"address_glob": G, "mode": "write"}])),
        )
    mv = ("state", "mv", name, "--from", A, "--to", G, "--to-state", other)
    assert f"reserved in {other}:\n  {G} (write) by eve@kl" in at(*mv, "--dry-run").out.decode()
    _refused(at(*mv), "reservation_conflict")


def test_an_encrypted_state_has_no_single_resources(at: Kl, name: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(ENCRYPTED)
    assert at("import", str(path), "--name", name).exit_code == 0
    _refused(at("state", "rm", name, "--address", A), "unsupported_capability")


def test_the_actor_is_recorded(at: Kl, name: str, put: Put) -> None:
    put(_pair())
    assert at("state", "rm", name, "--address", B, "--actor", "eve@host").exit_code == 0
    assert _versions(at, name)[0]["actor"] == "eve@host"


def test_the_state_may_be_the_state_urls(
    kl: Kl, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kl("state", "rm", "--address", A).exit_code == 2
    monkeypatch.setenv("KL_STATE_URL", f"{server_url}/v1/states/ops/of%20url")
    path = tmp_path / "s.json"
    path.write_text(json.dumps(_pair()))
    assert kl("import", str(path)).exit_code == 0
    assert kl("state", "mv", "--from", A, "--to", G).exit_code == 0
    assert kl("state", "rm", "--address", B).exit_code == 0
    assert kl("rollback", "resource", "--address", B, "--to", "@2").exit_code == 0
    assert _addresses(kl, "ops/of url") == [B, G]
