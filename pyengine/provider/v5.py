"""Plugin protocol 5."""

from types import MappingProxyType
from typing import Final

from pyengine.provider.proto import tfplugin5_pb2
from pyengine.provider.protocol import Protocol

V5: Final = Protocol(
    5,
    tfplugin5_pb2,
    MappingProxyType(
        {"GetProviderSchema": "GetSchema", "ValidateProviderConfig": "PrepareProviderConfig"}
    ),
)
