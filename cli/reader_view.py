"""Lay out what readers answer, for people."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import click
import msgspec

from cli.output import cell, print_pairs, print_table
from pyengine.api_readers import AttributeChange, Entry, ObjectChange, ShownObject, Tag, Version

_HISTORY: Final = (
    "version", "serial", "written", "by", "source", "objects", "opened", "closed", "tags"
)  # fmt: skip
_DIFF: Final = ("change", "address", "attribute", "old", "new")
_TIMELINE: Final = ("version", "status", "written", "by", "source", "until", "changed")
_WIDEST: Final = 60


def print_history(versions: Sequence[Version]) -> None:
    """Print one line per version."""
    print_table(
        _HISTORY,
        [
            (
                f"v{version.version_no}",
                version.serial,
                version.created_at,
                version.actor,
                ", ".join(part for part in (version.source, version.operation) if part),
                version.objects,
                f"+{version.opened}",
                f"-{version.closed}",
                ", ".join(version.tags) or None,
            )
            for version in versions
        ],
    )


def print_diff(changes: Sequence[ObjectChange]) -> None:
    """Print one line per attribute that differs, and how many objects do."""
    if changes:
        print_table(_DIFF, [line for change in changes for line in _diff_lines(change)])
    counts = {
        kind: sum(change.change == kind for change in changes)
        for kind in ("added", "changed", "removed")
    }
    click.echo(", ".join(f"{count} {kind}" for kind, count in counts.items()))


def _diff_lines(change: ObjectChange) -> Iterator[tuple[object, ...]]:
    head = (change.change, _title(change.address, change.deposed_key))
    lines = list(_attributes(change.changes or ()))
    lines += [(part, None, None) for part in change.changed_parts or () if part != "attributes"]
    if change.changed_parts == ["attributes"] and not lines:
        lines = [("attributes", None, None)]
    for line in lines or [(None, None, None)]:
        yield (*head, *line)


def _attributes(changes: Iterable[AttributeChange]) -> Iterator[tuple[object, ...]]:
    for change in changes:
        yield (change.path, _short(change.old), _short(change.new))


def _short(value: msgspec.Raw | msgspec.UnsetType) -> str | None:
    if value is msgspec.UNSET:
        return None
    text = bytes(value).decode()
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"


def print_objects(objects: Sequence[ShownObject]) -> None:
    """Print each object with its attributes."""
    for position, shown in enumerate(objects):
        if position:
            click.echo()
        since = f"v{shown.create_version_no}, serial {shown.create_serial}"
        pairs: list[tuple[str, object]] = [
            ("address", _title(shown.address, shown.deposed_key)),
            ("type", shown.type),
            ("provider", shown.provider),
            ("since", f"{since}, {cell(shown.created_at)} by {cell(shown.actor)}"),
        ]
        print_pairs([*pairs, ("tainted", "yes")] if shown.tainted else pairs)
        click.echo(_printable(msgspec.json.format(bytes(shown.attributes), indent=2).decode()))


def print_timeline(entries: Sequence[Entry]) -> None:
    """Print one line per content, under a title per object."""
    objects: dict[tuple[str, str | None], list[Entry]] = {}
    for entry in entries:
        objects.setdefault((entry.address, entry.deposed_key), []).append(entry)
    for position, (key, contents) in enumerate(objects.items()):
        click.echo(("\n" if position else "") + cell(_title(*key)))
        print_table(_TIMELINE, [_timeline_line(entry) for entry in contents])


def _timeline_line(entry: Entry) -> tuple[object, ...]:
    changed = [change.path for change in entry.changes or ()]
    changed += [part for part in entry.changed_parts or () if part != "attributes"]
    return (
        f"v{entry.create_version_no}",
        entry.status,
        entry.created_at,
        entry.actor,
        entry.source,
        None if entry.delete_version_no is None else f"v{entry.delete_version_no}",
        ", ".join(changed) or None,
    )


def print_tags(tags: Sequence[Tag]) -> None:
    """Print one line per tag."""
    print_table(
        ("tag", "version", "serial", "set", "by"),
        [(tag.tag, f"v{tag.version_no}", tag.serial, tag.created_at, tag.actor) for tag in tags],
    )


def _title(address: str, deposed_key: str | None) -> str:
    return address if deposed_key is None else f"{address} (deposed {deposed_key})"


def _printable(text: str) -> str:
    """Keep a document of many lines from steering a terminal."""
    return "\n".join(cell(line) for line in text.split("\n"))
