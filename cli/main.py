"""kl: the client. Errors are one line on standard error; exit 0 done, 1 failed, 2 usage."""

import atexit
import gc
import logging
import os
import sys
from collections.abc import Sequence

import click

from cli.commands import Commands
from cli.options import query_options
from cli.output import cell
from pyengine.errors import EXIT_FAILED, EXIT_USAGE, KilolockError

_INTERRUPTED = 130
_COLLECT_EVERY = 100_000


def main(args: Sequence[str] | None = None) -> None:
    """Run kl and exit."""
    # Imports and rows make many objects and hardly a cycle. To look for one among them all, again
    # and again and at the exit once more, is a fifth of the time that a short command takes.
    gc.set_threshold(_COLLECT_EVERY)
    atexit.register(gc.freeze)
    # gRPC would remark, on standard error, on each program that is started while it is at work.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    logging.basicConfig(handlers=[logging.NullHandler()])  # what went wrong is said once, below
    try:
        _show_log(os.environ.get("KL_LOG"))
        code = kl.main(args=args, prog_name="kl", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as exc:
        exc.show()
        sys.exit(EXIT_USAGE)
    except click.UsageError as exc:
        command = exc.ctx.command_path if exc.ctx else "kl"
        _fail("usage", f"{exc.format_message()} (see {command} --help)", EXIT_USAGE)
    except click.ClickException as exc:
        _fail("failed", exc.format_message(), exc.exit_code)
    except KilolockError as exc:
        _fail(exc.code, exc.message, exc.exit_code)
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is left to say, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_FAILED)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(_INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)


def _show_log(level: str | None) -> None:
    """Show our own log on standard error, down to a level: what providers write is at debug."""
    if not level:
        return
    if level.upper() not in logging.getLevelNamesMapping():
        raise KilolockError(
            "invalid_configuration",
            f"KL_LOG {level!r} is no level: debug, info, warning, error",
        )
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("%(name)s: %(message)s"))
    log = logging.getLogger("kilolock")
    log.setLevel(level.upper())
    log.addHandler(handler)


class _OneLine(logging.Formatter):
    """A record as one line that cannot steer a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return cell(super().format(record))


def _fail(code: str, message: str, exit_code: int) -> None:
    click.echo(f"kl: {code}: {cell(' '.join(message.split()))}", err=True)
    sys.exit(exit_code)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kilolock", prog_name="kl")
@query_options
def kl() -> None:
    """Work with Terraform states kept in PostgreSQL.

    Over HTTP when a state URL is the nearest thing named, else in a database: flags come before
    KL_* variables, then .kl.toml, then the backend block of the Terraform folder.
    """
