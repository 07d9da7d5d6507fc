"""Refresh one object: bring it to the current schema, read it, bring what came into state form."""

import base64
import binascii
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from pyengine.api_refresh import RefreshObject
from pyengine.codec.errors import CodecError
from pyengine.provider.diagnostics import Diagnostic
from pyengine.provider.errors import ProviderError
from pyengine.refresh.spelling import keep_spelling

if TYPE_CHECKING:
    from pyengine.codec.codec import Codec
    from pyengine.provider.client import ProviderClient
    from pyengine.refresh.providers import Provider
    from pyengine.refresh.schemas import TypeCodecs


class ObjectRead(Struct, frozen=True):
    """What an object is now, in state form; `attributes` None: it is gone.

    `prior` is what the provider made of the stored attributes by itself, before it looked.
    """

    attributes: bytes | None
    warnings: tuple[Diagnostic, ...]
    prior: bytes | None = None
    sensitive_attributes: bytes | None = None
    private: str | None = None
    identity: bytes | None = None
    schema_version: int | None = None
    identity_schema_version: int | None = None


class _Upgraded(Struct, frozen=True):
    """The stored attributes in the current schema, as the state and as the wire spells them."""

    attributes: bytes
    wire: bytes
    warnings: tuple[Diagnostic, ...]


class ObjectReader:
    """Reads objects of one provider. Raises ProviderError and CodecError, both about one object."""

    def __init__(self, provider: "Provider") -> None:
        self._client: ProviderClient = provider.client
        self._types: Mapping[str, TypeCodecs] = provider.types
        self._name = f"{provider.found.address} {provider.found.version}"

    async def read(self, stored: RefreshObject) -> ObjectRead:
        """Ask the provider what an object is now."""
        codecs = self._types.get(stored.type)
        if codecs is None:
            raise ProviderError(
                "provider_unsupported", f"{self._name} has no resource type {stored.type}"
            )
        upgraded = await self._upgraded(stored, codecs.state)
        warnings = upgraded.warnings
        identity = await self._current_identity(stored, codecs.identity)
        answer = await self._client.read_resource(
            stored.type, upgraded.wire, private=_private(stored), identity=identity
        )
        warnings += answer.warnings
        if answer.new_state is None:
            return ObjectRead(None, warnings)
        unchanged = answer.new_state.msgpack == upgraded.wire  # byte for byte, as most answers are
        attributes = upgraded.attributes if unchanged else codecs.state.decode(answer.new_state)
        new_identity = None
        if answer.identity is not None:
            if codecs.identity is None:
                raise ProviderError(
                    "provider_misbehaved", "the provider sent an identity that has no schema"
                )
            new_identity = codecs.identity.decode(answer.identity)
        return ObjectRead(
            _spelled(stored, upgraded.attributes, attributes, codecs.state.version),
            warnings,
            prior=upgraded.attributes,
            sensitive_attributes=codecs.state.merge_sensitive(
                attributes,
                stored.sensitive_attributes,
                [[(step.kind, step.value) for step in path] for path in answer.sensitive_paths],
            ),
            private=base64.b64encode(answer.private).decode() or None,
            identity=new_identity,
            schema_version=codecs.state.version,
            identity_schema_version=(
                codecs.identity.version if codecs.identity and new_identity else None
            ),
        )

    async def _upgraded(self, stored: RefreshObject, codec: "Codec") -> _Upgraded:
        """Return the stored state in the current schema, as the provider itself upgrades it."""
        _require_known(stored.schema_version, codec.version, "", self._name)
        version = int(stored.schema_version)
        if stored.attributes_flat is not None:
            answer = await self._client.upgrade_resource_state(
                stored.type, version, b"", flatmap=_flatmap(stored.attributes_flat)
            )
        else:
            if stored.attributes is None:
                raise CodecError("the state holds no attributes of it")
            text = stored.attributes.encode()
            if version == codec.version:
                text = codec.strip_unknown(text)
            answer = await self._client.upgrade_resource_state(stored.type, version, text)
        attributes = codec.decode(answer.value)
        return _Upgraded(attributes, codec.encode(attributes), answer.warnings)

    async def _current_identity(self, stored: RefreshObject, codec: "Codec | None") -> bytes | None:
        if stored.identity is None or codec is None:
            return None
        version = stored.identity_schema_version or Decimal(0)
        _require_known(version, codec.version, "identity ", self._name)
        if version == codec.version:
            return codec.encode(stored.identity, strip=True)
        answer = await self._client.upgrade_resource_identity(
            stored.type, int(version), stored.identity.encode()
        )
        return codec.encode(codec.decode(answer.value))


def _require_known(stored: Decimal, current: int, what: str, name: str) -> None:
    if stored > current:
        raise ProviderError(
            "provider_unsupported",
            f"a newer provider wrote it: its {what}schema version is {stored},"
            f" that of {name} is {current}",
        )


def _spelled(stored: RefreshObject, prior: bytes, attributes: bytes, version: int) -> bytes:
    """Return new attributes; what is as it was is spelled as it was, in an unchanged schema."""
    if attributes == prior or stored.attributes is None or stored.schema_version != version:
        return attributes
    return keep_spelling(stored.attributes.strip().encode(), prior, attributes)


def _private(stored: RefreshObject) -> bytes:
    try:
        return base64.b64decode(stored.private or "", validate=True)
    except (binascii.Error, ValueError) as exc:
        raise CodecError("its private data is not base64") from exc


def _flatmap(text: str) -> dict[str, str]:
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except msgspec.DecodeError as exc:
        raise CodecError("its flat attributes are not texts") from exc
