"""Runs, reservations and the native lock over HTTP, in the shapes of the protocol."""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from server.freed_scopes import FreedScopes
from tests.documents import Json, lock_info, resource, state
from tests.service import Backend
from tests.waiting import wait_for

INFO = lock_info("11111111-2222-3333-4444-555555555555")
Ask = Callable[..., httpx.Response]

NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def written(backend: Backend) -> Backend:
    """A state with one version of serial 47."""
    assert backend.post(state(47, resource("a"))).status_code == 200
    return backend


def ask(backend: Backend, path: str, **body: Any) -> httpx.Response:  # noqa: ANN401 - any JSON
    return backend.request("POST", f"/v1/state-engine/{path}", json=body)


def begin(backend: Backend, actor: str = "ann@kl") -> str:
    answer = ask(backend, "apply-runs/begin", state=backend.name, actor=actor)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def acquire(backend: Backend, apply_id: str, *globs: str, **more: Any) -> httpx.Response:  # noqa: ANN401
    want = [{"address_glob": glob, "mode": "write"} for glob in globs]
    body = {"state": backend.name, "holder": "ann@kl", "lease_seconds": 900} | more
    return ask(backend, "reservations/acquire", apply_id=apply_id, want=want, **body)


def test_the_exchange_of_the_protocol(written: Backend) -> None:
    address = "module.database.aws_db_instance.primary"
    run = ask(
        written,
        "apply-runs/begin",
        state=written.name,
        actor="alice@example.com@kl",
        source_serial=47,
        info={"mode": "state-engine"},
    ).json()
    assert (run["actor"], run["status"], run["source_serial"]) == (
        "alice@example.com@kl", "running", 47,
    )  # fmt: skip
    assert {"id", "state_id", "from_version_id"} <= run.keys()
    apply_id = run["id"]
    held = ask(
        written,
        "reservations/acquire",
        state=written.name,
        apply_id=apply_id,
        holder="alice@example.com@kl",
        lease_seconds=900,
        want=[
            {"address_glob": address, "mode": "write"},
            {"address_glob": "aws_kms_key.main", "mode": "read"},
        ],
        module_calls=[{"address": "module.database", "keyed": False}],
    ).json()
    assert held["ok"] is True
    assert [(r["address_glob"], r["widened"]) for r in held["reservations"]] == [
        (address, False), ("aws_kms_key.main", False),
    ]  # fmt: skip
    assert held["expires_at"] == held["reservations"][0]["expires_at"]
    locked = ask(
        written,
        "terraform-lock/acquire",
        state=written.name,
        apply_id=apply_id,
        holder="alice@example.com@kl",
        scope_summary=[address],
    ).json()
    assert locked == {"ok": True, "lock_id": f"state-engine-{apply_id}"}
    plain = written.lock(INFO)
    assert (plain.status_code, plain.json()["error"]) == (423, "terraform_locked")
    assert plain.json()["ID"] == f"state-engine-{apply_id}"
    assert address in plain.json()["Info"]
    assert ask(written, "reservations/renew", apply_id=apply_id, lease_seconds=60).json()["ok"]
    status = written.request("GET", f"/v1/state-engine/apply-runs/{apply_id}/status").json()
    assert status["status"] == "running"
    finished = ask(
        written,
        f"apply-runs/{apply_id}/finish",
        status="committed",
        committed_serial=48,
        resources_planned=1,
        resources_applied=1,
    )
    assert (finished.status_code, finished.json()["status"]) == (200, "committed")
    assert ask(written, "reservations/release", apply_id=apply_id).json() == {
        "ok": True, "released": 0,
    }  # fmt: skip
    assert ask(written, "terraform-lock/release", lock_id=locked["lock_id"]).json() == {
        "ok": True, "lock_id": None,
    }  # fmt: skip
    assert written.lock(INFO).status_code == 200


def test_conflict_has_the_shape_of_the_protocol(written: Backend) -> None:
    ann, bob = begin(written), begin(written, "bob@kl")
    assert acquire(written, ann, "module.db").status_code == 200
    refused = acquire(written, bob, 'module.db["a"].aws_x.y', "aws_x.z")
    assert refused.status_code == 409
    body = refused.json()
    assert body["error"] == "reservation_conflict"
    (conflict,) = body["conflicts"]
    assert conflict.keys() >= {"address_glob", "mode", "holder", "apply_id", "expires_at"}
    assert (conflict["address_glob"], conflict["apply_id"]) == ("module.db", ann)
    assert body["details"]["conflicts"] == body["conflicts"]
    assert acquire(written, bob, "aws_x.z").status_code == 200


def test_every_form_of_naming_a_state_is_one_state(written: Backend) -> None:
    (row,) = written.server.as_kl_server(
        "select s.state, s.state_id from kl.states as s where s.state_name = %(name)s",
        name=written.name,
    )
    full, state_id = row
    workspace, environment, name = full.split("/", 2)
    forms: list[Json] = [
        {"state": full},
        {"state": written.name},
        {"state_url": f"https://api.example.com{written.path}"},
        {"state_url": f"http://h/x/v1/states/{full.replace('/', '%2F')}?ID=1"},
        {"workspace_id": workspace, "env_public_id": environment, "state_name": name},
        {"state_id": str(state_id), "unknown": [1]},
    ]
    for form in forms:
        answer = ask(written, "apply-runs/begin", **form)
        assert answer.status_code == 200, answer.text
        assert answer.json()["state_id"] == str(state_id)
    runs = ask(written, "apply-runs/list", state=full, limit=4).json()["apply_runs"]
    rest = ask(written, "apply-runs/list", state=full, before=runs[-1]["id"]).json()["apply_runs"]
    assert (len(runs), len(rest)) == (4, len(forms) - 4)


def test_an_id_beside_a_name_is_of_the_same_state(written: Backend) -> None:
    other = written.server.backend()
    assert other.post(state(1, resource("a"))).status_code == 200
    state_id = ask(written, "state/resolve", state=written.name).json()["state_id"]
    same = ask(written, "apply-runs/begin", state=written.name, state_id=state_id)
    assert (same.status_code, same.json()["state_id"]) == (200, state_id)
    refused = ask(written, "apply-runs/begin", state=other.name, state_id=state_id)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_request")
    assert refused.json()["details"]["pointer"] == "/state_id"
    assert ask(written, "apply-runs/list", state=other.name).json() == {"apply_runs": []}


def test_a_module_call_that_is_none_is_pointed_at(written: Backend) -> None:
    calls = [{"address": "aws.a", "keyed": True}, {"address": "module.a", "keyed": False}]
    calls.append({"address": "aws.b", "keyed": False})
    answer = acquire(written, begin(written), "module.c.aws_x.y", module_calls=calls)
    assert answer.status_code == 400, answer.text
    assert answer.json()["details"]["pointer"] == "/module_calls/2/address"


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("apply-runs/begin", {}, "/state"),
        ("apply-runs/begin", {"state": 1}, "/state"),
        ("apply-runs/begin", {"state": "a", "state_url": "b"}, "/state"),
        ("apply-runs/begin", {"state_url": "https://h/nothing"}, "/state_url"),
        ("apply-runs/begin", {"state_url": "https://[h/v1/states/a"}, "/state_url"),
        ("apply-runs/begin", {"state_url": "https://h/v1/states/%ff"}, "/state_url"),
        ("apply-runs/begin", {"workspace_id": "ws_a"}, "/workspace_id"),
        ("apply-runs/begin", {"state_id": "x"}, "/state_id"),
        ("apply-runs/begin", {"state": "a\0"}, "/state"),
        ("apply-runs/begin", {"state": "a", "actor": "a\0"}, "/actor"),
        (
            "apply-runs/begin",
            {"workspace_id": "a", "env_public_id": "env_a", "state_name": "a"},
            "/workspace_id",
        ),
        (
            "apply-runs/begin",
            {"workspace_id": "ws_a", "env_public_id": "env_a/b", "state_name": "a"},
            "/env_public_id",
        ),
        ("apply-runs/begin", {"state": "a", "source_serial": 1.5}, "/source_serial"),
        ("apply-runs/begin", {"state": "a", "info": []}, "/info"),
        ("apply-runs/list", {"state": "a", "limit": 0}, "/limit"),
        ("reservations/acquire", {"state": "a", "want": []}, "/apply_id"),
        (
            "reservations/acquire",
            {"state": "a", "apply_id": NOBODY, "want": [{}]},
            "/want/0/address_glob",
        ),
        (
            "reservations/acquire",
            {
                "state": "a",
                "apply_id": NOBODY,
                "want": [{"address_glob": "*", "mode": "read"}, {"address_glob": "*", "mode": "x"}],
            },
            "/want/1/mode",
        ),
        (
            "reservations/acquire",
            {"state": "a", "apply_id": NOBODY, "want": [], "wait_seconds": 601},
            "/wait_seconds",
        ),
        ("reservations/renew", {"apply_id": NOBODY, "lease_seconds": 0}, "/lease_seconds"),
        ("reservations/release", {"apply_id": 7}, "/apply_id"),
        (f"apply-runs/{NOBODY}/finish", {"status": "aborted"}, "/status"),
        (
            f"apply-runs/{NOBODY}/finish",
            {"status": "failed", "resources_planned": 2**31},
            "/resources_planned",
        ),
        (f"apply-runs/{NOBODY}/abort", {"reason": 1}, "/reason"),
        ("terraform-lock/acquire", {"state": "a", "apply_id": None}, "/apply_id"),
        ("terraform-lock/release", {}, "/apply_id"),
    ],
)
def test_wrong_types_are_told_by_pointer(
    backend: Backend, path: str, body: Json, pointer: str
) -> None:
    answer = ask(backend, path, **body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request"), answer.text
    assert answer.json()["details"]["pointer"] == pointer


@pytest.mark.parametrize(
    "body", [b"", b"x", b"[]", b"\xff", b'{"state": "\xff"}', b"{}{}", b'{"x":' + b"[" * 100_000]
)
def test_what_is_no_json_object_is_refused(backend: Backend, body: bytes) -> None:
    answer = backend.request("POST", "/v1/state-engine/apply-runs/begin", content=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request"), answer.text


def test_text_that_postgresql_cannot_hold_is_refused(written: Backend) -> None:
    run = begin(written)
    for answer in (
        ask(written, "apply-runs/begin", state=written.name, info={"a": "\0"}),
        ask(written, "apply-runs/begin", state="a\0b"),
        acquire(written, run, "aws_x.y\0"),
    ):
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request"), answer.text


def test_bodies_are_bounded(backend: Backend) -> None:
    body = json.dumps({"state": "a", "actor": "x" * (1 << 20)})
    answer = backend.request("POST", "/v1/state-engine/apply-runs/begin", content=body)
    assert (answer.status_code, answer.json()["error"]) == (413, "payload_too_large")


def test_a_scope_may_be_as_long_as_the_list_that_expand_answers(written: Backend) -> None:
    want = [{"address_glob": f"aws_x.{'y' * 60}", "mode": "write"}] * 12_000
    answer = ask(
        written, "reservations/acquire", state=written.name, apply_id=begin(written), want=want
    )
    assert answer.status_code == 200, answer.text[:400]


def test_waiting_needs_no_listening_session() -> None:
    async def wait() -> bool:
        freed = FreedScopes("host=/nowhere connect_timeout=1")
        try:
            async with asyncio.timeout(30), freed.watch("s") as woken:
                return woken.is_set()
        finally:
            await freed.close()

    assert not asyncio.run(wait())


def test_unknown_runs_and_states_are_absent(written: Backend) -> None:
    missing = str(uuid4())
    path = f"/v1/state-engine/apply-runs/{missing}/status"
    for answer, code in (
        (written.request("GET", path), "apply_run_not_found"),
        (ask(written, f"apply-runs/{missing}/abort"), "apply_run_not_found"),
        (ask(written, "apply-runs/begin", state="typo"), "state_not_found"),
        (ask(written, "apply-runs/begin", state_id=missing), "state_not_found"),
        (ask(written, "apply-runs/begin", state="ws_a/env_b/c"), "state_not_found"),
    ):
        assert (answer.status_code, answer.json()["error"]) == (404, code), answer.text
    assert ask(written, "apply-runs/x/abort").status_code == 400


def test_waiting_ends_when_the_scope_is_freed(written: Backend) -> None:
    ann, bob = begin(written), begin(written, "bob@kl")
    assert acquire(written, ann, "module.db").status_code == 200
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(acquire, written, bob, "module.db", wait_seconds=60)
        _until_listening(written)
        assert not waiting.done()
        assert ask(written, f"apply-runs/{ann}/finish", status="failed").status_code == 200
        answer = waiting.result(timeout=30)
    assert answer.status_code == 200, answer.text


def test_waiting_ends_when_a_lease_ends(written: Backend) -> None:
    ann, bob = begin(written), begin(written, "bob@kl")
    assert acquire(written, ann, "module.db", lease_seconds=1).status_code == 200
    answer = acquire(written, bob, "module.db", wait_seconds=60)
    assert answer.status_code == 200, answer.text
    path = f"/v1/state-engine/apply-runs/{ann}/status"
    assert written.request("GET", path).json()["status"] == "expired"


def test_waiting_in_vain_ends_with_the_conflict(written: Backend) -> None:
    ann, bob = begin(written), begin(written, "bob@kl")
    assert acquire(written, ann, "module.db").status_code == 200
    answer = acquire(written, bob, "*", wait_seconds=1)
    assert (answer.status_code, answer.json()["conflicts"][0]["apply_id"]) == (409, ann)


def test_many_who_wait_get_it_one_after_the_other(written: Backend) -> None:
    first = begin(written)
    assert acquire(written, first, "module.db").status_code == 200
    inside, most = [0], [0]
    guard = threading.Lock()

    def work(run: str) -> int:
        answer = acquire(written, run, "module.db", wait_seconds=60)
        if answer.status_code == 200:
            with guard:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            ask(written, "apply-runs/list", state=written.name)  # the others have time to come
            with guard:
                inside[0] -= 1
            ask(written, f"apply-runs/{run}/finish", status="failed")
        return answer.status_code

    runs = [begin(written, f"w{n}") for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(work, run) for run in runs]
        _until_listening(written)
        ask(written, "reservations/release", apply_id=first)
        assert [answer.result(timeout=60) for answer in answers] == [200] * 4
    assert most == [1]


def _until_listening(backend: Backend) -> None:
    """Return when a session of the server listens for freed scopes."""
    query = (
        "select count(*) from pg_stat_activity as a where a.datname = current_database() "
        "and a.application_name = 'kld listen' and a.query like 'listen%%' and a.state = 'idle'"
    )
    wait_for(lambda: backend.server.rows(query, x=1) == [(1,)])
