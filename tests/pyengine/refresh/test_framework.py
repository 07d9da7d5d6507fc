"""Objects of a provider that somebody else's framework makes, over protocol 6."""

import json
import sys
from typing import Any

from tests.documents import Json
from tests.provider_stub.install import install_program
from tests.refreshing import Refreshing

SOURCE = "registry.terraform.io/acme/box"
PROVIDER = f'provider["{SOURCE}"]'
PIN = 1234567890123456789012
ANY = {"value": [1, "a", None], "type": ["tuple", ["number", "string", "dynamic"]]}


def _attributes(act: str) -> Json:
    return {
        "act": act,
        "any": ANY,
        "id": "b-1",
        "keys": {"k": {"pin": PIN, "text": None}},
        "names": ["b", "a"],
        "on": True,
        "password": "p",
        "port": [{"no": 10}, {"no": 2}],
        "size": 0.1,
        "steps": [3, 1.5, 3],
    }


def _item(act: str, **members: Any) -> Json:  # noqa: ANN401 - any JSON
    sensitive = [
        [
            {"type": "get_attr", "value": "keys"},
            {"type": "index", "value": {"value": "k", "type": "string"}},
            {"type": "get_attr", "value": "pin"},
        ],
        [{"type": "get_attr", "value": "password"}],
    ]
    plain = {"schema_version": 1, "sensitive_attributes": sensitive}
    return {
        "mode": "managed",
        "type": "box_item",
        "name": act,
        "provider": PROVIDER,
        "instances": [{**plain, "attributes": _attributes(act), **members}],
    }


def _place(at: Refreshing, *acts: str) -> None:
    command = [sys.executable, "-m", "tests.provider_stub.framework"]
    install_program(at.mirror, command, source=SOURCE, version=at.version)
    at.put(*map(_item, acts))
    at.configure(PROVIDER, {"shelf": {"env": "SHELF"}})


def test_every_kind_of_value_stays_or_changes_exactly(at: Refreshing) -> None:
    _place(at, "same", "warn", "noise", "big")
    result = at.refresh({"SHELF": "top"})
    assert (result.status, result.changed_addresses) == ("succeeded", ["box_item.big"])
    assert at.drift() == {"box_item.big": ["size"]}
    assert [str(warned.diagnostic) for warned in result.warnings] == ["look out at size: it is old"]
    found = at.instances()
    assert found["big"]["attributes"]["size"] == "123456789012345678901234567890.5"
    stored = json.loads(json.dumps(_attributes("same")), parse_int=str, parse_float=str)
    assert found["same"]["attributes"] == stored


def test_private_data_is_sent_and_what_comes_back_is_kept(at: Refreshing) -> None:
    _place(at, "same")
    at.put(_item("same", private="cHJpdmF0ZQ=="), serial=2)
    assert at.refresh({"SHELF": "top"}).changed_addresses == []
    assert at.instances()["same"]["private"] == "cHJpdmF0ZSs="  # private+
    assert at.drift() == {}


def test_null_is_a_deletion(at: Refreshing) -> None:
    _place(at, "same", "null")
    assert at.refresh({"SHELF": "top"}).changed_addresses == ["box_item.null"]
    assert at.drift() == {"box_item.null": ["gone"]}
    assert at.instances().keys() == {"same"}


def test_what_goes_wrong_with_one_object_is_its_own_failure(at: Refreshing) -> None:
    _place(at, "same", "error", "unknown", "gone")
    result = at.refresh({"SHELF": "top"})
    messages = {failure.address: failure.message for failure in result.failures}
    assert messages.keys() == {"box_item.error", "box_item.unknown", "box_item.gone"}
    assert messages["box_item.error"] == "cannot read at names: no access"
    assert messages["box_item.unknown"].startswith("size: ")
    # This framework forgets to say null; nothing at all is no proof that an object is gone.
    assert "new_state is unset" in messages["box_item.gone"]
    assert at.versions() == [(1, "import")]


def test_crash_is_told_with_what_the_provider_wrote(at: Refreshing) -> None:
    _place(at, "crash", "same")
    result = at.refresh({"SHELF": "top"}, parallelism=1)
    assert [failure.code for failure in result.failures] == ["provider_crashed"] * 2
    [crash] = result.crashes
    assert (crash.address, crash.exit_code) == ("box_item.crash", 4)
    assert "Traceback: the box fell" in crash.output


def test_hang_ends_with_the_time_that_there_is(at: Refreshing) -> None:
    _place(at, "hang")
    assert at.refresh({"SHELF": "top"}, timeout=3).status == "cancelled"


def test_refused_configuration_fails_all_objects(at: Refreshing) -> None:
    _place(at, "same", "warn")
    result = at.refresh({"SHELF": "late"})
    assert {failure.message for failure in result.failures} == {"the shelf fell"}
    assert result.resources_failed == 2


def test_old_objects_are_upgraded_by_the_provider_itself(at: Refreshing) -> None:
    _place(at, "same")
    # Where it upgrades by itself this framework loses dynamic types and digits beyond 64 bits.
    old = _attributes("same") | {"any": None, "keys": None}
    at.put(_item("same", schema_version=0, attributes=old), serial=2)
    at.refresh({"SHELF": "top"})
    found = at.instances()["same"]
    assert found["schema_version"] == "1"
    assert found["attributes"]["act"] == "upgraded from 0"
