"""kl.expand_scope: what is in a scope, and how sure that is."""

import pytest

from tests.clusters import Connection
from tests.documents import Json, instance, state
from tests.expansions import (
    GROUP,
    LEGACY,
    PRIMARY,
    at,
    below,
    block,
    example_contract,
    example_request,
    example_state,
    node,
)
from tests.sql.engine import value
from tests.sql.scope.conftest import Expand, case
from tests.sql.staging import refused, write


def _reasons(contract: Json) -> dict[str, str]:
    return {c["address"]: c["reason"] for c in contract["culprits"]}


def test_the_example_of_the_protocol_is_safe(conn: Connection, expand: Expand) -> None:
    write(conn, "s", example_state())
    request = example_request()
    answer = expand(*request["selectors"], **request["client_context"], require_safe=True)
    assert answer["contract_source"] == "backend_authoritative"
    assert answer["scope_contract"] == example_contract()
    assert answer["serial"] == 47
    assert answer["version_id"] == str(
        value(conn, "select version_id from kl.resolve_state(p_name => 's')")
    )
    older = {
        "fetch_addresses": "fetch_addresses",
        "realized_write_closure": "write_addresses",
        "realized_read_closure": "read_addresses",
        "missing_from_state": "missing_from_state",
        "undeployed_candidates": "undeployed_candidates",
        "unknown_missing_from_state": "unknown_missing_from_state",
        "reservation_candidates": "reservation_candidates",
        "confidence": "confidence",
        "notes": "notes",
    }
    assert {k: answer[k] for k in older} == {
        k: example_contract()[member] for k, member in older.items()
    }
    counts = answer["diagnostics"]
    assert (counts["writes"], counts["reads"], counts["to_create"]) == (1, 2, 1)
    assert counts["milliseconds"] > 0


def test_all_instances_are_read_and_siblings_are_not(conn: Connection, contract: Expand) -> None:
    case(conn, "19")
    found = contract(at("widget_vm.vm[1]"))
    assert found["write_addresses"] == ["widget_vm.vm[1]"]
    assert found["read_addresses"] == ["widget_disk.d[0]", "widget_disk.d[1]", "widget_net.shared"]
    # By block where all instances are meant: else one could come up beside those that were read.
    assert found["reservation_candidates"] == [
        {"address_glob": "widget_vm.vm[1]", "mode": "write"},
        {"address_glob": "widget_disk.d", "mode": "read"},
        {"address_glob": "widget_net.shared", "mode": "read"},
    ]
    assert found["confidence"] == "widened"
    assert any(note.startswith("widget_disk.d: all 2 instances") for note in found["notes"])


def test_only_a_self_contained_call_is_narrowed(conn: Connection, contract: Expand) -> None:
    case(conn, "19")
    selected = at('module.site["eu"].widget_thing.dependent')
    both = ['module.site["eu"].widget_thing.created', 'module.site["us.1"].widget_thing.created']
    wide = contract(selected)
    assert (wide["read_addresses"], wide["confidence"]) == (both, "widened")
    told = contract(selected, module_calls=[{"address": "module.site", "self_contained": False}])
    assert told["read_addresses"] == both
    narrow = contract(selected, module_calls=[{"address": "module.site", "self_contained": True}])
    assert (narrow["read_addresses"], narrow["confidence"]) == (both[:1], "safe")
    # From outside, nothing says which instance is meant.
    outside = contract(
        at('widget_dns.rec["eu"]'),
        module_calls=[{"address": "module.site", "self_contained": True}],
    )
    assert len(outside["read_addresses"]) == 4


def test_a_call_inside_one_that_is_not_self_contained_is_not_narrowed(
    conn: Connection, contract: Expand
) -> None:
    needs = ["module.a.module.m.aws_x.d"]
    write(
        conn,
        "s",
        state(
            1,
            *(
                block(f'module.a["{a}"].module.m["{m}"].aws_x.{name}', needs=needs if n else None)
                for a in "pq"
                for m in "12"
                for n, name in enumerate("dx")
            ),
        ),
    )
    inner, outer = "module.a.module.m", "module.a"

    def reads(*calls: str) -> list[str]:
        found = contract(
            at('module.a["p"].module.m["1"].aws_x.x'),
            module_calls=[{"address": call, "self_contained": True} for call in calls],
        )
        assert (found["confidence"] == "safe") == (len(found["read_addresses"]) == 1)
        return list(found["read_addresses"])

    assert len(reads(inner)) == 4
    assert reads(outer) == [f'module.a["p"].module.m["{m}"].aws_x.d' for m in "12"]
    assert reads(outer, inner) == ['module.a["p"].module.m["1"].aws_x.d']


def test_from_an_inner_call_to_its_outer_one_the_own_instance_is_meant(
    conn: Connection, contract: Expand
) -> None:
    instances = [f'module.a["{key}"]' for key in "pq"]
    inner = [block(f"{a}.module.m[0].aws_x.x", needs=["module.a.aws_x.d"]) for a in instances]
    write(conn, "s", state(1, *(block(f"{a}.aws_x.d") for a in instances), *inner))
    calls = ("module.a", "module.a.module.m")
    found = contract(
        at(f"{instances[0]}.module.m[0].aws_x.x"),
        module_calls=[{"address": call, "self_contained": True} for call in calls],
    )
    assert found["read_addresses"] == [f"{instances[0]}.aws_x.d"]
    assert found["confidence"] == "safe"


def test_where_the_own_instance_has_none_all_are_taken(conn: Connection, contract: Expand) -> None:
    write(
        conn,
        "s",
        state(
            1,
            block('module.m["b"].aws_x.d'),
            block('module.m["c"].aws_x.d'),
            block('module.m["a"].aws_x.x', needs=["module.m.aws_x.d"]),
        ),
    )
    found = contract(
        below('module.m["a"]'), module_calls=[{"address": "module.m", "self_contained": True}]
    )
    assert found["read_addresses"] == ['module.m["b"].aws_x.d', 'module.m["c"].aws_x.d']
    assert found["confidence"] == "widened"


def test_rings_end(conn: Connection, contract: Expand) -> None:
    case(conn, "20")
    conn.execute("set local statement_timeout = '60s'")
    assert contract(at("widget_thing.leaf"))["read_addresses"] == [
        "widget_thing.a",
        "widget_thing.b",
        "widget_thing.c",
    ]
    own = contract(at("widget_thing.self[0]"))
    assert (own["write_addresses"], own["read_addresses"]) == (
        ["widget_thing.self[0]"],
        ["widget_thing.self[1]"],
    )


def test_dependents_are_never_in_a_scope(conn: Connection, contract: Expand) -> None:
    write(conn, "s", state(1, block("aws_x.a"), block("aws_x.b", needs=["aws_x.a"])))
    found = contract(at("aws_x.a"), config_nodes=[node("aws_x.a")])
    assert (found["fetch_addresses"], found["confidence"]) == (["aws_x.a"], "safe")


def test_a_dependency_that_does_not_resolve_is_unsafe(conn: Connection, contract: Expand) -> None:
    write(conn, "s", state(1, block("aws_x.a", needs=["aws_x.gone"])))
    found = contract(at("aws_x.a"))
    assert found["confidence"] == "unsafe"
    assert _reasons(found) == {"aws_x.gone": "unresolved_dependency"}
    assert found["unknown_missing_from_state"] == ["aws_x.gone"]
    assert "config_nodes" in found["notes"][0]
    # A node of its own does not make what is gone unimportant; saying that it went does.
    assert contract(at("aws_x.a"), config_nodes=[node("aws_x.a")])["confidence"] == "unsafe"
    assert contract(at("aws_x.a"), removed_config_candidates=["aws_x.gone"])["confidence"] == "safe"


def test_an_unresolved_dependency_far_away_is_unsafe(conn: Connection, contract: Expand) -> None:
    write(
        conn,
        "s",
        state(
            1,
            block("aws_x.a", needs=["aws_x.b"]),
            block("aws_x.b", needs=["aws_x.c"]),
            block("aws_x.c", needs=["data.aws_y.gone"]),
        ),
    )
    found = contract(at("aws_x.a"))
    assert found["read_addresses"] == ["aws_x.b", "aws_x.c"]
    assert _reasons(found) == {"data.aws_y.gone": "unresolved_dependency"}


@pytest.mark.parametrize(
    ("selectors", "context"),
    [
        ([at("aws_x.new")], {}),
        ([below("module.new")], {}),
        ([at("aws_x.a[7]")], {}),
        ([], {"explicit_write_candidates": ["aws_x.new"]}),
        ([], {"explicit_read_candidates": ["aws_x.new"]}),
        ([at("aws_x.new[1]")], {"undeployed_config_candidates": ["aws_x.new[0]"]}),
    ],
)
def test_a_candidate_nobody_can_explain_is_unsafe(
    conn: Connection, contract: Expand, selectors: list[Json], context: Json
) -> None:
    write(conn, "s", state(1, block("aws_x.a")))
    found = contract(*selectors, **context)
    assert found["confidence"] == "unsafe"
    assert "unknown_candidate" in _reasons(found).values()
    assert found["unknown_missing_from_state"]


def test_a_written_instance_that_says_nothing_of_its_dependencies_is_unsafe(
    conn: Connection, contract: Expand
) -> None:
    write(conn, "s", state(1, block("aws_x.a"), block("data.aws_y.b"), block("aws_x.c")))
    assert _reasons(contract(at("aws_x.a"), at("data.aws_y.b"))) == {
        "aws_x.a": "unknown_dependencies",
        "data.aws_y.b": "unknown_dependencies",
    }
    told = contract(at("aws_x.a"), config_nodes=[node("aws_x.a", "aws_x.c")])
    assert (told["confidence"], told["read_addresses"]) == ("safe", ["aws_x.c"])
    # What goes needs no block.
    gone = contract(removed_config_candidates=["aws_x.a"])
    assert (gone["confidence"], gone["write_addresses"]) == ("safe", ["aws_x.a"])
    assert gone["removed_config_nodes"] == ["aws_x.a"]


def test_what_is_to_be_created_must_say_what_it_needs(conn: Connection, contract: Expand) -> None:
    write(conn, "s", state(1, block("aws_x.a")))
    new = ["aws_x.new[0]"]
    found = contract(undeployed_config_candidates=new)
    assert _reasons(found) == {"aws_x.new[0]": "unknown_dependencies"}
    assert found["unknown_missing_from_state"] == []
    found = contract(undeployed_config_candidates=new, config_nodes=[node("aws_x.new", "aws_x.a")])
    assert (found["confidence"], found["fetch_addresses"]) == ("safe", ["aws_x.a"])
    assert found["config_required_nodes"] == found["missing_from_state"] == new
    assert {"address_glob": "aws_x.new[0]", "mode": "write"} in found["reservation_candidates"]


def test_what_must_be_created_first_is_written_too(conn: Connection, contract: Expand) -> None:
    write(conn, "s", state(1, block("aws_x.a"), block("aws_x.base")))
    found = contract(
        at("aws_x.a"),
        config_nodes=[node("aws_x.a", "aws_x.new"), node("aws_x.new", "aws_x.base")],
    )
    assert found["read_addresses"] == ["aws_x.base"]
    assert found["config_required_nodes"] == ["aws_x.new"]
    assert {"address_glob": "aws_x.new", "mode": "write"} in found["reservation_candidates"]
    assert found["confidence"] == "safe"
    assert any("aws_x.new" in note for note in found["notes"])


def test_blocks_of_a_selected_module_are_in_the_scope(conn: Connection, contract: Expand) -> None:
    write(conn, "s", state(1, block("module.m.aws_x.a", needs=["aws_x.b"]), block("aws_x.b")))
    found = contract(below("module.m"), config_nodes=[node("module.m.module.in.aws_x.new")])
    assert found["config_required_nodes"] == ["module.m.module.in.aws_x.new"]
    assert found["confidence"] == "safe"


def test_a_removed_candidate_that_is_there_is_written(conn: Connection, contract: Expand) -> None:
    document = example_state()
    document["resources"].append(block(LEGACY, 0, 1))
    write(conn, "s", document)
    found = contract(**example_request()["client_context"])
    assert found["write_addresses"] == [PRIMARY, f"{LEGACY}[0]", f"{LEGACY}[1]"]
    assert found["confidence"] == "safe"
    assert GROUP in found["config_required_nodes"]


def test_what_was_deployed_meanwhile_is_in_the_slice(conn: Connection, contract: Expand) -> None:
    document = example_state()
    document["resources"].append(block(GROUP))
    write(conn, "s", document)
    request = example_request()
    found = contract(*request["selectors"], **request["client_context"])
    assert found["write_addresses"] == [PRIMARY, GROUP]
    assert found["missing_from_state"] == []


def test_a_name_without_key_is_all_instances_and_those_to_come(
    conn: Connection, contract: Expand
) -> None:
    write(
        conn,
        "s",
        state(
            1,
            block('module.m["a"].aws_x.b', 0, 1, needs=["aws_x.c"]),
            block('module.m["z"].aws_x.b', 0, needs=["aws_x.c"]),
            block("aws_x.c"),
        ),
    )
    every = [f'module.m["a"].aws_x.b[{n}]' for n in (0, 1)] + ['module.m["z"].aws_x.b[0]']
    one = contract(at('module.m["a"].aws_x.b'))
    assert one["write_addresses"] == every[:2]
    assert one["reservation_candidates"][0]["address_glob"] == 'module.m["a"].aws_x.b'
    assert one["confidence"] == "safe"
    wide = contract(at("module.m.aws_x.b"))
    assert (wide["write_addresses"], wide["confidence"]) == (every, "widened")
    assert contract(below("module.m"))["write_addresses"] == every
    assert contract(below('module.m["z"]'))["write_addresses"] == every[2:]


def test_a_module_that_is_not_there_may_have_keys(conn: Connection, contract: Expand) -> None:
    write(conn, "s", state(1, block("aws_x.a")))
    address = "module.fresh.aws_x.new"
    asked = {"config_nodes": [node(address, "aws_x.a")]}
    assert contract(at(address), **asked)["confidence"] == "widened"
    unkeyed = [{"address": "module.fresh", "keyed": False}]
    found = contract(at(address), **asked, module_calls=unkeyed)
    assert (found["confidence"], found["config_required_nodes"]) == ("safe", [address])


def test_data_sources_resolve(conn: Connection, contract: Expand) -> None:
    write(
        conn,
        "s",
        state(
            1,
            block("module.n.data.aws_ami.u"),
            block("aws_x.a", needs=["aws_x.base", "module.n.data.aws_ami.u"]),
            block("aws_x.base"),
        ),
    )
    found = contract(at("aws_x.a"))
    assert found["read_addresses"] == ["aws_x.base", "module.n.data.aws_ami.u"]
    assert found["confidence"] == "safe"
    # Its own list is nowhere: only one that leads to it tells what it reads.
    new = {"undeployed_config_candidates": ["aws_x.new"]}
    ami = "module.n.data.aws_ami.u"
    found = contract(**new, config_nodes=[node("aws_x.new", ami)])
    assert _reasons(found) == {ami: "unknown_dependencies"}
    found = contract(**new, config_nodes=[node("aws_x.new", ami), node(ami, "aws_x.base")])
    assert (found["confidence"], found["read_addresses"]) == ("safe", ["aws_x.base", ami])


def test_a_file_hint_is_taken_with_a_note(conn: Connection, contract: Expand) -> None:
    write(conn, "s", state(1, block("aws_x.a"), block("aws_x.b", needs=["aws_x.a"])))
    hint = {"kind": "file_hint", "value": "database.tf"}
    found = contract(at("aws_x.b"), hint)
    assert found["confidence"] == "safe"
    assert any("database.tf" in note for note in found["notes"])
    assert _reasons(contract(hint)) == {"database.tf": "file_hint"}


def test_nothing_selected_is_nothing(conn: Connection, contract: Expand) -> None:
    write(conn, "s", state(1, block("aws_x.a")))
    found = contract()
    assert (found["fetch_addresses"], found["confidence"]) == ([], "safe")


def test_require_safe_raises_with_the_culprits(conn: Connection, expand: Expand) -> None:
    write(conn, "s", state(1, block("aws_x.a", needs=["aws_x.gone"])))
    with refused(conn, "KL401") as refusal:
        expand(at("aws_x.a"), require_safe=True)
    assert refusal.detail["missing"] == ["aws_x.gone"]
    assert refusal.detail["culprits"] == [
        {"address": "aws_x.gone", "reason": "unresolved_dependency"}
    ]
    assert "aws_x.gone" in refusal.message
    write(conn, "s", state(2, block("aws_x.a", 0, 1), block("aws_x.b", needs=["aws_x.a"])))
    with refused(conn, "KL401") as refusal:
        expand(at("aws_x.b"), require_safe=True)
    assert (refusal.detail["confidence"], refusal.detail["culprits"]) == ("widened", [])


def test_what_is_gone_is_in_no_scope(conn: Connection, contract: Expand) -> None:
    before = [block("aws_x.a", 0, 1), block("aws_x.b", needs=["aws_x.a"])]
    write(conn, "s", state(1, *before))
    write(conn, "s", state(2, block("aws_x.a", 0), block("aws_x.b", needs=["aws_x.a"])))
    found = contract(at("aws_x.b"))
    assert (found["read_addresses"], found["confidence"]) == (["aws_x.a[0]"], "safe")


def test_what_a_deposed_object_needed_is_not_needed(conn: Connection, contract: Expand) -> None:
    """It is only destroyed."""
    needed = block("aws_x.a")
    needed["instances"].append(instance(deposed="00000001", dependencies=["aws_x.gone"]))
    write(conn, "s", state(1, needed, block("aws_x.b", needs=["aws_x.a"])))
    for selected in ("aws_x.a", "aws_x.b"):
        found = contract(at(selected), config_nodes=[node("aws_x.a")])
        assert (found["confidence"], found["culprits"]) == ("safe", [])


@pytest.mark.parametrize(
    "context",
    [
        {
            "undeployed_config_candidates": ["aws_x.new", "aws_x.other"],
            "config_nodes": [node("aws_x.new", "aws_x.other"), node("aws_x.other")],
        },
        {"undeployed_config_candidates": ["aws_x.new"], "config_nodes": [node("aws_x.new", "a.b")]},
    ],
)
def test_what_is_nowhere_is_neither_read_nor_reserved(
    conn: Connection, expand: Expand, context: Json
) -> None:
    write(conn, "s", state(1, block("aws_x.a")))
    found = expand(at("aws_x.new"), **context)
    assert (found["fetch_addresses"], found["realized_read_closure"]) == ([], [])
    assert found["diagnostics"]["reads"] == 0
    assert found["reservation_candidates"] == [
        {"address_glob": address, "mode": "write"}
        for address in context["undeployed_config_candidates"]
    ]
