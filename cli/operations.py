"""kl state rm and mv, kl rollback resource: change what a state says of single resources."""

from typing import Final

import click

from cli import operations_view, output
from cli.calling import call
from cli.options import StateName, Unicode, as_json, name_of, settings_of, shared_options
from pyengine.api_commit import Moved, Operated

_STATE: Final = StateName()
_ADDRESS: Final = Unicode("an address")
_name = click.argument("name", metavar="[STATE]", required=False, type=_STATE)
_dry_run = click.option(
    "--dry-run", is_flag=True, help="Only say what would happen; nothing is stored."
)


@click.group()
def state() -> None:
    """Remove or move single resources of a state.

    What they stand for in the cloud is not touched: only the state changes.
    """


@state.command()
@_name
@click.option(
    "--address",
    "addresses",
    multiple=True,
    required=True,
    type=_ADDRESS,
    help="What to remove; may be given several times.",
)
@_dry_run
@shared_options
@click.pass_context
def rm(ctx: click.Context, name: str | None, addresses: tuple[str, ...], *, dry_run: bool) -> None:
    """Take the objects at one or several addresses out of STATE, all at once or none.

    Terraform forgets them then; no cloud object is destroyed. Without a key an address means all
    instances; deposed objects go along.
    """
    settings = settings_of(ctx)
    state = name_of(ctx, settings, name)
    _print(
        ctx,
        call(
            settings,
            lambda transport: transport.remove_resources(state, addresses, apply=not dry_run),
        ),
        dry_run=dry_run,
    )


@state.command()
@_name
@click.option(
    "--from", "sources", multiple=True, required=True, type=_ADDRESS, help="What to move."
)
@click.option(
    "--to",
    "targets",
    multiple=True,
    required=True,
    type=_ADDRESS,
    help="Its new address; several pairs of --from and --to are taken in order.",
)
@click.option("--to-state", metavar="NAME", type=_STATE, help="Move to this other state.")
@_dry_run
@shared_options
@click.pass_context
def mv(
    ctx: click.Context,
    name: str | None,
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    to_state: str | None,
    *,
    dry_run: bool,
) -> None:
    """Give objects of STATE other addresses, there or in another state, all at once or none.

    A whole resource moves with its instances, an object with its deposed ones. Dependencies that
    name what moves are rewritten; nothing is overwritten, and no cloud object is touched.
    """
    if len(sources) != len(targets):
        raise click.UsageError("each --from needs its --to", ctx)
    settings = settings_of(ctx)
    state = name_of(ctx, settings, name)
    moves = list(zip(sources, targets, strict=True))
    _print(
        ctx,
        call(
            settings,
            lambda transport: transport.move_resources(state, moves, to_state, apply=not dry_run),
        ),
        dry_run=dry_run,
    )


@click.group()
def rollback() -> None:
    """Bring one resource back to what it was, whatever else has changed since."""


@rollback.command()
@_name
@click.option(
    "--address",
    "addresses",
    multiple=True,
    required=True,
    type=_ADDRESS,
    help="What to bring back.",
)
@click.option(
    "--to",
    "version",
    required=True,
    metavar="REF",
    type=Unicode("a version reference"),
    help="current, @N (N versions before it), a serial, vN, a version id, a tag or a timestamp.",
)
@_dry_run
@shared_options
@click.pass_context
def resource(
    ctx: click.Context,
    name: str | None,
    addresses: tuple[str, ...],
    version: str,
    *,
    dry_run: bool,
) -> None:
    """Bring the objects at one address of STATE back to what they were at a version.

    That is a new version, unless nothing differs. What came since is removed, what has gone comes
    back; no cloud object is touched.
    """
    if len(addresses) != 1:
        raise click.UsageError("--address is given once: one resource goes back at a time", ctx)
    settings = settings_of(ctx)
    state = name_of(ctx, settings, name)
    _print(
        ctx,
        call(
            settings,
            lambda transport: transport.rollback_resource(
                state, addresses[0], version, apply=not dry_run
            ),
        ),
        dry_run=dry_run,
    )


def _print(ctx: click.Context, done: Operated | Moved, *, dry_run: bool) -> None:
    if as_json(ctx):
        output.print_json(done)
    else:
        operations_view.print_operation(done, dry_run=dry_run)


COMMANDS: Final[tuple[click.Command, ...]] = (state, rollback)
