"""A delta on an older base: it goes on top of what stands apart, and nothing else."""

from typing import Any

import pytest

from tests.clusters import Connection
from tests.documents import Json, instance, resource, state
from tests.sql.commit.committing import commit, delta, document, serials, writer
from tests.sql.staging import refused, write

A, B, C = (f"terraform_data.{n}" for n in "abc")


def changed(name: str, value: str = "new", **members: Any) -> Json:  # noqa: ANN401 - any JSON
    return resource(name, instance({"id": value}, **members))


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a"), changed("b", "b", dependencies=[A]), resource("c")))


def _ids(conn: Connection) -> dict[str, str]:
    return {r["name"]: r["instances"][0]["attributes"]["id"] for r in document(conn)["resources"]}


def test_disjoint_writers_both_win(conn: Connection) -> None:
    one, two = writer(conn, A), writer(conn, C)
    assert commit(one, delta(changed("a"))).serial == 2
    assert commit(two, delta(changed("c"))).serial == 3
    assert _ids(conn) == {"a": "new", "b": "b", "c": "new"}


def test_a_base_by_version_id_is_rebased_too(conn: Connection) -> None:
    base = conn.execute("select version_id from kl.state_versions").fetchone()
    assert base is not None
    one, two = writer(conn, A), writer(conn, C)
    commit(one, delta(changed("a"), lineage=None), base[0])
    assert commit(two, delta(changed("c"), lineage=None), base[0]).serial == 3


def test_a_stale_base_of_the_same_address_is_refused(conn: Connection) -> None:
    one = writer(conn, A)
    commit(one, delta(changed("a")))
    one.finish()
    two = writer(conn, A)
    with refused(conn, "KL302") as refusal:
        commit(two, delta(changed("a", "other")))
    assert refusal.detail["current_serial"] == 2
    assert refusal.detail["addresses"] == [A]
    assert commit(two, delta(changed("a", "other")), 2).serial == 3


def test_what_is_new_in_the_reserved_range_counts(conn: Connection) -> None:
    late = writer(conn, "module.m")
    assert commit(late, delta(resource("x", module="module.m"), write=["module.m." + A[:-1] + "x"]))
    late.finish()
    run = writer(conn, "module.m")
    with refused(conn, "KL302") as refusal:
        commit(run, delta(resource("y", module="module.m"), write=["module.m." + A[:-1] + "y"]))
    assert refusal.detail["addresses"] == ["module.m.terraform_data.x"]


def test_what_is_gone_from_the_reserved_range_counts(conn: Connection) -> None:
    other = writer(conn, C)
    commit(other, delta(delete=[C]))
    other.finish()
    run = writer(conn, A, (C, "read"))
    with refused(conn, "KL302") as refusal:
        commit(run, delta(changed("a")))
    assert refusal.detail["addresses"] == [C]


def test_what_is_read_under_reservation_must_not_have_changed(conn: Connection) -> None:
    one = writer(conn, A)
    commit(one, delta(changed("a")))
    one.finish()
    two = writer(conn, C, (A, "read"))
    with refused(conn, "KL302") as refusal:
        commit(two, delta(changed("c")))
    assert refusal.detail["addresses"] == [A]


def test_two_writers_cannot_each_act_on_what_the_other_changes(conn: Connection) -> None:
    """b depends on a: whoever writes b on an old base must have reserved a."""
    other = writer(conn, C)
    commit(other, delta(changed("c")))
    run = writer(conn, B)
    with refused(conn, "KL302") as refusal:
        commit(run, delta(changed("b")))  # by the stored list
    assert refusal.detail["addresses"] == [A]
    run.acquire((A, "read"))
    assert commit(run, delta(changed("b"))).serial == 3


def test_a_new_dependency_must_be_reserved_as_well(conn: Connection) -> None:
    other = writer(conn, C)
    commit(other, delta(changed("c")))
    run = writer(conn, A)
    with refused(conn, "KL302") as refusal:
        commit(run, delta(changed("a", dependencies=[C])))
    assert refusal.detail["addresses"] == [C]
    assert commit(run, delta(changed("a", dependencies=[C])), 2).serial == 3  # not rebased


def test_a_new_dependency_that_others_have_too_must_be_reserved_as_well(conn: Connection) -> None:
    other = writer(conn, "terraform_data.d")
    commit(other, delta(changed("d")))
    run = writer(conn, C)
    with refused(conn, "KL302") as refusal:
        commit(run, delta(changed("c", dependencies=[A])))  # as b has it
    assert refusal.detail["addresses"] == [A]


def test_a_dependency_that_somebody_removed_counts(conn: Connection) -> None:
    other = writer(conn, A)
    commit(other, delta(delete=[A]))
    run = writer(conn, B)
    with refused(conn, "KL302") as refusal:
        commit(run, delta(changed("b")))
    assert refusal.detail["addresses"] == [A]


def test_own_earlier_commits_are_no_conflict(conn: Connection) -> None:
    run = writer(conn, A, B)
    commit(run, delta(changed("a")))
    commit(run, delta(changed("b")))
    assert commit(run, delta(changed("a", "again"))).serial == 4
    assert _ids(conn) == {"a": "again", "b": "new", "c": "c"}


def test_a_plain_write_in_between_counts(conn: Connection) -> None:
    write(conn, "s", state(2, changed("a"), changed("b", "b", dependencies=[A]), resource("c")))
    run = writer(conn, C)
    assert commit(run, delta(changed("c"))).serial == 3
    run = writer(conn, A)
    with refused(conn, "KL302"):
        commit(run, delta(changed("a", "late")))


def _output(value: int) -> Json:
    return {"value": value, "type": "number"}


def test_outputs_are_compared_with_the_base(conn: Connection) -> None:
    first = {"one": _output(1), "two": _output(2), "three": _output(3), "four": _output(4)}
    resources = [resource("a"), resource("c")]
    write(conn, "s", state(2, *resources, outputs=first))
    others = {"one": _output(10), "two": _output(20), "four": _output(4), "five": _output(5)}
    write(conn, "s", state(3, *resources, outputs=others))
    run = writer(conn, A)
    with refused(conn, "KL302") as refusal:
        commit(run, delta(output_writes={"one": _output(11), "four": _output(44)}), 2)
    assert refusal.detail["addresses"] == ["output.one"]
    with refused(conn, "KL302") as refusal:
        commit(run, delta(output_delete_set=["two", "four", "five"]), 2)
    assert refusal.detail["addresses"] == ["output.two"]
    # Sent as it was in the base, or as it is now: nothing of the other writer's is undone.
    same = {"one": _output(1), "two": _output(20), "three": _output(3), "four": _output(44)}
    commit(run, delta(output_writes=same, output_delete_set=["five"]), 2)
    assert document(conn)["outputs"] == others | {"four": _output(44)}
    commit(run, delta(output_writes={"four": _output(4)}), 2)
    assert document(conn)["outputs"] == others
    assert serials(conn) == [1, 2, 3, 4, 5]
