from tests.clusters import Connection
from tests.documents import ENCRYPTED, instance, resource, state
from tests.sql.staging import refused, stage_keys, write

NAMES = "abcdef"


def test_everything_is_missing_from_an_unknown_state(conn: Connection) -> None:
    upload = stage_keys(conn, state(1, *(resource(n) for n in NAMES)))
    assert upload.missing("s") == "{[0,6)}"
    upload.send(1, 4)
    assert upload.missing("s") == "{[0,1),[2,4),[5,6)}"


def test_only_what_differs_from_the_open_rows_is_missing(conn: Connection) -> None:
    write(conn, "s", state(1, *(resource(n) for n in NAMES)))
    changed = [resource(n, instance({"id": "x"})) if n in "bf" else resource(n) for n in NAMES]
    assert stage_keys(conn, state(2, *changed)).missing("s") == "{[1,2),[5,6)}"
    assert stage_keys(conn, state(2, *changed)).missing("other") == "{[0,6)}"


def test_header_is_part_of_what_is_compared(conn: Connection) -> None:
    write(conn, "s", state(1, *(resource(n) for n in NAMES)))
    moved = [resource(n, provider="provider.other") for n in NAMES]
    assert stage_keys(conn, state(2, *moved)).missing("s") == "{[0,6)}"


def test_closed_rows_do_not_count(conn: Connection) -> None:
    document = state(1, resource("a"))
    write(conn, "s", document)
    write(conn, "s", state(2))
    assert stage_keys(conn, document).missing("s") == "{[0,1)}"


def test_nothing_is_missing_of_nothing(conn: Connection) -> None:
    assert stage_keys(conn, state(1)).missing("s") == "{}"


def test_every_run_of_an_encrypted_document_is_missing(conn: Connection) -> None:
    body = ENCRYPTED.replace(b"c2VjcmV0", b"c2VjcmV0" * 300_000)
    assert stage_keys(conn, body).missing("s") == "{[0,3)}"


def test_bad_names_are_refused(conn: Connection) -> None:
    upload = stage_keys(conn, state(1))
    with refused(conn, "KL001"):
        upload.missing("a//b")
    with refused(conn, "KL201"):
        upload.missing("ws_no/env_no/s")


def test_nobody_but_the_owner_reads_the_stage(conn: Connection) -> None:
    stage_keys(conn, state(1, resource()))
    for table in ("staged_keys", "staged_slices"):
        for query in (f"select * from kl_internal.{table}", f"delete from kl_internal.{table}"):
            with refused(conn, "42501"):
                conn.execute(query.encode())
