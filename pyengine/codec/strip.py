"""Drop from stored JSON what the current schema lacks, as Terraform does before upgrading."""

from collections.abc import Callable
from typing import Any

from pyengine.codec.types import Type

Strip = Callable[[Any], Any]


def compile_strip(type_: Type) -> Strip:
    """Compile a function that returns its argument itself where nothing has to go.

    It never refuses: what has another shape than its type is left for the provider to upgrade.
    """
    return _strip_of(type_, {}) or _nothing


def _nothing(value: Any) -> Any:
    return value


def _strip_of(type_: Type, known: dict[Type, Strip | None]) -> Strip | None:
    if type_ not in known:
        known[type_] = _compile(type_, known)
    return known[type_]


def _compile(type_: Type, known: dict[Type, Strip | None]) -> Strip | None:
    if type_.kind == "object":
        return _object_strip(type_, known)
    if type_.element is not None:
        inner = _strip_of(type_.element, known)
        if inner is None:
            return None
        return _map_strip(inner) if type_.kind == "map" else _list_strip(inner)
    return None


def _object_strip(type_: Type, known: dict[Type, Strip | None]) -> Strip:
    names = frozenset(name for name, _ in type_.members)
    inner = tuple(
        (name, strip)
        for name, member in type_.members
        if (strip := _strip_of(member, known)) is not None
    )

    def strip_object(value: Any) -> Any:
        if type(value) is not dict:
            return value
        found = value
        if not value.keys() <= names:
            found = {name: item for name, item in value.items() if name in names}
        for name, strip in inner:
            item = value.get(name)
            kept = strip(item)
            if kept is not item:
                found = {**found, name: kept}
        return found

    return strip_object


def _list_strip(inner: Strip) -> Strip:
    def strip_list(value: Any) -> Any:
        if type(value) is not list:
            return value
        kept = [inner(item) for item in value]
        return value if all(a is b for a, b in zip(kept, value, strict=True)) else kept

    return strip_list


def _map_strip(inner: Strip) -> Strip:
    def strip_map(value: Any) -> Any:
        if type(value) is not dict:
            return value
        kept = {key: inner(item) for key, item in value.items()}
        return value if all(kept[key] is item for key, item in value.items()) else kept

    return strip_map
