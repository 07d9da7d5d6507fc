"""A refresh from the stored state to the version that it becomes."""

from tests.refreshing import Refreshing, thing, widget


def test_what_is_as_it_was_becomes_a_version_without_a_change(at: Refreshing) -> None:
    at.provider()
    at.put(widget("a"), widget("b"))
    before = at.document()
    result = at.refresh()
    assert (result.status, result.resources_checked, result.changed_addresses) == (
        "succeeded",
        2,
        [],
    )
    assert (result.from_version_no, result.to_version_no, result.to_serial) == (1, 2, 2)
    assert at.versions() == [(1, "import"), (2, "refresh")]
    assert at.document() == before | {"serial": "2"}
    assert at.drift() == {}


def test_change_and_loss_become_drift(at: Refreshing) -> None:
    at.provider(
        reads_by_id={
            "b": {"new_state_json": thing("b", size=2, tags=["x"])},
            "c": {"new_state_json": None},
        }
    )
    at.put(widget("a"), widget("b"), widget("c"))
    result = at.refresh()
    assert result.changed_addresses == ["widget_thing.b", "widget_thing.c"]
    assert at.drift() == {"widget_thing.b": ["size", "tags[0]"], "widget_thing.c": ["gone"]}
    assert at.instances().keys() == {"a", "b"}
