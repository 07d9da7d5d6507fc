"""Plain and native clients interleave; a sequential model says what each may do and what stands.

No update is lost, nothing is written without a live reservation, nobody acts on what another
changes, and writers of disjoint scopes do not stand in each other's way.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.clusters import Connection
from tests.documents import lock_info
from tests.sql.commit import committing
from tests.sql.commit.committing import Delta, commit
from tests.sql.commit.modelled import (
    ADDRESSES,
    NODES,
    SCOPES,
    Thing,
    Things,
    Version,
    World,
    Writer,
    block,
    document,
    things_in,
)
from tests.sql.commit.operating import move, remove
from tests.sql.engine import at, begin
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import write

pytestmark = pytest.mark.thorough

RUNS: Final = 3
LEASES: Final = (5, 20)
# What the races are for.
REACHED: Final = frozenset(
    {
        *(f"commit {how}" for how in ("fresh", "rebased", "KL301", "KL302", "KL305")),
        "commit of an expired run",
        *(f"acquire {how}" for how in (None, "KL301")),
        *(f"plain write {how}" for how in (None, "KL303")),
    }
)

Wants = list[tuple[str, str]]


@dataclass(frozen=True)
class Change:
    """What a write is to do, at these addresses; a native one where the run may, if orderly."""

    addresses: frozenset[str]
    gone: frozenset[str]
    needs: tuple[str, ...]
    orderly: bool


def _wants(random: Random) -> Wants:
    globs = random.sample(sorted(SCOPES), random.randint(1, 3))
    return [(glob, random.choice(["write", "write", "read"])) for glob in globs]


def _shares(random: Random) -> tuple[Wants, Wants]:
    """Give each of two what the other does not have, or what it may only read."""
    shared, *own = random.sample(ADDRESSES, random.choice([4, 4, 3]))
    middle = random.randint(1, len(own) - 1)
    one, two = ([(a, "write") for a in part] for part in (own[:middle], own[middle:]))
    for wanted in (one, two):
        if random.random() < 0.7:
            wanted.append((shared, "read"))
    return one, two


def _change(random: Random) -> Change:
    addresses = frozenset(random.sample(ADDRESSES, random.randint(1, 2)))
    gone = frozenset(random.sample(ADDRESSES, random.choice([0, 1])))
    needs = tuple(random.sample(sorted(NODES), random.choice([0, 1, 1])))
    return Change(addresses, gone, needs, orderly=random.random() < 0.7)


@dataclass(frozen=True)
class Race:
    """Two runs with what each reserves, for how long, and changes; and what comes between.

    ages: how many versions older than the current one what each starts from is. alone: nobody
    else holds anything.
    """

    shares: tuple[Wants, Wants]
    leases: tuple[int, int]
    ages: tuple[int, int]
    changes: tuple[Change, Change]
    meanwhile: str
    plain: Change
    alone: bool


def _race(random: Random) -> Race:
    leases = (random.choice(LEASES), random.choice(LEASES))
    ages = (random.choice([0, 0, 1, 2]), random.choice([0, 0, 1, 2]))
    changes = (_change(random), _change(random))
    meanwhile = random.choice(["", "time", "plain", "acquire"])
    alone = random.random() < 0.8
    return Race(_shares(random), leases, ages, changes, meanwhile, _change(random), alone)


numbers = st.integers(0, RUNS - 1)
leases = st.sampled_from(LEASES)
minutes = st.sampled_from([1, 4, 16])
chances = st.integers(0, 2**64)


class Clients(RuleBasedStateMachine):
    """The rules, each checked against the model."""

    conn: Connection
    reached: Counter[str]
    count = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).count += 1
        self.name, self.other_name = f"model{self.count}", f"other{self.count}"
        self.world, self.other = World([]), World([])
        self.next_value = 0
        self.seen = self.drawn = self.chance = 0

    @initialize(chance=chances)
    def start(self, chance: int) -> None:
        """Write a first version, and another state; let runs begin and race."""
        self.chance = chance
        at(self.conn, "0 minutes")
        things = {a: self._thing(()) for a in ADDRESSES}
        things[ADDRESSES[1]] = self._thing(("terraform_data.a",))
        self.world = World([Version(things, None)])
        self.other = World([Version({}, None)])
        write(self.conn, self.name, document(1, things))
        write(self.conn, self.other_name, document(1, {}))
        self.world.writers = [self._begun() for _ in range(RUNS)]
        for _ in range(2):
            self.race(chance)

    def _random(self, chance: int) -> Random:
        """Return what makes choices: of those that are drawn one by one, too many are the same."""
        self.drawn += 1
        return Random(f"{self.chance} {chance} {self.drawn}")

    def _begun(self) -> Writer:
        return Writer(begin(self.conn, self.name), len(self.world.versions))

    def _code(self, call: Callable[[], Any]) -> str | None:
        try:
            with self.conn.transaction():
                call()
        except psycopg.Error as exc:
            return exc.sqlstate
        return None

    def _reach(self, what: str) -> None:
        self.reached[what] += 1

    def _thing(self, needed: tuple[str, ...]) -> Thing:
        self.next_value += 1
        return Thing(self.next_value, needed)

    def _things(self, addresses: frozenset[str], needed: tuple[str, ...]) -> Things:
        return {address: self._thing(needed) for address in sorted(addresses)}

    @rule(minutes=minutes)
    def time_passes(self, minutes: int) -> None:
        """Let leases end."""
        self.world.now += minutes
        at(self.conn, f"{self.world.now} minutes")

    def _begin_another(self, number: int) -> None:
        """Give up on a run that has ended, and begin another."""
        writer = self.world.writers[number]
        if not writer.running or writer.dead(self.world.now):
            code = self._code(writer.run.abort)
            assert code == (None if writer.running else "KL306")
            self.world.writers[number] = self._begun()

    @rule(number=numbers, chance=chances, lease=leases)
    def acquire(self, number: int, chance: int, lease: int) -> None:
        """Reserve all or nothing."""
        self._acquire(number, _wants(self._random(chance)), lease)

    def _acquire(self, number: int, wanted: Wants, lease: int) -> None:
        writer = self.world.writers[number]
        code = self._code(lambda: writer.run.acquire(*wanted, lease=f"{lease} minutes"))
        assert code == self.world.acquired(writer, wanted)
        self._reach(f"acquire {code}")
        if code is None:
            self.world.drop_dead()
            for key in wanted:
                writer.leases[key] = max(writer.leases.get(key, 0), self.world.now + lease)

    @rule(number=numbers, lease=leases)
    def renew(self, number: int, lease: int) -> None:
        """Extend what lives; what is dead stays dead."""
        writer = self.world.writers[number]
        code = self._code(lambda: writer.run.renew(f"{lease} minutes"))
        assert code == (None if writer.covered(self.world.now) else "KL305")
        self._reach(f"renew {code}")
        if code is None:
            for key, end in writer.leases.items():
                if end > self.world.now:
                    writer.leases[key] = self.world.now + lease

    @precondition(lambda self: any(w.leases for w in self.world.writers))
    @rule(number=numbers)
    def release(self, number: int) -> None:
        """Give everything back; the native lock goes too."""
        writer = self.world.writers[number]
        if writer.running and not writer.dead(self.world.now):
            assert self._code(writer.run.release) is None
            writer.leases, writer.locked = {}, False

    @rule(number=numbers)
    def native_lock(self, number: int) -> None:
        """Show the state as locked."""
        writer = self.world.writers[number]
        code = self._code(lambda: writer.run.lock())
        assert code == self.world.locked(writer)
        self._reach(f"native lock {code}")
        if code is None:
            self.world.drop_dead()
            writer.locked = True

    @rule(number=numbers, chance=chances, lease=leases, fresh=st.booleans())
    def set_out(self, number: int, chance: int, lease: int, fresh: bool) -> None:
        """Do all that goes before a commit, as an orderly client does."""
        self._set_out(number, _wants(self._random(chance)), lease, fresh=fresh)

    def _set_out(self, number: int, wanted: Wants, lease: int, *, fresh: bool) -> None:
        self._unlock()
        self._begin_another(number)
        self._acquire(number, wanted, lease)
        self.native_lock(number)
        if fresh:
            self.world.writers[number].base = len(self.world.versions)

    @rule(chance=chances)
    def race(self, chance: int) -> None:
        """Let two set out from the same version, and both commit, whatever comes between."""
        race = _race(self._random(chance))
        for number in range(RUNS if race.alone else 0):
            self.finish(number, "failed")
        for number, wanted in enumerate(race.shares):
            self._set_out(number, wanted, race.leases[number], fresh=True)
            writer = self.world.writers[number]
            writer.base = max(writer.base - race.ages[number], 1)
        if race.meanwhile:
            self.time_passes(min(LEASES) + 1)
        if race.meanwhile == "plain":
            self._plain_apply(race.plain)
        elif race.meanwhile == "acquire":
            self._begin_another(RUNS - 1)
            self._acquire(RUNS - 1, race.shares[0], min(LEASES))
        for number, change in enumerate(race.changes):
            self._commit(self.world.writers[number], change)

    @rule(number=numbers, chance=chances)
    def commit(self, number: int, chance: int) -> None:
        """Commit on the base that the run started from."""
        locked = [w for w in self.world.writers if w.locked or w.expired]
        chosen = locked or self.world.writers
        self._commit(chosen[number % len(chosen)], _change(self._random(chance)))

    def _commit(self, writer: Writer, change: Change) -> None:
        world, addresses = self.world, change.addresses
        if change.orderly:
            addresses = writer.covered(world.now, "write") or addresses
        gone = addresses & change.gone
        new = self._things(addresses - gone, change.needs)
        blocks = [block(address, thing) for address, thing in new.items()]
        delta = Delta(blocks, sorted(new), sorted(gone))
        if (writer.base, delta.text()) in writer.answers:
            self._commit_again(writer)
            return
        code = self._code(lambda: self._answered(writer, delta))
        assert code == world.committed(writer, new, gone)
        if writer.expired:
            self._reach("commit of an expired run")
        if code is None:
            since = world.versions[writer.base :]
            how = "rebased" if any(v.writer is not writer for v in since) else "own"
            self._reach(f"commit {how if since else 'fresh'}")
            world.write(new, gone, writer)
        else:
            self._reach(f"commit {code}")

    def _answered(self, writer: Writer, delta: Delta) -> None:
        writer.answers[writer.base, delta.text()] = commit(writer.run, delta, base=writer.base)

    @precondition(lambda self: any(w.answers for w in self.world.writers))
    @rule(number=numbers)
    def commit_again(self, number: int) -> None:
        """Send all that a run has committed once more, whatever became of it since."""
        self._commit_again(self.world.writers[number])

    def _commit_again(self, writer: Writer) -> None:
        for (base, text), answer in writer.answers.items():
            assert commit(writer.run, text, base=base) == answer
            self._reach("commit again")

    @rule(number=numbers, status=st.sampled_from(["committed", "failed"]))
    def finish(self, number: int, status: str) -> None:
        """End a run; all it held is free."""
        writer = self.world.writers[number]
        if writer.running and not writer.dead(self.world.now):
            assert self._code(lambda: writer.run.finish(status)) is None
            writer.stop()

    @precondition(lambda self: self.world.plain is None)
    @rule()
    def plain_lock(self) -> None:
        """LOCK as terraform does; then native writers wait."""
        self.next_value += 1
        wanted = f"{self.name}-{self.next_value}"
        code = self._code(lambda: lock(self.conn, self.name, lock_info(wanted)))
        stands = self.world.native() or self.world.plain is not None
        assert code == ("KL303" if stands else None)
        self._reach(f"plain lock {code}")
        if code is None:
            self.world.drop_dead()
            self.world.plain = wanted

    @precondition(lambda self: self.world.plain is not None)
    @rule(again=st.booleans())
    def plain_unlock(self, again: bool) -> None:
        """UNLOCK as terraform does; by another client first, which is refused its LOCK."""
        if again:
            self.plain_lock()
        self._unlock()

    def _unlock(self) -> None:
        if self.world.plain is not None:
            info = json.dumps(lock_info(self.world.plain))
            self.conn.execute("select kl.unlock_state(%s, %s)", (self.name, info))
            self.world.plain = None

    @rule(chance=chances)
    def plain_write(self, chance: int) -> None:
        """POST a whole document, with the lock that is held."""
        self._plain_write(_change(self._random(chance)))

    def _plain_write(self, change: Change) -> None:
        new = self._things(change.addresses, change.needs)
        gone = change.gone - change.addresses
        things = {a: t for a, t in self.world.things.items() if a not in gone} | new
        body = document(len(self.world.versions) + 1, things)
        code = self._code(lambda: write(self.conn, self.name, body, self.world.plain))
        assert code == ("KL303" if self.world.native() else None)
        self._reach(f"plain write {code}")
        if code is None:
            self.world.drop_dead()
            self.world.write(new, gone)

    @rule(chance=chances)
    def plain_apply(self, chance: int) -> None:
        """LOCK, POST, UNLOCK."""
        self._plain_apply(_change(self._random(chance)))

    def _plain_apply(self, change: Change) -> None:
        if self.world.plain is None:
            self.plain_lock()
        self._plain_write(change)
        self._unlock()

    @rule(address=st.sampled_from(ADDRESSES))
    def remove(self, address: str) -> None:
        """Take an object out of the state."""
        code = self._code(lambda: remove(self.conn, address, name=self.name))
        touched = frozenset([address])
        there = address in self.world.things
        assert code == (self.world.operated(touched) if there else "KL203")
        self._reach(f"remove {code}")
        if code is None:
            self.world.write({}, touched)

    @rule(address=st.sampled_from(ADDRESSES))
    def move_between_states(self, address: str) -> None:
        """Move an object to the other state, or back from there."""
        out = address in self.world.things
        source, target = (self.world, self.other) if out else (self.other, self.world)
        names = (self.name, self.other_name) if out else (self.other_name, self.name)
        code = self._code(lambda: move(self.conn, (address, address), name=names[0], to=names[1]))
        touched = frozenset([address])
        if address not in source.things:
            assert code == "KL203"
        elif address in target.things:
            assert code == "KL001"
        else:
            assert code == self.world.operated(touched)
            self._reach(f"move {'out' if out else 'back'} {code}")
        if code is None:
            moved = source.things[address]
            source.write({}, touched)
            target.write({address: moved})

    @invariant()
    def every_version_is_as_it_was_written(self) -> None:
        """Check that no version is too many, and the current document when there is a new one."""
        if not self.world.versions:
            return
        for name, world in ((self.name, self.world), (self.other_name, self.other)):
            assert len(committing.serials(self.conn, name)) == len(world.versions)
        if self.seen < len(self.world.versions):
            self.seen = len(self.world.versions)
            found = committing.document(self.conn, self.name)
            assert found["serial"] == self.seen
            assert things_in(found) == self.world.things

    def teardown(self) -> None:
        """Check the whole history."""
        for name, world in ((self.name, self.world), (self.other_name, self.other)):
            for number, version in enumerate(world.versions, 1):
                found = committing.document(self.conn, name, f"v{number}")
                assert things_in(found) == version.things


@pytest.fixture
def machine(conn: Connection) -> type[Clients]:
    """The rules in a session of the server's."""
    return type("Served", (Clients,), {"conn": conn, "reached": Counter()})


@pytest.mark.parametrize("cluster", ["pg18"], indirect=True, scope="session")
def test_interleaved_writers_follow_the_sequential_model(machine: type[Clients]) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=32,
            stateful_step_count=24,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("cluster", ["pg18"], indirect=True, scope="session")
def test_races_come_to_all_that_they_are_for(machine: type[Clients]) -> None:
    for chance in range(12):
        clients = machine()
        clients.start(chance)
        for another in range(4):
            clients.race(another)
            clients.every_version_is_as_it_was_written()
        clients.teardown()
    assert {what: machine.reached[what] for what in REACHED if machine.reached[what] < 3} == {}
