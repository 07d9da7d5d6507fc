"""The first version of a state is staged in place: nobody sees it before, nothing of it is left."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.clusters import Connection, Database
from tests.documents import Json, encoded, instance, lock_info, resource, state
from tests.equality import canonical
from tests.sql.locks.test_lock_state import lock
from tests.sql.staging import Upload, read, refused, stage, stage_keys, write
from tests.sql.test_concurrency import Pair, pair

__all__ = ["pair"]

NAMES = "abcd"
DEPENDENT = {"dependencies": ["terraform_data.z"]}
DOCUMENT = state(1, *(resource(n, instance({"id": n}, **DEPENDENT)) for n in NAMES))
OTHER = state(2, *(resource(n, instance({"id": "other"}, **DEPENDENT)) for n in NAMES))
_SWEEP = "select kl.sweep_uploads(p_older_than => interval '1 hour')"


@pytest.fixture
def two(database: Database) -> Iterator[Connection]:
    """A second session of the server's role."""
    with database.connect() as conn:
        yield conn


@pytest.fixture
def watcher(database: Database) -> Iterator[Connection]:
    """A session that sees tables."""
    with database.connect("postgres") as conn:
        yield conn


@pytest.fixture
def one(database: Database) -> Iterator[Connection]:
    """A session of the server's role."""
    with database.connect() as conn:
        yield conn


def claimed(conn: Connection, document: Json, *ordinals: int) -> Upload:
    """Stage a document for state s as Python does, as much of it as told."""
    upload = stage_keys(conn, document)
    upload.missing("s")
    upload.send(*ordinals)
    return upload


def rows(watcher: Connection) -> dict[str, int]:
    """Return how many rows of each kind there are, of whatever state."""
    names = ("resources", "dependency_sets", "upload_claims", "upload_objects", "upload_batches")
    return {
        name: watcher.execute(f"select count(*) from kl_internal.{name}".encode()).fetchall()[0][0]
        for name in names
    }


def unlock(conn: Connection, info: Json) -> None:
    conn.execute(
        "select kl.unlock_state(p_name => 's', p_lock_info => %s)", (encoded(info).decode(),)
    )


@pytest.mark.parametrize("locked", [True, False])
def test_rows_are_where_they_stay_before_the_commit(
    one: Connection, watcher: Connection, locked: bool
) -> None:
    if locked:
        lock(one, "s", lock_info("x"))
    upload = claimed(one, DOCUMENT)
    before = watcher.execute("select id from kl_internal.resources order by id").fetchall()
    assert len(before) == len(NAMES)
    assert upload.missing("s") == "{}"
    assert upload.write("s", "x" if locked else None).outcome == "written"
    after = watcher.execute("select id from kl_internal.resources order by id").fetchall()
    assert after == before
    assert canonical(read(one, "s")) == canonical(encoded(DOCUMENT))
    assert rows(watcher) == {
        "resources": 4,
        "dependency_sets": 1,
        "upload_claims": 0,
        "upload_objects": 0,
        "upload_batches": 0,
    }


def test_no_view_shows_an_upload_under_way(one: Connection, watcher: Connection) -> None:
    lock(one, "s", lock_info("x"))
    claimed(one, DOCUMENT)
    views = watcher.execute(
        "select c.relname from pg_class as c where c.relkind = 'v' "
        "and c.relnamespace = 'kl'::regnamespace and exists (select from pg_attribute as a "
        "where a.attrelid = c.oid and a.attname = 'state_name') order by 1"
    ).fetchall()
    shown = {
        name
        for (name,) in views
        if watcher.execute(f"select from kl.{name} where state_name = 's'".encode()).fetchall()
    }
    assert {"resources", "resource_history", "resource_dependencies"} < {name for (name,) in views}
    assert shown == {"events", "state_locks"}


@pytest.mark.parametrize(
    "question",
    [
        "select kl.read_state_page((select state_id from kl_internal.upload_claims), 1, '', 9)",
        "select kl.reveal('s', 'terraform_data.a')",
        "select kl.read_state('s')",
        "select * from kl.resources_at('s', 'current')",
    ],
)
@pytest.mark.parametrize("locked", [True, False])
def test_no_door_shows_an_upload_under_way(
    one: Connection, watcher: Connection, question: str, locked: bool
) -> None:
    if locked:
        lock(one, "s", lock_info("x"))
    claimed(one, DOCUMENT)
    with refused(watcher, "KL201"):
        watcher.execute(question.encode())


def test_object_that_comes_in_two_calls_is_refused(one: Connection, watcher: Connection) -> None:
    twice = resource("a", instance({"id": "again"}))
    upload = claimed(one, state(1, resource("a"), resource("b"), twice), 0, 1)
    upload.send(2)
    with refused(one, "KL001") as refusal:
        upload.write("s")
    assert refusal.detail["address"] == "terraform_data.a"
    with refused(watcher, "KL201"):
        watcher.execute("select kl.read_state('s')")


def test_same_object_twice_byte_for_byte_is_refused(one: Connection) -> None:
    upload = claimed(one, state(1, resource("a"), resource("a")), 0)
    upload.send(1)
    with refused(one, "KL001") as refusal:
        upload.write("s")
    assert refusal.detail["address"] == "terraform_data.a"


def test_call_that_is_sent_again_changes_nothing(one: Connection, watcher: Connection) -> None:
    upload = claimed(one, DOCUMENT, 0, 1)
    upload.send(0, 1)
    upload.send(1, 2)
    assert upload.missing("s") == "{[2,4)}"
    upload.send(2, 3)
    assert upload.write("s").outcome == "written"
    assert rows(watcher)["resources"] == len(NAMES)


def test_blocks_in_two_calls_with_two_providers_are_refused(one: Connection) -> None:
    first = resource("a", instance({"id": "1"}, index_key=0))
    second = resource("a", instance({"id": "2"}, index_key=1), provider="provider.other")
    upload = claimed(one, state(1, first, second), 0)
    upload.send(1)
    with refused(one, "KL001") as refusal:
        upload.write("s")
    assert refusal.detail["providers"] == sorted(refusal.detail["providers"])


@pytest.mark.parametrize(
    "bad",
    [
        resource("x", instance({"id": "x"}, status="odd")),
        resource("x", instance({"id": "x"}, index_key=[])),
        resource("x", mode="odd"),
        resource("x", instance({"id": "x"}, dependencies=["a b c"])),
    ],
)
def test_refused_upload_leaves_nothing_and_the_next_one_succeeds(
    one: Connection, watcher: Connection, bad: Json
) -> None:
    lock(one, "s", lock_info("x"))
    upload = claimed(one, state(1, *(resource(n) for n in NAMES), bad), *range(4))
    upload.send(4)
    with refused(one, "KL001"):
        upload.write("s", "x")
    assert write(one, "s", DOCUMENT, "x").outcome == "written"
    assert canonical(read(one, "s")) == canonical(encoded(DOCUMENT))
    assert rows(watcher)["resources"] == len(NAMES)
    assert rows(watcher)["dependency_sets"] == 1
    assert rows(watcher)["upload_claims"] == 0


@pytest.mark.parametrize("locked", [True, False])
def test_of_two_first_uploads_the_later_one_replaces_the_earlier(
    one: Connection, two: Connection, watcher: Connection, locked: bool
) -> None:
    lock_id = "x" if locked else None
    if locked:
        lock(one, "s", lock_info("x"))
    first, second = claimed(one, DOCUMENT), claimed(two, OTHER)
    assert first.write("s", lock_id).outcome == "written"
    answer = second.write("s", lock_id)
    if answer.outcome == "incomplete":
        second.send()
        answer = second.write("s", lock_id)
    assert (answer.outcome, answer.version_no) == ("written", 2)
    assert canonical(read(one, "s", "v1")) == canonical(encoded(DOCUMENT))
    assert canonical(read(one, "s")) == canonical(encoded(OTHER))
    assert rows(watcher)["resources"] == 2 * len(NAMES)
    assert rows(watcher)["upload_claims"] == 0


def test_upload_without_the_claim_that_is_first_drops_the_other(
    one: Connection, two: Connection, watcher: Connection
) -> None:
    lock(one, "s", lock_info("x"))
    slow, quick = claimed(one, DOCUMENT, 0, 1), claimed(two, OTHER)
    assert quick.write("s", "x").outcome == "written"
    assert rows(watcher)["resources"] == len(NAMES)
    slow.send(2, 3)
    with refused(one, "KL302"):
        slow.write("s", "x")
    assert rows(watcher)["resources"] == len(NAMES)
    assert canonical(read(one, "s")) == canonical(encoded(OTHER))


def test_lock_that_is_freed_under_way_frees_the_name_as_well(
    one: Connection, two: Connection, watcher: Connection
) -> None:
    lock(one, "s", lock_info("x"))
    upload = claimed(one, DOCUMENT)
    unlock(two, lock_info("x"))
    lock(two, "s", lock_info("y"))
    assert upload.write("s", "y").outcome == "incomplete"
    upload.send()
    assert upload.write("s", "y").outcome == "written"
    assert canonical(read(one, "s")) == canonical(encoded(DOCUMENT))
    assert rows(watcher)["resources"] == len(NAMES)


def test_upload_committed_under_another_name_is_sent_again(
    one: Connection, watcher: Connection
) -> None:
    lock(one, "s", lock_info("x"))
    upload = claimed(one, DOCUMENT)
    assert upload.write("t").outcome == "incomplete"
    upload.send()
    assert upload.write("t").outcome == "written"
    assert canonical(read(one, "t")) == canonical(encoded(DOCUMENT))
    assert rows(watcher)["resources"] == len(NAMES)


def test_sweep_takes_the_rows_of_an_abandoned_claim(one: Connection, watcher: Connection) -> None:
    lock(one, "s", lock_info("x"))
    claimed(one, DOCUMENT)
    with one.transaction():
        one.execute("select kl_test.set_clock(now() + interval '59 minutes')")
        assert one.execute(_SWEEP).fetchone() == (0,)
    assert rows(watcher)["resources"] == len(NAMES)
    with one.transaction():
        one.execute("select kl_test.set_clock(now() + interval '61 minutes')")
        assert one.execute(_SWEEP).fetchone() == (1,)
    assert set(rows(watcher).values()) == {0}
    assert write(one, "s", DOCUMENT, "x").outcome == "written"


def test_sweep_leaves_a_state_whose_upload_was_committed(
    one: Connection, watcher: Connection
) -> None:
    claimed(one, DOCUMENT).write("s")
    with one.transaction():
        one.execute("select kl_test.set_clock(now() + interval '61 minutes')")
        one.execute(_SWEEP)
    assert rows(watcher)["resources"] == len(NAMES)


def test_crash_under_way_loses_the_upload_and_not_the_state(
    one: Connection, watcher: Connection
) -> None:
    lock(one, "s", lock_info("x"))
    upload = claimed(one, DOCUMENT, 0, 1)
    unlogged = watcher.execute(
        "select string_agg(c.oid::regclass::text, ', ') from pg_class as c "
        "where c.relpersistence = 'u' and c.relkind = 'r'"
    ).fetchall()[0][0]
    watcher.execute(f"truncate {unlogged}".encode())
    assert upload.write("s", "x").outcome == "lost"
    assert write(one, "s", OTHER, "x").outcome == "written"
    assert canonical(read(one, "s")) == canonical(encoded(OTHER))
    assert rows(watcher)["resources"] == len(NAMES)


def _send(conn: Connection, upload: Upload, *ordinals: int) -> None:
    Upload(conn, upload.document, upload.id).send(*ordinals)


def test_commit_waits_for_rows_of_the_claim_it_ends(pair: Pair) -> None:
    lock(pair.one, "new", lock_info("x"))
    slow = stage_keys(pair.one, DOCUMENT)
    slow.missing("new")
    quick = stage(pair.one, OTHER)
    with pair.one.transaction():
        slow.send(0, 1)
        done = pair.second(lambda conn: Upload(conn, quick.document, quick.id).write("new", "x"))
        assert not done.done()
    assert done.result().outcome == "written"
    slow.send(2, 3)
    assert canonical(read(pair.one, "new")) == canonical(encoded(OTHER))


def test_rows_that_come_while_the_claim_ends_do_not_stay(pair: Pair) -> None:
    lock(pair.one, "new", lock_info("x"))
    slow = stage_keys(pair.one, DOCUMENT)
    slow.missing("new")
    quick = stage(pair.one, OTHER)
    with pair.one.transaction():
        quick.write("new", "x")
        late = pair.second(lambda conn: _send(conn, slow, 0, 1))
        assert not late.done()
    late.result()
    assert canonical(read(pair.one, "new")) == canonical(encoded(OTHER))


def test_claim_is_not_given_while_the_first_version_is_written(pair: Pair) -> None:
    lock(pair.one, "new", lock_info("x"))
    quick, late = stage(pair.one, OTHER), stage_keys(pair.one, DOCUMENT)
    with pair.one.transaction():
        quick.write("new", "x")
        asked = pair.second(lambda conn: Upload(conn, late.document, late.id).missing("new"))
        assert not asked.done()
    asked.result()
    claims = pair.watcher.execute("select count(*) from kl_internal.upload_claims").fetchone()
    assert claims == (0,)


def test_two_calls_that_bring_the_same_lists_do_not_block_each_other_for_good(pair: Pair) -> None:
    lists = [["terraform_data.x"], ["terraform_data.y"]]
    document = state(
        1,
        *(
            resource(f"n{n}", instance({"id": str(n)}, dependencies=lists[n % 2 ^ n // 2]))
            for n in range(4)
        ),
    )
    upload = stage_keys(pair.one, document)
    upload.missing("new")
    with pair.one.transaction():
        upload.send(0, 1)
        other = pair.second(lambda conn: _send(conn, upload, 2, 3))
    other.result()
    assert upload.write("new").outcome == "written"


def test_wrong_digest_commits_nothing(one: Connection, watcher: Connection) -> None:
    upload = claimed(one, DOCUMENT)
    parameters: tuple[Any, ...] = (upload.id, upload.objects, b"\0" * 32)
    answer = one.execute(
        "select outcome from kl.write_state('s', %s, %s, %s, null)", parameters
    ).fetchone()
    assert answer == ("lost",)
    with pytest.raises(psycopg.Error):
        watcher.execute("select kl.read_state('s')")


def test_calls_that_wait_for_each_others_objects_end_with_a_refusal(pair: Pair) -> None:
    twice = [resource(n, instance({"id": str(n)})) for n in "abba"]
    upload = stage_keys(pair.one, state(1, *twice))
    upload.missing("new")
    with pair.one.transaction():
        upload.send(0)
        other = pair.second(lambda conn: [_send(conn, upload, 2), _send(conn, upload, 3)])
        upload.send(1)
    other.result()
    with refused(pair.one, "KL001"):
        upload.write("new")
