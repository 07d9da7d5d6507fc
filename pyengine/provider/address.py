"""Source addresses of providers, and the platform their programs are built for."""

import platform
import re
from typing import Final

from msgspec import Struct

from pyengine.provider.errors import ProviderError

DEFAULT_HOST: Final = "registry.terraform.io"
BUILTIN_HOST: Final = "terraform.io"
_MACHINES: Final = (
    ("amd64", ("x86_64", "amd64")),
    ("arm64", ("aarch64", "arm64")),
    ("386", ("i386", "i686", "x86")),
)
_NAME: Final = r"[^\s.\[\]\"\\]+"
_KEY: Final = r'\["(?:[^"\\]|\\.)*"\]'
_CONFIG_ADDRESS: Final = re.compile(
    rf'(?P<module>(?:module\.{_NAME}\.)*)provider\["(?P<source>[^"]+)"\]'
    rf"(?:\.(?P<alias>{_NAME}(?:{_KEY})?))?"
)


class SourceAddress(Struct, frozen=True):
    """`HOST/NAMESPACE/TYPE` in parts."""

    host: str
    namespace: str
    type: str

    def __str__(self) -> str:
        return f"{self.host}/{self.namespace}/{self.type}"

    @property
    def is_builtin(self) -> bool:
        """Tell whether Terraform itself is the provider, so that there is no program."""
        return (self.host, self.namespace) == (BUILTIN_HOST, "builtin")


class ConfigAddress(Struct, frozen=True):
    """Where a provider configuration stands: `[module.NAME.]provider["SOURCE"][.ALIAS]`.

    OpenTofu makes an instance of an alias for every key of a `for_each`: `ALIAS["KEY"]`.
    """

    module: str
    source: SourceAddress
    alias: str | None = None

    def __str__(self) -> str:
        alias = f".{self.alias}" if self.alias else ""
        return f'{self.module}provider["{self.source}"]{alias}'


def parse_config_address(text: str) -> ConfigAddress:
    """Parse the full address of a provider as a state has it."""
    match = _CONFIG_ADDRESS.fullmatch(text)
    if match is None:
        raise ProviderError(
            "invalid_request",
            f"{text!r} does not tell a provider's source address, as Terraform 0.13 and later do",
        )
    return ConfigAddress(match["module"], parse_source(match["source"]), match["alias"])


def config_address(source: str, alias: str | None) -> ConfigAddress:
    """Return the full address: `source` is one already, or a source address of the root module."""
    if "provider[" not in source:
        return ConfigAddress("", parse_source(source), alias)
    address = parse_config_address(source)
    if alias is not None and address.alias not in (None, alias):
        raise ProviderError("invalid_request", f"{source} has another alias than {alias}")
    return ConfigAddress(address.module, address.source, alias or address.alias)


def parse_source(source: str) -> SourceAddress:
    """Parse `TYPE`, `NAMESPACE/TYPE` or `HOST/NAMESPACE/TYPE`."""
    parts = source.split("/")
    if not 1 <= len(parts) <= 3 or not all(map(_is_safe, parts)):
        raise ProviderError("invalid_request", f"{source!r} is no provider source address")
    host, namespace, type_ = ([DEFAULT_HOST, "hashicorp"][: 3 - len(parts)] + parts)[-3:]
    return SourceAddress(host, namespace, type_)


def os_arch() -> str:
    """Return this platform as providers are named for it, such as linux_amd64."""
    machine = platform.machine().lower()
    arch = next((name for name, known in _MACHINES if machine in known), machine)
    return f"{platform.system().lower()}_{arch}"


def _is_safe(part: str) -> bool:
    return bool(part) and not part.startswith(".") and not set(part) & set("\\\0 \t\n\"'[]")
