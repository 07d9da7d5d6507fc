"""Readers are inlined, and cost what they answer, not what the state holds."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests import landscape
from tests.clusters import Cluster, Connection, Database
from tests.importing import put

pytestmark = pytest.mark.thorough

INSTANCES = 20_000
_READING = """
select from pg_stat_activity
where backend_type = 'client backend' and datname = current_database() and pid <> pg_backend_pid()
"""
ADDRESS = 'module.app["r0"].aws_instance.n0[1]'


@pytest.fixture(scope="module")
def large(cluster: Cluster) -> Iterator[Database]:
    """A large state with a short history."""
    with cluster.clone() as database:
        put(database, "large", landscape.document(INSTANCES))
        with database.connect("postgres") as conn:
            landscape.add_versions(conn, "large", 20, 10)
            conn.execute("vacuum analyze")
        yield database


@pytest.fixture
def analyst(large: Database) -> Iterator[Connection]:
    """A session of the query door's login."""
    with large.connect("kl_query") as conn:
        conn.execute("set jit = off")
        yield conn


@dataclass(frozen=True)
class Plan:
    """A plan that was run."""

    nodes: list[dict[str, Any]]

    @property
    def functions(self) -> set[str]:
        """Return the functions that were called instead of inlined."""
        return {node["Function Name"] for node in self.nodes if "Function Name" in node}

    def scans(self, table: str) -> list[dict[str, Any]]:
        """Return the nodes that read a table."""
        return [node for node in self.nodes if node.get("Relation Name") == table]

    @property
    def resources_read(self) -> int:
        """Return how many rows of resources were looked at."""
        return sum(
            (
                node["Actual Rows"]
                + node.get("Rows Removed by Filter", 0)
                + node.get("Rows Removed by Join Filter", 0)
            )
            * node["Actual Loops"]
            for node in self.scans("resources")
        )


def _plan(conn: Connection, statement: str) -> Plan:
    row = conn.execute(f"explain (analyze, format json) {statement}".encode()).fetchone()
    assert row is not None
    (root,) = row[0] if isinstance(row[0], list) else json.loads(row[0], parse_float=str)
    nodes: list[dict[str, Any]] = []
    stack = [root["Plan"]]
    while stack:
        node = stack.pop()
        nodes.append(node)
        stack += node.get("Plans", [])
    return Plan(nodes)


@pytest.mark.parametrize(
    "call",
    [
        "kl.resources_at('large', '@1')",
        f"kl.resource_at('large', '{ADDRESS}', '@1')",
        f"kl.resource_timeline('large', '{ADDRESS}')",
        "kl.diff_versions('large', '@1')",
        "kl.find_resources('aws_vpc')",
        "kl.output_consumers('large')",
        "kl.state_history('large')",
    ],
)
def test_readers_are_inlined(analyst: Connection, call: str) -> None:
    name = call.partition("(")[0].removeprefix("kl.")
    assert name not in _plan(analyst, f"select * from {call}").functions


@pytest.mark.parametrize(
    ("statement", "most"),
    [
        # The hub has 21 contents; old ones are paired with new ones by index.
        ("select * from kl.resource_timeline('large', 'aws_iam_role.hub')", 2000),
        (f"select * from kl.resource_timeline('large', '{ADDRESS}')", 500),
        (f"select * from kl.resource_at('large', '{ADDRESS}', 'v3')", 50),
        # Ten objects change in a version.
        ("select * from kl.diff_versions('large', '@1')", 500),
        ("select * from kl.diff_versions('large', '@1', '@3')", 1000),
        ("select * from kl.output_consumers('large')", 0),
        ("select * from kl.state_history('large') order by version_no desc limit 5", 500),
    ],
)
def test_hot_readers_read_by_index_what_they_answer(
    analyst: Connection, statement: str, most: int
) -> None:
    plan = _plan(analyst, statement)
    assert {node["Node Type"] for node in plan.scans("resources")} <= {
        "Index Scan",
        "Index Only Scan",
        "Bitmap Heap Scan",
    }
    assert plan.resources_read <= most


@pytest.mark.parametrize(
    ("call", "answers", "most"),
    [
        # Two resources of ten instances need the hub, one in a hundred.
        (f"kl.blast_radius('large', '{landscape.HUB}')", 200, 2500),
        (f"kl.dependencies_of('large', '{ADDRESS}')", 3, 500),
        (f"kl.dependency_graph('large', '{landscape.HUB}', true)", 21, 2500),
    ],
)
def test_a_graph_is_walked_by_index(large: Database, call: str, answers: int, most: int) -> None:
    # What doors do inside shows in the counters of the table.
    before = _fetched(large)
    with large.connect("kl_query") as conn:
        assert len(conn.execute(f"select * from {call}".encode()).fetchall()) == answers
    after = _fetched(large)
    assert after[0] == before[0], "no sequential scan of resources"
    assert after[1] - before[1] <= most


@pytest.mark.parametrize(
    ("call", "most"),
    [
        ("kl.fetch_slice('large', %(addresses)s, '{}', 1, null, 'native')", 250),
        ("kl.fetch_slice('large', %(addresses)s, '{}', 1, null, 'terraform-state')", 250),
        ("kl.expand_scope('large', '[]', %(context)s, true)", 500),
    ],
)
def test_what_a_native_writer_asks_is_read_by_index(large: Database, call: str, most: int) -> None:
    addresses = [landscape.address(n + 1, n % landscape.BLOCK) for n in range(100)]
    before = _fetched(large)
    with large.connect("kl_server") as conn:
        context = Jsonb({"explicit_write_candidates": addresses})
        asked = {"addresses": addresses, "context": context}
        assert conn.execute(f"select {call}".encode(), asked).fetchone()
    after = _fetched(large)
    assert after[0] == before[0], "no sequential scan of resources"
    assert len(addresses) <= after[1] - before[1] <= most


@pytest.mark.parametrize(
    ("version", "most"),
    [
        ("current", 110),  # 200 objects are closed
        ("@1", 320),  # ten of them since: found by when they were closed
        ("v1", 520),  # 200 of them since: found by where they are
    ],
)
def test_a_page_of_a_document_reads_what_it_holds(large: Database, version: str, most: int) -> None:
    with large.connect("kl_server") as conn:
        state = conn.execute(
            "select s.state_id, s.version_no from kl.read_state('large', %s) as s", (version,)
        ).fetchone()
        assert state is not None
    before = _fetched(large)
    with large.connect("kl_server") as conn:
        (_page,) = conn.execute(
            "select p.last_path from kl.read_state_page(%s, %s, '', 100) as p", state
        ).fetchall()
    after = _fetched(large)
    assert after[0] == before[0], "no sequential scan of resources"
    assert 100 <= after[1] - before[1] <= most


def _fetched(database: Database) -> tuple[int, int]:
    """Return the sequential scans of resources, and the rows its indexes led to."""
    with database.connect("postgres") as conn:
        # A session hands its counters in when it ends.
        deadline = time.monotonic() + 30
        while conn.execute(_READING).fetchone():
            assert time.monotonic() < deadline, "the session has not ended"
            conn.execute("select pg_stat_clear_snapshot()")
        row = conn.execute(
            "select seq_scan, idx_tup_fetch from pg_stat_user_tables "
            "where schemaname = 'kl_internal' and relname = 'resources'"
        ).fetchone()
        assert row is not None
        return row[0], row[1]


@pytest.fixture(scope="module")
def drifted(cluster: Cluster) -> Iterator[Database]:
    """A large state with a long history of refreshes and applies, and 100 drifted objects."""
    with cluster.clone() as database:
        put(database, "large", landscape.document(INSTANCES))
        with database.connect("postgres") as conn:
            landscape.add_versions(conn, "large", 40, 10)
            conn.execute(
                "update kl_internal.state_versions set source = "
                "case when version_no % 4 = 0 then 'apply' else 'refresh' end "
                "where version_no between 2 and 39"
            )
            landscape.add_versions(conn, "large", 1, 100)
            conn.execute(
                "update kl_internal.state_versions set source = 'refresh' where version_no > 40"
            )
            conn.execute("vacuum analyze")
        yield database


@pytest.mark.parametrize("relation", ["kl.current_resource_drift", "kl.drift_findings"])
def test_drift_is_found_by_index(drifted: Database, relation: str) -> None:
    with drifted.connect("kl_query") as conn:
        conn.execute("set jit = off")
        statement = f"select * from {relation} where state_name = 'large'"
        found = len(conn.execute(statement.encode()).fetchall())
        plan = _plan(conn, statement)
    assert found >= 100
    assert {node["Node Type"] for node in plan.scans("resources")} <= {
        "Index Scan",
        "Index Only Scan",
        "Bitmap Heap Scan",
    }
    assert plan.resources_read <= 50 * found
