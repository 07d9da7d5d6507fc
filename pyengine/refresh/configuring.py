"""Store the configuration that a refresh gives a provider, checked against its schema."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final

from pyengine import api_providers, db
from pyengine.codec.config import ProviderConfig
from pyengine.codec.jsontext import read_json
from pyengine.errors import KilolockError
from pyengine.provider.address import ConfigAddress
from pyengine.provider.errors import ProviderError
from pyengine.refresh.providers import ProviderFactory

if TYPE_CHECKING:
    from pyengine.provider.client import ProviderClient

_UNKNOWN: Final = ("provider_not_found", "provider_builtin", "provider_checksum")


async def configure(
    database: db.Database,
    caller: db.Caller,
    factory: ProviderFactory,
    state: str,
    address: ConfigAddress,
    config: str,
    *,
    allow_secrets: bool,
) -> None:
    """Check a configuration (JSON text) against the provider's schema, then store it.

    Secrets that stand in it as such are refused unless allowed. Without the provider's program
    nobody knows which are secret: then every text counts as one.
    """
    schema = await _schema(factory, address)
    if schema is not None:
        schema.check(config)
    secrets = _texts(read_json(config), "") if schema is None else schema.literal_secrets(config)
    if secrets and not allow_secrets:
        why = "sensitive" if schema else "perhaps sensitive (the provider's program is not here)"
        raise KilolockError(
            "invalid_request",
            f'{", ".join(secrets)}: {why}; give {{"env": "NAME"}} in place of the value,'
            " or --allow-literal-secrets",
        )
    await database.run(
        lambda conn: api_providers.configure_provider(conn, state, str(address), config), caller
    )


async def _schema(factory: ProviderFactory, address: ConfigAddress) -> ProviderConfig | None:
    try:
        found = await factory.find(str(address))
    except ProviderError as exc:
        if exc.code in _UNKNOWN:
            return None
        raise
    async with AsyncExitStack() as stack:

        async def launch() -> "ProviderClient":
            starting = await stack.enter_async_context(factory.launched(found))
            return await starting.client()

        return (await factory.schemas.schemas(found, [], launch)).config


def _texts(value: Any, path: str) -> list[str]:  # noqa: ANN401 - a JSON value
    """Return the paths of texts that are not the name of a variable."""
    if isinstance(value, str):
        return [path]
    if isinstance(value, list):
        return [found for i, item in enumerate(value) for found in _texts(item, f"{path}[{i}]")]
    if not isinstance(value, dict) or value.keys() == {"env"}:
        return []
    return [
        found
        for name, item in value.items()
        for found in _texts(item, f"{path}.{name}" if path else name)
    ]
