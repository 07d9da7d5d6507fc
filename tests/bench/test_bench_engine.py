"""The state engine: each operation many times; prints p50, p99 and WAL bytes, and saves them.

A row is a call of `measure` with the work of one round; add yours to the table of its own test.
"""

import json
import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.output import print_table
from tests.clusters import Cluster, Connection, Database, running_cluster
from tests.documents import resource, state
from tests.sql.engine import begin
from tests.sql.staging import write

pytestmark = pytest.mark.bench

RESULTS = Path(__file__).parents[2] / "bench-results" / "engine.json"
WANTED = 1_000
HELD = 10_000
ROUNDS = 21


@dataclass(frozen=True)
class Measured:
    """What rounds of one operation cost: milliseconds, and bytes of WAL."""

    name: str
    milliseconds: list[float]
    wal: list[int]

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Return the line of the table."""
        times = sorted(self.milliseconds)
        p99 = times[min(math.ceil(len(times) * 0.99), len(times)) - 1]
        return (
            self.name,
            f"{statistics.median(times):.1f}",
            f"{p99:.1f}",
            f"{statistics.median(self.wal):,.0f}",
        )


def measure(conn: Connection, name: str, rounds: int, work: Callable[[int], object]) -> Measured:
    """Time rounds of some work in one session; each is one transaction."""
    times, wal = [], []
    for number in range(rounds):
        before = _wal_position(conn)
        start = time.perf_counter()
        with conn.transaction():
            work(number)
        times.append((time.perf_counter() - start) * 1000)
        wal.append(_wal_position(conn) - before)
    return Measured(name, times, wal)


def report(*measured: Measured) -> None:
    """Print the table and keep it beside what was measured before."""
    RESULTS.parent.mkdir(exist_ok=True)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept |= {m.name: {"milliseconds": m.milliseconds, "wal_bytes": m.wal} for m in measured}
    RESULTS.write_text(json.dumps(kept, indent=2) + "\n")
    print_table(("operation", "p50 ms", "p99 ms", "WAL p50"), [m.row for m in measured])


def _wal_position(conn: Connection) -> int:
    row = conn.execute("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')").fetchone()
    assert row is not None
    return int(row[0])


@pytest.fixture(scope="module")
def bench_cluster() -> Iterator[Cluster]:
    """A cluster of its own."""
    with running_cluster("pg18") as cluster:
        yield cluster


@pytest.fixture
def bench_database(bench_cluster: Cluster) -> Iterator[Database]:
    """A migrated database of the test's own."""
    with bench_cluster.clone() as database:
        yield database


def test_reservations(bench_database: Database) -> None:
    """Acquire, renew and release 1,000 scopes beside 10,000 that others hold."""
    with bench_database.connect() as conn:
        conn.execute("set jit = off")
        write(conn, "s", state(1, resource()))
        for holder in range(HELD // WANTED):
            with conn.transaction():
                begin(conn).acquire(*_addresses(f"held{holder}"), lease="1 day")
        run = begin(conn)

        def _resources(number: int) -> object:
            return run.acquire(*(f"aws_instance.web{number}_{n}" for n in range(WANTED)))

        def _instances(number: int) -> object:
            run.release()
            return run.acquire(*_addresses(f"mine{number}"))

        found = [
            measure(conn, "acquire 1,000 instances beside 10,000", ROUNDS, _instances),
            measure(conn, "renew 1,000 beside 10,000", ROUNDS, lambda _: run.renew()),
        ]
        run.release()
        found.append(measure(conn, "acquire 1,000 resources, up to 21,000 own", ROUNDS, _resources))
        found.append(measure(conn, "release 21,000", 1, lambda _: run.release()))
        one = begin(conn)
        found.append(
            measure(conn, "acquire one more beside 10,000", 200, lambda n: one.acquire(f"x.y{n}"))
        )
    report(*found)


def _addresses(module: str) -> list[str]:
    return [f'module.app["{module}"].aws_instance.web[{n}]' for n in range(WANTED)]
