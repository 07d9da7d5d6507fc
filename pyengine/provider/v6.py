"""Plugin protocol 6."""

from types import MappingProxyType
from typing import Final

from pyengine.provider.proto import tfplugin6_pb2
from pyengine.provider.protocol import Protocol

V6: Final = Protocol(
    6,
    tfplugin6_pb2,
    MappingProxyType({"Configure": "ConfigureProvider", "Stop": "StopProvider"}),
)
