"""Coroutines for the readers of schema `kl`, in pages; rules as in pyengine/api.py.

JSON columns come as text and stay raw JSON: no number passes through Python's.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import Struct
from psycopg import AsyncCursor
from psycopg.rows import class_row, kwargs_row

from pyengine.db import Connection
from pyengine.errors import KilolockError
from pyengine.pages import Page, page_of, position_of

T = TypeVar("T")


class Version(Struct, frozen=True):
    """One version of a state and how many rows it opened and closed."""

    version_no: int
    version_id: UUID
    serial: Decimal
    source: str
    operation: str | None
    actor: str | None
    run_id: UUID | None
    terraform_version: str | None
    created_at: datetime
    objects: int
    opened: int
    closed: int
    tags: list[str]


class AttributeChange(Struct, frozen=True):
    """One attribute that differs; a side without the attribute is left out."""

    path: str
    old: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    new: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class ObjectChange(Struct, frozen=True):
    """What became of one object between two versions: added, removed or changed."""

    change: str
    address: str
    deposed_key: str | None
    type: str
    changed_parts: list[str] | None
    changes: list[AttributeChange] | None


class Entry(Struct, frozen=True):
    """One content that an object had."""

    address: str
    deposed_key: str | None
    status: str
    create_version_no: int
    create_serial: Decimal
    created_at: datetime
    source: str
    actor: str | None
    run_id: UUID | None
    delete_version_no: int | None
    deleted_at: datetime | None
    delete_source: str | None
    delete_actor: str | None
    changed_parts: list[str] | None
    changes: list[AttributeChange] | None
    tainted: bool


class ShownObject(Struct, frozen=True):
    """One object as it was at a version."""

    address: str
    deposed_key: str | None
    type: str
    provider: str | None
    tainted: bool
    create_version_no: int
    create_serial: Decimal
    created_at: datetime
    actor: str | None
    attributes: msgspec.Raw


class Node(Struct, frozen=True):
    """One resource of a graph with what it depends on directly."""

    config_address: str
    instances: int
    depends_on: list[str]


class Tag(Struct, frozen=True):
    """A name for a version."""

    tag: str
    version_no: int
    serial: Decimal
    actor: str | None
    created_at: datetime


class Tagged(Struct, frozen=True):
    """What a tag names now and what it named before; None: nothing."""

    version_no: int | None
    previous_version_no: int | None


async def state_history(
    conn: Connection, state: str, after: str | None, limit: int
) -> Page[Version]:
    """Return versions, newest first."""
    (before,) = position_of(after, int) or (None,)
    async with conn.cursor(row_factory=class_row(Version)) as cursor:
        await cursor.execute(
            "select version_no, version_id, serial, source, operation, actor, run_id, "
            "terraform_version, created_at, objects, opened, closed, tags "
            "from kl.state_history(p_state => %(state)s) "
            "where %(before)s::bigint is null or version_no < %(before)s "
            "order by version_no desc limit %(limit)s",
            {"state": state, "before": before, "limit": limit + 1},
        )
        rows = await cursor.fetchall()
    return page_of(rows, limit, lambda row: (row.version_no,))


async def diff_versions(
    conn: Connection, state: str, from_: str, to: str, after: str | None, limit: int
) -> Page[ObjectChange]:
    """Return what differs between two versions, in document order."""
    (path,) = position_of(after, str) or ("",)
    async with conn.cursor(row_factory=kwargs_row(_with_changes)) as cursor:
        await cursor.execute(
            "select path, change, address, deposed_key, type, changed_parts, "
            "changes::text as changes "
            "from kl.diff_versions(p_state => %(state)s, p_from => %(from)s, p_to => %(to)s) "
            'where path > %(path)s collate "C" order by path collate "C" limit %(limit)s',
            {"state": state, "from": from_, "to": to, "path": path, "limit": limit + 1},
        )
        rows = await cursor.fetchall()
    page = page_of(rows, limit, lambda row: (row["path"],))
    return Page([ObjectChange(**_without_path(row)) for row in page.items], page.next)


async def resource_timeline(
    conn: Connection, state: str, address: str, after: str | None, limit: int
) -> Page[Entry]:
    """Return every content of the objects at an address: object by object, newest first."""
    path, before = position_of(after, str, int) or ("", 0)
    async with conn.cursor(row_factory=kwargs_row(_with_changes)) as cursor:
        await cursor.execute(
            "select path, address, deposed_key, status, create_version_no, create_serial, "
            "created_at, source, actor, run_id, delete_version_no, deleted_at, delete_source, "
            "delete_actor, changed_parts, changes::text as changes, tainted "
            "from kl.resource_timeline(p_state => %(state)s, p_address => %(address)s) "
            'where path > %(path)s collate "C" '
            "or (path = %(path)s and create_version_no < %(before)s) "
            'order by path collate "C", create_version_no desc limit %(limit)s',
            {
                "state": state,
                "address": address,
                "path": path,
                "before": before,
                "limit": limit + 1,
            },
        )
        rows = await cursor.fetchall()
    page = page_of(rows, limit, lambda row: (row["path"], row["create_version_no"]))
    return Page([Entry(**_without_path(row)) for row in page.items], page.next)


async def resource_at(
    conn: Connection, state: str, address: str, version: str
) -> list[ShownObject]:
    """Return the objects at an address as they were at a version; raise when there were none."""
    async with conn.cursor(row_factory=kwargs_row(_shown_object)) as cursor:
        await cursor.execute(
            "select address, deposed_key, type, provider, tainted, create_version_no, "
            "create_serial, created_at, create_actor as actor, attributes::text as attributes "
            "from kl.resource_at(p_state => %(state)s, p_address => %(address)s, "
            "p_version => %(version)s) "
            'order by path collate "C"',
            {"state": state, "address": address, "version": version},
        )
        objects = await cursor.fetchall()
    if not objects:
        raise KilolockError(
            "address_not_found",
            f"state {state} had no {address} at version {version}; see `kl resource history`",
            {"state": state, "address": address, "version": version},
        )
    return objects


async def dependency_graph(
    conn: Connection,
    state: str,
    address: str | None,
    after: str | None,
    limit: int,
    *,
    dependents: bool,
) -> Page[Node]:
    """Return resources and what each depends on directly, by configuration address."""
    (node,) = position_of(after, str) or ("",)
    async with conn.cursor(row_factory=class_row(Node)) as cursor:
        await cursor.execute(
            "select config_address, instances, depends_on "
            "from kl.dependency_graph(p_state => %(state)s, p_address => %(address)s, "
            "p_dependents => %(dependents)s) "
            'where config_address > %(node)s collate "C" '
            'order by config_address collate "C" limit %(limit)s',
            {
                "state": state,
                "address": address,
                "dependents": dependents,
                "node": node,
                "limit": limit + 1,
            },
        )
        rows = await cursor.fetchall()
    return page_of(rows, limit, lambda row: (row.config_address,))


async def version_tags(conn: Connection, state: str) -> list[Tag]:
    """Return the tags of a state by name."""
    async with conn.cursor(row_factory=class_row(Tag)) as cursor:
        await cursor.execute(
            "select tag, version_no, serial, actor, created_at from kl.version_tags "
            "where state_id = (select kl.state_id(p_state => %(state)s)) "
            'order by tag collate "C"',
            {"state": state},
        )
        return await cursor.fetchall()


async def set_tag(conn: Connection, state: str, tag: str, version: str) -> Tagged:
    """Let a tag name a version, whatever it named before."""
    async with conn.cursor(row_factory=class_row(Tagged)) as cursor:
        await cursor.execute(
            "select version_no, previous_version_no from kl.set_tag(p_state => %(state)s, "
            "p_tag => %(tag)s, p_version => %(version)s)",
            {"state": state, "tag": tag, "version": version},
        )
        return await _one(cursor)


async def unset_tag(conn: Connection, state: str, tag: str) -> Tagged:
    """Remove a tag."""
    async with conn.cursor(row_factory=class_row(Tagged)) as cursor:
        await cursor.execute(
            "select null::bigint as version_no, "
            "kl.unset_tag(p_state => %(state)s, p_tag => %(tag)s) as previous_version_no",
            {"state": state, "tag": tag},
        )
        return await _one(cursor)


async def _one(cursor: AsyncCursor[T]) -> T:
    row = await cursor.fetchone()
    assert row is not None, "the function always returns a row"
    return row


def _with_changes(changes: str | None, **columns: Any) -> dict[str, Any]:  # noqa: ANN401 - columns
    decoded = None if changes is None else msgspec.json.decode(changes, type=list[AttributeChange])
    return columns | {"changes": decoded}


def _without_path(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "path"}


def _shown_object(attributes: str, **columns: Any) -> ShownObject:  # noqa: ANN401 - columns
    return ShownObject(attributes=msgspec.Raw(attributes.encode()), **columns)
