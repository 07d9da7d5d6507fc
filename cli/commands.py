"""The commands of kl by name. A command's module is imported when the command is asked for."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

import click

# Module and summary: the overview is shown without importing any of them.
_COMMANDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "import": ("cli.state", "Store a state document as the next version of a state."),
        "export": ("cli.state", "Print a state's document as Terraform reads it."),
        "list": ("cli.state", "List every state with its version and who locks it."),
        "status": ("cli.state", "Show how a state stands: locks, runs, reservations."),
        "unlock": ("cli.state", "Free the lock that Terraform sees, whoever holds it."),
        "delete": ("cli.state", "Delete a state; its history is kept."),
        "history": ("cli.readers", "List the versions of a state, newest first."),
        "diff": ("cli.readers", "Show what differs between two versions of a state."),
        "resource": ("cli.readers", "Look at one resource."),
        "graph": ("cli.readers", "Draw what the resources of a state depend on."),
        "tag": ("cli.readers", "Name versions of a state."),
        "state": ("cli.operations", "Remove or move single resources of a state."),
        "rollback": ("cli.operations", "Bring one resource back to what it was."),
        "query": ("cli.query", "Ask a question in SQL; nothing can be changed."),
        "verify": ("cli.verify", "Check states against the hashes kept with them."),
        "refresh": ("cli.refresh", "Ask the providers what has become of every object."),
        "drift": ("cli.drift", "Show what refreshes found changed outside Terraform."),
        "provider": ("cli.provider", "Say how providers are configured for a refresh."),
    }
)


class Commands(click.Group):
    """A group that loads a command on demand: what one needs, the others need not wait for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names in the order of the overview."""
        return list(_COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - as click calls it
        cmd_name: str,
    ) -> click.Command | None:
        """Import the command of that name; None where there is none."""
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(_COMMANDS[cmd_name][0])
        commands: tuple[click.Command, ...] = module.COMMANDS
        return next(command for command in commands if command.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; tell which one was perhaps meant."""
        word = args[0]
        if word in _COMMANDS or word.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        close = get_close_matches(word, _COMMANDS, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise click.UsageError(f"there is no command {word!r}{hint}", ctx)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - as click calls it
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the overview."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])
