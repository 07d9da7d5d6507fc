"""Lay out what an operation on single addresses did, or would do, for people."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import click

from cli.output import cell, moment, print_list, print_table
from pyengine.api_commit import Moved, Operated

_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "remove": ("address", "deposed_key"),
        "move": ("address", "to", "deposed_key"),
        "rollback": ("action", "address", "deposed_key"),
    }
)
_DONE: Final[Mapping[str, str]] = MappingProxyType(
    {"remove": "removed", "move": "moved", "rollback": "brought back"}
)


def print_operation(done: Operated | Moved, *, dry_run: bool) -> None:
    """Print every object, then what stands to it, then what became of the state."""
    preview = done.preview
    columns = _COLUMNS[preview["operation"]]
    print_table(
        [column.removesuffix("_key") for column in columns],
        [[item[column] for column in columns] for item in preview["objects"]],
    )
    print_list("dependents", [_title(item) for item in preview["dependents"]], "--format json")
    for state, key in ((preview["state"], "conflicts"), (preview.get("to_state"), "to_conflicts")):
        reserved = [_reserved(item) for item in preview.get(key, ())]
        print_list(f"reserved in {cell(state)}", reserved, "--format json")
    print_list("warnings", preview["warnings"], "--format json")
    click.echo(cell(_summary(done, dry_run=dry_run)))
    click.echo(cell(preview["note"]))


def _summary(done: Operated | Moved, *, dry_run: bool) -> str:
    preview = done.preview
    count = sum(item.get("action") != "no-op" for item in preview["objects"])
    objects = f"{count} object{'' if count == 1 else 's'}"
    to_state = preview.get("to_state")
    what = _DONE[preview["operation"]] + (f" to {to_state}" if to_state else "")
    if not count:
        return f"{preview['state']}: nothing differs from serial {preview['to_serial']}"
    if dry_run:
        serial = preview["base_serial"]
        return f"{preview['state']}: {objects} would be {what}, after serial {serial}; dry run"
    text = f"{preview['state']}: {objects} {what}"
    text += f", serial {done.committed_serial}, version {done.new_version_id}"
    if isinstance(done, Moved) and done.to_version_id is not None:
        text += f"; {to_state}: serial {done.to_committed_serial}, version {done.to_version_id}"
    return text


def _title(item: dict[str, Any]) -> str:
    key = item["deposed_key"]
    return str(item["address"]) if key is None else f"{item['address']} (deposed {key})"


def _reserved(item: dict[str, Any]) -> str:
    until = moment(item["expires_at"])
    return f"{item['address_glob']} ({item['mode']}) by {item['holder']} until {until}"
