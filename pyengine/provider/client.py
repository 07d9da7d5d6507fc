"""One interface to a running provider, whichever protocol version it speaks."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

import grpc
import grpc.aio

from pyengine.provider.answers import (
    ReadAnswer,
    UpgradeAnswer,
    identity_answer,
    read_answer,
    require_success,
    upgrade_answer,
)
from pyengine.provider.diagnostics import Diagnostic
from pyengine.provider.errors import ProviderError
from pyengine.provider.process import HANDSHAKE_TIMEOUT, ProviderProcess
from pyengine.provider.proto import plugin_pb2
from pyengine.provider.protocol import Protocol
from pyengine.provider.schemas import IdentitySchema, ProviderSchemas, identity_json, schema_json
from pyengine.provider.v5 import V5
from pyengine.provider.v6 import V6

TERRAFORM_VERSION: Final = "1.11.4"
RECEIVE_LIMIT: Final = 256 << 20  # as much as providers send; more is refused in words
_PROTOCOLS: Final[Mapping[int, Protocol]] = MappingProxyType({5: V5, 6: V6})
_CRASH_WAIT: Final = 1.0
_SHUTDOWN_WAIT: Final = 2.0
_STOP_WAIT: Final = 5.0


class ProviderClient:
    """A provider process and the channel to it; make one with `open`, end it with `close`.

    Calls may run concurrently. Every one raises ProviderError; `timeout` is in seconds and None
    waits for ever, as Terraform does.
    """

    def __init__(self, process: ProviderProcess, timeout: float | None = None) -> None:
        self.process = process
        self.protocol = process.handshake.protocol
        self._protocol = _PROTOCOLS[self.protocol]
        self._timeout = timeout
        self._channel = _channel(process)
        self._methods: dict[str, Any] = {}
        self._closed = False
        self._deaf = False

    @classmethod
    async def open(
        cls,
        executable: Path,
        *,
        env: Mapping[str, str] | None = None,
        handshake_timeout: float = HANDSHAKE_TIMEOUT,
        timeout: float | None = None,
    ) -> "ProviderClient":
        """Launch a provider program and connect to it; `env` is added to our environment."""
        process = await ProviderProcess.launch(
            executable, env=env, handshake_timeout=handshake_timeout
        )
        return cls(process, timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def get_schema(self) -> ProviderSchemas:
        """Ask for all schemas; only the provider's own is unpacked, types when asked for."""
        answer = await self._call("GetProviderSchema", self._request("GetProviderSchema"))
        require_success("GetProviderSchema", answer.diagnostics)
        return ProviderSchemas(
            provider=schema_json(answer.provider),
            resource_types=dict(answer.resource_schemas),
            schema_message=self._protocol.messages.Schema,
        )

    async def identity_schemas(self) -> dict[str, IdentitySchema]:
        """Ask for identity schemas by resource type; none where the provider has no such call."""
        call = "GetResourceIdentitySchemas"
        answer = await self._optional_call(call, self._request(call))
        if answer is None:
            return {}
        require_success(call, answer.diagnostics)
        return {
            name: IdentitySchema(schema.version, identity_json(schema))
            for name, schema in answer.identity_schemas.items()
        }

    async def configure(self, config: bytes, *, validate: bool = True) -> tuple[Diagnostic, ...]:
        """Validate and configure with a complete object (MessagePack); return the warnings.

        Validation may be left out for what was validated before: some providers need seconds.
        """
        noticed = await self._validate(config) if validate else ()
        request = self._request("Configure")
        request.terraform_version = TERRAFORM_VERSION
        request.config.msgpack = config
        request.client_capabilities.write_only_attributes_allowed = True
        answer = await self._call("Configure", request)
        return noticed + require_success("Configure", answer.diagnostics)

    async def _validate(self, config: bytes) -> tuple[Diagnostic, ...]:
        call = "ValidateProviderConfig"
        request = self._request(call)
        request.config.msgpack = config
        answer = await self._optional_call(call, request)
        return () if answer is None else require_success(call, answer.diagnostics)

    async def upgrade_resource_state(
        self,
        type_name: str,
        version: int,
        state: bytes,
        *,
        flatmap: Mapping[str, str] | None = None,
    ) -> UpgradeAnswer:
        """Bring a stored state to the current schema: its JSON text, or `flatmap` in its place."""
        request = self._request("UpgradeResourceState")
        request.type_name = type_name
        request.version = version
        if flatmap is None:
            request.raw_state.json = state
        else:
            request.raw_state.flatmap.update(flatmap)
        return upgrade_answer(await self._call("UpgradeResourceState", request))

    async def upgrade_resource_identity(
        self, type_name: str, version: int, identity: bytes
    ) -> UpgradeAnswer:
        """Bring a stored identity (JSON text) to the current identity schema."""
        request = self._request("UpgradeResourceIdentity")
        request.type_name = type_name
        request.version = version
        request.raw_identity.json = identity
        return identity_answer(await self._call("UpgradeResourceIdentity", request))

    async def read_resource(
        self,
        type_name: str,
        current_state: bytes,
        *,
        private: bytes = b"",
        identity: bytes | None = None,
    ) -> ReadAnswer:
        """Read an object; state and identity are MessagePack, `private` the stored bytes."""
        request = self._request("ReadResource")
        request.type_name = type_name
        request.current_state.msgpack = current_state
        request.private = private
        request.client_capabilities.write_only_attributes_allowed = True
        if identity is not None:
            request.current_identity.identity_data.msgpack = identity
        return read_answer(self._protocol.messages, await self._call("ReadResource", request))

    async def stop(self, timeout: float = _STOP_WAIT) -> None:
        """Ask the provider to abort its work; say nothing where it cannot."""
        request = self._request("Stop")
        try:
            await self._unary(self._protocol.path("Stop"), request, "Stop", timeout)
        except grpc.aio.AioRpcError as exc:
            self._deaf = exc.code() is grpc.StatusCode.DEADLINE_EXCEEDED

    async def close(self) -> None:
        """End the process: Shutdown, SIGTERM, SIGKILL; leave no process, socket or channel.

        One that did not answer Stop in time is not asked again.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if self.process.exit_code is None and not self._deaf:
                await self._shutdown()
        finally:
            try:
                await self.process.close(asked=not self._deaf)
            finally:
                await self._channel.close()

    async def _shutdown(self) -> None:
        method = self._channel.unary_unary(
            "/plugin.GRPCController/Shutdown",
            request_serializer=plugin_pb2.Empty.SerializeToString,
            response_deserializer=plugin_pb2.Empty.FromString,
        )
        try:
            await method(plugin_pb2.Empty(), timeout=_SHUTDOWN_WAIT)
        except grpc.aio.AioRpcError:
            return  # success is a cut connection; anything else is settled by signals

    def _request(self, call: str) -> Any:
        return getattr(self._protocol.messages, call).Request()

    async def _call(self, call: str, request: Any) -> Any:
        try:
            return await self._unary(self._protocol.path(call), request, call, self._timeout)
        except grpc.aio.AioRpcError as exc:
            raise await self._failure(call, exc) from exc

    async def _optional_call(self, call: str, request: Any) -> Any | None:
        try:
            return await self._unary(self._protocol.path(call), request, call, self._timeout)
        except grpc.aio.AioRpcError as exc:
            if exc.code() is grpc.StatusCode.UNIMPLEMENTED:
                return None
            raise await self._failure(call, exc) from exc

    async def _unary(self, path: str, request: Any, call: str, timeout: float | None) -> Any:
        method = self._methods.get(call)
        if method is None:
            method = self._methods[call] = self._channel.unary_unary(
                path,
                request_serializer=type(request).SerializeToString,
                response_deserializer=getattr(self._protocol.messages, call).Response.FromString,
            )
        return await method(request, timeout=timeout)

    async def _failure(self, call: str, exc: grpc.aio.AioRpcError) -> ProviderError:
        code = exc.code()
        details: dict[str, Any] = {"call": call, "status": code.name}
        text = (exc.details() or "").strip()
        if code is grpc.StatusCode.UNAVAILABLE and await self._has_ended():
            details |= {
                "exit_code": self.process.exit_code,
                "output": self.process.output_tail().strip(),
            }
            how = _ending(self.process.exit_code)
            return ProviderError(
                "provider_crashed", f"the provider ended during {call} ({how})", details
            )
        if code is grpc.StatusCode.UNIMPLEMENTED:
            return ProviderError(
                "provider_unsupported", f"the provider does not know {call}", details
            )
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            message = f"the provider did not answer {call} within {self._timeout:g} s"
            return ProviderError("provider_call_failed", message, details)
        return ProviderError(
            "provider_call_failed", f"{call} failed with {code.name}: {text}", details
        )

    async def _has_ended(self) -> bool:
        try:
            await asyncio.wait_for(self.process.wait(), _CRASH_WAIT)
        except TimeoutError:
            return False
        await self.process.drained()
        return True


def _channel(process: ProviderProcess) -> grpc.aio.Channel:
    options: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", RECEIVE_LIMIT),
        ("grpc.max_send_message_length", -1),
        ("grpc.enable_http_proxy", 0),
        ("grpc.enable_retries", 0),
        ("grpc.use_local_subchannel_pool", 1),
    ]
    handshake = process.handshake
    if handshake.certificate is None:
        return grpc.aio.insecure_channel(handshake.target, options=options)
    options.append(("grpc.ssl_target_name_override", "localhost"))
    return grpc.aio.secure_channel(
        handshake.target, grpc.ssl_channel_credentials(handshake.certificate), options=options
    )


def _ending(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
