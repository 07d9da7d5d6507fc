"""Source addresses of providers, and the platform their programs are built for."""

import platform
from dataclasses import dataclass
from typing import Final

from pyengine.provider.errors import ProviderError

DEFAULT_HOST: Final = "registry.terraform.io"
BUILTIN_HOST: Final = "terraform.io"
_MACHINES: Final = (
    ("amd64", ("x86_64", "amd64")),
    ("arm64", ("aarch64", "arm64")),
    ("386", ("i386", "i686", "x86")),
)


@dataclass(frozen=True, slots=True)
class SourceAddress:
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
