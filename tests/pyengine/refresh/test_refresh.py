"""A refresh from the stored state to the version that it becomes."""

import json
from typing import Any

import pytest

from pyengine.errors import KilolockError
from tests.documents import ENCRYPTED, instance, resource
from tests.importing import put
from tests.refreshing import PROVIDER, SCHEMA, SOURCE, Refreshing, error, thing, widget

SECRET = [{"type": "get_attr", "value": "secret"}]
GONE = {"new_state_json": None}


def test_what_is_as_it_was_becomes_a_version_without_a_change(at: Refreshing) -> None:
    at.provider()
    at.put(widget("a"), widget("b"))
    before = at.document()
    result = at.refresh()
    assert (result.status, result.resources_checked) == ("succeeded", 2)
    assert (result.changed_addresses, result.resources_changed) == ([], 0)
    assert (result.from_version_no, result.to_version_no, result.to_serial) == (1, 2, 2)
    assert at.versions() == [(1, "import"), (2, "refresh")]
    assert at.document() == before | {"serial": "2"}
    assert at.drift() == {}
    run = at.last_run()
    assert (run["status"], run["actor"], run["to_version_no"]) == ("succeeded", "ann@ci", 2)
    assert (run["resources_checked"], run["resources_changed"], run["resources_failed"]) == (
        2,
        0,
        0,
    )


def test_change_and_loss_become_drift(at: Refreshing) -> None:
    at.provider(
        reads_by_id={
            "b": {"new_state_json": thing("b", size=2, tags=["x"])},
            "c": GONE | {"diagnostics": [{"severity": "WARNING", "summary": "it is no more"}]},
        }
    )
    at.put(widget("a"), widget("b"), widget("c"))
    result = at.refresh()
    assert result.changed_addresses == ["widget_thing.b", "widget_thing.c"]
    assert at.drift() == {"widget_thing.b": ["size", "tags[0]"], "widget_thing.c": ["gone"]}
    assert at.instances().keys() == {"a", "b"}
    assert at.instances()["b"]["attributes"]["tags"] == ["x"]
    [warned] = result.warnings
    assert (warned.address, str(warned.diagnostic)) == ("widget_thing.c", "it is no more")


def test_a_second_refresh_finds_nothing_and_drift_stays_until_an_apply(at: Refreshing) -> None:
    at.provider(reads_by_id={"a": {"new_state_json": thing("a", size=2)}})
    at.put(widget("a"))
    at.refresh()
    assert at.refresh().changed_addresses == []
    assert at.drift() == {"widget_thing.a": ["size"]}
    at.put(widget("a"), serial=9, source="apply")
    assert at.drift() == {}


def test_schema_is_asked_for_once(at: Refreshing) -> None:
    identity = {"version": 0, "attributes": [{"name": "arn", "type": "string"}]}
    at.provider(identity_schemas={"widget_thing": identity})
    at.put(widget("a", alias="x"), widget("b", provider=f"{PROVIDER}.west"))
    at.refresh()
    assert len(at.calls("GetProviderSchema")) == 1
    at.refresh()
    calls = at.calls()
    assert {call["call"] for call in calls} == {"Configure", "UpgradeResourceState", "ReadResource"}
    assert len(calls) == 6


def test_data_sources_and_the_builtin_provider_are_not_asked(at: Refreshing) -> None:
    at.provider()
    at.put(widget("a"), widget("d", mode="data"), resource("kept"))
    result = at.refresh()
    assert (result.resources_checked, result.resources_skipped) == (1, 1)
    assert result.status == "succeeded"
    assert len(at.calls("ReadResource")) == 1
    assert at.instances().keys() == {"a", "d", "kept"}


def test_a_state_of_builtin_objects_alone_needs_no_provider(at: Refreshing) -> None:
    at.put(resource("kept"))
    assert at.refresh().to_version_no == 2


def test_deposed_objects_are_read_and_told_apart(at: Refreshing) -> None:
    at.provider(reads_by_id={"old": GONE})
    members: dict[str, Any] = {"schema_version": 1, "sensitive_attributes": [SECRET]}
    at.put(
        widget(
            "a",
            instance(thing("new"), **members),
            instance(thing("old"), deposed="00c0ffee", **members),
        )
    )
    assert at.refresh().changed_addresses == ["widget_thing.a (deposed object 00c0ffee)"]
    assert [i["attributes"]["id"] for i in at.document()["resources"][0]["instances"]] == ["new"]


def test_private_data_goes_there_and_back(at: Refreshing) -> None:
    state = {"new_state_json": thing("a")}
    at.provider(reads=[state | {"private_b64": "bmV3"}])
    plain = {"schema_version": 1, "sensitive_attributes": [SECRET]}
    at.put(widget("a", instance(thing("a"), private="b2xk", **plain)))
    assert at.refresh().changed_addresses == []
    assert at.instances()["a"]["private"] == "bmV3"
    at.provider(reads=[state])
    at.refresh()
    assert "private" not in at.instances()["a"]
    sent = [bytes.fromhex(call["private"]) for call in at.calls("ReadResource")]
    assert sent == [b"old", b"new"]


def test_identity_goes_there_and_back(at: Refreshing) -> None:
    identity = {"version": 2, "attributes": [{"name": "arn", "type": "string"}]}
    at.provider(
        identity_schemas={"widget_thing": identity},
        reads_by_id={
            "b": {"new_state_json": thing("b"), "identity_msgpack_hex": "81a361726ea3617c62"},
            "c": {"new_state_json": thing("c")},
        },
    )
    plain = {"schema_version": 1, "sensitive_attributes": [SECRET]}
    old = {"identity": {"arn": "x"}, "identity_schema_version": 1}
    at.put(
        widget("a", instance(thing("a"), **plain, **old)),
        widget("b", instance(thing("b"), **plain)),
        widget("c", instance(thing("c"), **plain, **old | {"identity_schema_version": 2})),
    )
    assert at.refresh().changed_addresses == []
    assert at.drift() == {}
    found = at.instances()
    assert (found["a"]["identity"], found["a"]["identity_schema_version"]) == ({"arn": "x"}, "2")
    assert (found["b"]["identity"], found["b"]["identity_schema_version"]) == ({"arn": "a|b"}, "2")
    assert not found["c"].keys() & {"identity", "identity_schema_version"}
    calls = at.calls()
    assert [c["version"] for c in calls if c["call"] == "UpgradeResourceIdentity"] == [1]
    sent = {bytes.fromhex(c["identity"]) for c in calls if c["call"] == "ReadResource"}
    assert sent == {b"", b"\x81\xa3arn\xa1x"}


def test_sensitive_paths_are_those_stored_those_of_the_schema_and_those_sent(
    at: Refreshing,
) -> None:
    at.provider(reads=[{"new_state_json": thing("a", secret="s"), "sensitive_paths": [["size"]]}])
    stored = [[{"type": "get_attr", "value": "id"}]]
    at.put(widget("a", instance(thing("a"), schema_version=1, sensitive_attributes=stored)))
    assert at.refresh().changed_addresses == ["widget_thing.a"]
    paths = [path[-1]["value"] for path in at.instances()["a"]["sensitive_attributes"]]
    assert paths == ["id", "secret", "size"]


def test_each_configuration_has_a_process_and_its_own_arguments(at: Refreshing) -> None:
    arguments = [
        {"name": "region", "type": "string", "required": True},
        {"name": "token", "type": "string", "optional": True, "sensitive": True},
    ]
    at.provider(provider_schema={"version": 0, "block": {"attributes": arguments}})
    nested = f"module.net.{PROVIDER}.west"
    at.put(
        widget("a"),
        widget("b", provider=f"{PROVIDER}.west"),
        widget("c", module="module.net", provider=nested),
    )
    at.configure(PROVIDER, {"region": "eu"})
    at.configure(nested, {"region": {"env": "REGION"}, "token": {"env": "TOKEN"}})
    result = at.refresh({"REGION": "us", "TOKEN": "t0p"})
    assert [failure.address for failure in result.failures] == ["widget_thing.b"]
    assert f"the configuration of {PROVIDER}.west" in result.failures[0].message
    assert "region: a value is required" in result.failures[0].message
    sent = {bytes.fromhex(call["config"]) for call in at.calls("Configure")}
    assert sent == {b"\x82\xa6region\xa2eu\xa5token\xc0", b"\x82\xa6region\xa2us\xa5token\xa3t0p"}
    at.configure(f"{PROVIDER}.west", {"region": "ap"})
    missing = at.refresh({"TOKEN": "t0p"})
    assert [failure.address for failure in missing.failures] == ["module.net.widget_thing.c"]
    assert "the environment variable REGION is not set" in missing.failures[0].message
    assert "t0p" not in str(missing)


def test_each_instance_of_a_keyed_provider_has_its_own_arguments(at: Refreshing) -> None:
    """OpenTofu's `for_each` in a provider block: the state names the instance at each object."""
    region = {"name": "region", "type": "string", "required": True}
    at.provider(provider_schema={"version": 0, "block": {"attributes": [region]}})
    names = {"a": "eu", "b": "us", "c": 'q"]uote\\'}
    keyed = {name: f"{PROVIDER}.by[{json.dumps(key)}]" for name, key in names.items()}
    blocks = [widget(name) for name in keyed]
    for block in blocks:
        del block["provider"]
        block["instances"][0]["provider"] = keyed[block["name"]]
    at.put(widget("plain"), *blocks)
    at.configure(PROVIDER, {"region": "r"})
    at.configure(keyed["a"], {"region": "eu-1"})
    at.configure(keyed["c"], {"region": "q-1"})
    result = at.refresh()
    assert [failure.address for failure in result.failures] == ["widget_thing.b"]
    assert f"the configuration of {keyed['b']} does not fit" in result.failures[0].message
    assert "see `kl provider configure`" in result.failures[0].message
    assert result.resources_checked == 4
    assert len(at.calls("ReadResource")) == 3

    at.configure(keyed["b"], {"region": "us-1"})
    assert at.refresh().status == "succeeded"
    sent = {bytes.fromhex(call["config"])[8:] for call in at.calls("Configure")}
    assert sent == {b"\xa1r", b"\xa4eu-1", b"\xa4us-1", b"\xa3q-1"}
    assert {n: i["provider"] for n, i in at.instances().items() if n in keyed} == keyed


def test_bounds_of_one_read_one_provider_after_the_other_object_by_object(at: Refreshing) -> None:
    other = "registry.terraform.io/acme/other"
    slow = {name: {"new_state_json": thing(name), "delay": 0.2} for name in "abc"}
    at.provider(reads_by_id=slow)
    at.provider(other, schemas={"other_thing": SCHEMA}, reads_by_id=slow)
    at.put(
        *(widget(name) for name in "abc"),
        *(widget(name, type="other_thing", provider=f'provider["{other}"]') for name in "abc"),
    )
    assert at.refresh(concurrency=1, parallelism=1).resources_checked == 6
    calls = at.calls("Configure", "UpgradeResourceState", "ReadResource")
    one = ["Configure", *["UpgradeResourceState", "ReadResource"] * 3]
    assert [call["call"] for call in calls] == one * 2
    assert [call["type"] for call in calls if "type" in call] == (
        ["other_thing"] * 6 + ["widget_thing"] * 6
    )


def test_missing_and_unreadable_providers_fail_their_own_objects(at: Refreshing) -> None:
    at.provider()
    at.provider("acme/broken", configure=error("no credentials"))
    at.put(
        widget("a"),
        widget("lost", provider='provider["registry.terraform.io/acme/nowhere"]'),
        widget("old", provider="provider.widget"),
        widget("refused", provider='provider["registry.terraform.io/acme/broken"]'),
        widget("other", type="widget_other"),
    )
    result = at.refresh()
    failed = {failure.address: failure for failure in result.failures}
    assert {address: failure.code for address, failure in failed.items()} == {
        "widget_thing.lost": "provider_not_found",
        "widget_thing.old": "invalid_request",
        "widget_thing.refused": "provider_failed",
        "widget_other.other": "provider_unsupported",
    }
    broken = 'provider["registry.terraform.io/acme/broken"]'
    assert failed["widget_thing.refused"].message == (
        f"no credentials (no configuration is stored for {broken}; see `kl provider configure`)"
    )
    assert failed["widget_thing.refused"].diagnostics[0].severity == "error"
    assert (result.status, result.resources_checked, result.to_version_no) == ("failed", 5, None)
    assert at.versions() == [(1, "import")]
    run = at.last_run()
    assert (run["status"], run["resources_checked"], run["resources_failed"]) == ("failed", 5, 4)
    assert run["error_summary"].startswith("4 objects failed; the first: ")

    at.configure(broken, {})
    messages = {failure.address: failure.message for failure in at.refresh().failures}
    assert messages["widget_thing.refused"] == "no credentials"


def test_stored_text_is_upgraded_always(at: Refreshing) -> None:
    at.provider(
        reads_by_id={"late": {"new_state_json": thing("late")}},
    )
    odd = thing("a") | {"size": 1.50, "removed": {"x": 1}}
    plain = {"sensitive_attributes": [SECRET]}
    at.put(
        widget("a", instance(odd, schema_version=1, **plain)),
        widget("b", instance(thing("b"), schema_version=1, **plain)),
        widget("c", instance(thing("c"), schema_version=0, **plain)),
        widget("newer", instance(thing("newer"), schema_version=4, **plain)),
    )
    result = at.refresh()
    assert [failure.address for failure in result.failures] == ["widget_thing.newer"]
    assert "schema version is 4" in result.failures[0].message
    assert f"{SOURCE} {at.version} is 1" in result.failures[0].message
    sent = {json.loads(c["json"])["id"]: c for c in at.calls("UpgradeResourceState")}
    assert sent.keys() == {"a", "b", "c"}
    assert [sent[name]["version"] for name in "abc"] == [1, 1, 0]
    assert json.loads(sent["a"]["json"]) == thing("a") | {"size": 1.5}
    assert json.loads(sent["b"]["json"], parse_float=str) == thing("b")


def test_upgrade_by_the_provider_is_stored_with_its_version(at: Refreshing) -> None:
    at.provider(upgrades=[{"upgraded_state_json": thing("a", size=5)}])
    at.put(widget("a", instance(thing("a"), sensitive_attributes=[SECRET])))
    at.refresh()
    found = at.instances()["a"]
    assert (found["schema_version"], found["attributes"]["size"]) == ("1", "5")
    rows = at.rows("select d.drift_kind from kl.current_resource_drift as d"
                   " where d.state_name = %(name)s")  # fmt: skip
    assert [row["drift_kind"] for row in rows] == ["upgraded"]


def test_flat_attributes_become_attributes(at: Refreshing) -> None:
    at.provider(upgrades=[{"upgraded_state_json": thing("a")}])
    flat = {"schema_version": 0, "attributes_flat": {"id": "a", "tags.#": "1"}}
    at.put(widget("a", flat | {"sensitive_attributes": []}))
    at.refresh()
    [call] = at.calls("UpgradeResourceState")
    assert (call["flat"], call["json"]) == ({"id": "a", "tags.#": "1"}, "")
    found = at.instances()["a"]
    assert found["attributes"]["tags"] == ["a"]
    assert "attributes_flat" not in found


def test_dry_run_tells_and_writes_nothing(at: Refreshing) -> None:
    at.provider(reads_by_id={"a": GONE})
    at.put(widget("a"), widget("b"))
    result = at.refresh(dry_run=True)
    assert (result.status, result.to_version_no) == ("succeeded", None)
    assert result.changed_addresses == ["widget_thing.a"]
    assert at.versions() == [(1, "import")]
    run = at.last_run()
    assert (run["status"], run["to_version_no"], run["resources_checked"]) == ("succeeded", None, 2)


def test_fail_fast_stops_at_the_first_failure(at: Refreshing) -> None:
    at.provider(reads=[error("no access", detail="403", attribute=["size"])])
    at.put(*(widget(f"w{n:02}") for n in range(20)))
    result = at.refresh(fail_fast=True, parallelism=1)
    assert [failure.address for failure in result.failures] == ["widget_thing.w00"]
    assert result.failures[0].message == "no access at size: 403"
    assert (result.status, at.last_run()["status"]) == ("failed", "failed")
    calls = at.calls("ReadResource", "Stop")
    assert [call["call"] for call in calls] == ["ReadResource", "Stop"]


def test_many_objects_come_in_pages_and_go_in_batches(at: Refreshing) -> None:
    at.provider(reads_by_id={"w123": GONE})
    at.put(*(widget(f"w{n:03}") for n in range(230)))
    result = at.refresh()
    assert (result.resources_checked, result.changed_addresses) == (230, ["widget_thing.w123"])
    assert len(at.calls("ReadResource")) == 230
    assert len(at.instances()) == 229


def test_a_state_that_its_client_encrypts_cannot_be_refreshed(at: Refreshing) -> None:
    with pytest.raises(KilolockError) as unknown:
        at.refresh()
    assert unknown.value.code == "state_not_found"
    put(at.database, at.name, json.loads(ENCRYPTED))
    with pytest.raises(KilolockError) as sealed:
        at.refresh()
    assert sealed.value.code == "unsupported_capability"
