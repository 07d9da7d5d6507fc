"""Native commits in SQL: deltas and what they answer."""

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from tests.clusters import Connection
from tests.documents import LINEAGE, Json
from tests.sql.engine import Run, begin
from tests.sql.staging import read, stage


@dataclass(frozen=True)
class Committed:
    """What kl.commit_delta answers."""

    serial: int
    version_id: UUID
    version_no: int


@dataclass
class Delta:
    """A delta in the making; `base` is a serial or a version id."""

    resources: list[Json] = field(default_factory=list)
    write_set: list[str] = field(default_factory=list)
    delete_set: list[str] = field(default_factory=list)
    members: Json = field(default_factory=dict)

    def text(self) -> str:
        """Return the JSON text."""
        return json.dumps(
            {
                "lineage": LINEAGE,
                "write_set": self.write_set,
                "delete_set": self.delete_set,
                "resources": self.resources,
            }
            | self.members,
            separators=(",", ":"),
        )


def delta(*resources: Json, write: list[str] | None = None, **members: Any) -> Delta:  # noqa: ANN401
    """Return a delta that writes these resources; their addresses unless `write` names others."""
    names = [f"{r['type']}.{r['name']}" for r in resources] if write is None else write
    deleted = members.pop("delete", [])
    return Delta(list(resources), names, deleted, members)


def writer(conn: Connection, *globs: str | tuple[str, str], name: str = "s") -> Run:
    """Return a run that has reserved scopes and holds its native lock."""
    run = begin(conn, name)
    run.acquire(*globs)
    run.lock()
    return run


def commit(
    run: Run, change: Delta | str, base: int | UUID = 1, name: str | None = None
) -> Committed:
    """Commit a delta, as text or in the making."""
    row = run.conn.execute(
        "select c.committed_serial, c.new_version_id, c.version_no from kl.commit_delta("
        "p_name => %s, p_apply_id => %s, p_base_serial => %s, p_base_version_id => %s, "
        "p_delta => %s::json) as c",
        (
            name or run.name,
            run.id,
            base if isinstance(base, int) else None,
            base if isinstance(base, UUID) else None,
            change if isinstance(change, str) else change.text(),
        ),
    ).fetchone()
    assert row is not None
    return Committed(int(row[0]), row[1], row[2])


def snapshot(run: Run, document: Json, base: int = 1) -> tuple[Any, ...]:
    """Commit a whole document for a run; return what kl.commit_snapshot answers."""
    upload = stage(run.conn, document)
    row = run.conn.execute(
        "select c.outcome, c.serial::bigint, c.version_id, c.missing from kl.commit_snapshot("
        "p_name => %s, p_apply_id => %s, p_base_serial => %s, p_base_version_id => null, "
        "p_upload_id => %s, p_objects => %s, p_digest => %s) as c",
        (run.name, run.id, base, upload.id, upload.objects, upload.digest),
    ).fetchone()
    assert row is not None
    return row


def document(conn: Connection, name: str = "s", version: str = "current") -> Json:
    """Return a version as GET serves it."""
    found: Json = json.loads(read(conn, name, version))
    return found


def addresses(conn: Connection, name: str = "s") -> list[str]:
    """Return the addresses of the current objects, deposed ones with their key."""
    return [
        row[0]
        for row in conn.execute(
            "select r.address || coalesce(' ' || r.deposed_key, '') from kl.resources as r "
            "where r.state_name = %s order by r.path",
            (name,),
        ).fetchall()
    ]


def serials(conn: Connection, name: str = "s") -> list[Decimal]:
    """Return the serial of every version."""
    return [
        row[0]
        for row in conn.execute(
            "select v.serial from kl.state_versions as v where v.state_name = %s "
            "order by v.version_no",
            (name,),
        ).fetchall()
    ]


def damage(conn: Connection, name: str = "s") -> list[Any]:
    """Return what kl.verify_state finds wrong with a state."""
    found: list[Any] = []
    cursor = None
    while True:
        row = conn.execute(
            "select v.next_cursor, v.damage from kl.verify_state(%s, %s::jsonb, 1000) as v",
            (name, None if cursor is None else json.dumps(cursor)),
        ).fetchone()
        assert row is not None
        cursor = row[0]
        found += row[1] or []
        if cursor is None:
            return found
