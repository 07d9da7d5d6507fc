"""Options that `kl` and each of its commands take, and what they come to."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from pyengine.settings import Settings, load, split_state_url

Command = TypeVar("Command", bound=Callable[..., Any])


def shared_options(command: Command) -> Command:
    """Add the options that stand before or after the command's name; the later one wins."""
    return _options(command, "table", "json")


def query_options(command: Command) -> Command:
    """Add the shared options, with CSV among the formats."""
    return _options(command, "table", "json", "csv")


def graph_options(command: Command) -> Command:
    """Add the shared options, with the formats of a graph; a table is drawn as a tree."""
    return _options(command, "tree", "dot", "mermaid", "json", "table")


def _options(command: Command, *formats: str) -> Command:
    for option in (
        click.option(
            "--format",
            type=click.Choice(formats),
            help=f"How to print the answer [{formats[0]}].",
            expose_value=False,
            callback=_remember,
        ),
        click.option(
            "--state-url",
            metavar="URL",
            help="Work over HTTP, on this state [KL_STATE_URL].",
            expose_value=False,
            callback=_remember,
        ),
        click.option(
            "--database-url",
            metavar="URL",
            help="Work in this PostgreSQL [KL_DATABASE_URL].",
            expose_value=False,
            callback=_remember,
        ),
        click.option(
            "--data-dir",
            metavar="DIR",
            help="Work in the embedded PostgreSQL of this folder [KL_DATA_DIR].",
            expose_value=False,
            callback=_remember,
        ),
        click.option(
            "--actor",
            metavar="WHO",
            help="Who acts, for the audit trail [KL_ACTOR, or $USER@cli].",
            expose_value=False,
            callback=_remember,
        ),
    ):
        command = option(command)
    return command


def _remember(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value is not None and param.name is not None:
        ctx.ensure_object(dict)[param.name] = value


def as_json(ctx: click.Context) -> bool:
    """Tell whether the answer is to be JSON."""
    if format_of(ctx) == "csv":
        raise click.UsageError("--format csv is for kl query and kl drift", ctx)
    return format_of(ctx) == "json"


def format_of(ctx: click.Context) -> str:
    """Return how the answer is to be printed."""
    return str(ctx.ensure_object(dict).get("format", "table"))


def settings_of(ctx: click.Context, **more: str | None) -> Settings:
    """Return the settings that the command's flags (and `more`), environment and files make."""
    flags = {key: value for key, value in ctx.ensure_object(dict).items() if key != "format"}
    flags |= more
    if "state_url" in flags and flags.keys() & {"database_url", "data_dir"}:
        raise click.UsageError("--state-url goes without --database-url and --data-dir", ctx)
    settings = load(flags)
    if settings.state_url is not None and settings.transport == "http":
        split_state_url(settings.state_url)
    return settings


def name_of(ctx: click.Context, settings: Settings, name: str | None) -> str:
    """Return the state's name as given, or the state URL's."""
    if name is not None:
        return name
    if settings.state_url is not None:
        return split_state_url(settings.state_url)[1]
    raise click.UsageError("which state? Give its name, or set KL_STATE_URL", ctx)


class Unicode(click.ParamType[str]):
    """Any text that is Unicode, as all that the database keeps. It knows which are good."""

    name = "text"

    def __init__(self, what: str) -> None:
        self._what = what

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the text, refusing bytes that are not UTF-8."""
        text = str(value)
        if not text.isprintable() and any("\udc80" <= char <= "\udcff" for char in text):
            self.fail(f"{self._what} is UTF-8", param, ctx)
        return text


class StateName(Unicode):
    """A state's name."""

    name = "name"

    def __init__(self) -> None:
        super().__init__("a state's name")
