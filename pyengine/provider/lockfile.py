"""Read `.terraform.lock.hcl`: the few forms of HCL that Terraform writes there, and comments."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from pyengine.provider.errors import ProviderError

LOCK_FILE: Final = ".terraform.lock.hcl"
_LEXEME: Final = (  # compiled where a file is read: most commands have none
    r'(?P<space>\s+|#[^\n]*|//[^\n]*|/\*.*?\*/)|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<name>[A-Za-z_][\w-]*)|(?P<mark>[{}\[\]=,])"
)


class LockedProvider(Struct, frozen=True):
    """The one version to use, and the hashes of which any one must match (none: no check)."""

    version: str
    hashes: tuple[str, ...]


def read_lock_file(path: Path) -> dict[str, LockedProvider]:
    """Return what a lock file says by `HOST/NAMESPACE/TYPE`; nothing where there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        raise ProviderError("invalid_configuration", f"{path.name} cannot be read") from exc
    return parse_lock_file(text)


def parse_lock_file(text: str) -> dict[str, LockedProvider]:
    """Parse the text of a lock file; blocks other than `provider` are skipped."""
    tokens = list(_tokens(text))
    found: dict[str, LockedProvider] = {}
    position = 0
    while position < len(tokens):
        if tokens[position : position + 1] != ["provider"]:
            position = _after_block(tokens, position)
            continue
        label, position = _expect(tokens, position + 1, "string"), position + 2
        end = _after_block(tokens, position)
        found[label] = _provider(tokens[position + 1 : end - 1], label)
        position = end
    return found


def _provider(tokens: list[str], label: str) -> LockedProvider:
    version = ""
    hashes: list[str] = []
    position = 0
    while position < len(tokens):
        name = tokens[position]
        if tokens[position + 1 : position + 2] != ["="]:
            raise _refusal(f"provider {label}: {name!r} is not followed by =")
        position += 2
        values, position = _values(tokens, position)
        if name == "version" and len(values) == 1:
            version = values[0]
        elif name == "hashes":
            hashes = values
    if not version:
        raise _refusal(f"provider {label} has no version")
    return LockedProvider(version, tuple(hashes))


def _values(tokens: list[str], position: int) -> tuple[list[str], int]:
    if tokens[position : position + 1] != ["["]:
        return [_expect(tokens, position, "string")], position + 1
    values: list[str] = []
    position += 1
    while tokens[position : position + 1] != ["]"]:
        values.append(_expect(tokens, position, "string"))
        position += 1
        if tokens[position : position + 1] == [","]:
            position += 1
    return values, position + 1


def _after_block(tokens: list[str], position: int) -> int:
    while tokens[position : position + 1] not in ([], ["{"]):
        position += 1
    depth = 0
    for index in range(position, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[index], 0)
        if depth == 0:
            return index + 1
    raise _refusal("a block is not closed")


def _expect(tokens: list[str], position: int, kind: str) -> str:
    token = tokens[position] if position < len(tokens) else ""
    if not token.startswith('"'):
        raise _refusal(f"a {kind} is required where {token or 'the end'!r} stands")
    try:
        return msgspec.json.decode(token, type=str)
    except msgspec.DecodeError as exc:
        raise _refusal(f"the string {token} cannot be read") from exc


def _tokens(text: str) -> Iterator[str]:
    token = re.compile(_LEXEME, re.DOTALL)
    position = 0
    while position < len(text):
        match = token.match(text, position)
        if match is None:
            line = text.count("\n", 0, position) + 1
            raise _refusal(f"line {line} cannot be read")
        if match.lastgroup != "space":
            yield match[0]
        position = match.end()


def _refusal(message: str) -> ProviderError:
    return ProviderError("invalid_configuration", f"{LOCK_FILE}: {message}")
