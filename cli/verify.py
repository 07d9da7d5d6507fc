"""kl verify: states against their hashes."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import click

from cli import output
from cli.calling import call
from cli.options import StateName, as_json, settings_of, shared_options
from cli.transport import Transport
from pyengine.api_verify import Damage
from pyengine.errors import EXIT_FAILED

Report = Callable[[str, int, int], None]


@dataclass
class _Checked:
    state: str
    version_no: int = 0
    checked: int = 0
    damage: list[Damage] = field(default_factory=list)


@click.command()
@click.argument("name", required=False, metavar="STATE", type=StateName())
@shared_options
@click.pass_context
def verify(ctx: click.Context, name: str | None) -> int:
    """Check the state STATE, or every state, against the hashes kept with it; exit 1 on damage.

    Every row of its whole history is recomputed: a row that was changed is named, one that is
    missing or too many gives the range of versions it is missing from. This finds accidents; who
    changes rows on purpose can change the hashes too.
    """
    settings = settings_of(ctx)
    shows_json = as_json(ctx)
    with _progress() as report:
        checked = call(settings, lambda transport: _verify(transport, name, report))
    if shows_json:
        sound = all(not state.damage for state in checked)
        output.print_json({"sound": sound, "states": checked})
    else:
        _print(checked)
    return EXIT_FAILED if any(state.damage for state in checked) else 0


async def _verify(transport: Transport, name: str | None, report: Report) -> list[_Checked]:
    names = [state.name for state in await transport.list_states()] if name is None else [name]
    return [await _verify_one(transport, each, report) for each in names]


async def _verify_one(transport: Transport, name: str, report: Report) -> _Checked:
    checked = _Checked(name)
    cursor: dict[str, Any] | None = None
    while True:
        part = await transport.verify_state(name, cursor)
        checked.version_no, checked.checked = part.version_no, part.done
        checked.damage += part.damage
        report(name, part.done, part.total)
        cursor = part.next_cursor
        if cursor is None:
            return checked


@contextmanager
def _progress() -> Iterator[Report]:
    """Draw a bar per state on a terminal."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.text import Text

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bars: dict[str, TaskID] = {}

        def report(name: str, done: int, total: int) -> None:
            if name not in bars:
                bars[name] = progress.add_task(Text(output.cell(name)).plain, total=total)
            progress.update(bars[name], completed=done, total=total)

        yield report


def _print(checked: list[_Checked]) -> None:
    rows = [
        (state.state, _versions(found), found.address, found.deposed_key, found.problem)
        for state in checked
        for found in state.damage
    ]
    if rows:
        output.print_table(("state", "versions", "address", "deposed", "problem"), rows)
    for state in checked:
        if not state.damage:
            click.echo(
                f"{output.cell(state.state)}: sound up to v{state.version_no},"
                f" {state.checked} rows and versions checked"
            )


def _versions(found: Damage) -> str | None:
    if found.from_version_no is None:
        return None
    if found.to_version_no == found.from_version_no:
        return f"v{found.from_version_no}"
    return f"v{found.from_version_no}-" + (
        "" if found.to_version_no is None else f"v{found.to_version_no}"
    )


COMMANDS: Final[tuple[click.Command, ...]] = (verify,)
