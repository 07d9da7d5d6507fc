"""What a delta changes, and what it leaves as it is."""

import json
from typing import Any

import pytest

from tests.clusters import Connection
from tests.documents import LINEAGE, instance, resource, state
from tests.equality import canonical
from tests.sql.auth.acting import act, new_token
from tests.sql.commit.committing import (
    Delta,
    addresses,
    commit,
    damage,
    delta,
    document,
    serials,
    writer,
)
from tests.sql.commit.operating import named, remove
from tests.sql.engine import begin, rows
from tests.sql.staging import read, refused, write

A, B = "terraform_data.a", "terraform_data.b"
CHANGED = resource("a", instance({"id": "new"}))


@pytest.fixture(autouse=True)
def _state(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a"), resource("b")))


def test_a_delta_is_the_next_version_with_who_and_what(conn: Connection) -> None:
    run = writer(conn, A)
    done = commit(run, delta(CHANGED))
    version = rows(
        conn,
        "select version_id, version_no, serial, source, actor, run_id, lineage "
        "from kl.state_versions order by version_no desc limit 1",
    )[0]
    assert (done.serial, done.version_no) == (2, 2)
    assert version == {
        "version_id": done.version_id,
        "version_no": 2,
        "serial": 2,
        "source": "apply",
        "actor": "ann@kl",
        "run_id": run.id,
        "lineage": LINEAGE,
    }
    expected = state(2, CHANGED, resource("b"))
    assert canonical(read(conn, "s")) == canonical(json.dumps(expected))


def test_attributes_are_kept_byte_by_byte(conn: Connection) -> None:
    attributes = (
        r'{"z": 1.50, "a":"\u0000 \ud800 \\u0041 x  y", "n": 123456789012345678901234567890,'
        r' "e": 1e400, "b\"q": [ 1 ,2]}'
    )
    text = (
        f'{{"lineage": "{LINEAGE}", "write_set": ["{A}"], "resources": [{{"mode":"managed", '
        f'"type":"terraform_data","name":"a","provider":{json.dumps(CHANGED["provider"])},'
        f'"instances":[{{ "schema_version": 0, "attributes" : {attributes}, '
        '"private":"cHJpdmF0ZQ==", "status": "tainted"}]}]}'
    )
    commit(writer(conn, A), text)
    compact = (
        r'{"z":1.50,"a":"\u0000 \ud800 \\u0041 x  y","n":123456789012345678901234567890,'
        r'"e":1e400,"b\"q":[1,2]}'
    )
    found = read(conn, "s").decode()
    assert compact in found
    assert '"private": "cHJpdmF0ZQ=="' in found or '"private":"cHJpdmF0ZQ=="' in found


def test_nothing_of_an_object_is_lost(conn: Connection) -> None:
    full = resource(
        "a",
        instance(
            {"id": "x"},
            index_key="k",
            status="tainted",
            private="cA==",
            dependencies=[B],
            create_before_destroy=True,
            identity={"id": "1"},
            identity_schema_version=2,
            attributes_flat=None,
            future={"kept": [1]},
        ),
        instance({"id": "y"}, index_key="k", deposed="00000001"),
    )
    change = delta(full, write=['terraform_data.a["k"]'], delete=[A])
    commit(writer(conn, "terraform_data.a"), change)
    expected = state(2, full, resource("b"))
    assert canonical(read(conn, "s")) == canonical(json.dumps(expected))


def test_an_address_in_the_delete_set_goes_and_an_absent_one_is_no_fault(conn: Connection) -> None:
    change = delta(delete=[A, "terraform_data.gone", "module.m.terraform_data.gone[1]"])
    run = writer(conn, A, "terraform_data.gone", "module.m")
    commit(run, change)
    assert addresses(conn) == [B]


def test_the_payload_is_all_that_is_at_its_address_deposed_objects_too(conn: Connection) -> None:
    both = resource("a", instance(), instance(deposed="00000001"), instance(deposed="00000002"))
    run = writer(conn, A)
    commit(run, delta(both))
    assert addresses(conn) == [A, f"{A} 00000001", f"{A} 00000002", B]
    commit(run, delta(resource("a", instance(), instance(deposed="00000002"))), 2)
    assert addresses(conn) == [A, f"{A} 00000002", B]
    commit(run, delta(resource("a", instance(deposed="00000002"))), 3)
    assert addresses(conn) == [f"{A} 00000002", B]
    commit(run, delta(CHANGED), 4)
    assert addresses(conn) == [A, B]
    assert damage(conn) == []


def test_a_list_of_dependencies_is_the_states_own(conn: Connection) -> None:
    needs = instance({"id": "new"}, dependencies=[B])
    write(conn, "other", state(1, resource("x", needs)))
    commit(writer(conn, A), delta(resource("a", needs)))
    assert named(remove(conn, B, apply=False)["preview"]["dependents"]) == [A]
    assert damage(conn) == []


def test_an_address_without_key_is_the_instance_without_key(conn: Connection) -> None:
    run = writer(conn, A)
    keyed = resource("a", instance({"id": "0"}, index_key=0))
    commit(run, delta(keyed, write=[f"{A}[0]"], delete=[A]))
    assert addresses(conn) == [f"{A}[0]", B]
    commit(run, delta(resource("a"), delete=[f"{A}[0]"]), 2)
    assert addresses(conn) == [A, B]


def test_a_group_means_all_its_instances(conn: Connection) -> None:
    group = resource("g", instance(index_key=0), instance(index_key=1))
    run = writer(conn, "terraform_data.g")
    commit(run, delta(group))
    smaller = resource("g", instance({"id": "x"}, index_key=0))
    with refused(conn, "KL001") as refusal:
        commit(run, delta(smaller), 2)
    assert refusal.detail["addresses"] == ["terraform_data.g[1]"]
    commit(run, delta(smaller, delete=["terraform_data.g[1]"]), 2)
    assert addresses(conn) == [A, B, "terraform_data.g[0]"]


def test_an_address_may_hold_escaped_characters_beyond_the_first_plane(conn: Connection) -> None:
    keyed = resource("g", instance({"id": "\0"}, index_key="\U0001f600"))
    commit(writer(conn, "*"), delta(keyed, write=['terraform_data.g["\U0001f600"]']))
    assert addresses(conn)[-1] == 'terraform_data.g["\U0001f600"]'


def test_an_unchanged_payload_keeps_its_row(conn: Connection) -> None:
    commit(writer(conn, A), delta(resource("a")))
    found = conn.execute("select address, create_version_no from kl.resources order by 1")
    assert found.fetchall() == [(A, 1), (B, 1)]
    assert serials(conn) == [1, 2]


@pytest.mark.parametrize(
    "members",
    [
        {"private": "cA=="},
        {"status": "tainted"},
        {"schema_version": 1},
        {"dependencies": [B]},
        {"create_before_destroy": True},
        {"sensitive_attributes": [[{"type": "get_attr", "value": "id"}]]},
        {"identity_schema_version": 0, "identity": {"id": "a"}},
        {"never_heard_of": 1},
    ],
)
def test_what_differs_in_one_member_alone_is_a_change(
    conn: Connection, members: dict[str, Any]
) -> None:
    differing = resource("a", instance({"id": "a"}, **members))
    commit(writer(conn, A), delta(differing))
    assert canonical(read(conn, "s")) == canonical(json.dumps(state(2, differing, resource("b"))))


def test_outputs_are_written_and_deleted_by_name(conn: Connection) -> None:
    one = {"value": 1, "type": "number"}
    write(conn, "s", state(2, resource("a"), outputs={"kept": one, "gone": one, "old": one}))
    change = delta(
        CHANGED,
        output_writes={"old": {"value": "x", "type": "string", "sensitive": True}, "new": one},
        output_delete_set=["gone", "never"],
    )
    commit(writer(conn, A), change, 2)
    assert document(conn)["outputs"] == {
        "kept": one,
        "new": one,
        "old": {"value": "x", "type": "string", "sensitive": True},
    }


def test_check_results_replace_by_configuration_address_and_absent_ones_stay(
    conn: Connection,
) -> None:
    def check(address: str, status: str) -> dict[str, Any]:
        return {"object_kind": "check", "config_addr": address, "status": status, "objects": None}

    write(
        conn,
        "s",
        state(2, resource("a"), check_results=[check("a", "unknown"), check("b", "fail")]),
    )
    run = writer(conn, A)
    commit(run, delta(CHANGED, check_results=[check("c", "error"), check("a", "pass")]), 2)
    merged = [check("a", "pass"), check("b", "fail"), check("c", "error")]
    assert document(conn)["check_results"] == merged
    for absent in ({}, {"check_results": None}):
        commit(run, delta(CHANGED, **absent), 2)
        assert document(conn)["check_results"] == merged


def test_terraform_version_is_the_deltas(conn: Connection) -> None:
    commit(writer(conn, A), delta(CHANGED, terraform_version="1.13.4"))
    assert document(conn)["terraform_version"] == "1.13.4"


def test_members_the_document_had_not_appear_when_a_delta_brings_them(conn: Connection) -> None:
    bare = {"version": 4, "serial": 1, "lineage": LINEAGE, "outputs": None, "resources": None}
    write(conn, "bare", bare)
    run = writer(conn, A, name="bare")
    output = {"value": 1, "type": "number"}
    commit(run, delta(CHANGED, output_writes={"o": output}, check_results=[]))
    found = document(conn, "bare")
    assert found["outputs"] == {"o": output}
    assert found["check_results"] == []
    assert [r["name"] for r in found["resources"]] == ["a"]


def test_a_repeated_request_is_answered_as_before(conn: Connection) -> None:
    run = writer(conn, A)
    done = commit(run, delta(CHANGED))
    commit(run, delta(resource("a")), 2)
    assert commit(run, delta(CHANGED)) == done
    run.finish()
    assert commit(run, delta(CHANGED)) == done
    assert serials(conn) == [1, 2, 3]


def test_the_same_change_on_another_base_is_another_request(conn: Connection) -> None:
    run = writer(conn, A)
    assert commit(run, delta(CHANGED)).serial == 2
    back = commit(run, delta(resource("a")), 2)
    assert commit(run, delta(CHANGED), 3).serial == 4
    assert commit(run, delta(resource("a")), back.version_id).serial == 5


def test_the_answer_of_a_request_is_for_who_sent_it(conn: Connection) -> None:
    run = writer(conn, A)
    commit(run, delta(CHANGED))
    act(conn, new_token(conn, "state:read", "state:write"))
    with refused(conn, "KL102"):
        commit(run, delta(CHANGED))


def test_the_older_form_takes_what_the_write_set_names_from_a_whole_document(
    conn: Connection,
) -> None:
    untrusted = resource("b", instance({"id": "not to be trusted"}))
    output = {"value": 1, "type": "number"}
    whole = state(9, CHANGED, untrusted, outputs={"o": output}, terraform_version="1.12.0")
    change = Delta(members={"raw_state": whole, "write_set": [A]})
    del change.members["raw_state"]["check_results"]
    commit(writer(conn, A), change)
    found = document(conn)
    assert canonical(json.dumps(found)) == canonical(
        json.dumps(
            state(2, CHANGED, resource("b"), outputs={"o": output}, terraform_version="1.12.0")
        )
    )


def test_absence_in_the_older_form_is_no_deletion(conn: Connection) -> None:
    change = Delta(members={"raw_state": state(2, resource("b")), "write_set": [A]})
    with refused(conn, "KL001") as refusal:
        commit(writer(conn, A), change)
    assert refusal.detail["addresses"] == [A]


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"write_set": "x"}, "/delta/write_set"),
        ({"write_set": [A, 1]}, "/delta/write_set/1"),
        ({"delete_set": {}}, "/delta/delete_set"),
        ({"resources": {}}, "/delta/resources"),
        ({"resources": [1]}, "/delta/resources/0"),
        ({"resources": [CHANGED, {"instances": 1}]}, "/delta/resources/1/instances"),
        ({"output_writes": []}, "/delta/output_writes"),
        ({"output_writes": {"a/b~": 1}}, "/delta/output_writes/a~1b~0"),
        ({"output_writes": {"a/b": {"type": "string"}}}, "/delta/output_writes/a~1b"),
        ({"output_delete_set": [None]}, "/delta/output_delete_set/0"),
        ({"check_results": {}}, "/delta/check_results"),
        ({"lineage": 1}, "/delta/lineage"),
        ({"lineage": None}, "/delta/lineage"),
        ({"terraform_version": []}, "/delta/terraform_version"),
        ({"raw_state": "text"}, "/delta/raw_state"),
    ],
)
def test_a_member_of_the_wrong_kind_is_named_by_its_pointer(
    conn: Connection, members: dict[str, Any], pointer: str
) -> None:
    with refused(conn, "KL001") as refusal:
        commit(writer(conn, A), delta(CHANGED, write=[A], **members))
    assert refusal.detail["pointer"] == pointer


@pytest.mark.parametrize("name", ["o", "a\\b", "a\u0000b", "\ud800", "ü"])
def test_an_output_is_written_or_deleted(conn: Connection, name: str) -> None:
    outputs = {"other": {"value": 1, "type": "number"}, name: {"value": 1, "type": "number"}}
    run = writer(conn, A)
    with refused(conn, "KL001") as refusal:
        commit(run, delta(CHANGED, output_writes=outputs, output_delete_set=["x", name]))
    assert refusal.detail["pointer"] == "/delta/output_delete_set"
    del outputs["other"]
    commit(run, delta(CHANGED, output_writes=outputs, output_delete_set=["other"]))


@pytest.mark.parametrize("text", ["[]", "1", "null", '"x"'])
def test_what_is_no_object_is_refused(conn: Connection, text: str) -> None:
    with refused(conn, "KL001"):
        commit(writer(conn, A), text)


def test_unknown_members_are_ignored(conn: Connection) -> None:
    assert commit(writer(conn, A), delta(CHANGED, future=1)).serial == 2


def test_an_address_that_is_none_is_refused(conn: Connection) -> None:
    for bad in ("module.m", "", "x"):
        with refused(conn, "KL001") as refusal:
            commit(writer(conn, "*"), delta(CHANGED, write=[A, bad]))
        assert refusal.detail == {"address": bad, "pointer": "/delta/write_set/1"}
        with refused(conn, "KL001") as refusal:
            commit(writer(conn, "*"), delta(CHANGED, delete=[bad]))
        assert refusal.detail["pointer"] == "/delta/delete_set/0"


def test_what_only_reads_like_an_address_is_not_taken_for_it(conn: Connection) -> None:
    """A block of type "module" may be spelled like a resource in a module."""
    odd = resource("m.terraform_data.a", type="module")
    with refused(conn, "KL001") as refusal:
        commit(writer(conn, "*"), delta(odd, write=["module.m.terraform_data.a"]))
    assert refusal.detail == {"addresses": ["module.m.terraform_data.a"]}
    for kind in ("module", "data", "resource"):
        with refused(conn, "KL001"):
            commit(writer(conn, "*"), delta(resource("x", type=kind)))


def test_an_address_may_be_spelled_in_another_way(conn: Connection) -> None:
    keyed = resource("k", instance(index_key="x"))
    commit(writer(conn, "*"), delta(keyed, write=['terraform_data . k [ "x" ]']))
    assert 'terraform_data.k["x"]' in addresses(conn)


def test_an_object_twice_in_a_delta_is_refused(conn: Connection) -> None:
    with refused(conn, "KL001") as refusal:
        commit(writer(conn, A), delta(CHANGED, CHANGED, write=[A]))
    assert refusal.detail == {"addresses": [A]}


def test_objects_of_several_resources_each_have_their_own_header(conn: Connection) -> None:
    many = [resource(name, *(instance({"id": n}, index_key=n) for n in range(3))) for name in "cd"]
    named = [f"terraform_data.{name}[{n}]" for name in "cd" for n in range(3)]
    commit(writer(conn, "*"), delta(*many, write=named))
    assert addresses(conn) == [A, B, *named]
    expected = state(2, resource("a"), resource("b"), *many)
    assert canonical(read(conn, "s")) == canonical(json.dumps(expected))


def test_the_last_of_two_members_with_one_name_counts(conn: Connection) -> None:
    twice = '"attributes":{"id":"old"},"attributes":{"id":"new"}'
    commit(writer(conn, A), delta(CHANGED).text().replace('"attributes":{"id":"new"}', twice))
    [block] = [r for r in document(conn)["resources"] if r["name"] == "a"]
    assert block["instances"][0]["attributes"] == {"id": "new"}


def test_a_wildcard_is_no_address_unless_it_is_text(conn: Connection) -> None:
    for members, pointer in (
        ({"write": [A, "terraform_data.*"]}, "/delta/write_set/1"),
        ({"delete": ["terraform_data.*"]}, "/delta/delete_set/0"),
    ):
        with refused(conn, "KL001") as refusal:
            commit(writer(conn, "*"), delta(CHANGED, **members))
        assert refusal.detail == {"pointer": pointer}
    keyed = resource("k", instance(index_key="*"))
    commit(writer(conn, "*"), delta(keyed, write=['terraform_data.k["*"]']))
    assert 'terraform_data.k["*"]' in addresses(conn)


def test_of_a_state_that_only_a_lock_made_there_is_nothing_to_commit_to(conn: Connection) -> None:
    run = writer(conn, A)
    with refused(conn, "KL201"):
        commit(run, delta(CHANGED), name="typo")
    assert conn.execute("select count(*) from kl.states").fetchone() == (1,)


def test_a_run_of_another_state_is_refused(conn: Connection) -> None:
    write(conn, "t", state(1, resource("a")))
    run = writer(conn, A)
    with refused(conn, "KL001") as refusal:
        commit(run, delta(CHANGED), name="t")
    assert refusal.detail["pointer"] == "/apply_id"


def test_one_resource_has_one_provider(conn: Connection) -> None:
    group = resource("g", instance(index_key=0), instance(index_key=1))
    run = writer(conn, "terraform_data.g")
    commit(run, delta(group))
    other = 'provider["registry.terraform.io/acme/other"]'
    one = resource("g", instance({"id": "x"}, index_key=0), provider=other)
    with refused(conn, "KL001") as refusal:
        commit(run, delta(one, write=["terraform_data.g[0]"]), 2)
    assert set(refusal.detail["providers"]) == {group["provider"], other}
    with refused(conn, "KL001"):
        late = resource("g", instance(index_key=2), provider=other)
        commit(run, delta(late, write=["terraform_data.g[2]"]), 2)
    everything = group | {"provider": other}
    assert commit(run, delta(everything), 2).serial == 3
    assert document(conn)["resources"][-1]["provider"] == other


def test_begin_is_not_enough(conn: Connection) -> None:
    run = begin(conn)
    run.acquire(A)
    with refused(conn, "KL305") as refusal:
        commit(run, delta(CHANGED))
    assert refusal.detail["missing"] == "terraform_lock"
