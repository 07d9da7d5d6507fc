"""Commands that read: history, diff, resource, graph; and tag."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

import click

from cli import graph_view, output, reader_view
from cli.calling import call
from cli.options import (
    StateName,
    as_json,
    format_of,
    graph_options,
    name_of,
    settings_of,
    shared_options,
)
from cli.transport import Transport
from pyengine.pages import PAGE, Page

T = TypeVar("T")
Ask = Callable[[Transport, str | None, int], Awaitable[Page[T]]]

_STATE: Final = StateName()


@click.command()
@click.argument("name", metavar="[STATE]", required=False, type=_STATE)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Show at most so many versions.",
)
@shared_options
@click.pass_context
def history(ctx: click.Context, name: str | None, limit: int) -> None:
    """List the versions of STATE, newest first: who wrote them, when, how, how much they changed.

    Opened counts objects that were new or changed, closed those that were replaced or removed.
    """
    settings = settings_of(ctx)
    state = name_of(ctx, settings, name)
    versions = call(
        settings,
        lambda transport: _all(
            transport, lambda at, after, size: at.state_history(state, after, size), limit
        ),
    )
    output.print_json(versions) if as_json(ctx) else reader_view.print_history(versions)


@click.command()
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("from_", metavar="FROM")
@click.argument("to", metavar="[TO]", default="current")
@shared_options
@click.pass_context
def diff(ctx: click.Context, name: str, from_: str, to: str) -> None:
    """Show what differs between two versions of STATE; sensitive values are masked.

    FROM and TO: current, @N (N versions before it), a serial, vN, a version id, a tag or a
    timestamp. FROM may be the later one: then what it takes to go back.
    """
    changes = call(
        settings_of(ctx),
        lambda transport: _all(
            transport, lambda at, after, size: at.diff_versions(name, from_, to, after, size)
        ),
    )
    output.print_json(changes) if as_json(ctx) else reader_view.print_diff(changes)


@click.group()
def resource() -> None:
    """Look at one resource."""


@resource.command()
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("address")
@click.option("--version", default="current", metavar="REF", help="As it was then [current].")
@shared_options
@click.pass_context
def show(ctx: click.Context, name: str, address: str, version: str) -> None:
    """Show the objects at ADDRESS with their attributes; sensitive values are masked.

    Without a key: those of all instances.
    """
    objects = call(
        settings_of(ctx), lambda transport: transport.resource_at(name, address, version)
    )
    output.print_json(objects) if as_json(ctx) else reader_view.print_objects(objects)


@resource.command("history")
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("address")
@shared_options
@click.pass_context
def resource_history(ctx: click.Context, name: str, address: str) -> None:
    """List every content that the objects at ADDRESS had, newest first, and what changed.

    current: as it is now. restored: the same, back after it was gone or by a rollback.
    superseded: another content took its place. removed: nothing did.
    """
    entries = call(
        settings_of(ctx),
        lambda transport: _all(
            transport, lambda at, after, size: at.resource_timeline(name, address, after, size)
        ),
    )
    output.print_json(entries) if as_json(ctx) else reader_view.print_timeline(entries)


@click.command()
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("address", required=False)
@click.option("--dependents", is_flag=True, help="What needs ADDRESS, not what it needs.")
@graph_options
@click.pass_context
def graph(ctx: click.Context, name: str, address: str | None, *, dependents: bool) -> None:
    """Draw what the resources of STATE depend on, or what ADDRESS needs.

    Instances of one resource are one node. What follows from other dependencies is left out.
    """
    if dependents and address is None:
        raise click.UsageError("--dependents of what? Give ADDRESS", ctx)
    nodes = call(
        settings_of(ctx),
        lambda transport: _all(
            transport,
            lambda at, after, size: at.dependency_graph(
                name, address, after, size, dependents=dependents
            ),
        ),
    )
    graph_view.print_graph(format_of(ctx), nodes, up=dependents)


@click.group()
def tag() -> None:
    """Name versions of a state."""


@tag.command("set")
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("tag_", metavar="TAG")
@click.argument("version", metavar="[VERSION]", default="current")
@shared_options
@click.pass_context
def set_(ctx: click.Context, name: str, tag_: str, version: str) -> None:
    """Let TAG name a VERSION of STATE [current]; a tag that is there already moves."""
    tagged = call(settings_of(ctx), lambda transport: transport.set_tag(name, tag_, version))
    if as_json(ctx):
        output.print_json(tagged)
    else:
        before = tagged.previous_version_no
        moved = "" if before in (None, tagged.version_no) else f", no longer v{before}"
        click.echo(f"{output.cell(name)}: {output.cell(tag_)} is v{tagged.version_no}{moved}")


@tag.command()
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("tag_", metavar="TAG")
@shared_options
@click.pass_context
def unset(ctx: click.Context, name: str, tag_: str) -> None:
    """Remove TAG from STATE; the version stays."""
    tagged = call(settings_of(ctx), lambda transport: transport.unset_tag(name, tag_))
    if as_json(ctx):
        output.print_json(tagged)
    else:
        was = tagged.previous_version_no
        click.echo(f"{output.cell(name)}: {output.cell(tag_)} removed; it was v{was}")


@tag.command("list")
@click.argument("name", metavar="[STATE]", required=False, type=_STATE)
@shared_options
@click.pass_context
def list_(ctx: click.Context, name: str | None) -> None:
    """List the tags of STATE."""
    settings = settings_of(ctx)
    state = name_of(ctx, settings, name)
    tags = call(settings, lambda transport: transport.version_tags(state))
    output.print_json(tags) if as_json(ctx) else reader_view.print_tags(tags)


async def _all(transport: Transport, ask: Ask[T], limit: int | None = None) -> list[T]:
    """Return the items of all pages, at most `limit`."""
    items: list[T] = []
    async for page in _pages(transport, ask, limit):
        items += page.items
        if limit is not None and len(items) >= limit:
            return items[:limit]
    return items


async def _pages(transport: Transport, ask: Ask[T], limit: int | None) -> AsyncIterator[Page[T]]:
    after = None
    while True:
        page = await ask(transport, after, PAGE if limit is None else min(limit, PAGE))
        yield page
        after = page.next
        if after is None:
            return


COMMANDS: Final[tuple[click.Command, ...]] = (history, diff, resource, graph, tag)
