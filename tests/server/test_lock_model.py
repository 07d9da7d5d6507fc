"""Two clients lock, write, force, delete and read; a small model says what each must see."""

from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.documents import LINEAGE, OTHER_LINEAGE, Json, instance, lock_info, resource, state
from tests.service import Backend, Server

FORCING = ("state-push", "migration destination state")


@dataclass
class Model:
    """What the server should know of one state."""

    document: Json | None = None
    versions: int = 0
    holder: Json | None = None

    def may_write(self, lock_id: str | None) -> int:
        """Return the status that the locks alone give a write."""
        if self.holder is None:
            return 200 if lock_id is None else 409
        if lock_id is None:
            return 423
        return 200 if lock_id == self.holder["ID"] else 409

    def write(self, document: Json, lock_id: str | None) -> int:
        """Write if the rules let it; return the status."""
        status = self.may_write(lock_id)
        if status != 200 or document == self.document:
            return status
        current = self.document
        forced = self.holder is not None and self.holder["Operation"] in FORCING
        follows = current is None or (
            document["serial"] > current["serial"] and document["lineage"] == current["lineage"]
        )
        if not (forced or follows):
            return 409
        self.document = document
        self.versions += 1
        return 200


class TwoClients(RuleBasedStateMachine):
    """The rules, each checked against the model."""

    service: Server
    locks = Bundle("locks")

    def __init__(self) -> None:
        super().__init__()
        self.backend: Backend = self.service.backend()
        self.model = Model()
        self.numbers = 0

    @rule(
        target=locks,
        who=st.sampled_from(["ann@one", "bob@two"]),
        operation=st.sampled_from(["OperationTypeApply", "OperationTypePlan", *FORCING]),
    )
    def new_run(self, who: str, operation: str) -> Json:
        """Begin a run: an ID that nobody used before."""
        self.numbers += 1
        return lock_info(f"{self.backend.name}-{self.numbers}", operation, Who=who)

    @rule(info=locks)
    def lock(self, info: Json) -> None:
        """LOCK, for the first time or again."""
        answer = self.backend.lock(info)
        holder = self.model.holder
        if holder is None or holder["ID"] == info["ID"]:
            assert answer.status_code == 200
            self.model.holder = info
        else:
            self._assert_conflict(answer, 423)

    @rule(info=locks)
    def unlock(self, info: Json) -> None:
        """UNLOCK with a run's own ID, whether it still holds or not."""
        answer = self.backend.unlock(info)
        holder = self.model.holder
        if holder is None or holder["ID"] == info["ID"]:
            assert answer.status_code == 200
            self.model.holder = None
        else:
            self._assert_conflict(answer, 409)

    @rule()
    def force_unlock(self) -> None:
        """UNLOCK with an empty body."""
        assert self.backend.unlock(None).status_code == 200
        self.model.holder = None

    @rule(
        info=st.one_of(st.none(), locks),
        step=st.sampled_from([-1, 0, 1, 1, 1, 5]),
        content=st.sampled_from("xy"),
        lineage=st.sampled_from([LINEAGE, LINEAGE, LINEAGE, OTHER_LINEAGE]),
    )
    def post(self, info: Json | None, step: int, content: str, lineage: str) -> None:
        """POST what may or may not follow the current document."""
        current = self.model.document or {"serial": 1}
        block = resource("a", instance({"id": content}))
        document = state(max(0, current["serial"] + step), block, lineage=lineage)
        self._post(document, info)

    @rule(info=st.one_of(st.none(), locks))
    def post_again(self, info: Json | None) -> None:
        """POST the current document once more, as after a lost answer."""
        if self.model.document is not None:
            self._post(self.model.document, info)

    @rule()
    def delete(self) -> None:
        """DELETE; refused under anybody's lock."""
        answer = self.backend.delete()
        if self.model.holder is not None:
            self._assert_conflict(answer, 423)
        elif self.model.document is None:
            assert answer.status_code == 404
        else:
            assert answer.status_code == 200
            self.model = Model()

    @rule()
    def get(self) -> None:
        """GET; locks do not matter."""
        answer = self.backend.get()
        if self.model.document is None:
            assert answer.status_code == 404
        else:
            assert answer.json() == self.model.document

    @invariant()
    def versions_and_locks_agree(self) -> None:
        """Check what SQL sees: no version too many, one holder at most."""
        assert self.backend.versions() == self.model.versions
        found = self.backend.server.as_kl_server(
            "select l.lock_id, l.who from kl.state_locks as l where l.state_name = %(name)s",
            name=self.backend.name,
        )
        holder = self.model.holder
        assert found == ([] if holder is None else [(holder["ID"], holder["Who"])])

    def _post(self, document: Json, info: Json | None) -> None:
        lock_id = None if info is None else info["ID"]
        before = self.model.versions
        status = self.model.write(document, lock_id)
        answer = self.backend.post(document, lock_id)
        if self.model.may_write(lock_id) != 200 and self.model.holder is not None:
            self._assert_conflict(answer, status)
        assert answer.status_code == status, answer.text
        if status == 200:
            written = "written" if self.model.versions > before else "unchanged"
            assert answer.json()["outcome"] == written

    def _assert_conflict(self, answer: Any, status: int) -> None:  # noqa: ANN401 - httpx.Response
        holder = self.model.holder
        assert holder is not None
        assert answer.status_code == status, answer.text
        assert {k: answer.json()[k] for k in holder} == holder

    def teardown(self) -> None:
        """Leave no lock behind."""
        self.backend.unlock(None)


def test_lock_and_serial_rules_follow_the_model(service: Server) -> None:
    machine = type("Served", (TwoClients,), {"service": service})
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=12,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
