"""What other systems let through: each is refused here, and nothing is stored."""

import uuid

import pytest

from tests.clusters import Connection
from tests.documents import ENCRYPTED, OTHER_LINEAGE, instance, lock_info, resource, state
from tests.sql.auth.acting import act, new_token
from tests.sql.commit.committing import (
    addresses,
    commit,
    delta,
    document,
    serials,
    snapshot,
    writer,
)
from tests.sql.engine import at, begin
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import refused, write

A, B = "terraform_data.a", "terraform_data.b"
CHANGED = resource("a", instance({"id": "new"}))


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a"), resource("b")))


def test_commit_after_the_lease_ended_is_refused(conn: Connection) -> None:
    at(conn, "0")
    run = writer(conn, A)
    at(conn, "16 minutes")
    with refused(conn, "KL305") as refusal:
        commit(run, delta(CHANGED))
    assert refusal.detail == {"addresses": [A]}
    assert serials(conn) == [1]


def test_commit_after_the_lease_ended_names_who_holds_the_scope_now(conn: Connection) -> None:
    at(conn, "0")
    run = writer(conn, A, B)
    at(conn, "10 minutes")
    run.acquire(B)
    at(conn, "16 minutes")
    other = begin(conn, actor="bob")
    other.acquire(A, holder="bob@kl")
    with refused(conn, "KL301") as refusal:
        commit(run, delta(CHANGED))
    assert refusal.detail["addresses"] == [A]
    assert [c["holder"] for c in refusal.detail["conflicts"]] == ["bob@kl"]


def test_an_expired_run_is_told_who_holds_its_scope_now(conn: Connection) -> None:
    at(conn, "0")
    run = writer(conn, A)
    at(conn, "16 minutes")
    other = begin(conn, actor="bob")
    other.acquire(A, holder="bob@kl")
    assert run.status()["status"] == "expired"
    with refused(conn, "KL301") as refusal:
        commit(run, delta(CHANGED))
    assert refusal.detail["addresses"] == [A]
    assert [c["holder"] for c in refusal.detail["conflicts"]] == ["bob@kl"]
    other.abort()
    with refused(conn, "KL305") as refusal:
        commit(run, delta(CHANGED))
    assert refusal.detail == {"addresses": [A]}


@pytest.mark.parametrize("cleared", [False, True])
def test_nothing_at_all_is_committed_after_the_lease_ended(
    conn: Connection, *, cleared: bool
) -> None:
    at(conn, "0")
    run = writer(conn, A)
    at(conn, "16 minutes")
    if cleared:
        lock(conn, "s", lock_info("plain"))
    for members in ({"output_writes": {"o": {"value": 1, "type": "number"}}}, {}):
        with refused(conn, "KL305"):
            commit(run, delta(**members))
    with refused(conn, "KL305"):
        snapshot(run, state(2, CHANGED, resource("b")))
    assert serials(conn) == [1]


def test_outputs_need_no_more_than_a_live_lease(conn: Connection) -> None:
    run = writer(conn, (A, "read"))
    done = commit(run, delta(output_writes={"o": {"value": 1, "type": "number"}}))
    assert (done.serial, list(document(conn)["outputs"])) == (2, ["o"])


def test_no_version_follows_the_highest_serial(conn: Connection) -> None:
    write(conn, "s", state(2**64 - 1, resource("a"), resource("b")))
    run = writer(conn, A)
    with refused(conn, "KL003") as refusal:
        commit(run, delta(CHANGED), 2**64 - 1)
    assert refusal.detail == {"current_serial": 2**64 - 1}
    with refused(conn, "KL003"):
        conn.execute("select kl.remove_resources('s', array[%s], true, 'ann')", (B,))


def test_commit_outside_the_reserved_scope_is_refused(conn: Connection) -> None:
    run = writer(conn, A)
    with refused(conn, "KL305") as refusal:
        commit(run, delta(CHANGED, resource("b")))
    assert refusal.detail["addresses"] == [B]
    with refused(conn, "KL305"):
        commit(run, delta(CHANGED, delete=[B]))
    other = begin(conn, actor="bob")
    other.acquire(B, holder="bob@kl")
    with refused(conn, "KL301") as refusal:
        commit(run, delta(CHANGED, resource("b")))
    assert refusal.detail["addresses"] == [B]
    assert refusal.detail["conflicts"][0]["apply_id"] == str(other.id)
    assert serials(conn) == [1]


def test_a_read_reservation_is_no_right_to_write(conn: Connection) -> None:
    run = writer(conn, A, (B, "read"))
    with refused(conn, "KL305"):
        commit(run, delta(resource("b")))


def test_a_name_with_the_same_beginning_is_not_covered(conn: Connection) -> None:
    run = writer(conn, "terraform_data.web_")
    with refused(conn, "KL305"):
        commit(run, delta(resource("webX")))
    run = writer(conn, "module.web")
    with refused(conn, "KL305"):
        commit(run, delta(resource("a", module="module.web2"), write=["module.web2." + A]))


def test_commit_by_somebody_else_is_refused(conn: Connection) -> None:
    run = writer(conn, A)
    act(conn, new_token(conn, "state:read", "state:write"))
    with refused(conn, "KL102"):
        commit(run, delta(CHANGED))


def test_commit_of_a_run_that_ended_is_refused(conn: Connection) -> None:
    for end in ("abort", "finish"):
        run = writer(conn, A)
        run.abort() if end == "abort" else run.finish()
        with refused(conn, "KL306"):
            commit(run, delta(CHANGED))


def test_commit_of_an_unknown_run_is_refused(conn: Connection) -> None:
    run = writer(conn, A)
    stranger = type(run)(conn, "s", uuid.uuid4())
    with refused(conn, "KL204"):
        commit(stranger, delta(CHANGED))


def test_commit_without_the_coarse_lock_is_refused(conn: Connection) -> None:
    run = writer(conn, A)
    run.unlock()
    with refused(conn, "KL305"):
        commit(run, delta(CHANGED))
    lock(conn, "s", lock_info("plain"))
    with refused(conn, "KL303"):
        commit(run, delta(CHANGED))


def test_a_missing_payload_is_not_a_deletion(conn: Connection) -> None:
    run = writer(conn, A, B)
    with refused(conn, "KL001") as refusal:
        commit(run, delta(CHANGED, write=[A, B]))
    assert refusal.detail["addresses"] == [B]
    assert addresses(conn) == [A, B]


def test_an_empty_delta_removes_nothing(conn: Connection) -> None:
    commit(writer(conn, "*"), delta())
    assert addresses(conn) == [A, B]


def test_a_payload_outside_the_write_set_is_refused(conn: Connection) -> None:
    run = writer(conn, A, B)
    with refused(conn, "KL001") as refusal:
        commit(run, delta(CHANGED, resource("b"), write=[A]))
    assert refusal.detail["addresses"] == [B]


def test_two_payloads_for_one_address_are_refused(conn: Connection) -> None:
    run = writer(conn, A)
    with refused(conn, "KL001") as refusal:
        commit(run, delta(CHANGED, resource("a"), write=[A]))
    assert refusal.detail["addresses"] == [A]


def test_an_address_to_write_and_to_delete_is_refused(conn: Connection) -> None:
    run = writer(conn, A)
    with refused(conn, "KL001"):
        commit(run, delta(CHANGED, delete=[A]))


def test_a_group_in_the_write_set_never_silently_does_nothing(conn: Connection) -> None:
    write(conn, "s", state(2, resource("g", instance(index_key=0), instance(index_key=1))))
    run = writer(conn, "terraform_data.g")
    with refused(conn, "KL001") as refusal:
        commit(run, delta(write=["terraform_data.g"]), 2)
    assert refusal.detail["addresses"] == ["terraform_data.g[0]", "terraform_data.g[1]"]
    with refused(conn, "KL001") as refusal:
        commit(run, delta(delete=["terraform_data.g"]), 2)
    assert refusal.detail["addresses"] == ["terraform_data.g[0]", "terraform_data.g[1]"]
    assert serials(conn) == [1, 2]


def test_other_resources_lose_nothing(conn: Connection) -> None:
    rich = resource(
        "rich",
        instance({"id": "r"}, index_key="0", private="cA==", status="tainted", dependencies=[B]),
        instance({"id": "d"}, index_key="0", deposed="00000001", private="cQ=="),
        instance({"id": "n"}, index_key=0),
    )
    write(conn, "s", state(2, resource("a"), rich))
    commit(writer(conn, A), delta(CHANGED), 2)
    after = next(r for r in document(conn)["resources"] if r["name"] == "rich")
    before = next(r for r in document(conn, version="v2")["resources"] if r["name"] == "rich")
    assert after == before
    kinds = {type(i["index_key"]) for i in after["instances"]}
    assert kinds == {str, int}


def test_another_lineage_is_refused(conn: Connection) -> None:
    with refused(conn, "KL302") as refusal:
        commit(writer(conn, A), delta(CHANGED, lineage=OTHER_LINEAGE))
    assert refusal.detail["current_serial"] == 1


def test_an_unknown_base_is_refused(conn: Connection) -> None:
    run = writer(conn, A)
    with refused(conn, "KL302") as refusal:
        commit(run, delta(CHANGED), 7)
    assert refusal.detail["current_serial"] == 1
    with refused(conn, "KL202"):
        commit(run, delta(CHANGED), uuid.uuid4())


def test_a_typo_in_the_name_creates_no_state(conn: Connection) -> None:
    run = writer(conn, A)
    with refused(conn, "KL201"):
        commit(run, delta(CHANGED), name="sproduction")
    with refused(conn, "KL201"):
        snapshot(type(run)(conn, "sproduction", run.id), state(2))
    assert conn.execute("select state_name from kl.states").fetchall() == [("s",)]


def test_an_encrypted_document_is_only_written_whole(conn: Connection) -> None:
    write(conn, "s", ENCRYPTED)
    run = writer(conn, A)
    with refused(conn, "KL002"):
        commit(run, delta(CHANGED), 3)


def test_a_wiped_stage_is_lost_and_never_an_empty_state(conn: Connection) -> None:
    run = writer(conn, "*")
    row = conn.execute(
        "select outcome from kl.commit_snapshot('s', %s, 1, null, gen_random_uuid(), 1, %s)",
        (run.id, b"\0" * 32),
    ).fetchone()
    assert row == ("lost",)
    assert addresses(conn) == [A, B]


def test_numbers_are_never_floats(conn: Connection) -> None:
    big = resource("a", instance({"id": 12345678901234567890123, "small": 0.1}))
    commit(writer(conn, A), delta(big))
    found = next(r for r in document(conn)["resources"] if r["name"] == "a")
    assert found["instances"][0]["attributes"]["id"] == 12345678901234567890123


def test_an_analyst_may_not_commit(analyst_conn: Connection) -> None:
    for call in (
        "kl.commit_delta('s', gen_random_uuid(), 1, null, '{}')",
        "kl.commit_snapshot('s', gen_random_uuid(), 1, null, gen_random_uuid(), 0, '')",
        "kl.remove_resources('s', '{}', false, null)",
        "kl.move_resources('s', '[]', null, false, null)",
        "kl.rollback_resource('s', 'a.b', '@1', false, null)",
    ):
        with refused(analyst_conn, "42501"):
            analyst_conn.execute(f"select {call}".encode())
