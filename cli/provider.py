"""kl provider: the configurations that a refresh gives providers."""

import os
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

import click
import msgspec
from msgspec import Struct

from cli import output
from cli.database import call_locally
from cli.options import StateName, as_json, settings_of, shared_options
from cli.refresh import concurrency_option, search_path_option
from pyengine import api_providers
from pyengine.api_providers import ProviderConfig
from pyengine.db import Caller, Connection, Database
from pyengine.errors import EXIT_FAILED, KilolockError
from pyengine.provider.address import ConfigAddress, config_address
from pyengine.provider.discovery import SearchPath

_STATE: Final = StateName()
_alias = click.option("--alias", metavar="NAME", help="The configuration of this alias.")


class _Listed(Struct, frozen=True):
    provider: str
    arguments: list[str]
    actor: str | None
    updated_at: datetime


@click.group()
def provider() -> None:
    """Say how the providers of a state are configured when it is refreshed.

    SOURCE is hashicorp/aws, HOST/NAMESPACE/TYPE, or the full address as states have it, such as
    'module.net.provider["registry.terraform.io/hashicorp/aws"].west'. An instance of OpenTofu's
    for_each is an alias with a key: --alias 'west["eu"]'.
    """


@provider.command()
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("source")
@_alias
@click.option(
    "--from-json",
    "file",
    type=click.File("rb"),
    required=True,
    metavar="FILE",
    help='The arguments as a JSON object (- for standard input); {"env": "NAME"} for any value.',
)
@click.option(
    "--allow-literal-secrets",
    is_flag=True,
    help="Store values of arguments that the provider calls sensitive.",
)
@search_path_option
@shared_options
@click.pass_context
def configure(
    ctx: click.Context,
    name: str,
    source: str,
    alias: str | None,
    file: BinaryIO,
    search_path: tuple[Path, ...],
    *,
    allow_literal_secrets: bool,
) -> None:
    """Store the arguments of a provider block for the refreshes of STATE.

    They are checked against the provider's schema where its program is found. {"env": "NAME"} is
    looked up by each refresh, in its own environment.
    """
    from pyengine.refresh.configuring import configure as store
    from pyengine.refresh.providers import ProviderFactory

    settings, address, text = settings_of(ctx), config_address(source, alias), _json_of(file)
    search = SearchPath.from_environment(search_path)

    async def work(database: Database, caller: Caller) -> None:
        async with ProviderFactory(database, caller, search, os.environ) as factory:
            await store(
                database, caller, factory, name, address, text, allow_secrets=allow_literal_secrets
            )

    call_locally(settings, "kl provider configure", work)
    _tell(ctx, name, address, "configured")


@provider.command()
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("source")
@_alias
@shared_options
@click.pass_context
def get(ctx: click.Context, name: str, source: str, alias: str | None) -> None:
    """Print the stored configuration of one provider as JSON, as it was given."""
    wanted = str(config_address(source, alias))
    for config in _configs(ctx, name):
        if config.provider == wanted:
            output.print_json(msgspec.Raw(config.config.encode()))
            return
    raise _missing(name, wanted)


@provider.command("list")
@click.argument("name", metavar="STATE", type=_STATE)
@shared_options
@click.pass_context
def list_(ctx: click.Context, name: str) -> None:
    """List the stored configurations of STATE: for whom, which arguments, who stored them."""
    configs = [
        _Listed(
            config.provider,
            sorted(msgspec.json.decode(config.config, type=dict[str, msgspec.Raw])),
            config.actor,
            config.updated_at,
        )
        for config in _configs(ctx, name)
    ]
    if as_json(ctx):
        output.print_json(configs)
    else:
        output.print_table(
            ("provider", "arguments", "by", "updated"),
            [
                (item.provider, ", ".join(item.arguments), item.actor, item.updated_at)
                for item in configs
            ],
        )


@provider.command()
@click.argument("name", metavar="STATE", type=_STATE)
@click.argument("source")
@_alias
@shared_options
@click.pass_context
def remove(ctx: click.Context, name: str, source: str, alias: str | None) -> None:
    """Forget the stored configuration of one provider."""
    address = config_address(source, alias)

    async def work(database: Database, caller: Caller) -> bool:
        async def removed(conn: Connection) -> bool:
            return await api_providers.remove_provider_config(conn, name, str(address))

        return await database.run(removed, caller)

    if not call_locally(settings_of(ctx), "kl provider remove", work):
        raise _missing(name, str(address))
    _tell(ctx, name, address, "removed")


@provider.command()
@click.argument("name", metavar="STATE", type=_STATE)
@concurrency_option
@search_path_option
@shared_options
@click.pass_context
def verify(ctx: click.Context, name: str, concurrency: int, search_path: tuple[Path, ...]) -> int:
    """Find, launch and configure every provider that STATE needs; exit 1 where one is not ready."""
    from pyengine.refresh.check import Checked, check_providers
    from pyengine.refresh.providers import ProviderFactory

    settings, shows_json = settings_of(ctx), as_json(ctx)
    search = SearchPath.from_environment(search_path)

    async def work(database: Database, caller: Caller) -> list[Checked]:
        async with ProviderFactory(database, caller, search, os.environ) as factory:
            return await check_providers(database, caller, name, factory, concurrency)

    checked = call_locally(settings, "kl provider verify", work)
    if shows_json:
        output.print_json(checked)
    else:
        output.print_table(
            ("provider", "version", "objects", "configured", "problem"),
            [
                (
                    item.provider,
                    item.version,
                    item.object_count,
                    "yes" if item.is_configured else "no",
                    item.problem and " ".join(item.problem.split()),
                )
                for item in checked
            ],
        )
    return EXIT_FAILED if any(item.problem for item in checked) else 0


def _configs(ctx: click.Context, name: str) -> list[ProviderConfig]:
    async def work(database: Database, caller: Caller) -> list[ProviderConfig]:
        return await database.run(lambda conn: api_providers.provider_configs(conn, name), caller)

    return call_locally(settings_of(ctx), "kl provider", work)


def _json_of(file: BinaryIO) -> str:
    """Return the text of a JSON object. What is in it is not repeated: it may be secret."""
    try:
        text = file.read().decode("utf-8-sig")
        msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise KilolockError("invalid_request", f"{file.name} is not a JSON object") from exc
    return text


def _tell(ctx: click.Context, name: str, address: ConfigAddress, what: str) -> None:
    if as_json(ctx):
        output.print_json({"state": name, "provider": str(address)})
    else:
        click.echo(f"{output.cell(name)}: {output.cell(address)} {what}")


def _missing(name: str, address: str) -> KilolockError:
    return KilolockError(
        "address_not_found",
        f"state {name} has no configuration of {address}; see `kl provider list`",
    )


COMMANDS: Final[tuple[click.Command, ...]] = (provider,)
