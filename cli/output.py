"""Show answers: tables for people, JSON for programs."""

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

import click
import msgspec

_JSON: Final = msgspec.json.Encoder(decimal_format="number")
_MOST: Final = 25
_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def print_json(value: object) -> None:
    """Print any answer as indented JSON; numbers keep every digit."""
    click.echo(msgspec.json.format(_JSON.encode(value), indent=2))


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under headings: drawn on a terminal, aligned plain text in a pipe."""
    cells = [[cell(value) for value in row] for row in rows]
    if sys.stdout.isatty():
        _print_drawn(headings, cells)
        return
    from rich.cells import cell_len

    lines = [[heading.upper() for heading in headings], *cells]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (
            text + " " * (width - cell_len(text)) for text, width in zip(line, widths, strict=True)
        )
        click.echo("  ".join(padded).rstrip())


def print_csv(headings: Sequence[str], rows: Iterable[Sequence[str | None]]) -> None:
    """Print rows under headings as CSV: None is empty, the empty text is quoted."""
    for row in (headings, *rows):
        click.echo(",".join("" if cell is None else _quoted(cell) for cell in row))


def print_pairs(pairs: Sequence[tuple[str, object]]) -> None:
    """Print one `label  value` line per pair."""
    width = max(len(label) for label, _ in pairs)
    for label, value in pairs:
        click.echo(f"{label:{width}}  {cell(value)}".rstrip())


def print_list(title: str, items: Sequence[str], elsewhere: str) -> None:
    """Print what there is under a title, so many at most; then say where the rest is told."""
    if not items:
        return
    click.echo(f"{title}:")
    for item in items[:_MOST]:
        click.echo(f"  {cell(item)}")
    if len(items) > _MOST:
        click.echo(cell(f"  ... and {len(items) - _MOST} more: {elsewhere}"))


def cell(value: object) -> str:
    """Return a value as one line that cannot steer a terminal; `-` for None, times are local."""
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return f"{value.astimezone():%Y-%m-%d %H:%M:%S}"
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in str(value)
    )


def age(seconds: int) -> str:
    """Return a duration in its two largest units, such as `3m 20s`."""
    parts: list[str] = []
    rest = max(seconds, 0)
    for size, unit in _UNITS:
        count, rest = divmod(rest, size)
        if count or (parts and len(parts) < len(_UNITS)):
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"


def moment(text: str) -> str:
    """Return a timestamp of a JSON answer as tables show it."""
    return cell(datetime.fromisoformat(text))


def _print_drawn(headings: Sequence[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table: Any = Table(box=None, header_style="bold", pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console(highlight=False).print(table)


def _quoted(cell: str) -> str:
    if cell and not set(cell) & set('",\r\n') and cell == cell.strip():
        return cell
    return '"' + cell.replace('"', '""') + '"'
