"""kl refresh and kl drift, with a stub provider on disk."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Kl, Place
from tests.clusters import Database
from tests.refreshing import Refreshing, error, thing, widget
from tests.refreshing import place as refreshing_place

KEYS = [
    "state", "run", "status", "dry run", "from version", "to version", "resources checked",
    "resources changed", "resources failed", "resources superseded", "resources skipped", "error",
]  # fmt: skip


@pytest.fixture
def stub(cli_database: Database, tmp_path: Path, request: pytest.FixtureRequest) -> Refreshing:
    """A state of the test's own and a folder for its providers."""
    return refreshing_place(cli_database, tmp_path / "mirror", request.node.name)


@pytest.fixture
def here(kl: Kl, cli_database: Database, stub: Refreshing, monkeypatch: pytest.MonkeyPatch) -> Kl:
    """`kl` that works in the database and finds the providers."""
    monkeypatch.setenv("KL_DATABASE_URL", cli_database.conninfo("kl_server"))
    monkeypatch.setenv("KL_PROVIDER_PATH", str(stub.mirror))
    monkeypatch.setenv("HOME", "/nonexistent")
    return kl


def _pairs(out: bytes) -> dict[str, str]:
    lines = out.decode().splitlines()[: len(KEYS)]
    return {key: line.removeprefix(key).strip() for key, line in zip(KEYS, lines, strict=True)}


def test_dry_run_then_refresh(here: Kl, stub: Refreshing) -> None:
    stub.provider(reads_by_id={"b": {"new_state_json": thing("b", size=2)}})
    stub.put(widget("a"), widget("b"), serial=41)
    dry = here("refresh", stub.name, "--dry-run")
    assert (dry.exit_code, dry.err) == (0, "")
    assert _pairs(dry.out) | {"run": ""} == {
        "state": stub.name,
        "run": "",
        "status": "succeeded",
        "dry run": "yes",
        "from version": "v1 (serial 41)",
        "to version": "-",
        "resources checked": "2",
        "resources changed": "1",
        "resources failed": "0",
        "resources superseded": "0",
        "resources skipped": "0",
        "error": "-",
    }
    assert dry.out.decode().splitlines()[len(KEYS) :] == ["drift addresses:", "  widget_thing.b"]
    assert stub.versions() == [(41, "import")]

    live = here("refresh", stub.name, "--actor", "nightly@ci", "--concurrency", "1")
    assert live.exit_code == 0
    assert _pairs(live.out)["to version"] == "v2 (serial 42)"
    assert stub.versions() == [(41, "import"), (42, "refresh")]
    assert stub.last_run()["actor"] == "nightly@ci"
    assert "from v1 to v2" in here("status", stub.name).out.decode()

    again = here("refresh", stub.name, "--format", "json", "--provider-search-path", "/nonexistent")
    assert again.json["changed_addresses"] == []
    assert (again.json["from_serial"], again.json["to_serial"]) == (42, 43)


def test_failures_are_listed_and_exit_1(here: Kl, stub: Refreshing) -> None:
    stub.provider(
        reads_by_id={
            "a": error("no access\nat all\x1b[31m"),
            "b": {"new_state_json": thing("b")} | error("careful", severity="WARNING"),
        }
    )
    stub.put(widget("a"), widget("b"))
    done = here("refresh", stub.name)
    assert (done.exit_code, done.err) == (1, "")
    assert _pairs(done.out)["status"] == "failed"
    assert done.out.decode().splitlines()[len(KEYS) :] == [
        "failed:",
        "  widget_thing.a: no access at all\\x1b[31m",
        "warnings:",
        "  widget_thing.b: careful",
    ]
    [failure] = here("refresh", stub.name, "--format", "json").json["failures"]
    assert failure["code"] == "provider_failed"
    assert failure["diagnostics"][0]["summary"] == "no access\nat all\x1b[31m"


def test_what_all_objects_of_a_provider_lack_is_said_once(here: Kl, stub: Refreshing) -> None:
    stub.put(*(widget(name) for name in "abc"))
    done = here("refresh", stub.name)
    assert done.exit_code == 1
    (line,) = done.out.decode().splitlines()[len(KEYS) + 1 :]
    assert line.startswith("  widget_thing.a and 2 more of provider[")
    assert "run terraform init here, or name its folder in KL_PROVIDER_PATH" in line
    assert len(here("refresh", stub.name, "--format", "json").json["failures"]) == 3


def test_last_words_of_a_provider_are_shown_once(here: Kl, stub: Refreshing) -> None:
    stub.provider(crash_on_read=1, panic="panic: nil map\n\ngoroutine 1 [running]:")
    stub.put(widget("a"), widget("b"), widget("c"))
    done = here("refresh", stub.name, "--parallelism", "1")
    assert done.exit_code == 1
    assert b"goroutine" not in done.out
    assert done.err.count("goroutine 1 [running]:") == 1
    assert "(exit code 3) while it was asked for widget_thing.a" in done.err


def test_long_lists_are_cut_with_the_place_of_the_rest(here: Kl, stub: Refreshing) -> None:
    stub.provider(reads=[{"new_state_json": None}])
    stub.put(*(widget(f"w{n:02}") for n in range(30)))
    lines = here("refresh", stub.name).out.decode().splitlines()[len(KEYS) :]
    assert lines[:2] == ["drift addresses:", "  widget_thing.w00"]
    assert len(lines) == 1 + 25 + 1
    assert lines[-1].startswith("  ... and 5 more: ")
    assert "kl.current_resource_drift" in lines[-1]


def test_what_is_no_refresh(here: Kl, stub: Refreshing, monkeypatch: pytest.MonkeyPatch) -> None:
    assert here("refresh", "no-such-state").err.startswith("kl: state_not_found: ")
    assert here("refresh").exit_code == 2
    assert here("refresh", stub.name, "--parallelism", "0").exit_code == 2
    monkeypatch.delenv("KL_DATABASE_URL")
    monkeypatch.setenv("KL_STATE_URL", "http://127.0.0.1:9/v1/states/s")
    for args in (("refresh", "s"), ("provider", "verify", "s"), ("provider", "list", "s")):
        done = here(*args)
        assert done.exit_code == 2
        assert done.err.startswith(f"kl: invalid_configuration: kl {args[0]}")
        assert "--database-url" in done.err


def _command(stub: Refreshing) -> list[str]:
    return [sys.executable, "-c", "from cli.main import main; main()", "refresh", stub.name]


def _environment(stub: Refreshing) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KL_")}
    return clean | {
        "KL_DATABASE_URL": stub.database.conninfo("kl_server"),
        "KL_PROVIDER_PATH": str(stub.mirror),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "TERM": "xterm",
    }


@contextmanager
def _running(stub: Refreshing) -> Iterator[subprocess.Popen[str]]:
    """A real `kl refresh` of two objects, when its provider has been asked for both and hangs."""
    stub.provider(hang_on=["ReadResource"])
    stub.put(widget("a"), widget("b"))
    # Where the tests run in the background, children ignore it unless somebody hears it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        _command(stub),
        env=_environment(stub),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            signal.signal(signal.SIGINT, before)
            upgraded = 0
            deadline = time.monotonic() + 60
            while upgraded < 2 and process.poll() is None and time.monotonic() < deadline:
                upgraded += len(stub.calls("UpgradeResourceState"))
                time.sleep(0.02)
            assert upgraded == 2, process.stderr and process.stderr.read()
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
def test_signal_stops_the_provider_and_cancels_the_run(
    stub: Refreshing, number: signal.Signals, code: int
) -> None:
    with _running(stub) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert err.rstrip() == "kl: cancelled: the refresh was interrupted; it wrote no version"
    assert len(stub.calls("Stop")) == 1
    assert stub.last_run()["status"] == "cancelled"
    assert stub.versions() == [(1, "import")]


def test_drift_is_listed_and_set_aside(
    at: Kl, place: Place, cli_database: Database, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    stub = refreshing_place(cli_database, tmp_path / "mirror", request.node.name)
    stub.provider(
        reads_by_id={
            "a": {"new_state_json": thing("a", size=2, secret="new")},
            "b": {"new_state_json": None},
        }
    )
    stub.put(widget("a"), widget("b"))
    assert at("drift", stub.name).out.decode() == "no drift\n"
    assert stub.refresh().resources_changed == 2
    lines = at("drift", stub.name).out.decode().splitlines()
    assert lines[0].split()[:4] == ["STATE", "ADDRESS", "KIND", "CHANGED"]
    assert lines[1].split()[:5] == [stub.name, "widget_thing.a", "changed", "secret,", "size"]
    assert lines[2].split()[1:4] == ["widget_thing.b", "deleted", "-"]
    table = at("drift", "--format", "csv", stub.name).out.decode().splitlines()
    assert table[0] == "state,address,kind,changed,serial,detected,acknowledged"
    assert table[1].startswith(f'{stub.name},widget_thing.a,changed,"secret, size",2,')

    done = at("drift", "ack", stub.name, "widget_thing.a", "--reason", "known, see ticket 7")
    assert (done.exit_code, done.out.decode()) == (
        0,
        f"{stub.name}: widget_thing.a acknowledged\n",
    )
    found = {row["address"]: row for row in at("drift", stub.name, "--format", "json").json}
    assert found["widget_thing.a"]["acknowledged_reason"] == "known, see ticket 7"
    assert found["widget_thing.b"]["acknowledged_reason"] is None
    changes = {change["path"]: change for change in found["widget_thing.a"]["changes"]}
    assert changes["size"] == {"path": "size", "old": 1, "new": 2}
    assert "new" not in json.dumps(changes["secret"]["new"])
    every = at("drift", "--format", "json")
    if "KL_STATE_URL" in place.env:  # the state of the URL, which does not exist
        assert every.err.startswith("kl: state_not_found: ")
    else:
        assert stub.name in {row["state"] for row in every.json}

    assert at("drift", stub.name, "-n", "1", "--format", "json").json[1:] == []
    assert at("drift", "ack", stub.name, "widget_thing.x", "--reason", "y").err.startswith(
        "kl: address_not_found: "
    )
    assert at("drift", "no-such-state").err.startswith("kl: state_not_found: ")
    assert at("drift", "ack", stub.name, "widget_thing.a").exit_code == 2


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        ("", []),
        ("warning", []),
        ("debug", ["kilolock.provider: terraform-provider-widget_v{}: noise\\x1b[31m"]),
    ],
)
def test_what_providers_write_is_shown_where_asked(
    stub: Refreshing, level: str, shown: list[str]
) -> None:
    stub.provider(handshake={"stderr": "noise\x1b[31m"})
    stub.put(widget("a"))
    done = subprocess.run(
        _command(stub),
        env=_environment(stub) | {"KL_LOG": level},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines() == [line.format(stub.version) for line in shown]


def test_a_terminal_gets_a_bar_and_a_pipe_does_not(stub: Refreshing) -> None:
    stub.provider()
    stub.put(widget("a"))
    terminal, end = pty.openpty()
    try:
        done = subprocess.run(
            _command(stub), env=_environment(stub), stdout=subprocess.PIPE, stderr=end, check=True
        )
        os.close(end)
        assert b"refreshing" in os.read(terminal, 65536)
    finally:
        os.close(terminal)
    assert b"refreshing" not in done.stdout
    assert _pairs(done.stdout)["status"] == "succeeded"
