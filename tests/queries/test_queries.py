"""Each example query, as an analyst, against states with a known answer."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg.rows import dict_row

from tests.clusters import Cluster, Database
from tests.queries import estate

QUERIES = Path(__file__).parents[2] / "sql" / "queries"
FILES = sorted(QUERIES.glob("*.sql"))

Row = dict[str, Any]
Ask = Callable[[str], list[Row]]


@pytest.fixture(scope="module")
def estate_database(cluster: Cluster) -> Iterator[Database]:
    """The states of the estate, there for every test of this module."""
    with cluster.clone() as database:
        estate.build(database)
        yield database


@pytest.fixture
def ask(estate_database: Database) -> Ask:
    """Run a query by name as the login of the query door."""

    def ask(name: str) -> list[Row]:
        with estate_database.connect("kl_query") as conn, conn.cursor(row_factory=dict_row) as rows:
            rows.execute((QUERIES / f"{name}.sql").read_bytes())
            return rows.fetchall()

    return ask


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_query_opens_with_its_question(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("-- ")
    assert lines[0].endswith("?")
    assert lines[1].startswith("-- "), "say what the columns mean"


def test_every_query_has_a_known_answer() -> None:
    tested = {name for name in globals() if name.startswith("test_answer_")}
    assert tested == {f"test_answer_{path.stem}" for path in FILES}
    assert len(FILES) >= 15


def test_answer_inventory_by_type_and_module(ask: Ask) -> None:
    rows = ask("inventory_by_type_and_module")
    found = {(row["type"], row["module"]): row["instances"] for row in rows}
    assert found["aws_subnet", "module.net"] == 3
    assert found["aws_s3_bucket", ""] == 3
    assert found["aws_instance", ""] == 1
    assert rows[0]["states"] in (1, 2)


def test_answer_unencrypted_buckets(ask: Ask) -> None:
    rows = ask("unencrypted_buckets")
    assert [(row["state_name"], row["bucket"]) for row in rows] == [
        ("app", "plain"),
        ("legacy", "plain"),
    ]


def test_answer_public_ingress(ask: Ask) -> None:
    assert [(row["address"], row["from_port"]) for row in ask("public_ingress")] == [
        ("aws_security_group.ssh", "22"),
        ("aws_vpc_security_group_ingress_rule.web", "443"),
    ]


def test_answer_untagged_resources(ask: Ask) -> None:
    assert [row["address"] for row in ask("untagged_resources")] == [
        "aws_s3_bucket.plain",
        "aws_s3_bucket.safe",
        "module.net.aws_vpc.main",
    ]


def test_answer_providers_in_use(ask: Ask) -> None:
    rows = {row["provider"]: row for row in ask("providers_in_use")}
    aws = rows["registry.terraform.io/hashicorp/aws"]
    assert (aws["states"], aws["terraform_versions"]) == (3, ["1.11.4", "1.8.5"])
    assert rows["terraform.io/builtin/terraform"]["objects"] == 1


def test_answer_largest_resources(ask: Ask) -> None:
    first = ask("largest_resources")[0]
    assert (first["state_name"], first["address"]) == ("app", "aws_instance.web")
    assert first["bytes"] > 500


def test_answer_states_by_writer(ask: Ask) -> None:
    rows = {row["terraform_version"]: row for row in ask("states_by_writer")}
    assert (rows["1.11.4"]["states"], rows["1.11.4"]["writes"]) == (2, 4)
    assert rows["1.8.5"]["actor"] == "ann"


def test_answer_orphaned_data_sources(ask: Ask) -> None:
    assert [row["address"] for row in ask("orphaned_data_sources")] == ["data.aws_ami.unused"]


def test_answer_duplicated_arns(ask: Ask) -> None:
    (row,) = ask("duplicated_arns")
    assert row["arn"] == "arn:aws:s3:::plain"
    assert row["places"] == ["app: aws_s3_bucket.plain", "legacy: aws_s3_bucket.copy"]


def test_answer_recent_writes(ask: Ask) -> None:
    rows = {(row["state_name"], row["version_no"]): row for row in ask("recent_writes")}
    assert len(rows) == 5
    grown = rows["network", 2]
    assert (grown["opened"], grown["closed"]) == (3, 2)
    assert rows["app", 2]["source"] == "refresh"


def test_answer_stale_locks(ask: Ask) -> None:
    (row,) = ask("stale_locks")
    assert (row["state_name"], row["who"]) == ("legacy", "eve@laptop")
    assert row["age"].total_seconds() > 3 * 3600 - 60


def test_answer_dependency_hubs(ask: Ask) -> None:
    first = ask("dependency_hubs")[0]
    assert (first["depends_on"], first["dependents"]) == ("module.net.aws_vpc.main", 3)


def test_answer_tainted_and_deposed(ask: Ask) -> None:
    assert [(row["address"], row["problem"]) for row in ask("tainted_and_deposed")] == [
        ("aws_instance.web", "deposed 0badcafe"),
        ("aws_instance.web", "tainted"),
    ]


def test_answer_changed_between(ask: Ask) -> None:
    rows = ask("changed_between")
    network = [(row["change"], row["address"]) for row in rows if row["state_name"] == "network"]
    assert network == [
        ("changed", "module.net.aws_subnet.this[0]"),
        ("changed", "module.net.aws_subnet.this[1]"),
        ("added", "module.net.aws_subnet.this[2]"),
    ]
    (drifted,) = [row for row in rows if row["state_name"] == "app"]
    assert drifted["changes"] == [{"path": "size", "old": 1, "new": 2}]


def test_answer_drift_by_state(ask: Ask) -> None:
    (row,) = ask("drift_by_state")
    assert (row["state_name"], row["changed"], row["deleted"]) == ("app", 1, 0)


def test_answer_remote_state_consumers(ask: Ask) -> None:
    (row,) = ask("remote_state_consumers")
    assert (row["reads_state"], row["is_known"], row["reader"]) == ("network", True, "app")


def test_answer_stale_states(ask: Ask) -> None:
    assert [row["state_name"] for row in ask("stale_states")] == ["legacy", "network"]


def test_answer_busiest_resources(ask: Ask) -> None:
    first, *_ = ask("busiest_resources")
    assert first["contents"] == 2


def test_answer_blast_radius_of_hubs(ask: Ask) -> None:
    assert [(row["address"], row["depth"]) for row in ask("blast_radius_of_hubs")] == [
        (f"module.net.aws_subnet.this[{key}]", 1) for key in range(3)
    ]
