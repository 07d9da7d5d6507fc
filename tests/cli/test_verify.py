"""kl verify over SQL and HTTP."""

from pathlib import Path

import pytest

from tests.cli.conftest import Kl, Place
from tests.cli.documents import document, write


@pytest.fixture
def name(request: pytest.FixtureRequest, place: Place) -> str:
    """A state name of the test's own."""
    return f"{request.node.name}-{place.env.get('KL_STATE_URL', 'sql')[:4]}".replace("/", "-")


def test_a_whole_state_is_sound(at: Kl, name: str, tmp_path: Path) -> None:
    for serial in (1, 2):
        at("import", write(tmp_path / "s.json", document(serial, ("a", f"b{serial}"))),
           "--name", name)  # fmt: skip
    done = at("verify", name)
    assert (done.exit_code, done.err) == (0, "")
    assert done.out.decode() == f"{name}: sound up to v2, 5 rows and versions checked\n"
    done = at("verify", name, "--format", "json")
    assert done.exit_code == 0
    assert done.json["sound"] is True
    assert done.json["states"][0] == {"state": name, "version_no": 2, "checked": 5, "damage": []}


def test_damage_is_told_and_exit_1(at: Kl, place: Place, name: str, tmp_path: Path) -> None:
    at("import", write(tmp_path / "s.json", document(1, ("a", "b"))), "--name", name)
    with place.database.connect("postgres") as conn:
        conn.execute(
            "update kl_internal.resources as r set attributes = '{}' from kl_internal.states as s"
            " where s.id = r.state_id and s.name = %s and r.name = 'a'",
            (name,),
        )
        conn.execute(
            "delete from kl_internal.resources as r using kl_internal.states as s"
            " where s.id = r.state_id and s.name = %s and r.name = 'b'",
            (name,),
        )
    done = at("verify", name)
    assert done.exit_code == 1
    first, second, third = done.out.decode().splitlines()
    assert first.split() == ["STATE", "VERSIONS", "ADDRESS", "DEPOSED", "PROBLEM"]
    assert "terraform_data.a" in second
    assert "its content was changed" in second
    assert "1 resource rows are missing" in third
    done = at("verify", name, "--format", "json")
    assert (done.exit_code, done.json["sound"]) == (1, False)
    assert [d["kind"] for d in done.json["states"][0]["damage"]] == ["resource", "versions"]
    every = at("verify", "--format", "json")
    assert every.exit_code == 1
    assert name in [state["state"] for state in every.json["states"]]
    with place.database.connect("postgres") as conn:
        conn.execute("delete from kl_internal.states as s where s.name = %s", (name,))


def test_an_unknown_state_is_named(at: Kl) -> None:
    done = at("verify", "no-such-state")
    assert done.exit_code == 1
    assert done.err.startswith("kl: state_not_found: ")
