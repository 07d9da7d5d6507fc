"""kl.diff_versions and kl.resource_timeline."""

from tests.sql.readers.conftest import Ask

DIFF = "select * from kl.diff_versions('lived', %s, %s) order by path collate \"C\""
TIMELINE = 'select * from kl.resource_timeline(%s, %s) order by path collate "C", create_version_no'


def test_a_change_names_the_paths_that_differ(ask: Ask) -> None:
    (row,) = ask(DIFF, "v1", "v2")
    assert (row["change"], row["address"]) == ("changed", "terraform_data.a")
    assert row["changed_parts"] == ["attributes"]
    assert row["changes"] == [
        {"path": 'list[1]["x y"]', "old": 1, "new": 2},
        {"path": "size", "old": 1, "new": 2},
    ]


def test_added_and_removed_are_told_apart(ask: Ask) -> None:
    def told(from_: str, to: str) -> list[tuple[str, str]]:
        return [(row["change"], row["address"]) for row in ask(DIFF, from_, to)]

    assert told("v2", "v3") == [("removed", "terraform_data.a")]
    assert told("v3", "v4") == [("added", "terraform_data.a")]
    assert told("v4", "v3") == [("removed", "terraform_data.a")]
    assert told("v3", "v3") == []
    assert told("v1", "v4") == [("changed", "terraform_data.a")]


def test_a_diff_backwards_swaps_the_sides(ask: Ask) -> None:
    (row,) = ask(DIFF, "v2", "v1")
    assert row["changes"][1] == {"path": "size", "old": 2, "new": 1}


def test_a_changed_secret_is_named_and_masked(ask: Ask) -> None:
    (row,) = ask("select * from kl.diff_versions('secret', '@1')")
    masked = "(sensitive value)"
    assert row["changes"] == [{"path": "login.password", "old": masked, "new": masked}]


def test_no_reader_shows_a_secret(ask: Ask) -> None:
    for statement in (
        "select * from kl.diff_versions('secret', '@1')",
        "select * from kl.diff_versions('lived', 'v1')",
        "select * from kl.resource_timeline('lived', 'terraform_data.a')",
        "select * from kl.resources_at('secret', 'v1')",
        "select * from kl.resource_at('secret', 'terraform_data.a', 'v1')",
        "select * from kl.resource_changes",
        "select * from kl.resource_history",
        "select * from kl.find_resources('terraform_data')",
    ):
        shown = str(ask(statement))
        assert shown
        assert "hunter2" not in shown, statement
        assert "correct horse" not in shown, statement


def test_a_timeline_tells_what_became_of_each_content(ask: Ask) -> None:
    rows = ask(TIMELINE, "lived", "terraform_data.a")
    assert [(row["create_version_no"], row["status"]) for row in rows] == [
        (1, "superseded"),
        (2, "removed"),
        (4, "restored"),
    ]
    assert [row["delete_version_no"] for row in rows] == [2, 3, None]
    assert [change["path"] for change in rows[1]["changes"]] == ['list[1]["x y"]', "size"]
    assert rows[0]["changes"] is None
    assert rows[2]["changes"] is None
    assert ask(TIMELINE, "lived", "terraform_data.other")[0]["status"] == "current"


def test_deposed_objects_have_timelines_of_their_own(ask: Ask) -> None:
    rows = ask(TIMELINE, "08", "widget_thing.both")
    assert [row["deposed_key"] for row in rows] == [None, "00000001", "00000002"]
    assert {row["status"] for row in rows} == {"current"}


def test_an_address_without_a_key_means_all_its_instances(ask: Ask) -> None:
    assert len(ask(TIMELINE, "05", "terraform_data.k")) == 20


def test_long_keys_are_not_mixed_up(ask: Ask) -> None:
    rows = ask("select address from kl.resources where state_name = '07'")
    assert len(rows) == 3
    for row in rows:
        (found,) = ask(TIMELINE, "07", row["address"])
        assert found["address"] == row["address"]
