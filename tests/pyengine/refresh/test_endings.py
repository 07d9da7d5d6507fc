"""How a refresh ends when something gets in its way; its audit row tells of each."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pyengine.errors import KilolockError
from pyengine.refresh.outcome import Result
from pyengine.refresh.staging import storable
from tests.clusters import Connection
from tests.documents import LINEAGE, Json, lock_info, state
from tests.refreshing import Refreshing, error, thing, until, widget
from tests.sql import staging

LOCK = lock_info("11111111-1111-4111-8111-111111111111")
ENVELOPE = {
    "serial": 2,
    "lineage": LINEAGE,
    "meta": {},
    "encrypted_data": "b3RoZXI=",
    "encryption_version": "v0",
}


def _lock(at: Refreshing) -> None:
    with at.database.connect() as conn:
        conn.execute("select kl.lock_state(%s, %s)", (at.name, json.dumps(LOCK)))


def _unlock(at: Refreshing) -> None:
    with at.database.connect() as conn:
        conn.execute("select kl.force_unlock(%s, null)", (at.name,))


def _staged(at: Refreshing) -> int:
    with at.database.connect("postgres") as conn:
        row = conn.execute(
            "select count(*) from kl_internal.staged_reads as s"
            " inner join kl_internal.refresh_runs as r on r.id = s.refresh_run_id"
            " inner join kl_internal.states as t on t.id = r.state_id where t.name = %s",
            (at.name,),
        ).fetchone()
    assert row is not None
    return int(row[0])


def _refresh_beside(at: Refreshing, act: Callable[[], Awaitable[Any]], **options: Any) -> Result:  # noqa: ANN401
    """Refresh a locked state of two objects, and act once both are read."""

    async def both() -> Result:
        running = asyncio.create_task(at.refreshing(lock_timeout=30, **options))
        await until(lambda: _staged(at) == 2)
        await act()
        return await running

    _lock(at)
    return asyncio.run(both())


def test_crash_fails_what_was_asked_and_what_was_to_be_and_no_other_provider(
    at: Refreshing,
) -> None:
    """Case 40: the provider ends during its third read, one call at a time."""
    at.provider(crash_on_read=3, panic="panic: nil map\n\ngoroutine 1 [running]:")
    at.provider("acme/other", schemas={"other_thing": _schema()})
    other = 'provider["registry.terraform.io/acme/other"]'
    at.put(
        *(widget(f"w{n}") for n in range(1, 6)),
        widget("o", type="other_thing", provider=other),
    )
    before = at.document()
    result = at.refresh(parallelism=1)
    assert [failure.address for failure in result.failures] == [
        f"widget_thing.w{n}" for n in (3, 4, 5)
    ]
    assert "ended during ReadResource (exit code 3)" in result.failures[0].message
    assert {f.message for f in result.failures[1:]} == {"not read: the provider had ended"}
    [crash] = result.crashes
    assert (crash.address, crash.exit_code) == ("widget_thing.w3", 3)
    assert "goroutine 1 [running]" in crash.output
    assert sum("goroutine" in str(failure) for failure in result.failures) == 0
    assert (result.resources_checked, result.changed_addresses) == (6, [])
    assert at.document() == before
    assert at.last_run()["status"] == "failed"


def test_crash_with_many_calls_in_flight_is_told_once(at: Refreshing) -> None:
    at.provider(crash_on_read=8)
    at.put(*(widget(f"w{n:02}") for n in range(40)))
    result = at.refresh(parallelism=5)
    assert len(result.crashes) == 1
    assert result.resources_checked == 40
    assert result.resources_failed >= 40 - 7 - 5  # the last answers may be on their way
    assert at.versions() == [(1, "import")]


def test_crash_before_the_first_object_is_told_once_too(at: Refreshing) -> None:
    at.provider(crash_on=["Configure"], panic="panic: no region")
    at.put(widget("a"), widget("b"))
    result = at.refresh()
    assert [failure.code for failure in result.failures] == ["provider_crashed"] * 2
    assert "ended during Configure" in result.failures[0].message
    [crash] = result.crashes
    assert (crash.address, crash.exit_code) == (None, 3)
    assert "panic: no region" in crash.output


def test_time_that_runs_out_cancels_the_run(at: Refreshing) -> None:
    at.provider(hang_on=["ReadResource"])
    at.put(widget("a"), widget("b"))
    result = at.refresh(timeout=2)
    assert (result.status, result.to_version_no) == ("cancelled", None)
    assert at.last_run()["status"] == "cancelled"
    assert "--timeout" in at.last_run()["error_summary"]
    assert at.versions() == [(1, "import")]


@pytest.mark.parametrize("fail_fast", [False, True])
def test_nul_in_the_words_of_a_provider_is_escaped(at: Refreshing, fail_fast: bool) -> None:
    at.provider(reads_by_id={"a": error("bad \0 thing")})
    at.put(widget("a"), widget("b"))
    result = at.refresh(fail_fast=fail_fast)
    assert (result.status, result.failures[0].message) == ("failed", "bad \0 thing")
    run = at.last_run()
    assert run["status"] == "failed"
    assert run["error_summary"] == r"1 object failed: widget_thing.a: bad \0 thing"
    assert result.error_summary == run["error_summary"]


def test_nul_in_the_last_words_before_a_handshake_is_escaped(at: Refreshing) -> None:
    at.provider(handshake={"line": None, "stderr": "bin\0ary", "exit": 1})
    at.put(widget("a"))
    assert at.refresh().failures[0].code == "provider_start_failed"
    assert r"it wrote: bin\0ary" in at.last_run()["error_summary"]


def test_what_is_no_text_is_escaped() -> None:
    assert storable("a\0b\udcff") == r"a\0b\udcff"


@pytest.mark.parametrize(
    "options", [{"fail_fast": True}, {"timeout": 1}], ids=lambda o: next(iter(o))
)
def test_run_that_cannot_be_ended_at_first_does_not_stay_running(
    at: Refreshing, options: dict[str, Any]
) -> None:
    at.provider(reads_by_id={"a": error("no")}, hang_on=["ReadResource"] * ("timeout" in options))
    at.put(widget("a"))
    with _failing_once(at), pytest.raises(KilolockError) as caught:
        at.refresh(**options)
    assert caught.value.code == "internal"
    run = at.last_run()
    assert (run["status"], run["error_summary"]) == ("failed", caught.value.message)
    assert run["finished_at"] is not None


@contextmanager
def _failing_once(at: Refreshing) -> Iterator[None]:
    """Let the database fail the first time that a run of this state is to end."""
    with at.database.connect("postgres") as conn:
        [state_id] = conn.execute(
            "select s.id from kl_internal.states as s where s.name = %s", (at.name,)
        ).fetchone() or [None]
        conn.execute("create sequence public.ends")
        conn.execute(
            "create function public.fail_once() returns trigger language plpgsql"
            " security definer as $$ begin if nextval('public.ends') = 1 then"
            " raise exception 'out of luck'; end if; return new; end $$"
        )
        conn.execute(
            "create trigger fails before update on kl_internal.refresh_runs for each row"
            f" when (new.state_id = '{state_id}') execute function public.fail_once()".encode()
        )
        try:
            yield
        finally:
            conn.execute("drop trigger fails on kl_internal.refresh_runs")
            conn.execute("drop function public.fail_once()")
            conn.execute("drop sequence public.ends")


def test_interruption_stops_every_provider_and_cancels_the_run(at: Refreshing) -> None:
    other = {"schemas": {"other_thing": _schema()}, "hang_on": ["ReadResource"]}
    at.provider(hang_on=["ReadResource"])
    at.provider("acme/other", **other)
    provider = 'provider["registry.terraform.io/acme/other"]'
    at.put(widget("a"), widget("o", type="other_thing", provider=provider))
    upgrades: list[Json] = []

    def both_asked() -> bool:
        upgrades.extend(at.calls("UpgradeResourceState"))
        return len(upgrades) == 2

    async def interrupted() -> None:
        running = asyncio.create_task(at.refreshing())
        await until(both_asked)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(interrupted())
    assert at.last_run()["status"] == "cancelled"
    assert len(at.calls("Stop")) == 2
    assert at.versions() == [(1, "import")]


def test_interruption_while_providers_end_leaves_what_was_written(at: Refreshing) -> None:
    at.provider(
        hang_on=["Shutdown"],
        reads_by_id={"a": {"new_state_json": thing("a", size=2)}},
    )
    at.put(widget("a"))

    async def interrupted() -> Result:
        running = asyncio.create_task(at.refreshing())
        await until(lambda: len(at.versions()) == 2)
        # As the event loop does when it is interrupted a second time.
        ending = [t for t in asyncio.all_tasks() if "StartingProvider" in repr(t)]
        assert ending
        for task in (running, *ending):
            task.cancel()
        return await running

    result = asyncio.run(interrupted())
    assert (result.status, result.resources_changed) == ("succeeded", 1)
    assert at.last_run()["status"] == "succeeded"


def test_foreign_lock_is_waited_for(at: Refreshing) -> None:
    at.provider()
    at.put(widget("a"), widget("b"))

    async def unlock() -> None:
        assert at.versions() == [(1, "import")]
        _unlock(at)

    assert _refresh_beside(at, unlock).to_version_no == 2


def test_foreign_lock_that_stays_refuses_the_commit(at: Refreshing) -> None:
    at.provider()
    at.put(widget("a"))
    _lock(at)
    with pytest.raises(KilolockError) as caught:
        at.refresh(lock_timeout=0)
    assert caught.value.code == "terraform_locked"
    run = at.last_run()
    assert (run["status"], run["error_summary"]) == ("failed", caught.value.message)
    assert at.versions() == [(1, "import")]


def test_objects_written_meanwhile_are_superseded(at: Refreshing) -> None:
    at.provider(reads_by_id={name: {"new_state_json": thing(name, size=3)} for name in "ab"})
    at.put(widget("a"), widget("b"))

    async def beside(conn: Connection) -> Result:
        running = asyncio.create_task(at.refreshing())
        await until(lambda: _staged(at) == 2)
        await asyncio.to_thread(staging.write, conn, at.name, state(2, widget("b")))
        conn.commit()
        return await running

    with at.database.connect("postgres", autocommit=False) as conn:
        conn.execute(
            "select 1 from kl_internal.states as s where s.name = %s for no key update",
            (at.name,),
        )
        result = asyncio.run(beside(conn))
    assert (result.status, result.resources_superseded) == ("succeeded", 1)
    assert result.changed_addresses == ["widget_thing.b"]
    assert at.versions() == [(1, "import"), (2, "http_backend"), (3, "refresh")]
    assert at.instances().keys() == {"b"}


def test_encrypted_document_written_meanwhile_is_not_written_over(at: Refreshing) -> None:
    at.provider(reads_by_id={"a": {"new_state_json": thing("a", size=3)}})
    at.put(widget("a"), widget("b"))

    async def encrypt() -> None:
        with at.database.connect(autocommit=False) as conn:
            staging.write(conn, at.name, ENVELOPE, LOCK["ID"])
            conn.commit()
        _unlock(at)

    with pytest.raises(KilolockError) as caught:
        _refresh_beside(at, encrypt)
    assert caught.value.code == "unsupported_capability"
    run = at.last_run()
    assert (run["status"], run["error_summary"]) == ("failed", caught.value.message)
    assert at.document() == ENVELOPE | {"serial": "2"}


def test_dry_run_of_a_state_encrypted_meanwhile_ends_as_the_real_run_does(at: Refreshing) -> None:
    at.provider(reads_by_id={"a": {"new_state_json": thing("a", size=3)}})
    at.put(widget("a"), widget("b"))

    def encrypt_once_all_are_read(done: int, total: int) -> None:
        if done == total == 2:
            with at.database.connect(autocommit=False) as conn:
                staging.write(conn, at.name, ENVELOPE)
                conn.commit()

    with pytest.raises(KilolockError) as caught:
        at.refresh(progress=encrypt_once_all_are_read, dry_run=True)
    assert caught.value.code == "unsupported_capability"
    run = at.last_run()
    assert (run["status"], run["error_summary"]) == ("failed", caught.value.message)


def test_commit_that_the_database_refuses_fails_the_run(at: Refreshing) -> None:
    at.provider()
    at.put(widget("a"), widget("b"))

    async def lose() -> None:
        with at.database.connect("postgres") as conn:
            conn.execute("delete from kl_internal.staged_reads")
        _unlock(at)

    with pytest.raises(KilolockError, match="2 were not read") as caught:
        _refresh_beside(at, lose)
    assert caught.value.code == "invalid_request"
    assert at.last_run()["status"] == "failed"
    assert at.versions() == [(1, "import")]


def _schema() -> Json:
    return {
        "version": 1,
        "block": {
            "attributes": [
                {"name": name, "type": kind, "optional": True, "sensitive": name == "secret"}
                for name, kind in (
                    ("id", "string"),
                    ("size", "number"),
                    ("tags", ["set", "string"]),
                    ("secret", "string"),
                )
            ],
            "block_types": [],
        },
    }
