"""What a provider says besides its answer, and the paths it names."""

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct


class PathStep(Struct, frozen=True):
    """One step of an AttributePath; `attr` steps are names, `key` steps text, `index` numbers."""

    kind: Literal["attr", "key", "index"]
    value: str | int


AttributePath = tuple[PathStep, ...]


class Diagnostic(Struct, frozen=True):
    """An error or a warning, with the attribute it is about."""

    severity: Literal["error", "warning"]
    summary: str
    detail: str
    attribute: AttributePath

    def __str__(self) -> str:
        place = f" at {path_text(self.attribute)}" if self.attribute else ""
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.summary}{place}{detail}"


def read_path(message: Any) -> AttributePath:
    """Return the steps of an AttributePath message; a step without selector ends the path."""
    steps: list[PathStep] = []
    for step in message.steps:
        match step.WhichOneof("selector"):
            case "attribute_name":
                steps.append(PathStep("attr", step.attribute_name))
            case "element_key_string":
                steps.append(PathStep("key", step.element_key_string))
            case "element_key_int":
                steps.append(PathStep("index", step.element_key_int))
            case _:
                break
    return tuple(steps)


def read_diagnostics(messages: Iterable[Any]) -> tuple[Diagnostic, ...]:
    """Return diagnostics; one whose severity is unset or unknown is an error."""
    return tuple(
        Diagnostic(
            "warning" if message.severity == message.WARNING else "error",
            message.summary or "the provider gave no summary",
            message.detail,
            read_path(message.attribute),
        )
        for message in messages
    )


def errors(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return those that are errors."""
    return tuple(item for item in diagnostics if item.severity == "error")


def warnings(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return those that are not."""
    return tuple(item for item in diagnostics if item.severity == "warning")


def path_text(path: AttributePath) -> str:
    """Return a path for people: `rule[0].port`, `tags["a"]`."""
    text = ""
    for step in path:
        if step.kind == "attr":
            text += f".{step.value}" if text else str(step.value)
        elif step.kind == "key":
            text += f'["{step.value}"]'
        else:
            text += f"[{step.value}]"
    return text
