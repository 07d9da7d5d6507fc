"""Lay out how states stand, for people."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

from cli.output import age, cell, moment, print_pairs, print_table
from pyengine.api_admin import ListedState

_LIST: Final = ("name", "version", "serial", "objects", "written", "by", "source", "locked by")
_RESERVATIONS: Final = ("address", "mode", "holder", "expires in")


def print_states(states: Sequence[ListedState]) -> None:
    """Print one line per state."""
    print_table(
        _LIST,
        [
            (
                state.name,
                f"v{state.version_no}",
                state.serial,
                "encrypted" if state.opaque else state.objects,
                state.written_at,
                state.actor,
                state.source,
                state.locked_by,
            )
            for state in states
        ],
    )


def print_status(status: dict[str, Any]) -> None:
    """Print what kl.state_status tells of a state."""
    version = status["current_version"]
    print_pairs(
        [
            ("state", status["name"]),
            ("id", status["state_id"]),
            ("version", f"v{version['version_no']}, serial {version['serial']}"),
            ("lineage", version["lineage"]),
            (
                "written",
                f"{moment(version['created_at'])} by {cell(version['actor'])} ({_origin(version)})",
            ),
            ("content", _content(version)),
            *_refreshed(status["last_refresh"]),
            *_locks(status["locks"]),
            *(("applying", _run(run)) for run in status["apply_runs"]),
            *(
                ("refreshing", f"{_run(run)}, from v{run['from_version_no']}")
                for run in status["refresh_runs"]
            ),
        ]
    )
    if status["reservations"]:
        click.echo()
        print_table(
            _RESERVATIONS,
            [
                (r["address_glob"], r["mode"], r["holder"], age(r["seconds_left"]))
                for r in status["reservations"]
            ],
        )


def _origin(version: dict[str, Any]) -> str:
    return ", ".join(cell(part) for part in (version["source"], version["operation"]) if part)


def _content(version: dict[str, Any]) -> str:
    if version["opaque"]:
        return "encrypted by the client: kept as it came, its resources cannot be queried"
    return f"{version['objects']} resource objects, {version['outputs']} outputs"


def _refreshed(refresh: dict[str, Any] | None) -> Iterable[tuple[str, str]]:
    if refresh is not None:
        span = f"from v{refresh['from_version_no']} to v{refresh['to_version_no']}"
        when = f"at {moment(refresh['finished_at'])} by {cell(refresh['actor'])}"
        yield "refreshed", f"{span} {when}"


def _locks(locks: list[dict[str, Any]]) -> Iterable[tuple[str, str]]:
    if not locks:
        yield "lock", "free"
    for lock in locks:
        holder = f"held by {cell(lock['who'] or 'somebody')} for {age(lock['age_seconds'])}"
        words = [lock["operation"] or "no operation named"]
        words += ["native"] if lock["kind"] == "native" else []
        yield "lock", f"{holder} ({cell(', '.join(words))}), lock {cell(lock['lock_id'])}"


def _run(run: dict[str, Any]) -> str:
    key = "apply_id" if "apply_id" in run else "refresh_run_id"
    return f"by {cell(run['actor'])} for {age(run['age_seconds'])}, run {run[key]}"
