"""Giving objects other addresses."""

from datetime import UTC, datetime

import pytest

from tests.clusters import Connection
from tests.documents import instance, lock_info, resource, state
from tests.sql.commit.committing import addresses, document, serials
from tests.sql.commit.operating import dependencies, move, named
from tests.sql.engine import begin, rows, value
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import refused, write

A, B, G = "terraform_data.a", "terraform_data.b", "terraform_data.g"


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(
        conn,
        "s",
        state(
            1,
            resource("a", instance(private="cA==", status="tainted"), instance(deposed="00000001")),
            resource("b", instance(dependencies=["terraform_data.g", A])),
            resource(
                "g",
                instance({"id": "0"}, index_key=0, dependencies=[A]),
                instance({"id": "1"}, index_key=1),
            ),
        ),
    )


def test_a_move_carries_everything_and_rewrites_dependencies(conn: Connection) -> None:
    before = document(conn)["resources"][0]["instances"]
    done = move(conn, (A, 'module.m["k.1"].terraform_data.x["y"]'))
    target = 'module.m["k.1"].terraform_data.x["y"]'
    assert addresses(conn) == [B, f"{G}[0]", f"{G}[1]", target, f"{target} 00000001"]
    moved = document(conn)["resources"][-1]
    assert moved["module"] == 'module.m["k.1"]'
    assert [i.pop("index_key") for i in moved["instances"]] == ["y", "y"]
    assert moved["instances"] == before
    new = "module.m.terraform_data.x"
    assert dependencies(conn) == {B: [new, G], f"{G}[0]": [new]}
    assert named(done["preview"]["dependents"]) == [B, f"{G}[0]"]
    assert done["preview"]["objects"][0]["to"] == target
    assert done["preview"]["touches_cloud_objects"] is False
    assert (done["committed_serial"], done["to_committed_serial"]) == (2, None)
    sources = rows(conn, "select source, actor from kl.state_versions where version_no = 2")
    assert sources == [{"source": "move", "actor": "ann@kl"}]


def test_the_old_text_stays_while_siblings_do(conn: Connection) -> None:
    move(conn, (f"{G}[0]", "terraform_data.h"))
    assert dependencies(conn)[B] == [A, G, "terraform_data.h"]
    move(conn, (f"{G}[1]", "terraform_data.i"))
    assert dependencies(conn)[B] == [A, "terraform_data.h", "terraform_data.i"]


def test_another_key_of_the_same_resource_changes_no_list(conn: Connection) -> None:
    before = dependencies(conn)
    done = move(conn, (f"{G}[0]", f'{G}["a"]'))
    assert done["preview"]["dependents"] == []
    after = dependencies(conn)
    assert (after.pop(f'{G}["a"]'), before.pop(f"{G}[0]")) == ([A], [A])
    assert after == before


def test_moves_of_one_call_are_made_at_once(conn: Connection) -> None:
    move(conn, (f"{G}[0]", f"{G}[1]"), (f"{G}[1]", f"{G}[2]"))
    assert addresses(conn)[-2:] == [f"{G}[1]", f"{G}[2]"]
    move(conn, (A, B), (B, A))
    ids = {r["name"]: len(r["instances"]) for r in document(conn)["resources"]}
    assert ids == {"a": 1, "b": 2, "g": 2}
    # What depended on a depends on b, and the other way round.
    assert dependencies(conn)[f"{G}[1]"] == [B]
    assert dependencies(conn)[A] == [B, G]
    assert serials(conn) == [1, 2, 3]


def test_one_bad_move_of_a_list_stores_nothing(conn: Connection) -> None:
    with refused(conn, "KL001"):
        move(conn, (A, "terraform_data.z"), (B, f"{G}[0]"))
    assert serials(conn) == [1]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (A, A),
        (A, B),
        (A, f"{G}[0]"),
        (G, G),
        (G, A),
        (G, f'{G}["a"]'),
        (A, "terraform_other.a"),
        (A, "data.terraform_data.a"),
        (f"{G}[*]", "terraform_data.z"),
        (f"{G}[-1]", "terraform_data.z"),
        (A, "module.m"),
        (A, "terraform_data.*"),
        (A, ""),
    ],
)
def test_a_move_that_cannot_be_is_refused(conn: Connection, source: str, target: str) -> None:
    for apply in (False, True):
        with refused(conn, "KL001"):
            move(conn, (source, target), apply=apply)
    assert serials(conn) == [1]


def test_two_moves_to_one_place_or_of_one_object_are_refused(conn: Connection) -> None:
    with refused(conn, "KL001"):
        move(conn, (A, "terraform_data.z"), (B, "terraform_data.z"))
    with refused(conn, "KL001"):
        move(conn, (A, "terraform_data.y"), (A, "terraform_data.z"))


def test_what_is_not_there_cannot_move(conn: Connection) -> None:
    with refused(conn, "KL203") as refusal:
        move(conn, (f'{G}["0"]', "terraform_data.z"))
    assert refusal.detail == {"addresses": [f'{G}["0"]']}


def test_the_target_resource_keeps_one_provider(conn: Connection) -> None:
    other = resource("o", instance(index_key=0), provider='provider["acme.org/a/b"]')
    write(conn, "s", state(2, resource("a"), other))
    with refused(conn, "KL001") as refusal:
        move(conn, (A, "terraform_data.o[1]"))
    assert len(refusal.detail["providers"]) == 2


def test_reserved_sources_targets_and_dependents_refuse_a_move(conn: Connection) -> None:
    run = begin(conn)
    for held in (A, "module.n", B):
        run.acquire((held, "read"))
        with refused(conn, "KL301"):
            move(conn, (A, "module.n.terraform_data.a"))
        run.release()
        run = begin(conn)
    assert move(conn, (A, "module.n.terraform_data.a"))["committed_serial"] == 2
    lock(conn, "s", lock_info("one"))
    with refused(conn, "KL303"):
        move(conn, (B, "terraform_data.z"))


def test_conflicts_have_their_times_in_utc(conn: Connection) -> None:
    begin(conn).acquire(A)
    conn.execute("set local timezone = 'Asia/Kolkata'")
    until: datetime = value(conn, "select expires_at from kl.resource_reservations")
    expected = until.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    with refused(conn, "KL301") as refusal:
        move(conn, (A, "terraform_data.z"))
    assert [c["expires_at"] for c in refusal.detail["conflicts"]] == [expected]
    assert expected in refusal.message


def test_a_preview_says_what_apply_says(conn: Connection) -> None:
    seen = move(conn, (A, "terraform_data.z"), apply=False)
    assert serials(conn) == [1]
    assert move(conn, (A, "terraform_data.z"))["preview"] == seen["preview"]


def test_objects_move_to_another_state_in_one_transaction(conn: Connection) -> None:
    write(conn, "t", state(5, resource("z")))
    done = move(conn, (G, "module.n.terraform_data.g"), (A, A), to="t")
    assert addresses(conn) == [B]
    target = "module.n.terraform_data.g"
    assert addresses(conn, "t") == [
        A, f"{A} 00000001", "terraform_data.z", f"{target}[0]", f"{target}[1]"
    ]  # fmt: skip
    assert dependencies(conn, "t") == {f"{target}[0]": [A]}
    assert dependencies(conn) == {B: [A, G]}
    assert named(done["preview"]["dependents"]) == [B]
    assert done["preview"]["warnings"] == [
        "1 objects that stay depend on what moves away; their dependencies keep the address"
    ]
    assert (done["committed_serial"], done["to_committed_serial"]) == (2, 6)
    assert serials(conn, "t") == [5, 6]


def test_a_move_says_what_the_other_state_lacks(conn: Connection) -> None:
    write(conn, "t", state(5, resource("a"), resource("z")))
    seen = move(conn, (B, "terraform_data.c"), to="t", apply=False)["preview"]
    assert seen["warnings"] == [
        f"terraform_data.c depends on {G}, which the target state does not have"
    ]
    assert move(conn, (B, "terraform_data.c"), to="t")["preview"] == seen
    moved = (B, "terraform_data.d"), (G, "terraform_data.g")
    write(conn, "s", state(3, resource("b", instance(dependencies=[G])), resource("g")))
    assert move(conn, *moved, to="t")["preview"]["warnings"] == []


def test_the_other_state_must_be_there_free_and_without_that_object(conn: Connection) -> None:
    with refused(conn, "KL201"):
        move(conn, (A, A), to="typo")
    write(conn, "t", state(5, resource("z")))
    with refused(conn, "KL001"):
        move(conn, (A, "terraform_data.z"), to="t")
    run = begin(conn, "t")
    run.acquire("module.n")
    with refused(conn, "KL301"):
        move(conn, (A, "module.n.terraform_data.a"), to="t")
    run.release()
    lock(conn, "t", lock_info("one"))
    with refused(conn, "KL303"):
        move(conn, (A, A), to="t")
    assert serials(conn) == [1]


def test_what_old_terraforms_say_of_the_kind_of_keys_does_not_move_to_another_kind(
    conn: Connection,
) -> None:
    write(conn, "s", state(2, resource("g", instance(index_key=0), each="list")))
    move(conn, (f"{G}[0]", f"{G}[7]"))
    assert document(conn)["resources"][0]["each"] == "list"
    move(conn, (f"{G}[7]", f'{G}["a"]'))
    assert "each" not in document(conn)["resources"][0]


@pytest.mark.parametrize(
    ("moves", "pointer"),
    [
        ("null", "/moves"),
        ("{}", "/moves"),
        ("[]", "/moves"),
        ("[1]", "/moves/0"),
        ('[{"address": "a.b"}]', "/moves/0/to"),
        ('[{"address": "a.b", "to": "a.c"}, {"address": 1, "to": "a.d"}]', "/moves/1/address"),
    ],
)
def test_what_is_no_list_of_moves_is_refused(conn: Connection, moves: str, pointer: str) -> None:
    with refused(conn, "KL001") as refusal:
        conn.execute("select kl.move_resources('s', %s::jsonb, null, true, null)", (moves,))
    assert refusal.detail == {"pointer": pointer}


def test_an_address_that_is_none_is_pointed_at(conn: Connection) -> None:
    for moves, pointer in (
        (((A, "terraform_data.z"), ("x", "terraform_data.y")), "/moves/1/address"),
        (((A, "module.m"),), "/moves/0/to"),
    ):
        with refused(conn, "KL001") as refusal:
            move(conn, *moves)
        assert refusal.detail["pointer"] == pointer
