"""What plain and native clients may do to one state, and what stands then: a sequential model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from tests.documents import Json, instance, resource, state
from tests.sql.commit.committing import Committed
from tests.sql.engine import Run

ADDRESSES: Final = (
    "terraform_data.a",
    "terraform_data.b[0]",
    'module.m["x"].terraform_data.c',
    'module.m["x.y"].terraform_data.c',
)
# What each scope covers of all there is.
SCOPES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {address: frozenset([address]) for address in ADDRESSES}
    | {
        "terraform_data.b": frozenset([ADDRESSES[1]]),
        "module.m": frozenset(ADDRESSES[2:]),
        "*": frozenset(ADDRESSES),
    }
)
# What a list of dependencies can name, and the instances it means.
NODES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "terraform_data.a": frozenset(ADDRESSES[:1]),
        "terraform_data.b": frozenset(ADDRESSES[1:2]),
        "module.m.terraform_data.c": frozenset(ADDRESSES[2:]),
    }
)


@dataclass(frozen=True)
class Thing:
    """An object: a value that no other has, and what it depends on."""

    value: int
    needs: tuple[str, ...] = ()


Things = Mapping[str, Thing]


@dataclass
class Writer:
    """A native run as the model knows it.

    leases: minute of the end by scope and mode. answers: to what it committed, by base and delta.
    """

    run: Run
    base: int
    leases: dict[tuple[str, str], int] = field(default_factory=dict)
    locked: bool = False
    running: bool = True
    expired: bool = False
    answers: dict[tuple[int, str], Committed] = field(default_factory=dict)

    def scopes(self, now: int, *modes: str) -> list[frozenset[str]]:
        """Return what it holds now in one of the modes; in any unless some are given."""
        wanted = modes or ("read", "write")
        return [
            SCOPES[glob]
            for (glob, mode), end in self.leases.items()
            if end > now and mode in wanted
        ]

    def covered(self, now: int, *modes: str) -> frozenset[str]:
        """Return every address that it holds now in one of the modes."""
        return frozenset().union(*self.scopes(now, *modes))

    def dead(self, now: int) -> bool:
        """Tell whether all it held has run out."""
        return bool(self.leases) and not self.covered(now)

    def stop(self) -> None:
        """End it; all it held is free."""
        self.running, self.locked, self.leases = False, False, {}


@dataclass(frozen=True)
class Version:
    """What a version holds, who wrote it, and what it opened or closed."""

    things: Things
    writer: Writer | None
    changed: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()


@dataclass
class World:
    """A state as the model knows it: its versions, its native runs, its plain lock."""

    versions: list[Version]
    writers: list[Writer] = field(default_factory=list)
    plain: str | None = None
    now: int = 0

    @property
    def things(self) -> Things:
        """Return what the current version holds."""
        return self.versions[-1].things

    def write(
        self, new: Things, gone: frozenset[str] = frozenset(), by: Writer | None = None
    ) -> None:
        """Add a version."""
        before = self.things
        closed = frozenset(before) & (gone | frozenset(new))
        kept = {a: t for a, t in before.items() if a not in gone}
        self.versions.append(Version({**kept, **new}, by, closed | frozenset(new), closed))

    def others(self, writer: Writer | None) -> Iterator[Writer]:
        """Return the other runs that have not ended."""
        return (other for other in self.writers if other is not writer and other.running)

    def held(self, addresses: frozenset[str], writer: Writer | None, *modes: str) -> bool:
        """Tell whether others hold any of these now."""
        return any(
            scope & addresses
            for other in self.others(writer)
            for scope in other.scopes(self.now, *modes)
        )

    def native(self) -> bool:
        """Tell whether a plain client sees a native lock."""
        return any(w.locked and w.running and not w.dead(self.now) for w in self.writers)

    def drop_dead(self) -> None:
        """Do what each lock, plain write and acquire begins with."""
        for writer in self.writers:
            if writer.running and writer.dead(self.now):
                writer.locked = writer.running = False
                writer.expired = True

    def acquired(self, writer: Writer, wanted: list[tuple[str, str]]) -> str | None:
        """Return how reserving ends: nothing, or an SQLSTATE."""
        if not writer.running or writer.dead(self.now):
            return "KL306"
        stands = any(
            self.held(SCOPES[glob], writer, *(["write"] if mode == "read" else []))
            for glob, mode in wanted
        )
        return "KL301" if stands else None

    def locked(self, writer: Writer) -> str | None:
        """Return how taking the native lock ends."""
        if not writer.running or writer.dead(self.now):
            return "KL306"
        if self.plain is not None:
            return "KL303"
        return None if writer.covered(self.now) else "KL305"

    def committed(self, writer: Writer, new: Things, gone: frozenset[str]) -> str | None:
        """Return how a commit of a delta ends."""
        if not writer.expired:
            if not writer.running:
                return "KL306"
            if not writer.locked:
                return "KL303" if self.plain is not None else "KL305"
        missing = (frozenset(new) | gone) - writer.covered(self.now, "write")
        if missing:
            return "KL301" if self.held(missing, writer) else "KL305"
        return "KL302" if self._moved(writer, new, gone) else None

    def _moved(self, writer: Writer, new: Things, gone: frozenset[str]) -> bool:
        """Tell whether what others wrote since its base stands against a delta.

        It does when it is reserved here, or when anything that the delta's objects depend on is
        not: somebody may change that and act on what the delta changes.
        """
        foreign = [v for v in self.versions[writer.base :] if v.writer is not writer]
        if not foreign:
            return False
        mine = writer.covered(self.now)
        old = [self.things[a] for a in gone | frozenset(new) if a in self.things]
        needed = frozenset[str]().union(
            *(NODES[node] for thing in [*new.values(), *old] for node in thing.needs)
        )
        there = frozenset(self.things).union(*(v.closed for v in foreign))
        return bool(needed & there - mine) or any(v.changed & mine for v in foreign)

    def operated(self, touched: frozenset[str]) -> str | None:
        """Return how an operation on objects that are there ends."""
        if self.plain is not None:
            return "KL303"
        return "KL301" if self.held(touched, None) else None


def block(address: str, thing: Thing) -> Json:
    """Return the resource block of one object."""
    module, _, tail = address.rpartition("terraform_data.")
    members: Json = {"module": module.rstrip(".")} if module else {}
    held = instance({"id": "x", "input": thing.value})
    if thing.needs:
        held["dependencies"] = sorted(thing.needs)
    if tail.endswith("[0]"):
        held["index_key"] = 0
    return resource(tail.partition("[")[0], held, **members)


def document(serial: int, things: Things) -> Json:
    """Return a whole document."""
    return state(serial, *(block(address, things[address]) for address in sorted(things)))


def things_in(found: Json) -> dict[str, Thing]:
    """Return the objects of a document."""
    things = {}
    for of in found["resources"]:
        for held in of["instances"]:
            key = f"[{held['index_key']}]" if "index_key" in held else ""
            module = f"{of['module']}." if "module" in of else ""
            value: Any = held["attributes"]["input"]
            needs = tuple(sorted(held.get("dependencies", ())))
            things[f"{module}{of['type']}.{of['name']}{key}"] = Thing(value, needs)
    return things
