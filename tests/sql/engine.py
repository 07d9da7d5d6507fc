"""Native writers in SQL: begin a run, reserve, lock, and what comes after."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from tests.clusters import Connection
from tests.documents import Json

Want = tuple[str, str]


@dataclass(frozen=True)
class Run:
    """An apply run of a state, in the session that acts for it."""

    conn: Connection
    name: str
    id: UUID

    def acquire(
        self,
        *globs: str | Want,
        lease: str = "15 minutes",
        unkeyed: Iterable[str] = (),
        holder: str | None = "ann@kl",
    ) -> list[Json]:
        """Reserve scopes, for writing unless they say otherwise."""
        want = [(g, "write") if isinstance(g, str) else g for g in globs]
        return rows(
            self.conn,
            "select * from kl.acquire_reservations(p_name => %s, p_apply_id => %s, "
            "p_holder => %s, p_lease => %s::interval, p_want => %s::jsonb, "
            "p_unkeyed_modules => %s)",
            self.name,
            self.id,
            holder,
            lease,
            json.dumps([{"address_glob": glob, "mode": mode} for glob, mode in want]),
            list(unkeyed),
        )

    def renew(self, lease: str = "15 minutes") -> list[Json]:
        """Renew the live leases."""
        return rows(
            self.conn, "select * from kl.renew_reservations(%s, %s::interval)", self.id, lease
        )

    def release(self) -> int:
        """Free what is reserved; return how much that was."""
        return int(value(self.conn, "select kl.release_reservations(%s)", self.id))

    def lock(self, *summary: str, holder: str | None = "ann@kl") -> str:
        """Take the native lock; return its ID."""
        return str(
            value(
                self.conn,
                "select kl.acquire_native_lock(%s, %s, %s, %s)",
                self.name,
                self.id,
                holder,
                list(summary),
            )
        )

    def unlock(self) -> str | None:
        """Release the native lock; return the ID that was freed."""
        found: str | None = value(
            self.conn, "select kl.release_native_lock(%s, %s, null)", self.name, self.id
        )
        return found

    def finish(self, status: str = "committed", serial: int | None = None) -> Json:
        """Finish the run."""
        return rows(
            self.conn,
            "select * from kl.finish_apply_run(%s, %s, %s, 3, 2, null)",
            self.id,
            status,
            serial,
        )[0]

    def abort(self, reason: str | None = "stopped") -> Json:
        """Abort the run."""
        return rows(self.conn, "select * from kl.abort_apply_run(%s, %s)", self.id, reason)[0]

    def status(self) -> Json:
        """Return how the run stands."""
        return rows(self.conn, "select * from kl.apply_run_status(%s)", self.id)[0]

    def held(self) -> list[tuple[str, str]]:
        """Return its live reservations: glob and mode."""
        return self.conn.execute(
            "select r.address_glob, r.mode from kl.resource_reservations as r "
            "where r.apply_id = %s order by r.address_glob, r.mode",
            (self.id,),
        ).fetchall()


def begin(
    conn: Connection, name: str = "s", actor: str | None = "ann@kl", serial: int | None = None
) -> Run:
    """Begin an apply run."""
    query = "select a.id from kl.begin_apply_run(%s, %s, %s, %s::jsonb) as a"
    return Run(conn, name, value(conn, query, name, actor, serial, "{}"))


def at(conn: Connection, moment: str) -> None:
    """Let the database's clock show an interval after the start of the transaction."""
    conn.execute("select kl_test.set_clock(now() + %s::interval)", (moment,))


def rows(conn: Connection, query: str, *values: Any) -> list[Json]:  # noqa: ANN401 - parameters
    """Return what a query answers, by column."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query.encode(), values).fetchall()


def value(conn: Connection, query: str, *values: Any) -> Any:  # noqa: ANN401 - one value
    """Return the one value of the one row that a query answers with."""
    row = conn.execute(query.encode(), values).fetchone()
    assert row is not None
    return row[0]
