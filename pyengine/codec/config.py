"""Make the complete object a provider is configured with from the little a person wrote as JSON.

Any attribute that is not a map, an object or of any type may be `{"env": "NAME"}`: the text of an
environment variable, for lists and sets read as JSON.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from pyengine.codec.encoding import compile_encoder
from pyengine.codec.errors import CodecError, MismatchError
from pyengine.codec.jsontext import read_json
from pyengine.codec.types import parse_type, schema_type

_FORMS_WITHOUT_ENV: Final = ("map", "object")
_UNRESOLVED: Final = object()


class ProviderConfig:
    """The configuration schema of a provider; every refusal is a CodecError with the path."""

    def __init__(self, schema: bytes | str) -> None:
        _, type_ = schema_type(schema)
        self._block = msgspec.json.decode(schema)["block"]
        self._encode = compile_encoder(type_, strip=False)

    def build(self, config: bytes | str, environ: Mapping[str, str]) -> bytes:
        """Return the configuration as MessagePack, converted to the types of the schema."""
        try:
            value = _Filling(environ).block(self._block, _object(config))
            return msgspec.msgpack.encode(self._encode(value))
        except MismatchError as exc:
            raise CodecError(exc.problem, exc.path()) from exc

    def check(self, config: bytes | str) -> None:
        """Check names, required attributes and values, leaving environment variables aside."""
        try:
            self._encode(_Filling(None).block(self._block, _object(config)))
        except MismatchError as exc:
            raise CodecError(exc.problem, exc.path()) from exc

    def literal_secrets(self, config: bytes | str) -> list[str]:
        """Return the paths of sensitive attributes that are given as such, not as `env`."""
        return sorted(_secrets(self._block, _object(config), ""))


class _Filling:
    def __init__(self, environ: Mapping[str, str] | None) -> None:
        self._environ = environ

    def block(self, block: Any, value: Any) -> dict[str, Any]:
        """Return a block's object with everything it may hold."""
        found = self._attributes(block["attributes"], value, _names(block))
        for nested in block["block_types"]:
            name = nested["type_name"]
            try:
                found[name] = self._nested(nested, value.get(name))
            except MismatchError as exc:
                exc.inside("attr", name)
                raise
        return found

    def _attributes(self, attributes: Any, value: Any, names: set[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise MismatchError("an object is required")
        unknown = sorted(value.keys() - names)
        if unknown:
            known = ", ".join(sorted(names)) or "none"
            raise MismatchError(f"there is no argument {unknown[0]!r}; there are: {known}")
        found: dict[str, Any] = {}
        for attribute in attributes:
            name = attribute["name"]
            try:
                found[name] = self._attribute(attribute, value.get(name))
            except MismatchError as exc:
                exc.inside("attr", name)
                raise
        return found

    def _attribute(self, attribute: Any, value: Any) -> Any:
        if value is None:
            if attribute.get("required"):
                raise MismatchError("a value is required")
            return None
        if not attribute.get("required") and not attribute.get("optional"):
            raise MismatchError("the provider decides this value; it cannot be given")
        value = self._resolved(attribute, value)
        if value is _UNRESOLVED:
            return None
        nested = attribute.get("nested_type")
        if nested is not None:
            return self._nested_attribute(nested, value)
        return _inferred(value) if attribute["type"] == "dynamic" else value

    def _nested_attribute(self, nested: Any, value: Any) -> Any:
        attributes = nested["attributes"]
        names = {item["name"] for item in attributes}
        return _each(
            nested["nesting"], value, lambda item: self._attributes(attributes, item, names)
        )

    def _nested(self, nested: Any, value: Any) -> Any:
        nesting = nested["nesting"]
        if value is None:
            value = {"LIST": [], "SET": [], "MAP": {}, "GROUP": {}}.get(nesting)
        if nesting in ("LIST", "SET") and isinstance(value, dict):
            value = [value]  # one block may stand without brackets, as in Terraform's JSON syntax
        least, most = nested.get("min_items", 0), nested.get("max_items", 0)
        count = len(value) if nesting in ("LIST", "SET") else int(value is not None)
        if nesting != "MAP" and count < least:
            raise MismatchError(f"at least {least} block(s) required, {count} given")
        if nesting != "MAP" and 0 < most < count:
            raise MismatchError(f"at most {most} block(s) allowed, {count} given")
        if value is None:
            return None
        filled = _each(nesting, value, lambda item: self.block(nested["block"], item))
        return _wrapped(nested, filled)

    def _resolved(self, attribute: Any, value: Any) -> Any:
        if not _is_env(attribute, value):
            return value
        if self._environ is None:
            return _UNRESOLVED
        text = self._environ.get(value["env"])
        if text is None:
            raise MismatchError(f"the environment variable {value['env']} is not set")
        if "type" in attribute and isinstance(attribute["type"], str):
            return text
        try:
            return read_json(text)
        except CodecError as exc:
            raise MismatchError(f"the environment variable {value['env']} is not JSON") from exc


def _object(config: bytes | str) -> dict[str, Any]:
    value = read_json(config)
    if not isinstance(value, dict):
        raise CodecError("a provider configuration is a JSON object")
    return value


def _names(block: Any) -> set[str]:
    return {item["name"] for item in block["attributes"]} | {
        item["type_name"] for item in block["block_types"]
    }


def _is_env(attribute: Any, value: Any) -> bool:
    if not (isinstance(value, dict) and value.keys() == {"env"} and isinstance(value["env"], str)):
        return False
    nested = attribute.get("nested_type")
    if nested is not None:
        return nested["nesting"] in ("LIST", "SET")
    form = attribute["type"]
    return form != "dynamic" and not (
        isinstance(form, list) and parse_type(form).kind in _FORMS_WITHOUT_ENV
    )


def _each(nesting: str, value: Any, fill: Any) -> Any:
    if nesting in ("SINGLE", "GROUP"):
        return fill(value)
    if nesting == "MAP":
        if not isinstance(value, dict):
            raise MismatchError("an object of objects is required")
        return {key: _at("key", key, fill, item) for key, item in value.items()}
    if not isinstance(value, list):
        raise MismatchError("a list of objects is required")
    return [_at("index", index, fill, item) for index, item in enumerate(value)]


def _at(kind: str, step: str | int, fill: Any, item: Any) -> Any:
    try:
        return fill(item)
    except MismatchError as exc:
        exc.inside(kind, step)
        raise


def _inferred(value: Any) -> Any:
    return None if value is None else {"value": value, "type": _type_of(value)}


def _type_of(value: Any) -> Any:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case None:
            return "dynamic"
        case list():
            return ["tuple", [_type_of(item) for item in value]]
        case dict():
            return ["object", {name: _type_of(item) for name, item in value.items()}]
        case _:
            return "number"


def _wrapped(nested: Any, filled: Any) -> Any:
    """Wrap the blocks that go as dynamic values because one is inside."""
    if nested["nesting"] not in ("LIST", "MAP") or b'"dynamic"' not in msgspec.json.encode(nested):
        return filled
    if filled:
        raise MismatchError("blocks with arguments of any type cannot be configured here")
    empty_type = ["tuple", []] if nested["nesting"] == "LIST" else ["object", {}]
    return {"value": filled, "type": empty_type}


def _secrets(block: Any, value: Any, base: str) -> list[str]:
    if isinstance(value, list):
        return [
            path for i, item in enumerate(value) for path in _secrets(block, item, f"{base}[{i}]")
        ]
    if not isinstance(value, dict):
        return []
    found: list[str] = []
    for attribute in block["attributes"]:
        item = value.get(attribute["name"])
        path = f"{base}.{attribute['name']}" if base else attribute["name"]
        if item is None or _is_env(attribute, item):
            continue
        if attribute.get("sensitive"):
            found.append(path)
        elif attribute.get("nested_type"):
            nested = attribute["nested_type"]
            found += _under(nested["nesting"], {**nested, "block_types": []}, item, path)
    for nested in block.get("block_types") or ():
        name = nested["type_name"]
        path = f"{base}.{name}" if base else name
        found += _under(nested["nesting"], nested["block"], value.get(name), path)
    return found


def _under(nesting: str, block: Any, value: Any, path: str) -> list[str]:
    if nesting == "MAP" and isinstance(value, dict):
        return [
            found
            for key, item in value.items()
            for found in _secrets(block, item, f'{path}["{key}"]')
        ]
    return _secrets(block, value, path)
