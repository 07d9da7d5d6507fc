"""kl drift: what refreshes found changed outside Terraform, and what was set aside."""

from collections.abc import Sequence
from typing import Any, Final

import click
from msgspec import Struct, structs

from cli import output
from cli.calling import call
from cli.options import (
    StateName,
    as_json,
    format_of,
    query_options,
    settings_of,
    shared_options,
)
from cli.transport import Transport
from pyengine.api_drift import Drift
from pyengine.settings import Settings, split_state_url

_STATE: Final = StateName()
_HEADINGS: Final = ("state", "address", "kind", "changed", "serial", "detected", "acknowledged")


class _Found(Struct, frozen=True):
    state: str
    drift: Drift


class _DriftGroup(click.Group):
    """A group whose `list` may go without its name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` before what is no other command."""
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_DriftGroup, subcommand_metavar="[list] [STATE] | ack STATE ADDRESS")
def drift() -> None:
    """Show what a refresh found changed outside Terraform and no apply has settled since."""


@drift.command("list")
@click.argument("name", metavar="[STATE]", required=False, type=_STATE)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 10_000),
    default=10_000,
    show_default=True,
    help="Show at most so many objects of a state.",
)
@query_options
@click.pass_context
def list_(ctx: click.Context, name: str | None, limit: int) -> None:
    """List the objects of STATE that drifted, with the attributes that changed.

    Without STATE: the state URL's, or all. Sensitive values are masked; a change of one is told.
    """
    settings = settings_of(ctx)
    found = call(settings, lambda transport: _drift(transport, settings, name, limit))
    shown = format_of(ctx)
    if shown == "json":
        output.print_json([_members(item) for item in found])
    elif shown == "csv":
        output.print_csv(_HEADINGS, ([_text(value) for value in _row(item)] for item in found))
    elif found:
        output.print_table(_HEADINGS, [_row(item) for item in found])
    else:
        click.echo("no drift")


@drift.command()
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("address")
@click.option("--reason", required=True, help="Why it is left as it is.")
@shared_options
@click.pass_context
def ack(ctx: click.Context, name: str, address: str, reason: str) -> None:
    """Set the drift at ADDRESS of STATE aside, for a reason; it stays listed, with that reason.

    What a later refresh finds there is new again.
    """
    count = call(settings_of(ctx), lambda transport: transport.ack_drift(name, address, reason))
    if as_json(ctx):
        output.print_json({"state": name, "address": address, "objects": count})
    else:
        click.echo(f"{output.cell(name)}: {output.cell(address)} acknowledged")


async def _drift(
    transport: Transport, settings: Settings, name: str | None, limit: int
) -> list[_Found]:
    if name is not None:
        names: Sequence[str] = [name]
    elif settings.transport == "http" and settings.state_url is not None:
        names = [split_state_url(settings.state_url)[1]]
    else:
        names = [state.name for state in await transport.list_states()]
    return [
        _Found(each, item)
        for each in names
        for item in await transport.list_current_drift(each, limit)
    ]


def _members(found: _Found) -> dict[str, Any]:
    return {"state": found.state, **structs.asdict(found.drift)}


def _row(found: _Found) -> tuple[Any, ...]:
    drift = found.drift
    return (
        found.state,
        f"{drift.address} (deposed object {drift.deposed_key})"
        if drift.deposed_key
        else drift.address,
        drift.drift_kind,
        None  # all of them
        if drift.drift_kind == "deleted"
        else ", ".join(change.path for change in drift.changes) or None,
        drift.detected_at_serial,
        drift.detected_at,
        drift.acknowledged_reason,
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


COMMANDS: Final[tuple[click.Command, ...]] = (drift,)
