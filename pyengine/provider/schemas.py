"""Turn schema messages into the JSON form that is cached, one type at a time."""

from collections.abc import Mapping
from typing import Any

import msgspec
from google.protobuf.message import DecodeError
from msgspec import Struct

from pyengine.provider.errors import ProviderError


class ProviderSchemas(Struct, frozen=True):
    """Everything a schema call answered; types stay on the wire's bytes until asked for.

    Schemas are JSON text `{"version": int, "block": {...}}`, as `pyengine.codec` compiles it.
    """

    provider: bytes
    resource_types: Mapping[str, bytes]
    schema_message: Any

    def resource(self, type_name: str) -> bytes:
        """Return the schema of one resource type; KeyError where the provider has none."""
        raw = self.resource_types[type_name]
        try:
            message = self.schema_message.FromString(raw)
        except DecodeError as exc:
            raise ProviderError(
                "provider_misbehaved", f"the schema of {type_name} cannot be read"
            ) from exc
        return schema_json(message)


class IdentitySchema(Struct, frozen=True):
    """The identity of a resource type as a schema of plain attributes (JSON text)."""

    version: int
    schema: bytes


def schema_json(schema: Any) -> bytes:
    """Return a Schema message as JSON text: only what a codec needs, nothing for people."""
    return msgspec.json.encode({"version": schema.version, "block": _block(schema.block)})


def identity_json(schema: Any) -> bytes:
    """Return a ResourceIdentitySchema message as a schema of optional attributes."""
    attributes = [
        {"name": item.name, "type": msgspec.Raw(item.type), "optional": True}
        for item in schema.identity_attributes
    ]
    block = {"attributes": attributes, "block_types": []}
    return msgspec.json.encode({"version": schema.version, "block": block})


def _block(block: Any) -> dict[str, Any]:
    return {
        "attributes": [_attribute(item) for item in block.attributes],
        "block_types": [_nested_block(item) for item in block.block_types],
    }


def _attribute(attribute: Any) -> dict[str, Any]:
    form: dict[str, Any] = {"name": attribute.name}
    if attribute.DESCRIPTOR.fields_by_name.get("nested_type") and attribute.HasField("nested_type"):
        nested = attribute.nested_type
        form["nested_type"] = {
            "nesting": nested.NestingMode.Name(nested.nesting),
            "attributes": [_attribute(item) for item in nested.attributes],
        }
    else:
        form["type"] = msgspec.Raw(attribute.type)
    for flag in ("required", "optional", "computed", "sensitive", "write_only"):
        if getattr(attribute, flag):
            form[flag] = True
    return form


def _nested_block(nested: Any) -> dict[str, Any]:
    form = {
        "type_name": nested.type_name,
        "nesting": nested.NestingMode.Name(nested.nesting),
        "block": _block(nested.block),
    }
    for limit in ("min_items", "max_items"):
        if getattr(nested, limit):
            form[limit] = getattr(nested, limit)
    return form
