"""A server or a line that dies between commit and answer: the client's retry is no second write."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import Any

import httpx
import psycopg
import pytest

from tests.acceptance.programs import Served, Terraform, conninfo, serving
from tests.acceptance.proxy import Proxy, losing_answers
from tests.clusters import short_folder
from tests.waiting import wait_for

CONFIGURATION = 'resource "terraform_data" "one" { input = "kept" }'


@pytest.fixture
def proxy(served: Served) -> Iterator[Proxy]:
    """A proxy in front of the server."""
    with losing_answers(httpx.URL(served.url).port or 80) as running:
        yield running


def _versions(served: Served, state: str) -> list[tuple[int, int]]:
    return served.query(
        "select v.version_no, v.serial::int from state_versions as v where v.state_name = %s"
        " order by 1",
        state,
    )  # type: ignore[return-value]


@pytest.mark.parametrize("method", ["LOCK", "POST", "UNLOCK", "GET"])
def test_terraform_gets_over_a_lost_answer(
    served: Served, terraform: Terraform, state: str, proxy: Proxy, method: str
) -> None:
    address = f"{proxy.url}/v1/states/{state}"
    terraform.write(
        "terraform {\n"
        '  backend "http" {\n'
        f'    address        = "{address}"\n'
        f'    lock_address   = "{address}"\n'
        f'    unlock_address = "{address}"\n'
        "  }\n"
        "}\n",
        "backend.tf",
    )
    terraform.write(CONFIGURATION)
    terraform("init")
    proxy.lose.append(method)
    terraform("apply", "-auto-approve")
    assert proxy.lost == [method]
    assert _versions(served, state) == [(1, 1)]
    assert served.query("select from state_locks as l where l.state_name = %s", state) == []
    assert "No changes" in terraform("plan")


def _document(serial: int) -> dict[str, Any]:
    return {
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": serial,
        "lineage": "0c0a5dfb-3ad9-4ef1-9d8e-0e2f67f5b0a1",
        "outputs": {"o": {"value": f"x{serial}", "type": "string"}},
        "resources": [],
        "check_results": None,
    }


def _waits(served: Served, application: str, event: str) -> bool:
    """Tell whether a session of that application name waits for that event."""
    return bool(
        served.query(
            "select from pg_stat_activity as a where a.application_name = %s and a.wait_event = %s",
            application,
            event,
            user="postgres",
        )
    )


def _session(served: Served, application: str = "test") -> psycopg.Connection[Any]:
    known = conninfo(served.data_dir, "postgres")
    return psycopg.connect(known, application_name=application, autocommit=True)


@contextmanager
def _unconfirmed_commits(served: Served) -> Iterator[None]:
    """Let every commit happen and wait for a standby that never comes, until the block ends."""
    stop = Event()

    def write_on() -> None:
        with _session(served, "writer") as conn:
            while not stop.is_set():
                conn.execute("select pg_logical_emit_message(true, 'test', '')")

    with ThreadPoolExecutor(1) as pool, _session(served) as conn:
        conn.execute("alter system set synchronous_standby_names = 'nobody'")
        conn.execute("select pg_reload_conf()")
        writing = pool.submit(write_on)
        try:
            wait_for(lambda: _waits(served, "writer", "SyncRep"))
            yield
        finally:
            stop.set()
            conn.execute("alter system reset synchronous_standby_names")
            conn.execute("select pg_reload_conf()")
            writing.result(timeout=60)


@pytest.mark.parametrize("committed", [True, False], ids=["after", "before"])
def test_a_server_killed_around_the_commit(state: str, *, committed: bool) -> None:
    first_document = _document(1)
    second_document = _document(2)
    with short_folder() as folder:
        data_dir = folder / "data"
        with serving(data_dir) as first, ThreadPoolExecutor(1) as pool, ExitStack() as stack:
            url = first.state_url(state)
            assert httpx.post(url, json=first_document, timeout=60).status_code == 200
            holder = _session(first)
            with holder, holder.transaction():
                holder.execute("set local synchronous_commit = off")
                holder.execute("select from kl_internal.states for update")
                answer = pool.submit(httpx.post, url, json=second_document, timeout=120)
                wait_for(lambda: _waits(first, "kld", "transactionid"))
                if committed:
                    stack.enter_context(_unconfirmed_commits(first))
                else:
                    _kill(first)
            if committed:
                wait_for(lambda: _waits(first, "kld", "SyncRep"))
                _kill(first)
            assert isinstance(answer.exception(timeout=60), httpx.TransportError)
        with serving(data_dir) as second:
            wait_for(lambda: len(_versions(second, state)) == 1 + committed)
            retried = httpx.post(second.state_url(state), json=second_document, timeout=60)
            assert retried.status_code == 200
            assert retried.json()["outcome"] == ("unchanged" if committed else "written")
            assert _versions(second, state) == [(1, 1), (2, 2)]
            assert httpx.get(second.state_url(state), timeout=60).json() == second_document


def _kill(served: Served) -> None:
    served.process.kill()
    served.process.wait(timeout=60)
