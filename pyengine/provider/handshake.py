"""Read the line a plugin prints when it is ready."""

import base64
import binascii
import ipaddress
import ssl
from typing import Final

from msgspec import Struct

from pyengine.provider.errors import ProviderError

PROTOCOLS: Final = (5, 6)
COOKIE_NAME: Final = "TF_PLUGIN_MAGIC_COOKIE"
COOKIE: Final = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
_LONGEST_SOCKET_PATH: Final = 107
_SHORTEST_CERTIFICATE: Final = 50


class Handshake(Struct, frozen=True):
    """Protocol 5 or 6, a gRPC target, and the server's certificate (PEM) where it wants TLS."""

    protocol: int
    target: str
    certificate: bytes | None


def parse_handshake(line: str) -> Handshake:
    """Parse the line `core|protocol|network|address|kind|certificate`; more fields are ignored."""
    fields = line.strip().split("|")
    if len(fields) < 4:
        raise _refusal(f"its first line is not a plugin handshake: {_quoted(line)}")
    core, protocol, network, address = fields[:4]
    kind = fields[4] if len(fields) > 4 else "netrpc"
    if core != "1":
        raise _refusal(f"it speaks core protocol {core[:20]!r}; 1 is understood ({_quoted(line)})")
    if protocol not in {str(known) for known in PROTOCOLS}:
        raise _refusal(f"it speaks plugin protocol {protocol[:20]}; 5 and 6 are understood")
    if kind != "grpc":
        raise _refusal(f"it speaks {kind[:20]!r}; only gRPC is understood")
    certificate = fields[5].strip() if len(fields) > 5 else ""
    return Handshake(
        int(protocol),
        _target(network, address),
        _pem(certificate) if len(certificate) > _SHORTEST_CERTIFICATE else None,
    )


def _target(network: str, address: str) -> str:
    if network == "unix":
        if len(address.encode()) > _LONGEST_SOCKET_PATH:
            raise _refusal(f"its socket path is longer than {_LONGEST_SOCKET_PATH} bytes")
        return f"unix:{address}"
    host, _, port = address.rpartition(":")
    if network != "tcp" or not port.isdecimal():
        raise _refusal(f"it listens on {network[:20]} {address[:80]!r}, which is no address")
    try:
        ip = ipaddress.ip_address(host.strip("[]"))
    except ValueError as exc:
        raise _refusal(f"it listens on {host[:80]!r}, which is no IP address") from exc
    if not ip.is_loopback:
        raise _refusal(f"it listens on {ip}, which is not this machine alone")
    return f"ipv4:{ip}:{port}" if ip.version == 4 else f"ipv6:[{ip}]:{port}"


def _pem(certificate: str) -> bytes:
    text = certificate.rstrip("=")
    try:
        der = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error as exc:
        raise _refusal("the certificate in its handshake is not base64") from exc
    return ssl.DER_cert_to_PEM_cert(der).encode()


def _quoted(line: str) -> str:
    return repr(line.strip()[:200])


def _refusal(message: str) -> ProviderError:
    return ProviderError("provider_start_failed", message)
