"""Refusals of the codec, with the path of the value they are about."""

from pyengine.errors import KilolockError

Step = str | int


class MismatchError(Exception):
    """A value that its type does not allow; every container on the way out adds its step."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.steps: list[tuple[str, Step]] = []

    def inside(self, kind: str, step: Step) -> None:
        """Say in which attribute (`attr`), element (`index`) or key (`key`) it happened."""
        self.steps.append((kind, step))

    def path(self) -> str:
        """Return the path for people: `rule[0].port`, `tags["a"]`; empty for the whole value."""
        text = ""
        for kind, step in reversed(self.steps):
            if kind == "attr":
                text += f".{step}" if text else f"{step}"
            elif kind == "key":
                text += f'["{step}"]'
            else:
                text += f"[{step}]"
        return text


class CodecError(KilolockError):
    """A value does not fit its schema; `path` says where, "" being the whole value."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__("invalid_value", f"{path}: {problem}" if path else problem, {"path": path})
        self.path = path
