"""Bringing one address back to what it was."""

import pytest

from tests.clusters import Connection
from tests.documents import instance, lock_info, resource, state
from tests.sql.commit.committing import addresses, document, serials
from tests.sql.commit.operating import move, named, remove, roll_back
from tests.sql.engine import begin, rows
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import refused, write

A, B, N = (f"terraform_data.{n}" for n in "abn")
OLD = resource("a", instance({"z": 1, "id": "old"}, private="cA=="), instance(deposed="00000001"))


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(conn, "s", state(1, OLD, resource("b", instance(dependencies=[A]))))
    write(conn, "s", state(2, resource("a", instance({"id": "new"})), resource("n")))


def _actions(preview: dict[str, object]) -> list[tuple[object, object]]:
    objects = preview["objects"]
    assert isinstance(objects, list)
    return [(o["address"] + (o["deposed_key"] or ""), o["action"]) for o in objects]


def test_an_object_comes_back_as_it_was_with_its_deposed_ones(conn: Connection) -> None:
    done = roll_back(conn, A, "@1")
    assert _actions(done["preview"]) == [(A, "replace"), (A + "00000001", "restore")]
    assert done["preview"]["action"] == "replace"
    assert done["preview"]["touches_cloud_objects"] is False
    assert done["committed_serial"] == 3
    found = next(r for r in document(conn)["resources"] if r["name"] == "a")
    before = next(r for r in document(conn, version="v1")["resources"] if r["name"] == "a")
    assert found == before
    assert list(found["instances"][0]["attributes"]) == ["z", "id"]
    version = rows(conn, "select source, actor, version_id from kl.state_versions "
                   "where version_no = 3")[0]  # fmt: skip
    assert version == {
        "source": "rollback",
        "actor": "ann@kl",
        "version_id": done["new_version_id"],
    }


def test_what_is_gone_is_restored_and_what_it_misses_is_said(conn: Connection) -> None:
    remove(conn, A)
    done = roll_back(conn, B, "1")
    assert done["preview"]["action"] == "restore"
    assert A in done["preview"]["warnings"][0]
    assert addresses(conn) == [B, N]


def test_what_came_later_is_removed(conn: Connection) -> None:
    done = roll_back(conn, N, "v1")
    assert _actions(done["preview"]) == [(N, "remove")]
    assert done["preview"]["action"] == "remove"
    assert addresses(conn) == [A]


def test_what_is_equal_makes_no_version(conn: Connection) -> None:
    for reference in ("current", "2", "@0"):
        done = roll_back(conn, A, reference)
        assert done["preview"]["action"] == "no-op"
        assert (done["committed_serial"], done["new_version_id"]) == (None, None)
    roll_back(conn, A, "@1")
    roll_back(conn, A, "v2")
    assert roll_back(conn, A, "v2")["preview"]["action"] == "no-op"
    assert serials(conn) == [1, 2, 3, 4]


def test_what_differs_in_its_private_part_alone_goes_back(conn: Connection) -> None:
    write(conn, "s", state(3, resource("a", instance({"id": "new"}, private="cA=="))))
    assert roll_back(conn, A, "v2")["preview"]["action"] == "replace"
    assert roll_back(conn, A, "v3")["committed_serial"] == 5
    assert document(conn)["resources"][0]["instances"][0]["private"] == "cA=="


def test_any_version_reference_will_do(conn: Connection) -> None:
    first = rows(conn, "select version_id from kl.state_versions where version_no = 1")[0]
    for reference in (str(first["version_id"]), "v1", "1", "@1"):
        seen = roll_back(conn, A, reference, apply=False)
        assert seen["preview"]["to_version_id"] == str(first["version_id"])
    with refused(conn, "KL202"):
        roll_back(conn, A, "@9")


def test_a_preview_says_what_apply_says(conn: Connection) -> None:
    seen = roll_back(conn, A, "@1", apply=False)
    assert serials(conn) == [1, 2]
    assert roll_back(conn, A, "@1")["preview"] == seen["preview"]


def test_what_never_was_is_absent(conn: Connection) -> None:
    with refused(conn, "KL203") as refusal:
        roll_back(conn, "terraform_data.never", "@1")
    assert refusal.detail == {"addresses": ["terraform_data.never"]}


def test_a_reservation_or_a_plain_lock_refuses_it(conn: Connection) -> None:
    run = begin(conn)
    run.acquire((A, "read"))
    with refused(conn, "KL301"):
        roll_back(conn, A, "@1")
    run.release()
    lock(conn, "s", lock_info("one"))
    with refused(conn, "KL303"):
        roll_back(conn, A, "@1")


def test_a_whole_resource_goes_back_instance_by_instance(conn: Connection) -> None:
    group = [instance({"id": "0"}, index_key=0), instance({"id": "1"}, index_key=1)]
    write(conn, "s", state(3, resource("g", *group)))
    later = [instance({"id": "x"}, index_key=1), instance({"id": "2"}, index_key=2)]
    write(conn, "s", state(4, resource("g", *later)))
    done = roll_back(conn, "terraform_data.g", "@1")
    assert [action for _, action in _actions(done["preview"])] == ["restore", "replace", "remove"]
    assert (
        document(conn)["resources"][0]["instances"]
        == document(conn, version="v3")["resources"][0]["instances"]
    )


def test_an_address_that_is_none_is_pointed_at(conn: Connection) -> None:
    with refused(conn, "KL001") as refusal:
        roll_back(conn, "module.m", "@1")
    assert refusal.detail["pointer"] == "/address"


def test_a_provider_that_its_siblings_do_not_have_does_not_come_back(conn: Connection) -> None:
    two = (instance({"id": "0"}, index_key=0), instance({"id": "1"}, index_key=1))
    write(conn, "s", state(3, resource("g", *two)))
    write(conn, "s", state(4, resource("g", *two, provider='provider["acme.org/a/b"]')))
    with refused(conn, "KL001"):
        roll_back(conn, "terraform_data.g[0]", "@1")
    assert roll_back(conn, "terraform_data.g", "@1")["committed_serial"] == 5


def test_dependents_are_listed(conn: Connection) -> None:
    roll_back(conn, B, "v1")
    seen = roll_back(conn, A, "v1", apply=False)
    assert named(seen["preview"]["dependents"]) == [B]


def test_a_move_can_be_undone_address_by_address(conn: Connection) -> None:
    move(conn, (A, "terraform_data.moved"))
    roll_back(conn, A, "v2")
    roll_back(conn, "terraform_data.moved", "v2")
    assert addresses(conn) == [A, N]
