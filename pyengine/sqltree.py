"""Find, order and check the SQL of the project. Pure: reads files, touches no database."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

from msgspec import Struct

from pyengine.errors import KilolockError

ROLES: Final = "roles"
GRANTS: Final = "grants"
_MIGRATION: Final = re.compile(r"(\d{4})_[a-z0-9_]+")
_REQUIRES: Final = re.compile(r"--\s*requires:\s*(.*)")


class Script(Struct, frozen=True):
    """One file. `name` is the path below its folder without `.sql`: `states/resources.view`."""

    name: str
    label: str
    text: str
    requires: tuple[str, ...] = ()

    @property
    def checksum(self) -> str:
        """Return the SHA-256 of the text, in hex."""
        return _digest(self.text.encode())


class Inventory(Struct, frozen=True):
    """What a tree comes to when compared with what is installed."""

    migrations: frozenset[str]
    functions_checksum: str


class SqlTree(Struct, frozen=True):
    """The whole of sql/: migrations by number, functions in the order they are applied."""

    roles: Script
    migrations: tuple[Script, ...]
    functions: tuple[Script, ...]

    @property
    def functions_checksum(self) -> str:
        """Return one SHA-256 over every replaceable file, in hex."""
        return _of_all((script.name, script.checksum) for script in (self.roles, *self.functions))


def find_sql_root() -> Path:
    """Return sql/: inside the installed package, else that of the checkout."""
    here = Path(__file__).resolve().parent
    for candidate in (here / "_sql", here.parent / "sql"):
        if candidate.is_dir():
            return candidate
    raise KilolockError("invalid_sql_tree", f"no SQL files beside {here}; reinstall kilolock")


def load(root: Path | None = None) -> SqlTree:
    """Read and order every file below `root`. Raises `invalid_sql_tree` naming the file."""
    root = find_sql_root() if root is None else root
    migrations = tuple(_read(root, "migrations"))
    _check_sequence(migrations)
    functions = {script.name: script for script in _read(root, "functions")}
    for name in (ROLES, GRANTS):
        if name not in functions:
            raise _invalid(f"functions/{name}.sql is missing")
    roles, grants = functions.pop(ROLES), functions.pop(GRANTS)
    return SqlTree(roles, migrations, (*order(functions), grants))


def take_inventory(root: Path | None = None) -> Inventory:
    """Return what `load` would find, neither ordered nor checked: each command asks for it."""
    root = find_sql_root() if root is None else root
    return Inventory(
        frozenset(name for name, _ in _contents(root, "migrations")),
        _of_all((name, _digest(content)) for name, content in _contents(root, "functions")),
    )


def check_syntax(tree: SqlTree) -> None:
    """Parse every file of a tree. Raises `invalid_sql_tree` naming file and line."""
    import pglast  # large, and only who installs needs it

    for script in (tree.roles, *tree.migrations, *tree.functions):
        try:
            pglast.parser.parse_sql_protobuf(script.text)  # a tree of objects costs tenfold
        except pglast.parser.ParseError as exc:
            offset = exc.args[1] if len(exc.args) > 1 and isinstance(exc.args[1], int) else 0
            line = line_of(script.text, offset)
            raise _invalid(f"{script.label}:{line}: {exc.args[0]}") from exc


def order(scripts: Mapping[str, Script]) -> tuple[Script, ...]:
    """Sort so that each script follows what it requires; ties by name. Refuse cycles."""
    for script in scripts.values():
        for required in script.requires:
            if required not in scripts:
                raise _invalid(f"{script.label}: requires {required!r}, which does not exist")
    sorter = TopologicalSorter({name: script.requires for name, script in scripts.items()})
    try:
        sorter.prepare()
    except CycleError as exc:
        raise _invalid(f"scripts require each other: {' -> '.join(exc.args[1])}") from exc
    ordered: list[Script] = []
    ready: set[str] = set()
    while sorter.is_active():
        ready.update(sorter.get_ready())
        name = min(ready)
        ready.remove(name)
        sorter.done(name)
        ordered.append(scripts[name])
    return tuple(ordered)


def parse_requires(text: str) -> tuple[str, ...]:
    """Return the names in the `-- requires:` lines of the leading comment."""
    names: list[str] = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        match = _REQUIRES.fullmatch(line.rstrip())
        if match:
            names.extend(part.strip() for part in match[1].split(",") if part.strip())
    return tuple(names)


def line_of(text: str, offset: int) -> int:
    """Return the 1-based line that holds the character at 0-based `offset`."""
    return text.count("\n", 0, offset) + 1


def _read(root: Path, folder: str) -> Iterator[Script]:
    for name, content in sorted(_contents(root, folder)):
        text = content.decode()
        yield Script(name, f"{folder}/{name}.sql", text, parse_requires(text))


def _contents(root: Path, folder: str) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents. In plain text: as many Path objects take as long as the reading."""
    base = f"{root / folder}/"
    for place, _, files in os.walk(base):
        for file in files:
            path = os.path.join(place, file)  # noqa: PTH118
            if path.endswith(".sql"):
                with open(path, "rb") as opened:  # noqa: PTH123
                    yield path.removeprefix(base).removesuffix(".sql"), opened.read()


def _of_all(checksums: Iterable[tuple[str, str]]) -> str:
    lines = sorted(f"{checksum}  {name}\n" for name, checksum in checksums)
    return _digest("".join(lines).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _check_sequence(migrations: tuple[Script, ...]) -> None:
    for number, script in enumerate(migrations, start=1):
        match = _MIGRATION.fullmatch(script.name)
        if match is None or int(match[1]) != number:
            raise _invalid(f"{script.label}: expected {number:04d}_name.sql, without gaps")


def _invalid(message: str) -> KilolockError:
    return KilolockError("invalid_sql_tree", message)
