"""The calls of the stub: what the client uses by message, plan and apply by field number."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import msgspec

from tests.provider_stub.scenario import Scenario

# Methods that differ by version, under the names of our messages.
NAMES = {
    "GetSchema": "GetProviderSchema",
    "PrepareProviderConfig": "ValidateProviderConfig",
    "ConfigureProvider": "Configure",
    "StopProvider": "Stop",
}


class Calls(grpc.GenericRpcHandler):
    """Serves tfplugin5.Provider or tfplugin6.Provider."""

    def __init__(self, scenario: Scenario, protocol: int) -> None:
        self.scenario = scenario
        self.prefix = f"/tfplugin{protocol}.Provider/"

    def service(self, details: Any) -> Any:
        if not details.method.startswith(self.prefix):
            return None
        method = details.method.removeprefix(self.prefix)
        call = NAMES.get(method, method)
        handler: Callable[[Any], Any] | None = getattr(self, f"_{call}", None)
        if call == "GetResourceIdentitySchemas" and not self.scenario.data.get("identity_schemas"):
            return None
        if handler is None:
            raw = {"PlanResourceChange": _planned, "ApplyResourceChange": _applied}.get(call)
            return grpc.unary_unary_rpc_method_handler(
                lambda data, _: self._noted(call, raw or (lambda _: b""), data)
            )
        message = getattr(self.scenario.messages, call)
        return grpc.unary_unary_rpc_method_handler(
            lambda request, _: self._noted(call, handler, request),
            request_deserializer=message.Request.FromString,
            response_serializer=message.Response.SerializeToString,
        )

    def _noted(self, call: str, handler: Callable[[Any], Any], request: Any) -> Any:
        data = self.scenario.data
        if data.get("noise_bytes"):
            os.write(2, b"x" * data["noise_bytes"] + b"\n")
        if call in data.get("hang_on", ()):
            threading.Event().wait()
        if call in data.get("crash_on", ()):
            self._crash()
        return handler(request)

    def _crash(self) -> None:
        text = self.scenario.data.get("panic", "panic: the stub was told to")
        print(text, file=sys.stderr, flush=True)
        os._exit(3)

    def _response(self, call: str) -> Any:
        return getattr(self.scenario.messages, call).Response()

    def _GetProviderSchema(self, _: Any) -> Any:
        self.scenario.count("GetProviderSchema", {})
        data = self.scenario.data
        answer = self._response("GetProviderSchema")
        answer.provider.CopyFrom(self.scenario.schema(data.get("provider_schema", {})))
        schemas = dict(data.get("schemas", {}))
        if "schema" in data:
            schemas[data.get("resource_type", "widget_thing")] = data["schema"]
        for name, form in schemas.items():
            answer.resource_schemas[name] = self.scenario.schema(form).SerializeToString()
        answer.provider.block.description = "x" * data.get("schema_description_bytes", 0)
        return self.scenario.diagnose(answer, data.get("schema_answer", {}))

    def _GetResourceIdentitySchemas(self, _: Any) -> Any:
        answer = self._response("GetResourceIdentitySchemas")
        for name, form in self.scenario.data["identity_schemas"].items():
            schema = answer.identity_schemas[name]
            schema.version = form["version"]
            for attribute in form["attributes"]:
                schema.identity_attributes.add(
                    name=attribute["name"], type=msgspec.json.encode(attribute["type"])
                )
        return answer

    def _ValidateProviderConfig(self, request: Any) -> Any:
        self.scenario.count("ValidateProviderConfig", {"config": request.config.msgpack.hex()})
        answer = self._response("ValidateProviderConfig")
        return self.scenario.diagnose(answer, self.scenario.data.get("validate", {}))

    def _Configure(self, request: Any) -> Any:
        self.scenario.count("Configure", {"config": request.config.msgpack.hex()})
        answer = self._response("Configure")
        return self.scenario.diagnose(answer, self.scenario.data.get("configure", {}))

    def _Stop(self, _: Any) -> Any:
        self.scenario.count("Stop", {})
        return self._response("Stop")

    def _UpgradeResourceState(self, request: Any) -> Any:
        text = request.raw_state.json.decode()
        flatmap = dict(request.raw_state.flatmap)
        number = self.scenario.count(
            "UpgradeResourceState",
            {"type": request.type_name, "version": request.version, "json": text, "flat": flatmap},
        )
        answer = self._response("UpgradeResourceState")
        given = self.scenario.nth("upgrades", number)
        if given is not None:
            return self.scenario.fill(answer, given, "upgraded_state")
        answer.upgraded_state.json = request.raw_state.json
        return answer

    def _UpgradeResourceIdentity(self, request: Any) -> Any:
        self.scenario.count("UpgradeResourceIdentity", {"version": request.version})
        answer = self._response("UpgradeResourceIdentity")
        answer.upgraded_identity.identity_data.json = request.raw_identity.json
        return answer

    def _ReadResource(self, request: Any) -> Any:
        state = request.current_state.msgpack
        number = self.scenario.count(
            "ReadResource",
            {
                "type": request.type_name,
                "state": state.hex(),
                "private": request.private.hex(),
                "identity": request.current_identity.identity_data.msgpack.hex(),
            },
        )
        data = self.scenario.data
        if number > data.get("crash_on_read", number):
            threading.Event().wait()  # in flight when the process ends
        if number == data.get("crash_on_read"):
            self._crash()
        answer = self._response("ReadResource")
        given = (
            _by_id(data.get("reads_by_id"), state)
            or data.get("reads_by_type", {}).get(request.type_name)
            or self.scenario.nth("reads", number)
        )
        if given is not None:
            return self.scenario.fill(answer, given, "new_state")
        answer.new_state.msgpack = state
        answer.private = request.private
        if request.HasField("current_identity"):
            answer.new_identity.CopyFrom(request.current_identity)
        return answer


def _by_id(answers: dict[str, Any] | None, state: bytes) -> dict[str, Any] | None:
    return answers.get(msgspec.msgpack.decode(state).get("id")) if answers else None


def _planned(request: bytes) -> bytes:
    """Plan what was proposed: field 3 becomes field 1."""
    return _field(1, dict(_fields(request)).get(3, b""))


def _applied(request: bytes) -> bytes:
    """Apply what was planned: field 3 becomes field 1."""
    return _field(1, dict(_fields(request)).get(3, b""))


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Iterate over the length-delimited fields of a message that has no others."""
    position = 0
    while position < len(data):
        tag, position = _number(data, position)
        length, position = _number(data, position)
        yield tag >> 3, data[position : position + length]
        position += length


def _number(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position


def _field(number: int, data: bytes) -> bytes:
    length, head = len(data), bytearray([number << 3 | 2])
    while length >= 0x80:
        head.append(length & 0x7F | 0x80)
        length >>= 7
    head.append(length)
    return bytes(head) + data
