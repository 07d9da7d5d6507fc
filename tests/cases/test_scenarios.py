"""What providers answered when other tools broke, played by a stub and refreshed from end to end.

The steps of one case are objects of one state, each of a type of its own, so that one refresh sees
them all: first every step, then those alone that succeed, as a failure keeps all from the commit.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pyengine.refresh.outcome import Result
from tests.documents import Json
from tests.refreshing import PROVIDER, Refreshing

HERE = Path(__file__).parent


def _read(case: str, file: str = "scenario.json") -> Any:  # noqa: ANN401 - any JSON
    [folder] = HERE.glob(f"{case}-*")
    return json.loads((folder / file).read_bytes())


def _type(step: Json) -> str:
    return f"widget_{step['name']}"


def _block(step: Json, prior: Json) -> Json:
    version = step.get("prior_schema_version", prior["schema_version"])
    return {
        "mode": "managed",
        "type": _type(step),
        "name": "x",
        "provider": PROVIDER,
        "instances": [prior | {"schema_version": version}],
    }


def _install(at: Refreshing, scenario: Json) -> None:
    at.provider(
        protocol=scenario["protocol"],
        schemas={_type(step): scenario["schema"] for step in scenario["steps"]},
        # An answer without a value is an answer, too.
        reads_by_type={
            _type(step): {"delay": 0} | step["response"]
            for step in scenario["steps"]
            if "response" in step
        },
    )


def _put(at: Refreshing, scenario: Json, steps: list[Json], serial: int) -> None:
    at.put(*(_block(step, scenario["prior_instance"]) for step in steps), serial=serial)


def _succeeds(case: str, step: Json) -> bool:
    # Stricter than the real tool: nothing at all is no proof that an object is gone.
    stricter = case == "33" and step["name"] == "new_state_field_absent"
    return step["expect"]["outcome"] in ("ok", "gone") and not stricter


CASES = ["31", "32", "33", "34", "36", "42", "47"]


@pytest.mark.parametrize("case", CASES)
def test_refresh_finds_what_was_recorded(at: Refreshing, case: str) -> None:
    scenario = _read(case)
    steps = scenario["steps"]
    good = [step for step in steps if _succeeds(case, step)]
    bad = [step for step in steps if step not in good]
    _install(at, scenario)
    if bad:
        _put(at, scenario, steps, serial=1)
        before = at.document()
        _check_failures(bad, at.refresh())
        assert at.document() == before
        _check_calls(bad, at.calls("UpgradeResourceState", "ReadResource"))
    if good:
        _put(at, scenario, good, serial=2)
        result = at.refresh()
        assert result.failures == []
        _check_rows(at, scenario, good)
        _check_drift(good, at.drift())
        assert at.refresh().changed_addresses == []


def _check_failures(bad: list[Json], result: Result) -> None:
    failures = {failure.address: failure.message for failure in result.failures}
    assert failures.keys() == {f"{_type(step)}.x" for step in bad}
    for step in bad:
        message = failures[f"{_type(step)}.x"]
        assert step["expect"].get("message_mentions", "") in message
        if "deferred" in step.get("response", {}):
            assert "reason 2: PROVIDER_CONFIG_UNKNOWN" in message


def _check_calls(bad: list[Json], calls: list[Json]) -> None:
    for step in bad:
        made = {call["call"] for call in calls if call["type"] == _type(step)}
        assert not made & set(step["expect"].get("no_rpcs", ()))


def _check_rows(at: Refreshing, scenario: Json, good: list[Json]) -> None:
    opened = {
        row["type"]: row
        for row in at.rows(
            "select r.type, r.create_version_no, r.schema_version::int as schema_version"
            " from kl.resources as r where r.state_name = %(name)s"
        )
    }
    newest = max(row["create_version_no"] for row in opened.values()) if opened else 0
    blocks = {block["type"]: block["instances"][0] for block in at.document()["resources"]}
    for step in good:
        expect, kind = step["expect"], _type(step)
        if expect["outcome"] == "gone":
            assert kind not in blocks
            continue
        row = opened[kind]
        if "row_changed" in expect:
            changed = row["create_version_no"] == newest and newest > len(at.versions()) - 1
            assert changed == expect["row_changed"], step["name"]
        assert row["schema_version"] == expect.get("schema_version_after", row["schema_version"])
        prior = scenario["prior_instance"]
        assert blocks[kind]["private"] == prior["private"]
        for name, text in expect.get("attributes", {}).items():
            if text.startswith(("[", "{", '"', "n")) or text[0].isdigit():
                _check_value(blocks[kind]["attributes"][name], text, step["name"])


def _check_value(found: Any, text: str, label: str) -> None:  # noqa: ANN401 - any JSON
    if " in any order" in text:
        assert sorted(found) == json.loads(text.partition(" in any order")[0]), label
    else:
        assert found == json.loads(text, parse_int=str, parse_float=str), label


def _check_drift(good: list[Json], drift: dict[str, list[str]]) -> None:
    expected = {
        f"{_type(step)}.x": ["gone"]
        if step["expect"]["outcome"] == "gone"
        else step["expect"].get("drift", [])
        for step in good
        if "schema_version_after" not in step["expect"]  # an upgrade may spell it anew
    }
    found = {
        address: sorted({re.split(r"[.\[]", path)[0] for path in paths})
        for address, paths in drift.items()
        if address in expected
    }
    assert found == {address: names for address, names in expected.items() if names}


def test_messages_of_many_megabytes_pass(at: Refreshing) -> None:
    limits = {step["name"]: step for step in _read("38")["steps"]}
    schema = {"version": 0, "block": {"attributes": [{"name": "id", "type": "string"}]}}
    large = {"id": "x" * limits["attribute_6MB_read"]["attribute_bytes"]}
    at.provider(
        schema=schema, schema_description_bytes=limits["schema_5MB"]["schema_description_bytes"]
    )
    block = _block({"name": "thing"}, {"schema_version": 0, "attributes": large})
    at.put(block)
    assert (at.refresh().changed_addresses, at.versions()[-1]) == ([], (2, "refresh"))


def test_each_handshake_gives_what_was_recorded(at: Refreshing) -> None:
    lines = [line for line in _read("39", "lines.json") if line["name"] != "silent"]
    # We ask for no client certificate, so a provider without one of its own can be reached.
    ours = {"no_cert_although_client_cert_sent": "ok", "padded_base64_cert": "ok"}
    schema = {"version": 0, "block": {"attributes": [{"name": "id", "type": "string"}]}}
    blocks = []
    for line in lines:
        source = f"registry.terraform.io/acme/{line['name'].replace('_', '-')}"
        protocol = 6 if line["name"] == "protocol_6" else 5
        at.provider(source, schema=schema, handshake=line, protocol=protocol)
        blocks.append(
            _block({"name": "thing"}, {"schema_version": 0, "attributes": {"id": "a"}})
            | {"name": line["name"], "provider": f'provider["{source}"]'}
        )
    at.put(*blocks)
    result = at.refresh(concurrency=4)
    failures = {f.address.removeprefix("widget_thing."): f.message for f in result.failures}
    refused = {line["name"] for line in lines if ours.get(line["name"], line["expect"]) == "error"}
    assert failures.keys() - {"padded_base64_cert"} == refused
    for line in lines:
        message = failures.get(line["name"], "")
        assert line.get("message_quotes", "") in message
        assert all(word in message for word in line.get("message_mentions", ()))
    assert "usage: this is a plugin" in failures["exits_at_once"]
