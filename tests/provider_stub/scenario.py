"""What a scenario may hold (JSON object); everything is optional.

protocol: 5 (default) or 6. resource_type: "widget_thing". schema: {"version", "block"} of it;
schemas: {type: schema} of others; provider_schema. schema_description_bytes: pads the answer.
identity_schemas: {type: {"version", "attributes": [{"name", "type"}]}}; without it the call is
unknown. reads: answers to ReadResource, in order, the last one again and again; without it what
was sent comes back. reads_by_id: {id attribute: answer} and reads_by_type: {resource type: answer}
go before. upgrades: the same for UpgradeResourceState; without it the stored JSON comes back as
such. configure, validate, schema_answer: answers with diagnostics. crash_on_read: exits with status
3 on its nth read, after `panic` on stderr; later reads get no answer. crash_on: names of calls that
end so, too; hang_on: of calls that never end. noise_bytes: written to stderr at every call. log: a
file that gets one JSON line a call. handshake: see `lines` in __main__. tls: true.

An answer: new_state_msgpack_hex | new_state_json (upgraded_state_* too), private_b64, diagnostics
[{severity, summary, detail, attribute: [name or number]}], deferred {reason}, identity_msgpack_hex,
sensitive_paths [[step]], delay (seconds).
"""

import base64
import json
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any


class Scenario:
    """A scenario being played; counts calls."""

    def __init__(self, data: dict[str, Any], messages: ModuleType) -> None:
        self.data = data
        self.messages = messages
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}

    def count(self, call: str, entry: dict[str, Any]) -> int:
        """Note a call; return how often it has been made."""
        with self._lock:
            self._counts[call] = self._counts.get(call, 0) + 1
            log = self.data.get("log")
            if log:
                with Path(log).open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"call": call, **entry}) + "\n")
            return self._counts[call]

    def nth(self, name: str, number: int) -> dict[str, Any] | None:
        """Return the answer for the nth call, if the scenario has any."""
        answers = self.data.get(name)
        return answers[min(number, len(answers)) - 1] if answers else None

    def fill(self, response: Any, answer: dict[str, Any], field: str) -> Any:
        """Put an answer into a response whose value is `field`."""
        time.sleep(answer.get("delay", 0))
        if f"{field}_msgpack_hex" in answer:
            getattr(response, field).msgpack = bytes.fromhex(answer[f"{field}_msgpack_hex"])
        if f"{field}_json" in answer:
            getattr(response, field).json = json.dumps(answer[f"{field}_json"]).encode()
        if "private_b64" in answer:
            response.private = base64.b64decode(answer["private_b64"])
        if "deferred" in answer:
            response.deferred.reason = answer["deferred"]["reason"]
        if "identity_msgpack_hex" in answer:
            response.new_identity.identity_data.msgpack = bytes.fromhex(
                answer["identity_msgpack_hex"]
            )
        for path in answer.get("sensitive_paths", ()):
            response.sensitive_paths.append(self._path(path).SerializeToString())
        self.diagnose(response, answer)
        return response

    def diagnose(self, response: Any, answer: dict[str, Any]) -> Any:
        """Put the diagnostics of an answer into a response."""
        for item in answer.get("diagnostics", ()):
            diagnostic = response.diagnostics.add()
            diagnostic.severity = {"INVALID": 0, "ERROR": 1, "WARNING": 2}[item["severity"]]
            diagnostic.summary = item.get("summary", "")
            diagnostic.detail = item.get("detail", "")
            diagnostic.attribute.CopyFrom(self._path(item.get("attribute", ())))
        return response

    def _path(self, steps: Any) -> Any:
        path = self.messages.AttributePath()
        for step in steps:
            added = path.steps.add()
            if isinstance(step, int):
                added.element_key_int = step
            elif isinstance(step, dict):
                added.element_key_string = step["key"]
            else:
                added.attribute_name = step
        return path

    def schema(self, form: dict[str, Any]) -> Any:
        """Return a schema in the cached JSON form as a message."""
        message = self.messages.Schema(version=form.get("version", 0))
        message.block.SetInParent()  # terraform crashes on a schema without a block
        self._block(message.block, form.get("block", {}))
        return message

    def _block(self, message: Any, form: dict[str, Any]) -> None:
        for attribute in form.get("attributes", ()):
            self._attribute(message.attributes.add(), attribute)
        for nested in form.get("block_types", ()):
            added = message.block_types.add(
                type_name=nested["type_name"],
                nesting=nested["nesting"],
                min_items=nested.get("min_items", 0),
                max_items=nested.get("max_items", 0),
            )
            added.block.SetInParent()
            self._block(added.block, nested["block"])

    def _attribute(self, message: Any, form: dict[str, Any]) -> None:
        for name in ("name", "required", "optional", "computed", "sensitive", "write_only"):
            if name in form:
                setattr(message, name, form[name])
        if "nested_type" in form:
            message.nested_type.nesting = form["nested_type"]["nesting"]
            for attribute in form["nested_type"]["attributes"]:
                self._attribute(message.nested_type.attributes.add(), attribute)
        else:
            message.type = json.dumps(form["type"]).encode()
