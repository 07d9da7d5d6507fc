"""The rules an unmodified Terraform meets: locks first, then retries, then serials."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.documents import (
    LINEAGE,
    OTHER_LINEAGE,
    Json,
    encoded,
    instance,
    lock_info,
    resource,
    state,
)
from tests.equality import canonical
from tests.service import Backend
from tests.sql.engine import begin

A = lock_info("11111111-2222-3333-4444-555555555555")
B = lock_info("66666666-7777-8888-9999-000000000000", Who="bob@laptop")
FIRST = state(3, resource("a"))
CHANGED = resource("a", instance({"id": "changed"}))
FORCING = ("state-push", "migration destination state")


@pytest.fixture
def written(backend: Backend) -> Backend:
    """A state with one version of serial 3."""
    assert backend.post(FIRST).status_code == 200
    return backend


def test_unknown_state_is_404(backend: Backend) -> None:
    answer = backend.get()
    assert (answer.status_code, answer.json()["error"]) == (404, "state_not_found")


def test_lock_answers_exactly_200_and_hides_the_placeholder(backend: Backend) -> None:
    assert backend.lock(A).status_code == 200
    assert backend.get().status_code == 404
    assert backend.server.as_kl_server(
        "select count(*) from kl.states as s where s.state_name = %(name)s", name=backend.name
    ) == [(0,)]
    assert backend.delete().status_code == 423
    assert backend.unlock(A).status_code == 200
    assert backend.delete().status_code == 404
    assert backend.kept() == 0


def test_lock_with_the_id_that_holds_it_is_a_retry(backend: Backend) -> None:
    assert [backend.lock(A).status_code for _ in range(3)] == [200, 200, 200]
    assert [kind for kind, _ in backend.events()] == ["lock"]


def test_conflict_shows_the_holders_whole_lock_info(written: Backend) -> None:
    assert written.lock(A).status_code == 200
    for answer in (written.lock(B), written.post(state(4)), written.delete()):
        assert answer.status_code == 423
        body = answer.json()
        assert body["error"] == "terraform_locked"
        assert {k: body[k] for k in A} == A
        assert body["details"]["lock"] == A
        assert "ann@ci-1" in body["message"]
    for answer in (written.post(state(4), B["ID"]), written.unlock(B)):
        assert answer.status_code == 409
        assert answer.json()["error"] == "lock_mismatch"
        assert {k: answer.json()[k] for k in A} == A
    assert written.versions() == 1


def test_lock_info_of_a_conflict_keeps_members_we_do_not_know(backend: Backend) -> None:
    info = A | {"Future": {"n": [1, None]}, "Info": 'é\u2028"\\'}
    assert backend.lock(info).status_code == 200
    body = backend.lock(B).json()
    assert {k: body[k] for k in info} == info


@pytest.mark.parametrize(
    ("odd", "operation", "who"),
    [
        ({}, "", ""),
        ({"Operation": {"a": 1}, "Who": 5, "Created": "", "Info": None}, '{"a": 1}', "5"),
        ({"Created": "yesterday", "Version": [], "Path": {}}, "", ""),
    ],
)
def test_conflict_is_a_lock_info_that_terraform_reads_whatever_was_sent(
    written: Backend, odd: Json, operation: str, who: str
) -> None:
    assert written.lock({"ID": "x"} | odd).status_code == 200
    for answer in (written.lock(B), written.post(state(4)), written.unlock(B)):
        body = answer.json()
        created = datetime.fromisoformat(body.pop("Created"))
        assert abs(datetime.now(UTC) - created) < timedelta(hours=1)
        assert {k: body[k] for k in ("ID", "Operation", "Who", "Info", "Version", "Path")} == {
            "ID": "x", "Operation": operation, "Who": who, "Info": "", "Version": "", "Path": ""
        }  # fmt: skip


def test_write_under_the_callers_lock(written: Backend) -> None:
    written.lock(A)
    assert written.post(state(4, CHANGED), A["ID"]).json()["outcome"] == "written"
    assert written.unlock(A).status_code == 200
    found = written.server.as_kl_server(
        "select v.source, v.operation, v.actor from kl.state_versions as v "
        "where v.state_name = %(name)s order by v.version_no",
        name=written.name,
    )
    assert found == [
        ("http_backend", None, "kl_server"),
        ("apply", "OperationTypeApply", "ann@ci-1"),
    ]


def test_late_writer_whose_lock_was_taken_is_refused(written: Backend) -> None:
    written.lock(A)
    written.unlock(None)
    answer = written.post(state(4, CHANGED), A["ID"])
    assert (answer.status_code, answer.json()["error"]) == (409, "lock_mismatch")
    assert A["ID"] in answer.json()["message"]
    assert written.versions() == 1


def test_late_first_write_leaves_no_placeholder(backend: Backend) -> None:
    backend.lock(A)
    backend.unlock(None)
    assert backend.post(FIRST, A["ID"]).status_code == 409
    assert backend.kept() == 0


@pytest.mark.parametrize("locked", [False, True])
def test_retry_is_answered_and_makes_no_second_version(written: Backend, locked: bool) -> None:
    lock_id = A["ID"] if locked else None
    if locked:
        written.lock(A)
    spelled_otherwise = b"  " + encoded(FIRST).replace(b'"id": "a"', b'"id":"\\u0061"')
    for body in (encoded(FIRST), spelled_otherwise):
        answer = written.post(body, lock_id)
        assert (answer.status_code, answer.json()["outcome"]) == (200, "unchanged")
        assert answer.json()["serial"] == 3
    assert written.versions() == 1


def test_retry_without_the_lock_that_is_held_is_refused(written: Backend) -> None:
    written.lock(A)
    assert written.post(FIRST).status_code == 423
    assert written.post(FIRST, B["ID"]).status_code == 409


@pytest.mark.parametrize("change", ["attributes", "outputs", "checks", "terraform", "unknown"])
def test_same_serial_with_other_content_is_refused(written: Backend, change: str) -> None:
    other = {
        "attributes": state(3, CHANGED),
        "outputs": FIRST | {"outputs": {"o": {"value": 1, "type": "number"}}},
        "checks": FIRST | {"check_results": []},
        "terraform": FIRST | {"terraform_version": "1.12.0"},
        "unknown": FIRST | {"x": 1},
    }[change]
    answer = written.post(other)
    assert (answer.status_code, answer.json()["error"]) == (409, "state_serial_conflict")
    assert written.versions() == 1
    assert canonical(written.get().content) == canonical(encoded(FIRST))


@pytest.mark.parametrize("operation", [None, "OperationTypeApply", "state-mv", "taint"])
def test_serial_that_does_not_rise_is_refused(written: Backend, operation: str | None) -> None:
    lock_id = None
    if operation is not None:
        lock_id = A["ID"]
        written.lock(A | {"Operation": operation})
    for serial in (0, 2, 3):
        answer = written.post(state(serial, CHANGED), lock_id)
        assert (answer.status_code, answer.json()["error"]) == (409, "state_serial_conflict")
        assert f"serial 3, the document has serial {serial}" in answer.json()["message"]
        assert answer.json()["details"]["current_serial"] == 3
        assert answer.json()["details"]["serial"] == serial
    assert written.versions() == 1


def test_another_lineage_is_refused_and_both_are_named(written: Backend) -> None:
    answer = written.post(state(9, lineage=OTHER_LINEAGE))
    assert (answer.status_code, answer.json()["error"]) == (409, "state_serial_conflict")
    assert LINEAGE in answer.json()["message"]
    assert OTHER_LINEAGE in answer.json()["message"]
    assert written.versions() == 1


def test_serial_may_jump(written: Backend) -> None:
    assert written.post(state(2**64 - 1, CHANGED)).status_code == 200
    assert written.get().json()["serial"] == 2**64 - 1


@pytest.mark.parametrize("operation", FORCING)
def test_forced_write_is_accepted_and_audited(written: Backend, operation: str) -> None:
    written.lock(A | {"Operation": operation})
    for document in (state(3, CHANGED), state(1), state(1, lineage=OTHER_LINEAGE)):
        assert written.post(document, A["ID"]).json()["outcome"] == "written"
        assert canonical(written.get().content) == canonical(encoded(document))
    forced = [detail for kind, detail in written.events() if kind == "forced_write"]
    assert [(e["previous_serial"], e["serial"]) for e in forced] == [(3, 3), (3, 1), (1, 1)]
    assert forced[-1]["previous_lineage"] == LINEAGE
    assert forced[-1]["lineage"] == OTHER_LINEAGE
    assert all(e["operation"] == operation for e in forced)


def test_push_with_a_higher_serial_is_no_forced_write(written: Backend) -> None:
    written.lock(A | {"Operation": "state-push"})
    assert written.post(state(4, CHANGED), A["ID"]).status_code == 200
    assert [kind for kind, _ in written.events()] == ["lock"]


def test_force_needs_the_callers_own_lock(written: Backend) -> None:
    written.lock(A | {"Operation": "state-push"})
    assert written.post(state(1)).status_code == 423
    assert written.post(state(1), B["ID"]).status_code == 409


def test_unlock_answers_exactly_200_also_when_nothing_is_held(written: Backend) -> None:
    written.lock(A)
    assert [written.unlock(A).status_code for _ in range(2)] == [200, 200]
    assert written.unlock(None).status_code == 200
    assert [kind for kind, _ in written.events()] == ["lock", "unlock"]


def test_unlock_of_a_state_that_never_was(backend: Backend) -> None:
    assert backend.unlock(A).status_code == 200
    assert backend.unlock(None).status_code == 200
    assert backend.kept() == 0


def test_empty_unlock_frees_what_is_held_and_is_audited_as_forced(written: Backend) -> None:
    written.lock(A)
    assert written.unlock(None).status_code == 200
    assert written.lock(B).status_code == 200
    kind, detail = written.events()[1]
    assert (kind, detail["lock_id"], detail["forced"]) == ("force_unlock", A["ID"], True)
    assert detail["who"] == "ann@ci-1"


def test_unlock_with_only_the_id_frees_and_is_audited_as_forced(written: Backend) -> None:
    written.lock(A)
    sent = {"ID": A["ID"], "Created": "0001-01-01T00:00:00Z", "Who": ""}
    assert written.unlock(sent).status_code == 200
    assert written.events()[1][0] == "force_unlock"


def test_unlock_at_its_own_address(written: Backend) -> None:
    written.lock(A)
    path = written.path.replace("/v1/states/", "/v1/state-unlock/")
    assert written.request("POST", path, json=B).status_code == 409
    assert written.request("POST", path, json=A).status_code == 200
    written.lock(B)
    assert written.request("POST", path).status_code == 200
    assert written.lock(A).status_code == 200


@pytest.mark.parametrize(
    "body", [b"not json", b"{}", b"[]", b'{"ID":""}', b'{"ID":7}', b'{"ID":null}', b"null"]
)
@pytest.mark.parametrize("method", ["LOCK", "UNLOCK"])
def test_lock_info_without_an_id_is_refused(backend: Backend, method: str, body: bytes) -> None:
    answer = backend.request(method, content=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert "LockInfo" in answer.json()["message"]
    assert backend.kept() == 0


DEEP = b'{"ID":"a","Info":' + b"[" * 50_000 + b"]" * 50_000 + b"}"


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\xfe", b'{"ID":"a\\u0000b"}', b'{"ID":"\\ud800"}', DEEP],
    ids=["empty", "UTF-16", "NUL", "surrogate", "deep"],
)
def test_lock_info_that_cannot_be_kept_is_refused(backend: Backend, body: bytes) -> None:
    answer = backend.request("LOCK", content=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert backend.kept() == 0


def test_lock_id_may_be_any_text(backend: Backend) -> None:
    info = A | {"ID": "weiß & ? # 'x' \"y\" %41"}
    assert backend.lock(info).status_code == 200
    assert backend.post(FIRST, info["ID"]).status_code == 200
    assert backend.unlock(info).status_code == 200


def test_delete_frees_the_name_and_keeps_history(written: Backend) -> None:
    assert written.delete().status_code == 200
    assert written.get().status_code == 404
    assert written.versions() == 0
    assert written.delete().status_code == 404

    again = state(1, lineage=OTHER_LINEAGE)
    assert written.post(again).json()["version_no"] == 1
    assert canonical(written.get().content) == canonical(encoded(again))
    kept = written.server.rows(
        "select count(*), count(s.deleted_at) from kl_internal.states as s "
        "inner join kl_internal.state_versions as v on v.state_id = s.id "
        "where s.name = %(name)s",
        name=written.name,
    )
    assert kept == [(2, 1)]


def test_delete_under_anybodys_lock_is_refused(written: Backend) -> None:
    written.lock(A)
    answer = written.request("DELETE", params={"ID": A["ID"]})
    assert answer.status_code == 423
    assert written.get().status_code == 200


def test_post_and_put_never_renumber(written: Backend) -> None:
    answer = written.request("PUT", content=encoded(state(7, CHANGED)))
    assert answer.status_code == 200
    assert canonical(written.get().content) == canonical(encoded(state(7, CHANGED)))
    assert written.versions() == 2


@pytest.fixture
def natively_written(written: Backend) -> Backend:
    """A state on which a native write is active."""
    connection = written.server.kl_server
    run = begin(connection, written.name, "eve@cli")
    run.acquire("module.m")
    run.lock("module.m", holder="eve@cli")
    return written


def test_active_native_write_refuses_the_plain_lane(natively_written: Backend) -> None:
    backend = natively_written
    for answer in (
        backend.lock(A),
        backend.post(state(4)),
        backend.post(state(4), A["ID"]),
        backend.delete(),
    ):
        assert answer.status_code == 423
        assert answer.json()["Who"] == "eve@cli"
        assert answer.json()["Operation"] == "state engine write"
        assert "module.m" in answer.json()["Info"]
    assert backend.versions() == 1


def test_empty_unlock_never_frees_a_native_lock(natively_written: Backend) -> None:
    assert natively_written.unlock(None).status_code == 200
    assert natively_written.lock(A).status_code == 423
