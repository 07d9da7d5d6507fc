"""kl.fetch_slice: exact instances, whole, from one snapshot, checked against a base."""

import hmac
import json
from decimal import Decimal
from typing import Any

import pytest

from tests.clusters import Connection, Database
from tests.documents import ENCRYPTED, Json, instance, resource, state
from tests.expansions import AWS, FIREWALL, KEY, PRIMARY, block, example_state
from tests.sql.engine import rows, value
from tests.sql.scope.conftest import case, slice_of
from tests.sql.staging import read, refused, write
from tests.waiting import wait_for

SECRET = [[{"type": "get_attr", "value": "password"}]]


def _rich(serial: int = 1, word: str = "hunter2") -> Json:
    """Return a state with everything an instance can have."""
    return state(
        serial,
        resource(
            "a",
            instance(
                {"id": "i-1", "password": word, "size": 12345678901234567890},
                index_key="0",
                schema_version=3,
                sensitive_attributes=SECRET,
                private="eyJhIjoxfQ==",
                dependencies=[KEY],
                create_before_destroy=True,
                status="tainted",
                identity={"arn": "x"},
                identity_schema_version=1,
            ),
            instance({"id": "old"}, index_key="0", deposed="deadbeef"),
            instance({"id": "i-2"}, index_key=0),
            type="aws_x",
            module='module.m["k"]',
            provider='module.m.provider["registry.terraform.io/hashicorp/aws"].west',
        ),
        block(KEY),
        outputs={
            "url": {"value": "https://x", "type": "string"},
            "token": {"value": "t0ken", "type": "string", "sensitive": True},
        },
    )


def _resources(found: Json) -> list[Json]:
    resources: list[Json] = found["slice"]["resources"]
    return resources


def test_the_example_of_the_protocol(conn: Connection) -> None:
    write(conn, "s", example_state())
    found = slice_of(conn, PRIMARY, KEY, FIREWALL, serial=47)
    identity = conn.execute(
        "select state, state_id::text, lineage, serial, version_id::text from kl.resolve_state('s')"
    ).fetchone()
    members = ("state", "state_id", "lineage", "serial", "version_id")
    assert tuple(found[m] for m in members) == identity
    assert found["slice"]["outputs"] == []
    assert found["slice"]["metadata"] == {"terraform_version": "1.11.4"}
    resources = {r["address"]: r for r in _resources(found)}
    assert list(resources) == [KEY, FIREWALL, PRIMARY]
    primary = resources[PRIMARY]
    assert primary["provider"] == "registry.terraform.io/hashicorp/aws"
    assert primary["schema_version"] == 0
    assert primary["attributes_json"] == {"id": "primary"}
    assert primary["attributes_hash"].startswith("sha256:")
    assert primary["resource_version"] == 1
    assert primary["dependencies"] == [KEY, FIREWALL]
    assert primary["module"] == "module.database"


def test_alias_of_a_keyed_provider_is_whole(conn: Connection) -> None:
    alias = r'by["a\"].b"]'
    provider = f'provider["registry.opentofu.org/hashicorp/aws"].{alias}'
    keyed = resource("a", instance({"id": "a"}, provider=provider))
    del keyed["provider"]
    write(conn, "s", state(1, keyed))
    (found,) = _resources(slice_of(conn, "terraform_data.a"))
    assert (found["provider_config"]["address"], found["provider_config"]["alias"]) == (
        provider,
        alias,
    )


def test_everything_of_an_instance_is_there(conn: Connection) -> None:
    write(conn, "s", _rich())
    (found,) = _resources(slice_of(conn, 'module.m["k"].aws_x.a["0"]'))
    (old,) = found.pop("deposed_objects")
    assert found.pop("attributes_hash") != old["attributes_hash"]
    version = str(value(conn, "select version_id from kl.resolve_state('s')"))
    assert found == {
        "address": 'module.m["k"].aws_x.a["0"]',
        "mode": "managed",
        "type": "aws_x",
        "name": "a",
        "module": 'module.m["k"]',
        "index_key": "0",
        "provider": "registry.terraform.io/hashicorp/aws",
        "provider_config": {
            "address": 'module.m.provider["registry.terraform.io/hashicorp/aws"].west',
            "alias": "west",
            "module": "module.m",
        },
        "schema_version": 3,
        "resource_version": 1,
        "version_id": version,
        "status": "tainted",
        "private": "eyJhIjoxfQ==",
        "dependencies": [KEY],
        "create_before_destroy": True,
        "sensitive_attributes": SECRET,
        "identity": {"arn": "x"},
        "identity_schema_version": 1,
        "attributes_json": {"id": "i-1", "password": "hunter2", "size": 12345678901234567890},
    }
    assert (old["deposed_key"], old["attributes_json"]) == ("deadbeef", {"id": "old"})
    (number,) = _resources(slice_of(conn, 'module.m["k"].aws_x.a[0]'))
    assert number["index_key"] == 0
    assert number["deposed_objects"] == []


def test_an_instance_with_only_a_deposed_object_has_no_current_one(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a", instance({"id": "old"}, deposed="deadbeef"))))
    (found,) = _resources(slice_of(conn, "terraform_data.a"))
    assert "attributes_json" not in found
    assert [o["deposed_key"] for o in found["deposed_objects"]] == ["deadbeef"]


def test_a_hash_is_keyed_and_follows_the_attributes(conn: Connection, database: Database) -> None:
    address = 'module.m["k"].aws_x.a["0"]'

    def hashed(on: Connection) -> str:
        (found,) = _resources(slice_of(on, address))
        return str(found["attributes_hash"])

    write(conn, "s", _rich())
    first = hashed(conn)
    write(conn, "s", _rich(2, "correct horse"))
    assert hashed(conn) != first
    write(conn, "s", _rich(3))
    assert hashed(conn) == first
    # Another installation has another secret.
    with database.connect("postgres") as owner:
        owner.execute(
            "update kl_internal.hash_keys as k set inner_key = set_byte(k.inner_key, 0, "
            "get_byte(k.inner_key, 0) # 1)"
        )
    with database.connect() as other:
        write(other, "s", _rich())
        assert hashed(other) != first


def test_the_hash_is_hmac_sha256(owner_conn: Connection) -> None:
    owner_conn.execute(
        "update kl_internal.hash_keys set (inner_key, outer_key) = ("
        "select string_agg(set_byte('\\x00', 0, get_byte(k.key, n) # 54), '' order by n), "
        "string_agg(set_byte('\\x00', 0, get_byte(k.key, n) # 92), '' order by n) "
        "from (select 'Jefe'::bytea || decode(repeat('00', 60), 'hex') as key) as k, "
        "generate_series(0, 63) as n)"
    )
    write(owner_conn, "s", state(1, resource("a", instance({"id": "a", "n": 1.50}))))
    (found,) = _resources(slice_of(owner_conn, "terraform_data.a"))
    expected = hmac.new(b"Jefe", b'{"id":"a","n":1.5}', "sha256").hexdigest()
    assert found["attributes_hash"] == f"sha256:{expected}"


def test_an_object_without_attributes_has_empty_ones(conn: Connection) -> None:
    bare = {"schema_version": 0, "sensitive_attributes": []}
    write(conn, "s", state(1, resource("a", bare)))
    (found,) = _resources(slice_of(conn, "terraform_data.a"))
    assert found["attributes_json"] == {}
    assert len(found["attributes_hash"]) == len("sha256:") + 64


def test_each_installation_has_a_secret_of_its_own(owner_conn: Connection) -> None:
    row = owner_conn.execute(
        "select length(inner_key), length(outer_key), inner_key <> outer_key, "
        "count(*) over () from kl_internal.hash_keys"
    ).fetchone()
    assert row == (64, 64, True, 1)


def test_nothing_asked_is_an_empty_slice(conn: Connection) -> None:
    write(conn, "s", _rich())
    found = slice_of(conn)
    assert found["slice"]["resources"] == found["slice"]["outputs"] == []
    document = slice_of(conn, form="terraform-state")
    assert document["resources"] == []
    assert document["outputs"] == {}


def test_outputs_come_when_asked_for(conn: Connection) -> None:
    write(conn, "s", _rich())
    (one,) = slice_of(conn, outputs=("token", "none"))["slice"]["outputs"]
    assert one == {
        "name": "token",
        "value": "t0ken",
        "type": "string",
        "sensitive": True,
        "resource_version": 1,
    }
    assert len(slice_of(conn, outputs=("*",))["slice"]["outputs"]) == 2
    assert slice_of(conn, outputs=("url",), form="terraform-state")["outputs"] == {
        "url": {"value": "https://x", "type": "string"}
    }


def test_what_is_missing_is_named(conn: Connection) -> None:
    write(conn, "s", _rich())
    with refused(conn, "KL402") as refusal:
        slice_of(conn, KEY, 'module.m["k"].aws_x.a', 'module.m["k"].aws_x.a[1]', "aws_x.none")
    assert refusal.detail["missing"] == [
        "aws_x.none",
        'module.m["k"].aws_x.a',  # the instance without key, which there is none of
        'module.m["k"].aws_x.a[1]',
    ]


def _version(conn: Connection, serial: int) -> object:
    query = "select v.version_id from kl.state_versions as v where v.serial = %s"
    return value(conn, query, serial)


def test_only_changes_of_what_is_asked_matter(conn: Connection) -> None:
    def document(serial: int, size: int, other: str = "o", url: str = "u") -> Json:
        return state(
            serial,
            resource("a", instance({"size": size})),
            resource("b", instance({"id": other})),
            *([resource("c")] if serial < 3 else []),
            outputs={"url": {"value": url, "type": "string"}},
        )

    base = write(conn, "s", document(1, 1)).version_id
    write(conn, "s", document(2, 1, "changed"))
    assert slice_of(conn, "terraform_data.a", outputs=("url",), serial=1)["serial"] == 2
    write(conn, "s", document(3, 7, "changed", "v"))
    with refused(conn, "KL302") as refusal:
        slice_of(conn, "terraform_data.a", "terraform_data.b", version_id=base)
    assert refusal.detail["addresses"] == ["terraform_data.a", "terraform_data.b"]
    assert (refusal.detail["current_serial"], refusal.detail["base_serial"]) == (3, 1)
    with refused(conn, "KL302") as refusal:
        slice_of(conn, outputs=("url",), serial=2)
    assert refusal.detail["outputs"] == ["url"]
    # Gone since, not just missing.
    with refused(conn, "KL302") as refusal:
        slice_of(conn, "terraform_data.c", serial=2)
    assert refusal.detail["addresses"] == ["terraform_data.c"]
    assert slice_of(conn, "terraform_data.b", serial=2)["serial"] == 3
    assert slice_of(conn, "terraform_data.a", serial=3)["serial"] == 3
    # New since: whoever knows that base has planned without it.
    write(conn, "s", document(4, 7, "changed", "v") | {"outputs": {}, "resources": [resource("d")]})
    with refused(conn, "KL302") as refusal:
        slice_of(conn, "terraform_data.d", serial=3)
    assert refusal.detail["addresses"] == ["terraform_data.d"]
    with refused(conn, "KL302") as refusal:
        slice_of(conn, "terraform_data.d", outputs=("url",), version_id=_version(conn, 3))
    assert refusal.detail["outputs"] == ["url"]


def test_a_base_that_never_was_is_a_conflict(conn: Connection) -> None:
    write(conn, "s", _rich())
    with refused(conn, "KL302") as refusal:
        slice_of(conn, KEY, serial=9)
    assert refusal.detail["current_serial"] == 1


@pytest.mark.parametrize(
    ("addresses", "form"), [(["module.m"], None), ([""], None), ([KEY], "tfstate")]
)
def test_what_is_wrong_is_refused(conn: Connection, addresses: list[str], form: str | None) -> None:
    write(conn, "s", _rich())
    with refused(conn, "KL001"):
        slice_of(conn, *addresses, form=form)


def test_an_address_that_is_none_is_pointed_at(conn: Connection) -> None:
    write(conn, "s", _rich())
    with refused(conn, "KL001") as refusal:
        slice_of(conn, "aws_x.a", "aws_x")
    assert refusal.detail == {"address": "aws_x", "pointer": "/addresses/1"}


def test_an_encrypted_state_has_no_slices(conn: Connection) -> None:
    write(conn, "s", ENCRYPTED)
    with refused(conn, "KL002"):
        slice_of(conn)


def _objects(document: Json) -> dict[tuple[Any, ...], Json]:
    """Return the objects of a document with their headers, by what tells them apart."""
    return {
        (
            r.get("module"),
            r["mode"],
            r["type"],
            r["name"],
            json.dumps(i.get("index_key")),
            i.get("deposed"),
        ): {**r, "instances": None, **i}
        for r in document["resources"]
        for i in r["instances"]
    }


@pytest.mark.parametrize("number", ["01", "03", "05", "07", "08", "11", "12", "19"])
def test_a_state_document_has_each_object_as_the_whole_has(conn: Connection, number: str) -> None:
    case(conn, number)
    addresses = [
        row[0]
        for row in conn.execute(
            "select distinct r.address from kl.resources as r where r.state_name = 's'"
        )
    ]
    whole = json.loads(read(conn, "s"), parse_float=Decimal)
    document = slice_of(conn, *addresses, outputs=("*",), form="terraform-state")
    assert _objects(document) == _objects(whole)
    assert document["outputs"] == whole.get("outputs", {})
    assert (document["version"], document["serial"]) == (4, whole.get("serial", 0))
    assert document["lineage"] == whole.get("lineage", "")
    native = {r["address"]: r for r in _resources(slice_of(conn, *addresses))}
    assert len(native) == len(addresses)
    stored = [o.get("attributes") for o in _objects(whole).values() if not o.get("deposed")]
    for found in native.values():
        if found.get("attributes_json") is not None and "attributes_flat" not in found:
            assert found["attributes_json"] in stored


def test_a_slice_is_of_one_snapshot(database: Database) -> None:
    """A writer that commits between two looks at the state changes nothing in the answer."""

    def document(serial: int) -> Json:
        return state(serial, resource("a", instance({"n": serial}), provider=AWS), resource("b"))

    with database.connect(autocommit=False) as reader, database.connect() as writer:
        write(writer, "s", document(1))
        # The reader's statement begins, and waits inside for the writer to have committed.
        reader.execute("set transaction isolation level read committed")
        query = (
            "select kl.fetch_slice('s', array['terraform_data.a'], '{}', null, null, null), "
            "pg_advisory_xact_lock(7), "
            "kl.fetch_slice('s', array['terraform_data.a'], '{}', null, null, null)"
        )
        with database.connect("postgres", autocommit=False) as holder:
            holder.execute("select pg_advisory_xact_lock(7)")
            reader.pgconn.send_query(query.encode())
            _wait_for_waiter(holder)
            write(writer, "s", document(2))
            holder.rollback()
        result = reader.pgconn.get_result()
        assert result is not None
        first, second = (json.loads(result.get_value(0, n) or b"") for n in (0, 2))
        while reader.pgconn.get_result() is not None:
            pass
    assert first == second
    assert first["serial"] == 1
    assert first["slice"]["resources"][0]["attributes_json"] == {"n": 1}


def _wait_for_waiter(conn: Connection) -> None:
    query = (
        "select count(*) from pg_locks where locktype = 'advisory' and not granted and objid = 7"
    )
    wait_for(lambda: value(conn, query))


def test_scopes_and_slices_look_at_one_snapshot(conn: Connection) -> None:
    # A stable function sees what its caller's statement sees, all through.
    assert (
        rows(
            conn,
            "select p.proname from pg_proc as p where p.pronamespace = 'kl'::regnamespace "
            "and p.proname in ('expand_scope', 'fetch_slice', 'resolve_state') "
            "and p.provolatile <> 's'",
        )
        == []
    )
