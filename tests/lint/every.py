"""One test for a rule about many files: it names each that breaks it."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
Rule = Callable[[T], None]


def every(
    found: Callable[[], Iterable[T]], label: Callable[[T], str]
) -> Callable[[Rule[T]], Callable[[], None]]:
    """Make a rule about one thing a test of all that `found` finds."""

    def of_all(rule: Rule[T]) -> Callable[[], None]:
        def test() -> None:
            things = list(found())
            assert things, "nothing is looked at"
            broken = {label(thing): said for thing in things if (said := _said(rule, thing))}
            assert not broken, "\n".join(f"{name}: {said}" for name, said in broken.items())

        test.__name__, test.__doc__, test.__module__ = rule.__name__, rule.__doc__, rule.__module__
        return test

    return of_all


def _said(rule: Rule[T], thing: T) -> str | None:
    try:
        rule(thing)
    except AssertionError as exc:
        return str(exc) or "broken"
    return None
