"""Commands on whole states: import, export, list, status, unlock, delete."""

import asyncio
import sys
from contextlib import aclosing, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, Final

import click

from cli import output, status_view
from cli.calling import call
from cli.files import replacing
from cli.options import StateName, as_json, name_of, settings_of, shared_options
from cli.transport import Transport


@click.command("import")
@click.argument("file", type=click.File("rb"))
@click.option("--name", type=StateName(), help="The state's name [the state URL's].")
@click.option(
    "--source",
    type=click.Choice(["import", "apply", "refresh"]),
    default="import",
    show_default=True,
    help="Where the document comes from. apply clears drift and needs the admin right.",
)
@shared_options
@click.pass_context
def import_(ctx: click.Context, file: BinaryIO, name: str | None, source: str) -> None:
    """Store the state document FILE (- for standard input) as the next version of a state.

    The state is made where there is none. Storing what it holds already changes nothing.
    """
    settings = settings_of(ctx)
    state = name_of(ctx, settings, name)
    imported = call(
        settings,
        lambda transport: transport.import_state(state, file, source),
        admin=source == "apply",
        create=True,
    )
    if as_json(ctx):
        output.print_json(imported)
    else:
        click.echo(
            f"{output.cell(imported.state)}: {imported.outcome}, version v{imported.version_no},"
            f" serial {imported.serial}"
        )


@click.command()
@click.argument("name", required=False, type=StateName())
@click.option(
    "--version",
    "ref",
    default="current",
    metavar="REF",
    help="current, @N (N versions before it), a serial, vN, a version id, a tag or a timestamp.",
)
@click.option(
    "-o", "--output", "path", metavar="FILE", help="Write here, whole or not at all [- for stdout]."
)
@shared_options
@click.pass_context
def export(ctx: click.Context, name: str | None, ref: str, path: str | None) -> None:
    """Print the document of the state NAME as Terraform reads it.

    The bytes of a state that its client encrypted come out exactly as they went in.
    """
    settings = settings_of(ctx)
    state = name_of(ctx, settings, name)
    to_stdout = path is None or path == "-"
    with nullcontext(sys.stdout.buffer) if to_stdout else replacing(Path(str(path))) as target:
        call(settings, lambda transport: _export(transport, state, ref, target))


async def _export(transport: Transport, state: str, ref: str, target: BinaryIO) -> None:
    async with aclosing(transport.export_state(state, ref)) as chunks:
        async for chunk in chunks:
            await asyncio.to_thread(target.write, chunk)
    target.flush()


@click.command("list")
@shared_options
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List every state with its current version and who locks it."""
    _print_states(ctx, call(settings_of(ctx), lambda transport: transport.list_states()))


def _print_states(ctx: click.Context, states: list[Any]) -> None:
    if as_json(ctx):
        output.print_json(states)
    else:
        status_view.print_states(states)


@click.command()
@click.argument("name", required=False, type=StateName())
@shared_options
@click.pass_context
def status(ctx: click.Context, name: str | None) -> None:
    """Show how the state NAME stands: version, locks, runs, reservations.

    Without NAME and without a state URL: every state in short.
    """
    settings = settings_of(ctx)
    if name is None and settings.state_url is None:
        _print_states(ctx, call(settings, lambda transport: transport.list_states()))
        return
    state = name_of(ctx, settings, name)
    found = call(settings, lambda transport: transport.state_status(state))
    if as_json(ctx):
        output.print_json(found)
    else:
        status_view.print_status(found)


@click.command()
@click.argument("name", required=False, type=StateName())
@click.argument("lock_id", required=False)
@shared_options
@click.pass_context
def unlock(ctx: click.Context, name: str | None, lock_id: str | None) -> None:
    """Free the lock that Terraform sees on the state NAME, whoever holds it.

    With LOCK_ID only if that lock holds it. Scopes that are reserved by kl stay reserved.
    """
    settings = settings_of(ctx)
    state = name_of(ctx, settings, name)
    freed = call(settings, lambda transport: transport.force_unlock(state, lock_id))
    if as_json(ctx):
        output.print_json({"state": state, "lock": freed})
    elif freed is None:
        click.echo(f"{output.cell(state)}: was not locked")
    else:
        click.echo(
            f"{output.cell(state)}: unlocked; {output.cell(freed.who or 'somebody')} held lock"
            f" {output.cell(freed.lock_id)} since {output.cell(freed.acquired_at)}"
        )


@click.command()
@click.argument("name", type=StateName())
@click.option("--yes", is_flag=True, help="Say that you mean it.")
@shared_options
@click.pass_context
def delete(ctx: click.Context, name: str, *, yes: bool) -> None:
    """Delete the state NAME. Its name is free then; its history is kept."""
    settings = settings_of(ctx)
    if not yes:
        raise click.UsageError(f"to delete state {output.cell(name)}, say --yes", ctx)
    call(settings, lambda transport: transport.delete_state(name))
    if as_json(ctx):
        output.print_json({"state": name, "deleted": True})
    else:
        click.echo(f"{output.cell(name)}: deleted")


COMMANDS: Final[tuple[click.Command, ...]] = (import_, export, list_, status, unlock, delete)
