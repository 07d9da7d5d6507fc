"""A refresh in SQL, in the transaction of the caller: what the provider says is made up."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from psycopg.rows import namedtuple_row

from tests.clusters import Connection
from tests.documents import Json

GONE: Final = "gone"
_STAGE: Final = (
    "copy kl_internal.staged_reads (refresh_run_id, resource_id, outcome, schema_version, "
    "attributes, prior, sensitive_attributes, private, identity, identity_schema_version, error) "
    "from stdin"
)


class Stored(NamedTuple):
    """An object as kl.refresh_page gives it."""

    resource_id: int
    path: str
    address: str
    type: str
    deposed: str
    schema_version: int
    attributes: str | None
    attributes_flat: str | None
    sensitive_attributes: str | None
    private: str | None
    identity: str | None
    identity_schema_version: int | None


class Committed(NamedTuple):
    """What kl.commit_refresh answers."""

    version_no: int
    serial: int
    resources_checked: int
    resources_changed: int
    resources_superseded: int
    changed_addresses: list[str]


class Previewed(NamedTuple):
    """What kl.preview_refresh answers."""

    resources_checked: int
    resources_failed: int
    resources_superseded: int
    resources_missing: int
    changed_addresses: list[str]


@dataclass
class Run:
    """A refresh run."""

    conn: Connection
    id: uuid.UUID
    state_id: uuid.UUID
    version_no: int

    def groups(self) -> list[tuple[Any, ...]]:
        """Return the providers it needs."""
        return self.conn.execute(
            "select provider, types, object_count, config from kl.refresh_groups(%s)", (self.id,)
        ).fetchall()

    def page(self, provider: str, after: str = "", limit: int | None = 2) -> list[Stored]:
        """Return the next objects of a provider."""
        with self.conn.cursor(row_factory=namedtuple_row) as cursor:
            rows = cursor.execute(
                f"select {', '.join(Stored._fields)} from kl.refresh_page(%s, %s, %s, %s)".encode(),
                (self.id, provider, after, limit),
            ).fetchall()
        return [Stored(*row) for row in rows]

    def objects(self) -> Iterator[Stored]:
        """Return every object, in pages."""
        for provider, *_ in self.groups():
            after = ""
            while page := self.page(provider, after):
                yield from page
                after = page[-1].path

    def stage(self, *rows: tuple[Any, ...]) -> None:
        """Stage reads as they are given: the columns after refresh_run_id."""
        with self.conn.cursor().copy(_STAGE) as copy:
            for row in rows:
                copy.write_row((self.id, *row))

    def read(self, **changes: Json | str) -> None:
        """Stage a read of every object: as it is stored, but for `changes` by resource name.

        A change is GONE, or columns of staged_reads; `attributes` may be a value or JSON text.
        """
        objects = list(self.objects())
        names = {
            o.resource_id: o.address.split(f"{o.type}.")[-1].partition("[")[0] for o in objects
        }
        assert changes.keys() <= set(names.values()), names
        self.stage(*(_read(o, changes.get(names[o.resource_id], {})) for o in objects))

    def fail(self, stored: Stored, error: str = "no route to host") -> None:
        """Stage a failed read of one object."""
        self.stage((stored.resource_id, "failed", *[None] * 7, error))

    def preview(self) -> Previewed:
        """Return what a commit would change."""
        return Previewed(*self._one("preview_refresh", Previewed._fields))

    def commit(self) -> Committed:
        """Commit what was staged."""
        return Committed(*self._one("commit_refresh", Committed._fields))

    def finish(
        self, status: str | None, checked: int = 0, failed: int = 0, summary: str | None = None
    ) -> None:
        """End the run without a version."""
        self.conn.execute(
            "select kl.finish_refresh(%s, %s, %s, %s, %s)",
            (self.id, status, checked, failed, summary),
        )

    def audit(self) -> tuple[Any, ...]:
        """Return the run's audit row: status, from, to, checked, changed, failed, superseded."""
        row = self.conn.execute(
            "select status, from_version_no, to_version_no, resources_checked, resources_changed, "
            "resources_failed, resources_superseded from kl.refresh_runs "
            "where refresh_run_id = %s",
            (self.id,),
        ).fetchone()
        assert row is not None
        return row

    def _one(self, function: str, columns: tuple[str, ...]) -> tuple[Any, ...]:
        row = self.conn.execute(
            f"select {', '.join(columns)} from kl.{function}(%s)".encode(), (self.id,)
        ).fetchone()
        assert row is not None
        return row


def begin(conn: Connection, state: str = "s") -> Run:
    """Begin a refresh."""
    row = conn.execute(
        "select refresh_run_id, state_id, version_no from kl.begin_refresh(%s)", (state,)
    ).fetchone()
    assert row is not None
    return Run(conn, *row)


def refresh(conn: Connection, state: str = "s", **changes: Json | str) -> Committed:
    """Refresh a state: what is stored, but for changes by resource name."""
    run = begin(conn, state)
    run.read(**changes)
    return run.commit()


def _read(stored: Stored, change: Json | str) -> tuple[Any, ...]:
    if isinstance(change, str):
        assert change == GONE
        return (stored.resource_id, GONE, *[None] * 8)
    row = {
        "schema_version": stored.schema_version,
        "attributes": stored.attributes or "{}",
        "prior": stored.attributes or "{}",
        "sensitive_attributes": stored.sensitive_attributes,
        "private": stored.private,
        "identity": stored.identity,
        "identity_schema_version": stored.identity_schema_version,
        "error": None,
    }
    assert change.keys() <= row.keys()
    row |= change
    for name in ("attributes", "prior", "sensitive_attributes", "identity"):
        row[name] = _encoded(row[name])
    return (stored.resource_id, "read", *row.values())


def _encoded(value: Any) -> bytes | None:  # noqa: ANN401 - any JSON, or its text
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode()
