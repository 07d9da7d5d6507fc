"""The commands on whole states: the same over SQL and over HTTP."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Kl, Place
from tests.cli.documents import ENCRYPTED, LINEAGE, document, write

LOCK = {"ID": "11111111-1111-4111-8111-111111111111", "Operation": "OperationTypeApply"}
LOCK |= {"Who": "eve@host\x1b[31m", "Info": "", "Version": "1.11.4", "Path": ""}


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A state name of the test's own."""
    return request.node.name


def _lock(place: Place, name: str) -> None:
    with place.database.connect() as conn:
        conn.execute("select kl.lock_state(%s, %s)", (name, json.dumps(LOCK)))


def test_import_then_export_gives_the_document_back(at: Kl, name: str, tmp_path: Path) -> None:
    body = document(2**64 - 1, ("b", "a"))
    done = at("import", write(tmp_path / "s.json", body), "--name", name, "--format", "json")
    assert (done.exit_code, done.err) == (0, "")
    assert done.json["outcome"] == "written"
    assert done.json["version_no"] == 1
    assert done.json["serial"] == 2**64 - 1
    exported = at("export", name)
    assert exported.exit_code == 0
    assert exported.json == body


def test_import_of_the_same_document_changes_nothing(at: Kl, name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "s.json", document())
    at("import", path, "--name", name)
    done = at("import", "--name", name, path)
    assert done.out.decode() == f"{name}: unchanged, version v1, serial 1\n"


def test_import_reads_standard_input(at: Kl, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(document()).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert at("import", "-", "--name", name).exit_code == 0
    assert at("export", name).json == document()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_request"),
        (b"[]", "invalid_request"),
        (b'{"version": 3}', "invalid_request"),
        (b"\xef\xbb\xbf{}", "invalid_request"),
        (json.dumps(document()).encode() + b"x", "invalid_request"),
    ],
)
def test_what_is_no_state_is_refused(
    at: Kl, name: str, tmp_path: Path, body: bytes, code: str
) -> None:
    done = at("import", write(tmp_path / "s.json", body), "--name", name)
    assert done.exit_code == 1
    assert done.err.startswith(f"kl: {code}: ")
    assert done.err.count("\n") == 1
    assert at("status", name).err.startswith("kl: state_not_found: ")


def test_lower_serial_is_a_conflict(at: Kl, name: str, tmp_path: Path) -> None:
    at("import", write(tmp_path / "s.json", document(5)), "--name", name)
    done = at("import", write(tmp_path / "s.json", document(4, ("x",))), "--name", name)
    assert done.exit_code == 1
    assert done.err.startswith("kl: state_serial_conflict: ")


def test_source_apply_needs_the_admin_right(
    at: Kl, place: Place, name: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.json", document())
    done = at("import", path, "--name", name, "--source", "apply")
    if "KL_STATE_URL" in place.env:  # an open server lets everybody do everything
        assert done.exit_code == 0
        return
    assert done.exit_code == 1
    assert done.err.startswith("kl: forbidden: ")


def test_encrypted_document_comes_out_byte_for_byte(at: Kl, name: str, tmp_path: Path) -> None:
    at("import", write(tmp_path / "s.json", ENCRYPTED), "--name", name)
    assert at("export", name).out == ENCRYPTED
    target = tmp_path / "out.json"
    assert at("export", name, "-o", str(target)).out == b""
    assert target.read_bytes() == ENCRYPTED
    assert "encrypted by the client" in at("status", name).out.decode()
    assert at("status", name, "--format", "json").json["current_version"]["opaque"] is True


def test_encrypted_document_without_its_bytes_is_an_error_not_an_empty_file(
    at: Kl, place: Place, name: str, tmp_path: Path
) -> None:
    at("import", write(tmp_path / "s.json", ENCRYPTED), "--name", name)
    with place.database.connect("postgres") as conn:
        conn.execute(
            "delete from kl_internal.opaque_chunks as c using kl.state_versions as v"
            " where v.version_id = c.version_id and v.state_name = %s",
            (name,),
        )
    done = at("export", name)
    assert (done.exit_code, done.out) == (1, b"")
    assert done.err.startswith("kl: version_damaged: bytes of the encrypted document of v1 ")


def test_versions_are_named_in_each_way(at: Kl, name: str, tmp_path: Path) -> None:
    for serial in (3, 7):
        path = write(tmp_path / "s.json", document(serial, (f"n{serial}",)))
        imported = at("import", path, "--name", name, "--format", "json")
    for ref, serial in (("current", 7), ("@0", 7), ("@1", 3), ("v1", 3), ("7", 7), ("3", 3)):
        assert at("export", name, "--version", ref).json["serial"] == serial
    assert at("export", "--version", imported.json["version_id"], name).json["serial"] == 7
    done = at("export", name, "--version", "v3")
    assert (done.exit_code, done.out) == (1, b"")
    assert done.err.startswith("kl: version_not_found: ")


def test_list_shows_each_state(at: Kl, name: str, tmp_path: Path, place: Place) -> None:
    at("import", write(tmp_path / "s.json", document(4)), "--name", name, "--actor", "bob@ci")
    _lock(place, name)
    row = next(row for row in at("list", "--format", "json").json if row["name"] == name)
    assert (row["version_no"], row["serial"], row["objects"]) == (1, 4, 1)
    assert (row["source"], row["actor"]) == ("import", "bob@ci")
    assert row["locked_by"] == LOCK["Who"]
    lines = at("list").out.decode().splitlines()
    assert lines[0].split() == [
        *("NAME", "VERSION", "SERIAL", "OBJECTS", "WRITTEN", "BY", "SOURCE", "LOCKED", "BY")
    ]
    line = next(line for line in lines if line.startswith(f"{name} "))
    assert line.split()[1:4] == ["v1", "4", "1"]
    assert line.endswith("eve@host\\x1b[31m")


def test_status_tells_of_locks_runs_and_reservations(
    at: Kl, name: str, tmp_path: Path, place: Place
) -> None:
    path = write(tmp_path / "s.json", document())
    state = at("import", path, "--name", name, "--format", "json").json
    path = write(tmp_path / "s.json", document(2, ("one", "two")))
    at("import", path, "--name", name, "--source", "refresh")
    _lock(place, name)
    with place.database.connect("postgres") as conn:
        conn.execute(
            """
            with state as (
                select v.state_id, v.id as version_id
                from kl_internal.state_versions as v where v.id = %s
            ), apply as (
                insert into kl_internal.apply_runs (state_id, actor, principal, started_at)
                select s.state_id, 'ann@cli', 'x', now() - interval '90 seconds' from state as s
                returning id, state_id
            ), refresh as (
                insert into kl_internal.refresh_runs (state_id, from_version_id, actor, started_at)
                select s.state_id, s.version_id, 'cron', now() - interval '2 days' from state as s
            )
            insert into kl_internal.resource_reservations (
                state_id, apply_id, address_glob, mode, holder, principal, acquired_at, expires_at,
                path, scope, occupancy
            )
            select
                a.state_id, a.id, g.glob, 'write', 'ann@cli', 'x', now(), now() + g.lease,
                g.glob, kl_internal.scope_range(g.glob), '(,)'
            from apply as a
            cross join (
                values ('module.a', interval '59.5 minutes'), ('gone', interval '-1 second')
            ) as g (glob, lease)
            """,
            (state["version_id"],),
        )
    found = at("status", name, "--format", "json").json
    assert found["name"] == name
    assert found["versions"] == 2
    assert found["current_version"]["serial"] == 2
    assert found["current_version"]["lineage"] == LINEAGE
    assert found["last_refresh"]["from_version_no"] == 1
    assert found["last_refresh"]["to_version_no"] == 2
    assert [lock["lock_id"] for lock in found["locks"]] == [LOCK["ID"]]
    assert 0 <= found["locks"][0]["age_seconds"] < 600
    assert 90 <= found["apply_runs"][0]["age_seconds"] < 690
    assert found["refresh_runs"][0]["from_version_no"] == 1
    assert [row["address_glob"] for row in found["reservations"]] == ["module.a"]
    text = at("status", name).out.decode()
    assert "version     v2, serial 2\n" in text
    assert "refreshed   from v1 to v2 at " in text
    assert f"(OperationTypeApply), lock {LOCK['ID']}\n" in text
    assert "applying    by ann@cli for 1m " in text
    assert "refreshing  by cron for 2d 0h, " in text
    assert "module.a  write  ann@cli  59m " in text
    assert "\x1b" not in text


def test_state_that_was_only_locked_says_who_holds_it(at: Kl, name: str, place: Place) -> None:
    _lock(place, name)
    done = at("status", name)
    assert done.exit_code == 1
    assert done.err.startswith("kl: state_not_found: ")
    assert LOCK["ID"] in done.err
    assert at("unlock", name).exit_code == 0
    assert at("unlock", name).err.startswith("kl: state_not_found: ")


def test_unlock_frees_only_the_lock_that_is_named(
    at: Kl, name: str, tmp_path: Path, place: Place
) -> None:
    at("import", write(tmp_path / "s.json", document()), "--name", name)
    _lock(place, name)
    done = at("unlock", name, "22222222-2222-4222-8222-222222222222")
    assert done.exit_code == 1
    assert done.err.startswith("kl: lock_mismatch: ")
    done = at("--format", "json", "unlock", name, LOCK["ID"])
    assert done.json["lock"]["lock_id"] == LOCK["ID"]
    assert at("unlock", name).out.decode() == f"{name}: was not locked\n"


def test_locked_state_is_neither_imported_nor_deleted(
    at: Kl, name: str, tmp_path: Path, place: Place
) -> None:
    at("import", write(tmp_path / "s.json", document()), "--name", name)
    _lock(place, name)
    path = write(tmp_path / "s.json", document(2))
    for done in (at("import", path, "--name", name), at("delete", name, "--yes")):
        assert done.exit_code == 1
        assert done.err.startswith("kl: terraform_locked: ")
        assert LOCK["ID"] in done.err


def test_deleted_state_is_gone(at: Kl, name: str, tmp_path: Path) -> None:
    at("import", write(tmp_path / "s.json", document()), "--name", name)
    assert at("delete", name).exit_code == 2
    assert at("delete", name, "--yes").out.decode() == f"{name}: deleted\n"
    for args in (("export",), ("status",), ("unlock",), ("delete", "--yes")):
        done = at(args[0], name, *args[1:])
        assert (done.exit_code, done.out) == (1, b"")
        assert done.err.startswith("kl: state_not_found: ")


@pytest.mark.parametrize("odd", ["a/b c?d#e%25&é=+", "--x", "50%", "a;b:c@d"])
def test_odd_names_reach_their_state(at: Kl, name: str, tmp_path: Path, odd: str) -> None:
    path = write(tmp_path / "s.json", document())
    odd = f"{odd}-{'http' if '[http' in name else 'sql'}"
    assert at("import", path, f"--name={odd}").exit_code == 0
    assert at("status", "--format", "json", "--", odd).json["name"] == odd
    assert at("export", "--", odd).json == document()
    assert at("delete", "--yes", "--", odd).exit_code == 0


@pytest.mark.parametrize("bad", ["", ".", "a//b", "a/../b", "x" * 513, "a\nb"])
def test_names_that_no_state_can_have_are_refused(at: Kl, tmp_path: Path, bad: str) -> None:
    path = write(tmp_path / "s.json", document())
    for done in (at("import", path, "--name", bad), at("status", bad), at("export", bad)):
        assert done.exit_code == 1
        assert done.err.startswith("kl: invalid_request: ")
        assert done.err.count("\n") == 1


def test_failed_export_leaves_the_file_alone(at: Kl, name: str, tmp_path: Path) -> None:
    target = tmp_path / "kept.json"
    target.write_text("kept")
    assert at("export", name, "-o", str(target)).exit_code == 1
    assert target.read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]


def test_many_resources_come_out_whole(at: Kl, name: str, tmp_path: Path) -> None:
    body = document(1, tuple(f"n{number:05}" for number in range(5000)))
    at("import", write(tmp_path / "s.json", body), "--name", name)
    target = tmp_path / "out.json"
    assert at("export", name, "--output", str(target)).exit_code == 0
    assert json.loads(target.read_bytes()) == body
    assert target.stat().st_mode & 0o777 == 0o600
