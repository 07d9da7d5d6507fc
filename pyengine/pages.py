"""Answers in pages: some items, and an opaque text that says where the next ones begin."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec

from pyengine.errors import KilolockError

T = TypeVar("T")

PAGE: Final = 1000
LARGEST: Final = 10_000


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some items; `next` is the cursor of the following page, None at the end."""

    items: list[T]
    next: str | None


def page_of(rows: Sequence[T], limit: int, key: Callable[[T], Sequence[Any]]) -> Page[T]:
    """Make a page of `limit` rows, one more of which was read; `key` tells a row's position."""
    items = list(rows[:limit])
    return Page(items, cursor_at(*key(items[-1])) if len(rows) > limit else None)


def cursor_at(*position: object) -> str:
    """Return the cursor of what follows a position."""
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).decode().rstrip("=")


def position_of(cursor: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """Return the position that a cursor holds; None without one. Raises `invalid_request`."""
    if cursor is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        position = msgspec.json.decode(raw, type=list[str | int])
    except (binascii.Error, ValueError, msgspec.DecodeError) as exc:
        raise _not_ours() from exc
    if [type(part) for part in position] != list(kinds):
        raise _not_ours()
    return tuple(position)


def _not_ours() -> KilolockError:
    return KilolockError(
        "invalid_request", "after= is not the `next` of an answer to the same question"
    )


def limit_of(text: str | None) -> int:
    """Return how many items a page may have. Raises `invalid_request`."""
    if text is None:
        return PAGE
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= LARGEST:
        return int(text)
    raise KilolockError("invalid_request", f"limit= is a number from 1 to {LARGEST}")
