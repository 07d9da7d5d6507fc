"""Values of an answer as JSON text, by their type; and a bound on what one row may bring."""

import array
import fcntl
import re
import termios
from collections.abc import Generator
from typing import Any, Final, TypeVar

import msgspec
import psycopg
from psycopg import postgres
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.types.array import register_array

from pyengine.errors import KilolockError

T = TypeVar("T")

_NUMBER: Final = re.compile(rb"-?\d+(\.\d+)?(e[+-]?\d+)?")
_MOMENT: Final = re.compile(r"(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d[.\d]*)([+-]\d\d(:\d\d)?)?")
_NUMBERS: Final = ("int2", "int4", "int8", "oid", "numeric", "float4", "float8")
_WORDS: Final = ("timestamp", "timestamptz")


class _TextLoader(Loader):
    """Any type that JSON has no word for: its text."""

    def load(self, data: Buffer) -> object:
        return bytes(data).decode(errors="replace")


class _NumberLoader(Loader):
    """A number, digit by digit as PostgreSQL wrote it; NaN and Infinity as text."""

    def load(self, data: Buffer) -> object:
        text = bytes(data)
        return msgspec.Raw(text) if _NUMBER.fullmatch(text) else text.decode()


class _BooleanLoader(Loader):
    def load(self, data: Buffer) -> object:
        return bytes(data) == b"t"


class _JsonLoader(Loader):
    """json and jsonb as they are."""

    def load(self, data: Buffer) -> object:
        return msgspec.Raw(bytes(data).strip())


class _MomentLoader(Loader):
    """A timestamp by ISO 8601; what that cannot say (infinity, BC) as PostgreSQL says it."""

    def load(self, data: Buffer) -> object:
        text = bytes(data).decode()
        match = _MOMENT.fullmatch(text)
        if match is None:
            return text
        zone = match[3] or ""
        return f"{match[1]}T{match[2]}{zone}{':00' if len(zone) == 3 else ''}"


def register(adapters: AdaptersMap) -> None:
    """Make a session's answers JSON: every type, arrays of it too."""
    for info in postgres.types:
        loader = _loader_of(info.name)
        adapters.register_loader(info.oid, loader)
        if info.array_oid:
            register_array(info, _Context(adapters))
    adapters.register_loader(0, _TextLoader)


def _loader_of(name: str) -> type[Loader]:
    if name in _NUMBERS:
        return _NumberLoader
    if name in _WORDS:
        return _MomentLoader
    return {"bool": _BooleanLoader, "json": _JsonLoader, "jsonb": _JsonLoader}.get(
        name, _TextLoader
    )


class _Context:
    """What psycopg asks for when it registers an array."""

    connection = None

    def __init__(self, adapters: AdaptersMap) -> None:
        self.adapters = adapters


class RowBudget(psycopg.AsyncConnection[Any]):
    """A session that is dropped when one row goes on beyond `byte_budget` bytes (None: any)."""

    byte_budget: int | None = None

    async def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:  # noqa: ANN401 - passed on
        """Run a step of the protocol, adding up what arrives meanwhile."""
        return await super().wait(self._counted(gen), *args, **kwargs)

    def _counted(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        arrived = 0
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                arrived += _arrived(self.fileno()) if self.byte_budget is not None else 0
                if self.byte_budget is not None and arrived > self.byte_budget:
                    self.pgconn.finish()
                    raise too_wide()
                wanted = gen.send(ready)
        except StopIteration as done:
            result: T = done.value
            return result


def too_wide() -> KilolockError:
    """Return the error for a row that no answer can hold."""
    return KilolockError(
        "query_failed", "one row is larger than an answer may be; select less of it"
    )


def _arrived(descriptor: int) -> int:
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return count[0]
