"""Which values of an object its schema calls sensitive, as paths in the state's form."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyengine.codec.errors import Step
from pyengine.codec.types import Type, parse_type

# Steps: ("attr", name) into an object, ("index", number or key) into a list, tuple or map.
Path = tuple[tuple[str, Step], ...]
Walker = Callable[[Any, Path], Iterator[Path]]


def compile_sensitive(type_: Type) -> Walker | None:
    """Compile the walk over the sensitive attributes of an object type; None: there are none.

    A null block has no paths, a null attribute has one; no path leads into a set.
    """
    return _object_walker(type_, {})


def _object_walker(type_: Type, known: dict[Type, Walker | None]) -> Walker | None:
    walkers = []
    for name, member in type_.members:
        if member not in known:
            known[member] = _inner_walker(member, known)
        inner = known[member]
        if member.sensitive or inner is not None:
            walkers.append((name, member.sensitive, inner))
    if not walkers:
        return None

    def walk(value: Any, base: Path) -> Iterator[Path]:
        if not isinstance(value, dict):
            return  # a dynamic block may hold anything
        for name, is_sensitive, inner in walkers:
            path = (*base, ("attr", name))
            if is_sensitive:
                yield path
            item = value.get(name)
            if inner is not None and item is not None:
                yield from inner(item, path)

    return walk


def state_form(path: Path) -> list[dict[str, Any]]:
    """Return a path as Terraform writes it into `sensitive_attributes`."""
    form: list[dict[str, Any]] = []
    for kind, step in path:
        if kind == "attr":
            form.append({"type": "get_attr", "value": step})
        else:
            index_type = "string" if isinstance(step, str) else "number"
            form.append({"type": "index", "value": {"value": step, "type": index_type}})
    return form


def read_state_form(form: Any) -> Path | None:
    """Read one path of `sensitive_attributes`; None where it has another shape."""
    path: list[tuple[str, Step]] = []
    for step in form if isinstance(form, list) else [None]:
        match step:
            case {"type": "get_attr", "value": str() as name}:
                path.append(("attr", name))
            case {"type": "index", "value": {"value": str() as key, "type": "string"}}:
                path.append(("index", key))
            case {"type": "index", "value": {"value": int() as number, "type": "number"}}:
                path.append(("index", number))
            case _:
                return None
    return tuple(path)


def fit_path(type_: Type, value: Any, steps: Iterable[tuple[str, Step]]) -> Path | None:
    """Fit a path to a value: cut at the first set, None where it leads nowhere.

    A name given as a key is taken as an attribute where an object stands, and the other way round.
    """
    fitted: list[tuple[str, Step]] = []
    for _, step in steps:
        while type_.kind == "dynamic":
            if not _is_wrapped(value):
                return None
            type_, value = parse_type(value["type"]), value["value"]
        if type_.kind == "set":
            break
        if not _has(value, step):
            return None
        fitted.append(("attr" if type_.kind == "object" else "index", step))
        type_, value = _inner_type(type_, step), value[step]
    return tuple(fitted)


def sort_key(path: Path) -> list[tuple[str, str]]:
    """Order paths as people read them."""
    return [(kind, str(step)) for kind, step in path]


def _inner_walker(type_: Type, known: dict[Type, Walker | None]) -> Walker | None:
    if type_.kind == "dynamic":
        walker = _inner_walker(type_.static, known) if type_.static is not None else None
        return None if walker is None else _wrapped(walker)
    if type_.kind == "object":
        return _object_walker(type_, known)
    element = None if type_.element is None else _inner_walker(type_.element, known)
    if element is None:
        return None
    return {"set": _over_set, "map": _over_map}.get(type_.kind, _over_list)(element)


def _wrapped(walker: Walker) -> Walker:
    def walk(value: Any, base: Path) -> Iterator[Path]:
        # Inside a block that is dynamic as a whole, the blocks below are not wrapped again.
        inner = value["value"] if _is_wrapped(value) else value
        if inner is not None:
            yield from walker(inner, base)

    return walk


def _over_list(walker: Walker) -> Walker:
    def walk(value: Any, base: Path) -> Iterator[Path]:
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if item is not None:
                yield from walker(item, (*base, ("index", index)))

    return walk


def _over_map(walker: Walker) -> Walker:
    def walk(value: Any, base: Path) -> Iterator[Path]:
        for key, item in value.items() if isinstance(value, dict) else ():
            if item is not None:
                yield from walker(item, (*base, ("index", key)))

    return walk


def _over_set(walker: Walker) -> Walker:
    def walk(value: Any, base: Path) -> Iterator[Path]:
        if any(any(walker(item, base)) for item in value):
            yield base

    return walk


def _inner_type(type_: Type, step: Step) -> Type:
    if type_.kind == "object":
        return dict(type_.members)[str(step)]
    if type_.kind == "tuple" and isinstance(step, int):
        return type_.items[step]
    assert type_.element is not None
    return type_.element


def _is_wrapped(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"value", "type"}


def _has(value: Any, step: Step) -> bool:
    if isinstance(value, dict):
        return isinstance(step, str) and step in value
    if isinstance(value, list):
        return type(step) is int and 0 <= step < len(value)
    return False
