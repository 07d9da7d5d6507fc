"""Whatever is called safe or widened contains all that a brute-force closure reaches.

The model is the truth: instances and what each depends on, also what no state shows, as when the
input of one module instance is an output of another. The state gets what Terraform would store,
and has a past in which there was more. Nor does a scope hold more than its blocks can need.
"""

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.clusters import Connection
from tests.documents import Json, state
from tests.expansions import block, node
from tests.sql.engine import value
from tests.sql.staging import write

pytestmark = pytest.mark.thorough

Place = tuple[str, ...]
_CALLS: dict[Place, tuple[str | None, ...]] = {
    (): (None,),
    ("m",): ('"a"', '"a.b"'),
    ("u",): (None,),
    ("m", "in"): ("0", "1"),
    ("u", "in"): ('"]"', '"x"'),
}


@dataclass(frozen=True)
class Block:
    """A resource of the configuration."""

    number: int
    call: Place
    data: bool
    keys: tuple[int | None, ...]

    @property
    def tail(self) -> str:
        """Return the address inside its module."""
        return ("data." if self.data else "") + f"aws_x.r{self.number}"

    @property
    def config(self) -> str:
        """Return the address without any key."""
        return "".join(f"module.{name}." for name in self.call) + self.tail

    def places(self) -> list[tuple[str | None, ...]]:
        """Return the keys of each module instance it is in."""
        calls = [_CALLS[self.call[: n + 1]] for n in range(len(self.call))]
        return list(itertools.product(*calls))

    def address(self, place: tuple[str | None, ...]) -> str:
        """Return the address of the resource in a module instance."""
        return module(self.call, place) + self.tail


Instance = tuple[int, tuple[str | None, ...], int | None]


def module(call: Place, keys: tuple[str | None, ...]) -> str:
    """Return the address of a module instance, with a dot behind."""
    return "".join(
        f"module.{name}{'' if key is None else f'[{key}]'}."
        for name, key in zip(call, keys, strict=True)
    )


@dataclass
class World:
    """A configuration, what depends on what, and which instances exist."""

    random: Random
    blocks: list[Block] = field(default_factory=list)
    needs: dict[Instance, set[Instance]] = field(default_factory=dict)
    edges: dict[int, set[int]] = field(default_factory=dict)
    existing: set[Instance] = field(default_factory=set)
    kinds: tuple[str, ...] = ()

    def build(self) -> None:
        """Make up blocks, then edges from later to earlier ones."""
        dense, calls = self.random.choice([0.2, 0.5]), list(_CALLS)
        self.kinds = self.random.choice([("any", "own"), ("own", "across"), ("own",)])
        if self.random.random() < 0.3:
            calls = self.random.choice([[("m",), ("m", "in")], [("u",), ("u", "in")]])
        for number in range(self.random.randint(2, 9)):
            keys: tuple[int | None, ...] = self.random.choice([(None,), (None,), (0, 1), (0,)])
            call = self.random.choice(calls)
            self.blocks.append(Block(number, call, self.random.random() < 0.3, keys))
        for later in self.blocks:
            self.edges[later.number] = set()
            for instance in self.instances(later):
                self.needs[instance] = set()
            for earlier in self.blocks[: later.number]:
                if self.random.random() < dense:
                    self._depend(later, earlier)
        planned = self.random.choice([0, 0.2, 0.5])
        absent = {of.number for of in self.blocks if self.random.random() < planned}
        self.existing = {
            i for i in self.needs if i[0] not in absent and self.random.random() < 0.85
        }

    def instances(self, of: Block) -> list[Instance]:
        """Return every instance that the configuration asks for."""
        return [(of.number, place, key) for place in of.places() for key in of.keys]

    def _depend(self, later: Block, earlier: Block) -> None:
        """Let some instances depend on some: on their own module's, or through inputs on any.

        Or on those of the same inner call in whichever outer one.
        """
        kind = self.random.choice(self.kinds)
        if later.call != earlier.call[: len(later.call)]:
            kind = "any"
        self.edges[later.number].add(earlier.number)
        for one, other in itertools.product(self.instances(later), self.instances(earlier)):
            depth = len(one[1])
            if kind == "own":
                meant = other[1][:depth] == one[1]
            else:
                same = kind == "any" or other[1][1:depth] == one[1][1:]
                meant = same and self.random.random() < 0.6
            if meant:
                self.needs[one].add(other)

    def below(self, number: int) -> set[int]:
        """Return the blocks that a block depends on, however far."""
        found: set[int] = set()
        todo = list(self.edges[number])
        while todo:
            next_ = todo.pop()
            if next_ not in found:
                found.add(next_)
                todo += self.edges[next_]
        return found

    def self_contained(self, call: Place) -> bool:
        """Tell whether no input of a call reaches an output of it, in the module around it.

        What reaches it through the inputs of that module is not seen from there.
        """
        depth = len(call)

        def inside(number: int, length: int = depth) -> bool:
            return self.blocks[number].call[:length] == call[:length]

        def crosses(one: Instance, other: Instance) -> bool:
            same = one[1][: depth - 1] == other[1][: depth - 1]
            return same and inside(other[0]) and one[1][:depth] != other[1][:depth]

        return not any(
            crosses(one, other)
            or (
                not inside(other[0])
                and inside(other[0], depth - 1)
                and any(inside(n) for n in self.below(other[0]))
            )
            for one, needs in self.needs.items()
            if inside(one[0])
            for other in needs
        )

    def text(self, instance: Instance) -> str:
        """Return the address of an instance."""
        number, place, key = instance
        return self.blocks[number].address(place) + ("" if key is None else f"[{key}]")

    def past(self) -> Json:
        """Return an earlier state, which had all that the configuration asks for, and more."""
        return self._document(1, set(self.needs), block("aws_x.past"))

    def document(self) -> Json:
        """Return the state: transitive lists by configuration address, none of data sources."""
        return self._document(2, self.existing)

    def _document(self, serial: int, existing: set[Instance], *more: Json) -> Json:
        found = []
        for of in self.blocks:
            lists = sorted(self.blocks[n].config for n in self.below(of.number))
            for place in of.places():
                keys = [k for k in of.keys if (of.number, place, k) in existing]
                if keys:
                    known = [k for k in keys if k is not None]
                    needs = None if of.data else lists
                    found.append(block(of.address(place), *known, needs=needs))
        return state(serial, *found, *more)

    def closure(self, start: Iterable[Instance]) -> set[Instance]:
        """Return all that instances depend on, and themselves."""
        found: set[Instance] = set()
        todo = list(start)
        while todo:
            next_ = todo.pop()
            if next_ not in found:
                found.add(next_)
                todo += self.needs[next_]
        return found


def _ask(world: World) -> tuple[list[Json], Json, set[Instance], set[int]]:
    """Return a request, the instances it writes as far as the client said, and all its blocks."""
    random = world.random
    known = random.choice([0.3, 0.8, 1])
    nodes = {b.number for b in world.blocks if random.random() < known}
    context: Json = {
        "config_nodes": [
            node(b.config, *(world.blocks[n].config for n in world.edges[b.number]))
            for b in world.blocks
            if b.number in nodes
        ],
        "module_calls": [
            {
                "address": ".".join(f"module.{n}" for n in call),
                "self_contained": world.self_contained(call),
            }
            for call in _CALLS
            if call
        ],
        "undeployed_config_candidates": [],
    }
    selectors: list[Json] = []
    written: set[Instance] = set()
    named: set[int] = set()
    for _ in range(random.randint(1, 3)):
        instance = random.choice(list(world.needs))
        of = world.blocks[instance[0]]
        kind = random.choice(["instance", "block", "config", "module"])
        chosen = {
            "instance": [instance],
            "block": [i for i in world.instances(of) if i[1] == instance[1]],
            "config": world.instances(of),
            "module": [
                i for i in world.needs if world.text(i).startswith(module(of.call, instance[1]))
            ],
        }[kind]
        if kind == "module" and of.call:
            address = module(of.call, instance[1]).rstrip(".")
            selectors.append({"kind": "module_prefix", "value": address})
        elif kind == "module":
            continue
        else:
            address = {
                "instance": world.text(instance),
                "block": of.address(instance[1]),
                "config": of.config,
            }[kind]
            selectors.append({"kind": "resource_address", "value": address})
        named |= {number for number, *_ in chosen}
        for one in chosen:
            # What is not there is in the scope if the client says that it is to be.
            if one not in world.existing and random.random() < 0.5:
                context["undeployed_config_candidates"].append(world.text(one))
                written.add(one)
            if one in world.existing or one[0] in nodes:
                written.add(one)
    return selectors, context, written, named


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32))
def test_what_is_not_unsafe_is_whole(conn: Connection, seed: int) -> None:
    world = World(Random(seed))
    world.build()
    selectors, context, written, named = _ask(world)
    with conn.transaction(force_rollback=True):
        if seed % 2:
            write(conn, "s", world.past())
        write(conn, "s", world.document())
        contract = value(
            conn,
            "select kl.expand_scope('s', %s::jsonb, %s::jsonb, false)::jsonb -> 'scope_contract'",
            json.dumps(selectors),
            json.dumps(context),
        )
    assert {world.text(i) for i in written & world.existing} <= set(contract["write_addresses"])
    blocks = named.union(*(world.below(number) for number in named))
    possible = {world.text(i) for i in world.existing if i[0] in blocks}
    assert set(contract["fetch_addresses"]) <= possible
    if contract["confidence"] == "unsafe":
        assert contract["culprits"]
        return
    assert not contract["culprits"]
    reached = world.closure(written)
    assert {world.text(i) for i in reached & world.existing} <= set(contract["fetch_addresses"])
    # A block of which nothing exists is known to be created.
    for instance in reached:
        config = world.blocks[instance[0]].config
        if not any(i[0] == instance[0] for i in world.existing):
            planned = contract["config_required_nodes"]
            assert any(p == config or p in _texts(world, instance[0]) for p in planned), config


def _texts(world: World, number: int) -> set[str]:
    of = world.blocks[number]
    return {world.text(i) for i in world.instances(of)} | {of.address(p) for p in of.places()}


def test_the_model_is_called_safe_often_enough(conn: Connection) -> None:
    found: dict[str, int] = {}
    narrowed = 0
    for seed in range(60):
        world = World(Random(seed))
        world.build()
        selectors, context, *_ = _ask(world)
        with conn.transaction(force_rollback=True):
            write(conn, "s", world.document())
            confidence = value(
                conn,
                "select kl.expand_scope('s', %s::jsonb, %s::jsonb, false)::jsonb ->> 'confidence'",
                json.dumps(selectors),
                json.dumps(context),
            )
        found[confidence] = found.get(confidence, 0) + 1
        told = any(c["self_contained"] for c in context["module_calls"])
        narrowed += told and confidence != "unsafe"
    assert min(found.get(c, 0) for c in ("safe", "widened", "unsafe")) >= 5, found
    assert narrowed >= 5
