"""The state engine: each operation many times; prints p50, p99 and WAL bytes, and saves them.

A row is a call of `measure` with the work of one round; add yours to the table of its own test.
"""

import json
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.output import print_table
from tests import landscape
from tests.clusters import Cluster, Connection, Database, running_cluster
from tests.documents import Json
from tests.importing import put
from tests.sql.commit.committing import commit, delta
from tests.sql.engine import begin

pytestmark = pytest.mark.bench

RESULTS = Path(__file__).parents[2] / "bench-results" / "engine.json"
WANTED = 1_000
HELD = 10_000
ROUNDS = 21
SIZES = tuple(
    int(size) for size in os.environ.get("KL_BENCH_SIZES", "1000,10000,100000").split(",")
)
COMMITS = 400
TURN = 25
WRITERS = 8
# What no delta can do without: the row of an object closed, another opened, a version recorded.
_BARE = """
with closed as (
    update kl_internal.resources as r
    set closed_no = s.current_version_no + 1
    from kl_internal.states as s
    where r.id = %s and s.id = r.state_id
    returning r.*
),
opened as (
    insert into kl_internal.resources (opened_no, {resource})
    select closed_no, {resource} from closed
    returning id
),
recorded as (
    insert into kl_internal.state_versions (version_no, {version})
    select v.version_no + 1, {version}
    from kl_internal.state_versions as v
    where (v.state_id, v.version_no)
        = (select s.id, s.current_version_no from kl_internal.states as s where s.name = 'bare')
)
update kl_internal.states as s
set current_version_no = s.current_version_no + 1
from opened as o
where s.name = 'bare'
returning o.id
"""
BLOCK = 60  # a block of ten instances, after the single resources


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
    """Time rounds of some work in one session; a statement commits itself, as a client's does."""
    times, wal = [], []
    for number in range(rounds):
        before = _wal_position(conn)
        start = time.perf_counter()
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


def _wal_of(database: Database) -> int:
    with database.connect() as conn:
        return _wal_position(conn)


@pytest.fixture(scope="module")
def bench_cluster() -> Iterator[Cluster]:
    """A cluster of its own."""
    with running_cluster("pg18", durable=True) as cluster:
        yield cluster


@pytest.fixture
def bench_database(bench_cluster: Cluster) -> Iterator[Database]:
    """A migrated database of the test's own."""
    with bench_cluster.clone() as database:
        yield database


@pytest.mark.parametrize("size", SIZES)
def test_reservations(bench_database: Database, size: int) -> None:
    """Acquire, renew and release 1,000 scopes beside 10,000 that others hold."""
    _filled(bench_database, size)
    with bench_database.connect() as conn:
        conn.execute("set jit = off")
        for holder in range(HELD // WANTED):
            with conn.transaction():
                begin(conn).acquire(*_addresses(f"held{holder}"), lease="1 day")
        run = begin(conn)

        def _resources(number: int) -> object:
            return run.acquire(*(f"aws_instance.web{number}_{n}" for n in range(WANTED)))

        def _instances(number: int) -> object:
            with conn.transaction():
                run.release()
                return run.acquire(*_addresses(f"mine{number}"))

        def _of(name: str, rounds: int, work: Callable[[int], object]) -> Measured:
            return measure(conn, f"{name}, {size:,}", rounds, work)

        found = [
            _of("acquire 1,000 instances beside 10,000", ROUNDS, _instances),
            _of("renew 1,000 beside 10,000", ROUNDS, lambda _: run.renew()),
        ]
        run.release()
        found.append(_of("acquire 1,000 resources, up to 21,000 own", ROUNDS, _resources))
        found.append(_of("release 21,000", 1, lambda _: run.release()))
        one = begin(conn)
        found.append(_of("acquire one more beside 10,000", 200, lambda n: one.acquire(f"x.y{n}")))
    report(*found)


def test_delta_commit(bench_cluster: Cluster) -> None:
    """Commit one changed object again and again, alone, in turn in states of three sizes."""
    with ExitStack() as stack:
        turns = []
        for size in SIZES:
            database = stack.enter_context(bench_cluster.clone())
            document = _filled(database, size)
            conn = stack.enter_context(database.connect())
            conn.execute("set jit = off")
            turns.append(
                (conn, f"one-resource delta at {size:,}", _committer(conn, document, BLOCK))
            )
        put(database, "bare", landscape.document(SIZES[0]))
        owner = stack.enter_context(database.connect("postgres"))
        turns.append((owner, "its bare statements", _bare(owner)))
        # The machine's pace changes: what is compared is measured side by side.
        rounds = [
            [measure(conn, name, TURN, commit_one) for conn, name, commit_one in turns]
            for _ in range(1 + COMMITS // TURN)
        ]
        report(*map(_joined, zip(*rounds[1:], strict=True)))


def _joined(parts: tuple[Measured, ...]) -> Measured:
    return Measured(
        parts[0].name, [t for p in parts for t in p.milliseconds], [w for p in parts for w in p.wal]
    )


def test_disjoint_writers(bench_database: Database) -> None:
    """Commit from 8 disjoint writers at once, each on the base it began with; against one."""
    document = _filled(bench_database, SIZES[-1])
    commits = COMMITS // WRITERS

    def work(block: int) -> list[float]:
        with bench_database.connect() as conn:
            commit_one = _committer(conn, document, block)
            commit_one(0)
            return [_milliseconds(lambda n=n: commit_one(n)) for n in range(1, commits)]

    rows = []
    for writers in (1, WRITERS):
        before = _wal_of(bench_database)
        start = time.perf_counter()
        with ThreadPoolExecutor(writers) as pool:
            times = list(pool.map(work, range(BLOCK + writers, BLOCK + 2 * writers)))
        seconds = time.perf_counter() - start
        flat = [t for one in times for t in one]
        name = (
            f"one-resource delta, {writers} disjoint writers, {len(flat) / seconds:,.0f} a second"
        )
        wal = (_wal_of(bench_database) - before) // (writers * commits)
        rows.append(Measured(name, flat, [wal]))
    report(*rows)


def _filled(database: Database, size: int) -> Json:
    document = landscape.document(size)
    put(database, "s", document)
    with database.connect("postgres") as owner:
        owner.execute("alter system set full_page_writes = off")
        owner.execute("select pg_reload_conf()")
        owner.execute("vacuum analyze")
        owner.execute("checkpoint")  # what the import wrote is not written beside the commits
    return document


def _committer(conn: Connection, document: Json, block: int) -> Callable[[int], object]:
    """Return what commits the next change of one object of a block, as a run of its own."""
    resource = document["resources"][block]
    [changed] = [i for i in resource["instances"] if i["index_key"] == 1]
    address = f"{resource['module']}.{resource['type']}.{resource['name']}[1]"
    base = 1
    run = begin(conn)
    run.acquire(address, *((needed, "read") for needed in changed["dependencies"]))
    run.lock()

    def commit_one(number: int) -> object:
        nonlocal base
        attributes = changed["attributes"] | {"size": number}
        payload = resource | {"instances": [changed | {"attributes": attributes}]}
        change = delta(payload, write=[address], lineage=document["lineage"])
        base = commit(run, change, base).serial
        return base

    return commit_one


def _bare(owner: Connection) -> Callable[[int], object]:
    """Return what changes a row and records a version by a statement that checks nothing."""
    text = _BARE.format(
        resource=_columns(owner, "resources", "id", "opened_no", "closed_no"),
        version=_columns(owner, "state_versions", "id", "version_no"),
    ).encode()
    row = owner.execute(
        "select r.id from kl_internal.resources as r "
        "inner join kl_internal.states as s on s.id = r.state_id "
        "where s.name = 'bare' and r.closed_no is null limit 1"
    ).fetchone()

    def change_one(_: int) -> object:
        nonlocal row
        row = owner.execute(text, row).fetchone()
        return row

    return change_one


def _columns(owner: Connection, table: str, *but: str) -> str:
    row = owner.execute(
        "select string_agg(quote_ident(a.attname), ', ') from pg_attribute as a "
        "where a.attrelid = ('kl_internal.' || %s)::regclass and a.attnum > 0 "
        "and not a.attisdropped and a.attname <> all (%s)",
        (table, list(but)),
    ).fetchone()
    assert row is not None
    return str(row[0])


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def _addresses(module: str) -> list[str]:
    return [f'module.app["{module}"].aws_instance.web[{n}]' for n in range(WANTED)]


WARM = 10  # rounds that plan what later ones reuse


@pytest.mark.parametrize("size", SIZES)
def test_scopes_and_slices(bench_database: Database, size: int) -> None:
    """Expand scopes of up to 1,000 objects, and fetch slices of 100, out of a large state."""
    put(bench_database, "large", landscape.document(size))
    with bench_database.connect("postgres") as owner:
        owner.execute("vacuum analyze")
    found = []
    with bench_database.connect() as conn:
        conn.execute("set jit = off")
        for name, query, values in _questions(size):

            def ask(_: int, query: str = query, values: tuple[object, ...] = values) -> object:
                return conn.execute(query.encode(), values).fetchone()

            measure(conn, name, WARM, ask)
            found.append(measure(conn, f"{name}, {size:,}", 100, ask))
    report(*found)


def _questions(size: int) -> Iterator[tuple[str, str, tuple[object, ...]]]:
    blocks = (size - 52) // landscape.BLOCK
    hundred = [landscape.address(n % blocks, n % landscape.BLOCK) for n in range(100)]
    new = [f"aws_instance.new{n}" for n in range(100)]
    nodes = [
        {"address": address, "dependencies": ["aws_vpc.main", f"aws_subnet.s{n % 50}"]}
        for n, address in enumerate(new)
    ]
    module = [{"kind": "module_prefix", "value": 'module.app["r1"]'}]
    own = {"module_calls": [{"address": "module.app", "self_contained": True}]}
    one = [{"kind": "resource_address", "value": hundred[1]}]
    expand = "select kl.expand_scope('large', %s::jsonb, %s::jsonb, false)"
    for name, selectors, context in (
        ("expand one instance", one, {}),
        ("expand a module", module, {}),
        ("expand a self-contained module", module, own),
        ("expand 100 addresses", [], {"explicit_write_candidates": hundred}),
        (
            "expand 100 new resources",
            [],
            {"undeployed_config_candidates": new, "config_nodes": nodes},
        ),
    ):
        yield name, expand, (json.dumps(selectors), json.dumps(context))
    slice_ = "select kl.fetch_slice('large', %b, '{}', 1, null, %s)"
    yield "slice of 100", slice_, (hundred, "native")
    yield "slice of 100 as a document", slice_, (hundred, "terraform-state")
