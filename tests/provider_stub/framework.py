"""A provider made with a framework that is not ours (PyPI `tf`): protocol 6, TLS, no cookie check.

Its one resource does at reading what the attribute `act` says: same, gone, null, warn, error,
unknown, crash, hang, noise, big. Run with -m tests.provider_stub.framework.
"""

import os
import sys
import time
from typing import Any

import msgspec
from tf import runner
from tf.blocks import SetNestedBlock
from tf.gen import tfplugin_pb2 as pb
from tf.iface import Provider, ReadContext, Resource
from tf.provider import ProviderServicer
from tf.schema import Attribute, Block, Schema
from tf.types import Bool, List, Number, Set, String, TfType, Unknown

SOURCE = "registry.terraform.io/acme/box"


class AnyType(TfType):
    """A dynamic value; it stays as it is on the wire."""

    def encode(self, value: Any) -> Any:
        return value

    def decode(self, value: Any) -> Any:
        return value

    def tf_type(self) -> bytes:
        return b'"dynamic"'


class NestedAttribute(Attribute):
    """A map of objects as an attribute, which the framework does not offer itself."""

    def to_pb(self) -> Any:
        nested = pb.Schema.Object(
            nesting=pb.Schema.Object.NestingMode.MAP,
            attributes=[
                pb.Schema.Attribute(name="text", type=b'"string"', optional=True),
                pb.Schema.Attribute(name="pin", type=b'"number"', optional=True, sensitive=True),
            ],
        )
        return pb.Schema.Attribute(name=self.name, nested_type=nested, optional=True)


class Box(Resource):
    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    @classmethod
    def get_name(cls) -> str:
        return "item"

    @classmethod
    def get_schema(cls) -> Schema:
        return Schema(
            attributes=[
                Attribute("id", String(), computed=True, default=None),
                Attribute("act", String(), optional=True),
                Attribute("size", Number(), optional=True),
                Attribute("on", Bool(), optional=True),
                Attribute("names", Set(String()), optional=True),
                Attribute("steps", List(Number()), optional=True),
                Attribute("any", AnyType(), optional=True),
                Attribute("password", String(), optional=True, sensitive=True),
                NestedAttribute("keys", AnyType(), optional=True),
            ],
            block_types=[SetNestedBlock("port", Block([Attribute("no", Number(), required=True)]))],
            version=1,
        )

    def read(self, ctx: ReadContext, current: dict[str, Any]) -> dict[str, Any] | None:
        match current.get("act"):
            case "gone" | "null":
                return None
            case "warn":
                ctx.diagnostics.add_warning("look out", "it is old", path=["size"])
            case "error":
                ctx.diagnostics.add_error("cannot read", "no access", path=["names"])
            case "unknown":
                return {**current, "size": Unknown}
            case "crash":
                print("Traceback: the box fell", file=sys.stderr, flush=True)
                os._exit(4)
            case "hang":
                time.sleep(3600)
            case "noise":
                print("n" * 200_000, flush=True)
                print("n" * 200_000, file=sys.stderr, flush=True)
            case "big":
                return {**current, "size": "123456789012345678901234567890.5"}
        return current

    def create(self, ctx: Any, planned: Any) -> Any:  # noqa: ARG002 - the framework's signature
        return {**planned, "id": "made"}

    def update(self, ctx: Any, current: Any, planned: Any) -> Any:  # noqa: ARG002
        return planned

    def delete(self, ctx: Any, current: Any) -> None:
        pass

    def upgrade(self, ctx: Any, version: int, old: Any) -> Any:  # noqa: ARG002
        return {**old, "act": f"upgraded from {version}"}


class BoxProvider(Provider):
    def get_model_prefix(self) -> str:
        return "box_"

    def full_name(self) -> str:
        return SOURCE

    def get_provider_schema(self, diags: Any) -> Schema:  # noqa: ARG002
        return Schema(attributes=[Attribute("shelf", String(), required=True)])

    def validate_config(self, diags: Any, config: Any) -> None:
        if config["shelf"] == "bad":
            diags.add_error("no such shelf", path=["shelf"])

    def configure_provider(self, diags: Any, config: Any) -> None:
        if config["shelf"] == "late":
            diags.add_error("the shelf fell")

    def get_data_sources(self) -> list[Any]:
        return []

    def get_resources(self) -> list[Any]:
        return [Box]


class Servicer(ProviderServicer):
    """What the framework leaves out: private data, an explicit null, upgrades in exact JSON."""

    def ReadResource(self, request: Any, context: Any) -> Any:
        answer = super().ReadResource(request, context)
        if request.private:
            answer.private = request.private + b"+"
        if msgspec.msgpack.decode(request.current_state.msgpack)["act"] == "null":
            answer.new_state.msgpack = msgspec.msgpack.encode(None)
        return answer

    def UpgradeResourceState(self, request: Any, context: Any) -> Any:
        if request.version < Box.get_schema().version:
            return super().UpgradeResourceState(request, context)
        return pb.UpgradeResourceState.Response(
            upgraded_state=pb.DynamicValue(json=request.raw_state.json)
        )


if __name__ == "__main__":
    runner.ProviderServicer = Servicer
    runner.run_provider(BoxProvider())
