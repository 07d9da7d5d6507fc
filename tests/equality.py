"""When two state documents are equal: as JSON values, but for what no reader can tell apart.

Not compared: the order of resources and instances, the order and repetition inside
`sensitive_attributes` and `dependencies`, how a number is spelled, resource blocks without
instances, and whether a resource stands in one block or several. One normalisation: an instance
with neither `attributes` nor `attributes_flat` has `"attributes": {}`.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

_NUMERAL = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")


def parse(text: bytes | str) -> Any:  # noqa: ANN401 - any JSON value
    """Parse JSON without a float: a number becomes ("number", sign, digits, exponent)."""
    return json.loads(text, parse_int=number, parse_float=number, parse_constant=_refuse)


def number(numeral: str) -> tuple[str, str, str, int]:
    """Return the value of a numeral, the same for every spelling."""
    match = _NUMERAL.fullmatch(numeral)
    assert match is not None
    sign, whole, fraction, exponent = match.groups(default="")
    digits = (whole + fraction).lstrip("0")
    kept = digits.rstrip("0")
    if not kept:
        return ("number", "", "0", 0)
    return ("number", sign, kept, int(exponent or 0) - len(fraction) + len(digits) - len(kept))


def canonical(document: bytes | str) -> Any:  # noqa: ANN401 - any JSON value
    """Return what stands for a document: equal documents give equal values."""
    value = parse(document)
    if "encrypted_data" in value:
        return document
    resources = value.get("resources")
    if isinstance(resources, list):
        value["resources"] = _resources(resources)
    return value


def objects(document: bytes | str) -> dict[tuple[str, ...], str]:
    """Return every object of a document by (module, mode, type, name, key, deposed)."""
    found = {}
    for block in parse(document).get("resources") or []:
        header = {k: v for k, v in block.items() if k != "instances"}
        resource = tuple(str(header.get(k) or "") for k in ("module", "mode", "type", "name"))
        for instance in block.get("instances") or []:
            key = (*resource, _text(instance.get("index_key")), instance.get("deposed") or "")
            assert key not in found
            found[key] = _text([header, _instance(instance)])
    return found


def _resources(blocks: list[dict[str, Any]]) -> list[list[str]]:
    merged: dict[str, list[str]] = {}
    for block in blocks:
        header = {k: v for k, v in block.items() if k != "instances"}
        for instance in block.get("instances") or []:
            merged.setdefault(_text(header), []).append(_text(_instance(instance)))
    return sorted([header, *sorted(instances)] for header, instances in merged.items())


def _instance(instance: dict[str, Any]) -> dict[str, Any]:
    instance = dict(instance)
    if "attributes_flat" not in instance:
        instance.setdefault("attributes", {})
    for member in ("sensitive_attributes", "dependencies"):
        if isinstance(instance.get(member), list):
            instance[member] = _set(instance[member])
    return instance


def _set(values: Iterable[Any]) -> list[str]:
    return sorted({_text(value) for value in values})


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, sort_keys=True)


def _refuse(constant: str) -> None:
    raise ValueError(constant)
