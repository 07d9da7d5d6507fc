"""Whatever the format allows goes in, becomes rows, and comes out equal, at every version."""

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.documents import OTHER_LINEAGE, lock_info
from tests.equality import canonical, objects
from tests.service import Backend, Server

pytestmark = pytest.mark.thorough

_HISTORY = """
select v.version_no, v.object_count, v.output_count, v.content_digest,
    r.objects, o.outputs, coalesce(r.digest, 0) # coalesce(o.digest, 0),
    r.opened, r.closed
from kl_internal.states as s

inner join kl_internal.state_versions as v on v.state_id = s.id
cross join lateral (
    select
        count(*) filter (where c.alive) as objects,
        bit_xor(c.content_hash) filter (where c.alive) as digest,
        count(*) filter (where c.opened_no = v.version_no) as opened,
        count(*) filter (where c.closed_no = v.version_no) as closed
    from (
        select h.*, h.opened_no <= v.version_no
            and coalesce(h.closed_no > v.version_no, true) as alive
        from kl_internal.resources as h
        where h.state_id = s.id
    ) as c
) as r
cross join lateral (
    select count(*) as outputs, bit_xor(h.content_hash) as digest
    from kl_internal.outputs as h
    where h.state_id = s.id
        and h.opened_no <= v.version_no
        and coalesce(h.closed_no > v.version_no, true)
) as o
where s.name = %(name)s and s.deleted_at is null
order by v.version_no
"""


@given(data=st.data())
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_documents_survive_at_every_version(each_service: Server, data: st.DataObject) -> None:
    backend = each_service.backend()
    document = data.draw(strategies.documents())
    posted: list[bytes] = []
    for serial in range(1, data.draw(st.integers(2, 5)) + 1):
        posted.append(document.encoded(serial))
        answer = backend.post(posted[-1])
        assert answer.status_code == 200, answer.text
        assert answer.json()["version_no"] == serial
        assert canonical(backend.get().content) == canonical(posted[-1])
        if data.draw(st.booleans()):
            assert backend.post(posted[-1]).json()["outcome"] == "unchanged"
        document = data.draw(strategies.successors(document))

    for number, body in enumerate(posted, 1):
        assert canonical(backend.export(f"v{number}")) == canonical(body)
    _check_rows(backend, posted)


def _check_rows(backend: Backend, posted: list[bytes]) -> None:
    """Check counts, digests, and that a write opened and closed only what it changed."""
    history = backend.server.rows(_HISTORY, name=backend.name)
    assert len(history) == len(posted)
    before: dict[tuple[str, ...], str] = {}
    for body, row in zip(posted, history, strict=True):
        _, object_count, output_count, digest, found, found_outputs, recomputed, opened, closed = (
            row
        )
        now = objects(body)
        assert object_count == found == len(now)
        assert output_count == found_outputs
        assert digest == recomputed
        assert opened == sum(before.get(key) != text for key, text in now.items())
        assert closed == sum(now.get(key) != text for key, text in before.items())
        event(f"objects kept their rows: {any(before.get(k) == t for k, t in now.items())}")
        before = now


@given(first=strategies.documents(), data=st.data())
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_force_pushed_history_stays_readable(
    each_service: Server, first: strategies.Document, data: st.DataObject
) -> None:
    backend = each_service.backend()
    backend.lock(lock_info("push", "state-push"))
    posted = []
    document = first
    for serial in data.draw(st.lists(st.integers(0, 3), min_size=2, max_size=4)):
        document = data.draw(strategies.successors(document))
        if data.draw(st.booleans()):
            document.top = document.top | {"lineage": OTHER_LINEAGE}
        body = document.encoded(serial)
        answer = backend.post(body, "push")
        assert answer.status_code == 200, answer.text
        if answer.json()["outcome"] == "written":
            posted.append(body)
    for number, body in enumerate(posted, 1):
        assert canonical(backend.export(f"v{number}")) == canonical(body)
    _check_rows(backend, posted)
