"""kl refresh: ask the providers what has become of a state's objects."""

import asyncio
import os
from pathlib import Path
from typing import Final

import click

from cli import output, refresh_view
from cli.database import call_locally
from cli.options import StateName, as_json, settings_of, shared_options
from pyengine.db import Caller, Database
from pyengine.errors import EXIT_FAILED
from pyengine.provider.discovery import SearchPath
from pyengine.refresh.outcome import Options, Result

search_path_option = click.option(
    "--provider-search-path",
    "search_path",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Look for provider programs here first; may be repeated [KL_PROVIDER_PATH].",
)
concurrency_option = click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    show_default="CPUs",
    help="Run so many providers at a time.",
)


@click.command()
@click.argument("name", metavar="STATE", type=StateName())
@click.option("--dry-run", is_flag=True, help="Tell what would change; write no version.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first object that fails.")
@concurrency_option
@click.option(
    "--parallelism",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Ask each provider for so many objects at a time.",
)
@search_path_option
@click.option(
    "--timeout",
    type=click.IntRange(min=1),
    metavar="SECONDS",
    help="Give up, as if interrupted, after so long [never].",
)
@click.option(
    "--lock-timeout",
    type=click.IntRange(min=0),
    metavar="SECONDS",
    default=60,
    show_default=True,
    help="Wait so long for somebody else's lock before the commit.",
)
@shared_options
@click.pass_context
def refresh(
    ctx: click.Context,
    name: str,
    search_path: tuple[Path, ...],
    *,
    dry_run: bool,
    fail_fast: bool,
    concurrency: int,
    parallelism: int,
    timeout: int | None,
    lock_timeout: int,
) -> int:
    """Read every managed object of STATE from its provider; record what there is as a version.

    Nothing is planned, applied or fetched. When an object fails no version is written. Exit 0:
    all were read, changed or not; 1: something failed; 2: wrong usage.
    """
    from pyengine.refresh.run import refresh as run_refresh

    settings, shows_json = settings_of(ctx), as_json(ctx)
    options = Options(concurrency, parallelism, fail_fast, dry_run, timeout, lock_timeout)
    search = SearchPath.from_environment(search_path)

    async def work(database: Database, caller: Caller) -> Result:
        try:
            return await run_refresh(database, caller, name, options, search, os.environ, progress)
        except asyncio.CancelledError:
            click.echo("kl: cancelled: the refresh was interrupted; it wrote no version", err=True)
            raise

    with refresh_view.progress() as progress:
        result = call_locally(settings, "kl refresh", work)
    output.print_json(result) if shows_json else refresh_view.print_result(result)
    return 0 if result.status == "succeeded" else EXIT_FAILED


COMMANDS: Final[tuple[click.Command, ...]] = (refresh,)
