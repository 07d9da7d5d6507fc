"""kld: run the server, install the schema, open psql."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from psycopg import pq

from pyengine import install, installed
from pyengine.embedded import SUPERUSER, embedded, exists, wheel_bin_dir
from pyengine.errors import EXIT_USAGE, KilolockError
from pyengine.settings import Settings, load
from server import credentials
from server.options import database_options


def main(args: Sequence[str] | None = None) -> None:
    """Run kld; errors are told on standard error with their code: exit 1, or 2 for usage."""
    try:
        code = kld.main(args=args, prog_name="kld", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as exc:
        exc.show()
        sys.exit(EXIT_USAGE)
    except click.UsageError as exc:
        command = exc.ctx.command_path if exc.ctx else "kld"
        _fail("usage", f"{_line(exc)} (see {command} --help)", EXIT_USAGE)
    except click.ClickException as exc:
        _fail("failed", _line(exc), exc.exit_code)
    except KilolockError as exc:
        _fail(exc.code, exc.message, exc.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(code: str, message: str, exit_code: int) -> None:
    click.echo(f"kld: {code}: {message}", err=True)
    sys.exit(exit_code)


def _line(exc: click.ClickException) -> str:
    return " ".join(exc.format_message().split())


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kilolock", prog_name="kld")
def kld() -> None:
    """Run and install the Kilolock server."""


kld.add_command(credentials.token)
kld.add_command(credentials.workspace)
kld.add_command(credentials.environment)


@kld.command()
@click.option("--listen", metavar="HOST:PORT", help="Address to listen on [KL_LISTEN_ADDR].")
@database_options
@click.option(
    "--auth",
    type=click.Choice(["open", "static", "database"]),
    help="Who may call: anybody (open), the holder of KL_STATIC_TOKEN (static), the holders of"
    " tokens made with `kld token create` (database) [KL_AUTH].",
)
@click.option(
    "--query-url",
    metavar="URL",
    help="How questions in SQL log in: a member of kl_analyst only [KL_QUERY_URL].",
)
@click.option("--tls-cert", metavar="FILE", help="Certificate chain for TLS [KL_TLS_CERT].")
@click.option("--tls-key", metavar="FILE", help="Its private key [KL_TLS_KEY].")
@click.option(
    "--insecure-open",
    is_flag=True,
    envvar="KL_INSECURE_OPEN",
    help="Listen beyond this machine although requests need no token.",
)
def serve(*, insecure_open: bool, **flags: str | None) -> None:
    """Serve states over HTTP until interrupted.

    Without a database URL an embedded PostgreSQL is started in the data folder, shared with
    other kld and kl processes, and stopped by the last of them.
    """
    from server import serving

    flags["listen_addr"] = flags.pop("listen")
    serving.run(load(flags), insecure_open=insecure_open)


@kld.command()
@database_options
def migrate(data_dir: str | None, database_url: str | None) -> None:
    """Install or upgrade the schema, all or nothing."""
    settings = load({"data_dir": data_dir, "database_url": database_url})
    outcome = asyncio.run(_migrate(settings))
    names = ", ".join(outcome.applied) or "none"
    click.echo(f"kilolock: migrations applied: {names}; {outcome.functions} scripts re-applied")
    for statement in outcome.advice:
        click.echo(f"kilolock: the database's owner should also run: {statement}", err=True)


async def _migrate(settings: Settings) -> install.Outcome:
    if not settings.embedded:
        return await install.migrate(settings.database_conninfo)
    async with embedded(settings.data_dir) as server:
        return await install.migrate(server.conninfo(SUPERUSER))


@kld.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@database_options
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def psql(data_dir: str | None, database_url: str | None, args: tuple[str, ...]) -> int:
    """Open psql on the configured database, as its administrator; ARGS go to psql."""
    settings = load({"data_dir": data_dir, "database_url": database_url})
    # Ctrl-C is for psql. A handler, not SIG_IGN, which psql would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    if settings.embedded:
        return asyncio.run(_embedded_psql(settings.data_dir, args))
    return _run_psql(settings.database_conninfo, args)


async def _embedded_psql(data_dir: Path, args: tuple[str, ...]) -> int:
    if not exists(data_dir):
        click.echo(f"kld: making a database in {data_dir}", err=True)
    async with embedded(data_dir) as server:
        await installed.prepare_embedded(server.conninfo(SUPERUSER))
        return await asyncio.to_thread(_run_psql, server.conninfo(SUPERUSER), args)


def _run_psql(conninfo: str, args: tuple[str, ...]) -> int:
    """Run psql with the connection in its environment: a password is not for `ps` to show."""
    environment = dict(os.environ)
    rest: list[str] = []
    for option in pq.Conninfo.parse(conninfo.encode()):
        if option.val is None:
            continue
        if option.envvar:
            environment[option.envvar.decode()] = option.val.decode()
        else:
            rest.append(f"{option.keyword.decode()}={option.val.decode()}")
    words = ["-d", " ".join(rest)] if rest else []
    return subprocess.run([_psql_program(), *words, *args], check=False, env=environment).returncode


def _psql_program() -> str:
    ours, found = wheel_bin_dir() / "psql", shutil.which("psql")
    if ours.exists() and not (found and sys.stdin.isatty()):
        return str(ours)
    if found:  # at a terminal: ours has no line editing
        return found
    raise KilolockError("invalid_configuration", "no psql program; install postgresql-client")
