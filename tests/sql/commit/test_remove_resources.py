"""Taking objects out of a state."""

import pytest

from tests.clusters import Connection
from tests.documents import instance, lock_info, resource, state
from tests.sql.auth.acting import act, new_token
from tests.sql.commit.committing import addresses, serials
from tests.sql.commit.operating import dependencies, named, remove
from tests.sql.engine import at, begin, rows
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import refused, write

A, B = "terraform_data.a", "terraform_data.b"


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(
        conn,
        "s",
        state(
            1,
            resource("a", instance(), instance(deposed="00000001")),
            resource(
                "b", instance(dependencies=[A]), instance(dependencies=[A], deposed="0000000f")
            ),
            resource("g", instance(index_key=0), instance(index_key="0")),
        ),
    )


def test_an_object_goes_with_its_deposed_ones_and_dependents_keep_the_address(
    conn: Connection,
) -> None:
    done = remove(conn, A)
    assert addresses(conn) == [
        B, f"{B} 0000000f", "terraform_data.g[0]", 'terraform_data.g["0"]'
    ]  # fmt: skip
    assert done["committed_serial"] == 2
    assert named(done["preview"]["objects"]) == [A, (A, "00000001")]
    assert named(done["preview"]["dependents"]) == [B, (B, "0000000f")]
    assert len(done["preview"]["warnings"]) == 1
    assert done["preview"]["touches_cloud_objects"] is False
    assert set(dependencies(conn)) == {B}
    version = rows(conn, "select source, actor, version_id from kl.state_versions "
                   "where version_no = 2")[0]  # fmt: skip
    assert version == {
        "source": "remove",
        "actor": "ann@kl",
        "version_id": done["new_version_id"],
    }


def test_a_preview_changes_nothing_and_says_the_same(conn: Connection) -> None:
    seen = remove(conn, A, apply=False)
    assert (seen["committed_serial"], seen["new_version_id"]) == (None, None)
    assert serials(conn) == [1]
    assert seen["preview"]["base_serial"] == 1
    assert remove(conn, A)["preview"] == seen["preview"]


def test_an_address_is_exact(conn: Connection) -> None:
    remove(conn, "terraform_data.g[0]")
    assert addresses(conn)[-1] == 'terraform_data.g["0"]'
    for absent in ("terraform_data.g[0]", "terraform_data.g[1]", "terraform_data.gg", "data." + A):
        with refused(conn, "KL203") as refusal:
            remove(conn, absent)
        assert refusal.detail == {"addresses": [absent]}
    for bad in ("module.m", "terraform_data.g[*]", "*", ""):
        with refused(conn, "KL001") as refusal:
            remove(conn, A, bad)
        assert refusal.detail["pointer"] == "/addresses/1"
    with refused(conn, "KL001"):
        remove(conn)


def test_a_list_is_one_version_or_none(conn: Connection) -> None:
    with refused(conn, "KL203"):
        remove(conn, A, "terraform_data.none")
    assert serials(conn) == [1]
    done = remove(conn, A, "terraform_data.g", A)
    assert addresses(conn) == [B, f"{B} 0000000f"]
    assert done["committed_serial"] == 2
    assert serials(conn) == [1, 2]


def test_what_somebody_else_reserved_is_refused(conn: Connection) -> None:
    run = begin(conn)
    run.acquire((A, "read"), "terraform_data.g[7]")
    assert remove(conn, A, apply=False)["preview"]["conflicts"][0]["address_glob"] == A
    for held in (A, "terraform_data.g"):
        with refused(conn, "KL301") as refusal:
            remove(conn, held)
        assert refusal.detail["conflicts"][0]["holder"] == "ann@kl"
    assert remove(conn, "terraform_data.g[0]")["committed_serial"] == 2
    at(conn, "1 hour")
    assert remove(conn, A)["committed_serial"] == 3  # the lease has ended


def test_dependents_are_known_however_their_lists_are_spelled(conn: Connection) -> None:
    needs = ['module.m["k"].terraform_data.a', "module.m.terraform_data.a"]
    dependents = [resource(n, instance(dependencies=[d])) for n, d in zip("xy", needs, strict=True)]
    write(conn, "s", state(2, resource("a", module='module.m["k"]'), *dependents))
    done = remove(conn, needs[0])
    assert named(done["preview"]["dependents"]) == ["terraform_data.x", "terraform_data.y"]


def test_a_plain_lock_refuses_it(conn: Connection) -> None:
    lock(conn, "s", lock_info("one"))
    with refused(conn, "KL303"):
        remove(conn, A)


def test_reading_is_enough_for_a_preview_only(conn: Connection) -> None:
    act(conn, new_token(conn, "state:read"))
    assert remove(conn, A, apply=False)["preview"]["base_serial"] == 1
    with refused(conn, "KL102"):
        remove(conn, A)
    conn.execute("select kl.remove_resources('s', array['terraform_data.a'], null, null)")
    assert serials(conn) == [1]


def test_an_unknown_state_is_not_made(conn: Connection) -> None:
    with refused(conn, "KL201"):
        remove(conn, A, name="typo")
