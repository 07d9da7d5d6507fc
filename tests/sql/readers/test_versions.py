"""kl.state_id, kl.version_no, kl.resources_at, kl.resource_at, kl.state_history, tags."""

import json

import psycopg
import pytest

from tests.clusters import Connection, Database
from tests.sql.readers.conftest import Ask


def test_every_kind_of_reference_means_a_version(ask: Ask, readers_database: Database) -> None:
    with readers_database.connect() as conn:
        conn.execute("select * from kl.set_tag('lived', 'good one', 'v2')")
    (second,) = ask(
        "select version_id::text, created_at::text from kl.state_versions "
        "where state_name = 'lived' and version_no = 2"
    )
    for reference in ("v2", "@2", "2", "good one", second["version_id"], second["created_at"]):
        (row,) = ask("select kl.version_no('lived', %s) as no", reference)
        assert row["no"] == 2, reference
    (row,) = ask("select kl.version_no('lived') as no, kl.version_no('lived', '@0') as zero")
    assert (row["no"], row["zero"]) == (4, 4)


def test_beginning_of_a_version_id_is_enough_unless_it_is_ambiguous(
    readers_database: Database,
) -> None:
    with readers_database.connect("postgres", autocommit=False) as conn:
        ids = [
            version_id
            for (version_id,) in conn.execute(
                "update kl_internal.state_versions as v"
                " set id = ('abcdef12-000' || v.version_no || substr(v.id::text, 14))::uuid"
                " where v.state_id = kl.state_id('lived') and v.version_no <= 2"
                " returning v.id::text"
            )
        ]
        for version_id in ids:
            found = conn.execute("select kl.version_no('lived', %s)", (version_id[:13],)).fetchone()
            assert found == (int(version_id[12]),)
        with pytest.raises(psycopg.Error) as failed:
            conn.execute("select kl.version_no('lived', 'ABCDEF12')")
        assert failed.value.sqlstate == "KL001"
        detail = json.loads(failed.value.diag.message_detail or "{}")
        assert sorted(detail["version_ids"]) == sorted(ids)
        conn.rollback()


def test_a_state_is_found_by_its_canonical_name_too(ask: Ask) -> None:
    rows = ask(
        "select kl.state_id(s.state) = s.state_id as same, "
        "kl.state_id(s.state_name) = s.state_id as bare from kl.states as s"
    )
    assert all(row["same"] and row["bare"] for row in rows)


@pytest.mark.parametrize(
    ("statement", "sqlstate", "detail"),
    [
        ("select kl.state_id('nope')", "KL201", {"state": "nope"}),
        ("select kl.state_id('a//b')", "KL001", {"state": "a//b"}),
        ("select kl.version_no('lived', 'v9')", "KL202", {"state": "lived", "version": "v9"}),
        ("select kl.version_no('lived', '0badf00d-')", "KL202", {"version": "0badf00d-"}),
        ("select kl.version_no('lived', '@4')", "KL202", {"state": "lived", "version": "@4"}),
        (
            "select * from kl.resource_timeline('lived', 'a.b')",
            "KL203",
            {"state": "lived", "address": "a.b"},
        ),
        ("select * from kl.resource_timeline('lived', 'a')", "KL001", {"address": "a"}),
        ("select * from kl.diff_versions('lived', 'x')", "KL202", {"state": "lived"}),
        ("select * from kl.resources_at('lived', 'x')", "KL202", {"state": "lived"}),
        ("select * from kl.output_consumers('x')", "KL201", {"state": "x"}),
        ("select * from kl.state_history('x')", "KL201", {"state": "x"}),
        ("select * from kl.dependency_graph('x')", "KL201", {"state": "x"}),
        ("select * from kl.blast_radius('chain', 'a.b')", "KL203", {"address": "a.b"}),
    ],
)
def test_what_is_not_there_is_named(
    analyst: Connection, statement: str, sqlstate: str, detail: dict[str, str]
) -> None:
    with pytest.raises(psycopg.Error) as failed:
        analyst.execute(statement.encode())
    assert failed.value.sqlstate == sqlstate
    found = json.loads(failed.value.diag.message_detail or "{}")
    assert detail.items() <= found.items()


def test_resources_at_a_version_are_those_alive_then(ask: Ask) -> None:
    counts = [
        ask("select count(*) as n from kl.resources_at('lived', %s)", f"v{no}")[0]["n"]
        for no in (1, 2, 3, 4)
    ]
    assert counts == [2, 2, 1, 2]
    (row,) = ask("select * from kl.resources_at('lived', 'v2') where name = 'a'")
    assert (row["attributes"]["size"], row["create_version_no"]) == (2, 2)
    assert row["attributes"]["login"] == {"user": "u", "password": "(sensitive value)"}


def test_readers_follow_a_lateral_join(ask: Ask) -> None:
    rows = ask(
        "select s.state_name, s.object_count, (select count(*) from kl.resources_at(s.state)) as n "
        "from kl.states as s"
    )
    assert all(row["object_count"] == row["n"] for row in rows)
    rows = ask(
        "select r.address, t.address as found from kl.resources as r "
        "cross join lateral kl.resource_timeline(r.state_name, r.address) as t "
        "where r.state_name in ('chain', '05')"
    )
    assert rows
    assert all(row["address"] == row["found"] for row in rows)
    rows = ask(
        "select s.state_name, d.address from kl.states as s "
        "cross join lateral kl.diff_versions(s.state, '@1') as d "
        "where s.state_name in ('lived', 'secret') order by 1, 2"
    )
    assert [(row["state_name"], row["address"]) for row in rows] == [
        ("lived", "terraform_data.a"),
        ("secret", "terraform_data.a"),
    ]


def test_history_counts_what_each_version_opened_and_closed(ask: Ask) -> None:
    rows = ask("select * from kl.state_history('lived') order by version_no")
    assert [(row["opened"], row["closed"], row["objects"]) for row in rows] == [
        (2, 0, 2),
        (1, 1, 2),
        (0, 1, 1),
        (1, 0, 2),
    ]


def test_tags_are_events_and_move(readers_database: Database) -> None:
    with readers_database.connect() as server:
        server.execute("select * from kl.set_tag('chain', 't', 'v1')")
        row = server.execute("select * from kl.set_tag('chain', 't')").fetchone()
        assert row == (1, 1)
        server.execute("select kl.unset_tag('chain', 't')")
        kinds = server.execute(
            "select kind from kl.events where state_name = 'chain' order by event_id"
        ).fetchall()
        assert [kind for (kind,) in kinds][-3:] == ["tag_set", "tag_set", "tag_unset"]
        with pytest.raises(psycopg.Error) as failed:
            server.execute("select kl.unset_tag('chain', 't')")
        assert failed.value.sqlstate == "KL202"


@pytest.mark.parametrize("call", ["kl.set_tag('chain', 't')", "kl.unset_tag('chain', 't')"])
def test_an_analyst_sets_no_tags(analyst: Connection, call: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        analyst.execute(f"select {call}".encode())


def test_sizes_and_freshness_have_a_row_per_state(ask: Ask) -> None:
    (row,) = ask("select * from kl.state_sizes where state_name = 'lived'")
    assert (row["versions"], row["object_count"], row["row_count"]) == (4, 2, 4)
    assert row["history_row_count"] == 2
    assert row["bytes"] > row["history_bytes"] > 0
    (row,) = ask("select * from kl.freshness where state_name = 'lived'")
    assert row["last_write_source"] == "import"
    assert row["age"] is None


def test_resources_are_found_by_masked_attributes(ask: Ask) -> None:
    found = "select state_name from kl.find_resources('terraform_data', %s) order by 1"
    assert [row["state_name"] for row in ask(found, '{"size": 3}')] == ["lived"]
    assert ask(found, '{"login": {"password": "correct horse"}}') == []
    masked = ask(found, '{"login": {"password": "(sensitive value)"}}')
    assert [row["state_name"] for row in masked] == ["lived", "secret"]


@pytest.mark.parametrize(
    "statement",
    [
        "select * from kl.resources_at('x')",
        "select * from kl.resource_at('x', 'a.b')",
        "select * from kl.resource_timeline('x', 'a.b')",
        "select * from kl.diff_versions('x', '@1')",
        "select * from kl.state_history('x')",
        "select * from kl.output_consumers('x')",
        "select * from kl.blast_radius('x', 'a.b')",
        "select * from kl.dependencies_of('x', 'a.b')",
        "select * from kl.dependency_graph('x')",
    ],
)
def test_an_unknown_state_is_an_error_in_an_empty_database(
    analyst_conn: Connection, statement: str
) -> None:
    with pytest.raises(psycopg.Error) as failed:
        analyst_conn.execute(statement.encode())
    assert failed.value.sqlstate == "KL201"
