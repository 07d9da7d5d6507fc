"""kld token, kld workspace, kld environment: credentials and tenancy, on the database itself."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click
import msgspec

from pyengine import api_auth, db, installed
from pyengine.embedded import SUPERUSER, embedded
from pyengine.settings import Settings, load
from server.options import remembered_database_options

T = TypeVar("T")

SCOPES = click.Choice(["state:read", "state:write", "outputs:read", "admin"])
_LIFETIME = re.compile(r"[1-9]\d{0,5} (minute|hour|day|week|month|year)s?")
_as_json = click.option(
    "--format",
    "as_json",
    type=click.Choice(["table", "json"]),
    default="table",
    callback=lambda _context, _parameter, value: value == "json",
    help="How to print; table unless given.",
)


def run(context: click.Context, work: Callable[[db.Connection], Awaitable[T]]) -> T:
    """Run `work` in a transaction on the configured database, as its administrator."""
    flags: dict[str, str | None] = context.find_object(dict) or {}
    return asyncio.run(_run(load(flags), work))


async def _run(settings: Settings, work: Callable[[db.Connection], Awaitable[T]]) -> T:
    if not settings.embedded:
        return await _work(settings.database_conninfo, settings, work)
    async with embedded(settings.data_dir) as server:
        await installed.prepare_embedded(server.conninfo(SUPERUSER))
        return await _work(server.conninfo(SUPERUSER), settings, work)


async def _work(
    conninfo: str, settings: Settings, work: Callable[[db.Connection], Awaitable[T]]
) -> T:
    async with (
        await db.connect(conninfo, application_name="kld") as conn,
        db.transaction(conn, db.Caller(actor=settings.actor)),
    ):
        return await work(conn)


def _lifetime(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _LIFETIME.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no time such as '90 days'", param=parameter)
    return value


@click.group()
def token() -> None:
    """Make, list and revoke the tokens of `kld serve --auth database`."""


@token.command("create")
@remembered_database_options
@click.argument("name")
@click.option("--scope", "scopes", type=SCOPES, multiple=True, required=True)
@click.option("--environment", metavar="ENV", help="ws_…/env_…; unless given, everywhere.")
@click.option("--state-prefix", metavar="TEXT", help="Only states whose bare name starts so.")
@click.option(
    "--expires",
    "lifetime",
    metavar="INTERVAL",
    callback=_lifetime,
    help="Such as '90 days'; else never.",
)
@_as_json
@click.pass_context
def create_token(
    context: click.Context,
    name: str,
    scopes: tuple[str, ...],
    environment: str | None,
    state_prefix: str | None,
    lifetime: str | None,
    *,
    as_json: bool,
) -> None:
    """Make a token called NAME and print it: it is shown this once."""
    made = run(
        context,
        lambda conn: api_auth.create_token(
            conn, name, list(scopes), environment, state_prefix, lifetime
        ),
    )
    click.echo(_json(made) if as_json else made.token)


@token.command("list")
@remembered_database_options
@_as_json
@click.pass_context
def list_tokens(context: click.Context, *, as_json: bool) -> None:
    """List every token, live or not, without its text."""
    tokens = run(context, api_auth.list_tokens)
    if as_json:
        click.echo(_json(tokens))
        return
    for item in tokens:
        state = "revoked" if item.revoked_at else f"used {item.last_used_at or 'never'}"
        place = item.environment or "installation"
        click.echo(
            f"{item.token_id}  {item.hint}…  {item.name}  {place}  "
            f"{','.join(item.scopes)}  {item.state_prefix or '*'}  {state}"
        )


@token.command("revoke")
@remembered_database_options
@click.argument("which", metavar="TOKEN")
@click.pass_context
def revoke_token(context: click.Context, which: str) -> None:
    """Revoke TOKEN: its id, its name, or the token itself."""
    token_id = run(context, lambda conn: api_auth.revoke_token(conn, which))
    click.echo(f"revoked {token_id}")


@click.group()
def workspace() -> None:
    """Make and list workspaces."""


@workspace.command("create")
@remembered_database_options
@click.argument("name")
@click.pass_context
def create_workspace(context: click.Context, name: str) -> None:
    """Make a workspace and print its public id."""
    click.echo(run(context, lambda conn: api_auth.create_workspace(conn, name)))


@workspace.command("list")
@remembered_database_options
@_as_json
@click.pass_context
def list_workspaces(context: click.Context, *, as_json: bool) -> None:
    """List workspaces and their environments."""
    _list_environments(context, as_json=as_json)


@click.group()
def environment() -> None:
    """Make and list environments."""


@environment.command("create")
@remembered_database_options
@click.argument("workspace_name", metavar="WORKSPACE")
@click.argument("name")
@click.pass_context
def create_environment(context: click.Context, workspace_name: str, name: str) -> None:
    """Make an environment in WORKSPACE and print ws_…/env_…, the prefix of its states' names."""
    click.echo(run(context, lambda conn: api_auth.create_environment(conn, workspace_name, name)))


@environment.command("list")
@remembered_database_options
@_as_json
@click.pass_context
def list_environments(context: click.Context, *, as_json: bool) -> None:
    """List workspaces and their environments."""
    _list_environments(context, as_json=as_json)


def _list_environments(context: click.Context, *, as_json: bool) -> None:
    environments = run(context, api_auth.list_environments)
    if as_json:
        click.echo(_json(environments))
        return
    for item in environments:
        name = f"{item.workspace_name}/{item.environment_name or ''}"
        click.echo(f"{item.environment}  {name}  {item.state_count} states")


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
