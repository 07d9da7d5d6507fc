"""Plain and native clients interleave; a sequential model says what each may do and what stands.

No update is lost, nothing is written without a live reservation, and writers of disjoint scopes do
not stand in each other's way.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.clusters import Connection
from tests.documents import Json, instance, lock_info, resource, state
from tests.sql.commit.committing import Delta, commit, document
from tests.sql.engine import Run, at, begin
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import write

pytestmark = pytest.mark.thorough

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
RUNS: Final = 3
LEASES: Final = (5, 20)

numbers = st.integers(0, RUNS - 1)
wants = st.lists(
    st.tuples(st.sampled_from(sorted(SCOPES)), st.sampled_from(["write", "read"])),
    min_size=1,
    max_size=3,
)
sets = st.sets(st.sampled_from(ADDRESSES), min_size=1, max_size=2)


@dataclass
class Writer:
    """A native run as the model knows it. leases: minute of the end by scope and mode."""

    run: Run
    base: int
    leases: dict[tuple[str, str], int] = field(default_factory=dict)
    locked: bool = False
    running: bool = True
    expired: bool = False

    def scopes(self, now: int, *modes: str) -> list[frozenset[str]]:
        """Return what it holds now in one of the modes."""
        return [
            SCOPES[glob] for (glob, mode), end in self.leases.items() if end > now and mode in modes
        ]

    def covered(self, now: int, *modes: str) -> frozenset[str]:
        """Return every address that it holds now in one of the modes."""
        return frozenset().union(*self.scopes(now, *modes))

    def dead(self, now: int) -> bool:
        """Tell whether all it held has run out."""
        return bool(self.leases) and not self.covered(now, "read", "write")


@dataclass(frozen=True)
class Version:
    """What a version holds, who wrote it, and which addresses it changed."""

    values: Mapping[str, int]
    writer: Writer | None
    changed: frozenset[str]


def _document(serial: int, values: Mapping[str, int]) -> Json:
    return state(serial, *(_resource(address, values[address]) for address in ADDRESSES))


def _resource(address: str, value: int) -> Json:
    module, _, tail = address.rpartition("terraform_data.")
    members: Json = {"module": module.rstrip(".")} if module else {}
    held = instance({"id": "x", "input": value})
    if tail.endswith("[0]"):
        held["index_key"] = 0
    return resource(tail.partition("[")[0], held, **members)


def _values(found: Json) -> dict[str, int]:
    by_place = {(r.get("module", ""), r["name"]): r["instances"][0] for r in found["resources"]}
    return {
        address: by_place[expected.get("module", ""), expected["name"]]["attributes"]["input"]
        for address in ADDRESSES
        for expected in [_resource(address, 0)]
    }


class Clients(RuleBasedStateMachine):
    """The rules, each checked against the model."""

    conn: Connection
    count = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).count += 1
        self.name = f"model{self.count}"
        self.now = 0
        self.next_value = 0
        self.plain: str | None = None
        self.versions: list[Version] = []
        self.writers: list[Writer] = []

    @initialize()
    def start(self) -> None:
        """Write a first version and begin the runs."""
        self._tick(0)
        write(self.conn, self.name, _document(1, dict.fromkeys(ADDRESSES, 0)))
        self.versions = [Version(dict.fromkeys(ADDRESSES, 0), None, frozenset(ADDRESSES))]
        self.writers = [self._begun() for _ in range(RUNS)]

    def _begun(self) -> Writer:
        return Writer(begin(self.conn, self.name), len(self.versions))

    def _tick(self, minutes: int) -> None:
        self.now += minutes
        at(self.conn, f"{self.now} minutes")

    def _code(self, call: Callable[[], Any]) -> str | None:
        try:
            with self.conn.transaction():
                call()
        except psycopg.Error as exc:
            return exc.sqlstate
        return None

    def _new_value(self) -> int:
        self.next_value += 1
        return self.next_value

    def _others(self, writer: Writer) -> list[Writer]:
        return [other for other in self.writers if other is not writer and other.running]

    def _drop_dead(self) -> None:
        """Do what each lock, plain write and acquire begins with."""
        for writer in self.writers:
            if writer.dead(self.now):
                writer.locked = writer.running = False
                writer.expired = True

    @rule(minutes=st.sampled_from([1, 4, 16]))
    def time_passes(self, minutes: int) -> None:
        """Let leases end."""
        self._tick(minutes)

    @rule(number=numbers)
    def begin_another(self, number: int) -> None:
        """Give up on a run that has ended, and begin another."""
        if not self.writers[number].running or self.writers[number].dead(self.now):
            self._code(self.writers[number].run.abort)
            self.writers[number] = self._begun()

    @rule(number=numbers, wanted=wants, lease=st.sampled_from(LEASES))
    def acquire(self, number: int, wanted: list[tuple[str, str]], lease: int) -> None:
        """Reserve all or nothing."""
        writer = self.writers[number]
        code = self._code(lambda: writer.run.acquire(*wanted, lease=f"{lease} minutes"))
        if not writer.running or writer.dead(self.now):
            assert code == "KL306"
            return
        stands = any(
            SCOPES[glob] & scope
            for other in self._others(writer)
            for glob, mode in wanted
            for scope in other.scopes(
                self.now, *(["write"] if mode == "read" else ["write", "read"])
            )
        )
        assert code == ("KL301" if stands else None)
        if code is None:
            self._drop_dead()
            for key in wanted:
                writer.leases[key] = max(writer.leases.get(key, 0), self.now + lease)

    @rule(number=numbers, lease=st.sampled_from(LEASES))
    def renew(self, number: int, lease: int) -> None:
        """Extend what lives; what is dead stays dead."""
        writer = self.writers[number]
        code = self._code(lambda: writer.run.renew(f"{lease} minutes"))
        if not writer.running or not writer.covered(self.now, "read", "write"):
            assert code in ("KL305", "KL306")
        else:
            assert code is None
            for key, end in writer.leases.items():
                if end > self.now:
                    writer.leases[key] = self.now + lease

    @rule(number=numbers)
    def release(self, number: int) -> None:
        """Give everything back; the native lock goes too."""
        writer = self.writers[number]
        if writer.running and not writer.dead(self.now):
            assert self._code(writer.run.release) is None
            writer.leases, writer.locked = {}, False

    @rule(number=numbers)
    def native_lock(self, number: int) -> None:
        """Show the state as locked."""
        writer = self.writers[number]
        code = self._code(lambda: writer.run.lock())
        if not writer.running or writer.dead(self.now):
            assert code == "KL306"
        elif self.plain is not None:
            assert code == "KL303"
        elif not writer.covered(self.now, "read", "write"):
            assert code == "KL305"
        else:
            assert code is None
            self._drop_dead()
            writer.locked = True

    @rule(number=numbers, glob=st.sampled_from(sorted(SCOPES)), lease=st.sampled_from(LEASES))
    def set_out(self, number: int, glob: str, lease: int) -> None:
        """Do all that goes before a commit, as an orderly client does."""
        self.begin_another(number)
        self.acquire(number, [(glob, "write")], lease)
        self.native_lock(number)

    @rule(
        number=numbers,
        glob=st.sampled_from(sorted(SCOPES)),
        lease=st.sampled_from(LEASES),
        fresh=st.booleans(),
    )
    def work(self, number: int, glob: str, lease: int, fresh: bool) -> None:
        """Go the whole way to a commit, from the current version or from an older one."""
        self.plain_unlock()
        self.set_out(number, glob, lease)
        if fresh:
            self.plan_again(number)
        self.commit_what_is_reserved(number)

    @rule(number=numbers)
    def plan_again(self, number: int) -> None:
        """Start from the current version."""
        self.writers[number].base = len(self.versions)

    @rule(number=numbers)
    def commit_what_is_reserved(self, number: int) -> None:
        """Commit where the run may, as an orderly client does."""
        reserved = self.writers[number].covered(self.now, "write")
        if reserved:
            self.native_commit(number, set(reserved))

    @rule(number=numbers, addresses=sets)
    def native_commit(self, number: int, addresses: set[str]) -> None:
        """Commit a delta on the base that the run started from."""
        writer, value = self.writers[number], self._new_value()
        change = Delta(
            [_resource(address, value) for address in sorted(addresses)], sorted(addresses)
        )
        code = self._code(lambda: commit(writer.run, change, base=writer.base))
        expected = self._verdict(writer, addresses)
        assert code in expected, (code, expected)
        if code is None:
            values = {**self.versions[-1].values, **dict.fromkeys(addresses, value)}
            self.versions.append(Version(values, writer, frozenset(addresses)))

    def _verdict(self, writer: Writer, addresses: set[str]) -> tuple[str | None, ...]:
        if not writer.running and not writer.expired:
            return ("KL306",)
        if not writer.locked and not writer.expired:
            return ("KL303",) if self.plain is not None else ("KL305",)
        missing = addresses - writer.covered(self.now, "write")
        if missing:
            others = [o.scopes(self.now, "read", "write") for o in self._others(writer)]
            held = any(scope & missing for scopes in others for scope in scopes)
            return ("KL301",) if held else ("KL305",)
        mine = writer.covered(self.now, "read", "write")
        since = self.versions[writer.base :]
        moved = any(v.writer is not writer and v.changed & mine for v in since)
        return ("KL302",) if moved else (None,)

    @rule(number=numbers, status=st.sampled_from(["committed", "failed"]))
    def finish(self, number: int, status: str) -> None:
        """End a run; all it held is free."""
        writer = self.writers[number]
        if writer.running and not writer.dead(self.now):
            assert self._code(lambda: writer.run.finish(status)) is None
            writer.running, writer.locked, writer.leases = False, False, {}

    @rule(addresses=sets)
    def plain_apply(self, addresses: set[str]) -> None:
        """LOCK, POST, UNLOCK."""
        if self.plain is None:
            self.plain_lock()
        self.plain_write(addresses)
        self.plain_unlock()

    @rule()
    def plain_lock(self) -> None:
        """LOCK as terraform does; then native writers wait."""
        wanted = f"{self.name}-{self._new_value()}"
        code = self._code(lambda: lock(self.conn, self.name, lock_info(wanted)))
        native = any(w.locked and w.running and not w.dead(self.now) for w in self.writers)
        assert code == ("KL303" if native or self.plain is not None else None)
        if code is None:
            self._drop_dead()
            self.plain = wanted

    @rule()
    def plain_unlock(self) -> None:
        """UNLOCK as terraform does."""
        if self.plain is not None:
            info = json.dumps(lock_info(self.plain))
            self.conn.execute("select kl.unlock_state(%s, %s)", (self.name, info))
            self.plain = None

    @rule(addresses=sets)
    def plain_write(self, addresses: set[str]) -> None:
        """POST a whole document, with the lock that is held."""
        value = self._new_value()
        values = {**self.versions[-1].values, **dict.fromkeys(addresses, value)}
        body = _document(len(self.versions) + 1, values)
        code = self._code(lambda: write(self.conn, self.name, body, self.plain))
        native = any(w.locked and w.running and not w.dead(self.now) for w in self.writers)
        assert code == ("KL303" if native else None)
        if code is None:
            self._drop_dead()
            self.versions.append(Version(values, None, frozenset(addresses)))

    @invariant()
    def every_version_is_as_it_was_written(self) -> None:
        """Check the current document, and that no version is too many."""
        if not self.versions:
            return
        found = document(self.conn, self.name)
        assert found["serial"] == len(self.versions)
        assert _values(found) == self.versions[-1].values

    def teardown(self) -> None:
        """Check the whole history."""
        for number, version in enumerate(self.versions, 1):
            assert _values(document(self.conn, self.name, f"v{number}")) == version.values


@pytest.mark.parametrize("cluster", ["pg18"], indirect=True, scope="session")
def test_interleaved_writers_follow_the_sequential_model(conn: Connection) -> None:
    machine = type("Served", (Clients,), {"conn": conn})
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=40,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
