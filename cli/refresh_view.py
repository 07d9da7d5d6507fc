"""Lay out what a refresh came to, for people and for grep."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from cli.output import cell, print_list, print_pairs
from pyengine.refresh.outcome import Crash, Failure, Progress, Result


def print_result(result: Result) -> None:
    """Print keys and values, the same keys every time, then the lists that are not empty."""
    print_pairs(
        (
            ("state", result.state),
            ("run", result.refresh_run_id),
            ("status", result.status),
            ("dry run", "yes" if result.dry_run else "no"),
            ("from version", _version(result.from_version_no, result.from_serial)),
            ("to version", _version(result.to_version_no, result.to_serial)),
            ("resources checked", result.resources_checked),
            ("resources changed", result.resources_changed),
            ("resources failed", result.resources_failed),
            ("resources superseded", result.resources_superseded),
            ("resources skipped", result.resources_skipped),
            ("error", result.error_summary and " ".join(result.error_summary.split())),
        )
    )
    print_list("drift addresses", result.changed_addresses, _where_drift_is(result))
    print_list(
        "failed",
        _told_once(result.failures),
        "--format json",
    )
    print_list(
        "warnings",
        [
            f"{warned.address or warned.provider}: {_line(str(warned.diagnostic))}"
            for warned in result.warnings
        ],
        "--format json",
    )
    for crash in result.crashes:
        _print_crash(crash)


def _told_once(failures: Sequence[Failure]) -> list[str]:
    """Return a line for each message of a provider: what all its objects share is said once."""
    groups: dict[tuple[str, str], list[str]] = {}
    for failure in failures:
        groups.setdefault((failure.provider, failure.message), []).append(failure.address)
    return [
        f"{first}{f' and {len(more)} more of {provider}' if more else ''}: {_line(message)}"
        for (provider, message), (first, *more) in groups.items()
    ]


def _line(message: str) -> str:
    return " ".join(message.split())


def _where_drift_is(result: Result) -> str:
    if result.to_version_no is None:
        return "--format json"
    return "select address from kl.current_resource_drift, or kl drift"


def _print_crash(crash: Crash) -> None:
    """Print the last words of a provider, on standard error: they are for its authors."""
    code = "?" if crash.exit_code is None else crash.exit_code
    when = f"while it was asked for {crash.address}" if crash.address else "at its start"
    click.echo(
        f"kl: {cell(crash.provider)} ended by itself (exit code {code}) {cell(when)}; it wrote:",
        err=True,
    )
    for line in crash.output.splitlines():
        click.echo(f"  {cell(line.expandtabs(4))}", err=True)


def _version(version_no: int | None, serial: object) -> str | None:
    return None if version_no is None else f"v{version_no} (serial {serial})"


@contextmanager
def progress() -> Iterator[Progress]:
    """Draw a bar on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("refreshing", total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)
