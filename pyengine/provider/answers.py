"""Answers of a provider, checked; anything the protocol forbids is a ProviderError."""

from types import ModuleType
from typing import Any

from google.protobuf.message import DecodeError
from msgspec import Struct

from pyengine.codec.wire import WireValue
from pyengine.provider.diagnostics import (
    AttributePath,
    Diagnostic,
    errors,
    read_diagnostics,
    read_path,
    warnings,
)
from pyengine.provider.errors import ProviderError


class ReadAnswer(Struct, frozen=True):
    """What ReadResource found: `new_state` None says that the object is gone."""

    new_state: WireValue | None
    private: bytes
    identity: WireValue | None
    sensitive_paths: tuple[AttributePath, ...]
    warnings: tuple[Diagnostic, ...]


class UpgradeAnswer(Struct, frozen=True):
    """A state or identity in the current schema."""

    value: WireValue
    warnings: tuple[Diagnostic, ...]


def require_success(call: str, messages: Any) -> tuple[Diagnostic, ...]:
    """Return the warnings; raise provider_failed where an error is among the diagnostics."""
    diagnostics = read_diagnostics(messages)
    failed = errors(diagnostics)
    if failed:
        text = "; ".join(str(item) for item in failed)
        raise ProviderError("provider_failed", text, {"call": call}, diagnostics)
    return warnings(diagnostics)


def read_answer(messages: ModuleType, response: Any) -> ReadAnswer:
    """Check a ReadResource response. An error among the diagnostics outweighs all else in it."""
    noticed = require_success("ReadResource", response.diagnostics)
    if response.HasField("deferred"):
        number = response.deferred.reason
        known = response.deferred.DESCRIPTOR.enum_types_by_name["Reason"].values_by_number
        reason = known[number].name if number in known else "UNKNOWN"
        raise ProviderError(
            "provider_misbehaved",
            f"the provider deferred the read without being allowed to (reason {number}: {reason})",
            {"call": "ReadResource", "reason": number},
        )
    value = _value(response, "new_state")
    if value.is_unset:
        raise _silence("ReadResource", "new_state")
    identity = None
    if response.HasField("new_identity"):
        identity = _value(response.new_identity, "identity_data")
    return ReadAnswer(
        None if value.is_null else value,
        response.private,
        None if identity is None or identity.is_unset or identity.is_null else identity,
        tuple(_sensitive_paths(messages, response)),
        noticed,
    )


def upgrade_answer(response: Any) -> UpgradeAnswer:
    """Check an UpgradeResourceState response; it must hold a value that is not null."""
    noticed = require_success("UpgradeResourceState", response.diagnostics)
    return UpgradeAnswer(_required(response, "upgraded_state", "UpgradeResourceState"), noticed)


def identity_answer(response: Any) -> UpgradeAnswer:
    """Check an UpgradeResourceIdentity response; it must hold a value that is not null."""
    call = "UpgradeResourceIdentity"
    noticed = require_success(call, response.diagnostics)
    if not response.HasField("upgraded_identity"):
        raise _silence(call, "upgraded_identity")
    return UpgradeAnswer(_required(response.upgraded_identity, "identity_data", call), noticed)


def _required(message: Any, field: str, call: str) -> WireValue:
    value = _value(message, field)
    if value.is_unset or value.is_null:
        raise _silence(call, field)
    return value


def _value(message: Any, field: str) -> WireValue:
    if not message.HasField(field):
        return WireValue()
    value = getattr(message, field)
    return WireValue(value.msgpack, value.json)


def _sensitive_paths(messages: ModuleType, response: Any) -> list[AttributePath]:
    paths: list[AttributePath] = []
    for raw in response.sensitive_paths:
        try:
            paths.append(read_path(messages.AttributePath.FromString(raw)))
        except DecodeError as exc:
            raise ProviderError(
                "provider_misbehaved", "a sensitive path in the answer cannot be read"
            ) from exc
    return paths


def _silence(call: str, field: str) -> ProviderError:
    return ProviderError(
        "provider_misbehaved",
        f"the provider answered {call} without a value ({field} is unset or empty)",
        {"call": call},
    )
