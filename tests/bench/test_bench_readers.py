"""Readers at three sizes, with 200 versions: prints a table and saves it as JSON."""

import json
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.output import print_table
from tests import landscape
from tests.clusters import Cluster, Connection, running_cluster
from tests.importing import put

pytestmark = pytest.mark.bench

SIZES = tuple(
    int(size) for size in os.environ.get("KL_BENCH_SIZES", "1000,10000,100000").split(",")
)
RESULTS = Path(__file__).parents[2] / "bench-results" / "readers.json"
VERSIONS = 200
ROUNDS = 7
INSTANCE = 'module.app["r0"].aws_instance.n0[1]'
READERS = {
    "diff of neighbours, 20 changes": "diff_versions('{state}', '@1')",
    "diff over 100 versions": "diff_versions('{state}', '@100')",
    "timeline of 200 contents": f"resource_timeline('{{state}}', '{landscape.HUB}')",
    "timeline of one instance": f"resource_timeline('{{state}}', '{INSTANCE}')",
    "one object 100 versions ago": f"resource_at('{{state}}', '{INSTANCE}', '@100')",
    "blast radius, 1 % of the state": f"blast_radius('{{state}}', '{landscape.HUB}')",
    "blast radius, all of the state": "blast_radius('{state}', 'aws_vpc.main')",
    "dependencies of an instance": f"dependencies_of('{{state}}', '{INSTANCE}')",
    "graph of the state": "dependency_graph('{state}')",
    "last 50 versions": "state_history('{state}') order by version_no desc limit 50",
    "all objects 100 versions ago": "resources_at('{state}', '@100')",
    "find one resource": "find_resources('aws_vpc')",
    "find among a fifth": "find_resources('aws_instance', '{{\"size\": 1}}')",
    "consumers of outputs": "output_consumers('{state}')",
    "size": "state_sizes where state_name = '{state}'",
    "freshness": "freshness",
}


@pytest.fixture(scope="module")
def bench_cluster() -> Iterator[Cluster]:
    """A cluster of its own."""
    with running_cluster("pg18", durable=True) as cluster:
        yield cluster


def test_readers(bench_cluster: Cluster) -> None:
    """Measure each reader, the slowest sizes last."""
    measured: dict[str, dict[int, float]] = {name: {} for name in READERS}
    for size in SIZES:
        state = f"state{size}"
        with bench_cluster.clone() as database:
            put(database, state, landscape.document(size))
            with database.connect("postgres") as owner:
                landscape.add_versions(owner, state, VERSIONS - 1, 20)
                owner.execute("vacuum analyze")
            with database.connect("kl_query") as conn:
                conn.execute("set jit = off")
                conn.execute("set statement_timeout = '5min'")
                for name, call in READERS.items():
                    measured[name][size] = _median(conn, f"select * from kl.{call}", state)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"milliseconds": measured}, indent=2) + "\n")
    rows = [(name, *(f"{times[size]:.1f}" for size in SIZES)) for name, times in measured.items()]
    print_table(("milliseconds, median", *(f"{size:,}" for size in SIZES)), rows)


def _median(conn: Connection, statement: str, state: str) -> float:
    """Return milliseconds; every answer is read to its end."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        conn.execute(statement.format(state=state).encode()).fetchall()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times[1:])
