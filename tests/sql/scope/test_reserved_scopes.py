"""What kl.expand_scope tells to reserve: as wide as what was named, new instances included."""

from tests.clusters import Connection
from tests.documents import state
from tests.expansions import at, below, block
from tests.sql.engine import begin
from tests.sql.scope.conftest import Expand, case
from tests.sql.staging import refused, write


def test_what_is_read_is_reserved_as_it_was_named(conn: Connection, contract: Expand) -> None:
    case(conn, "19")

    def reserved(*reads: str) -> list[str]:
        found = contract(explicit_read_candidates=list(reads))
        return [c["address_glob"] for c in found["reservation_candidates"]]

    assert reserved("widget_disk.d[0]") == ["widget_disk.d[0]"]
    assert reserved("widget_disk.d") == ["widget_disk.d"]
    both = contract(at("widget_disk.d[0]"), explicit_read_candidates=["widget_disk.d"])
    assert both["reservation_candidates"] == [
        {"address_glob": "widget_disk.d[0]", "mode": "write"},
        {"address_glob": "widget_disk.d", "mode": "read"},
    ]


def test_nobody_adds_an_instance_to_what_a_reserved_scope_needs(
    conn: Connection, contract: Expand
) -> None:
    case(conn, "19")
    ann, bob = begin(conn), begin(conn)
    found = contract(at("widget_vm.vm[1]"))
    ann.acquire(*((c["address_glob"], c["mode"]) for c in found["reservation_candidates"]))
    with refused(conn, "KL301"):
        bob.acquire("widget_disk.d[2]")


def test_nobody_adds_an_instance_to_a_reserved_module_call(
    conn: Connection, contract: Expand
) -> None:
    one, two = block('module.m["a"].aws_x.b'), block("module.single.aws_x.b")
    write(conn, "s", state(1, one, two))
    found = contract(below("module.m"), below("module.single"))
    assert found["reservation_candidates"] == [
        {"address_glob": "module.m", "mode": "write"},
        {"address_glob": "module.single.aws_x.b", "mode": "write"},
    ]
    alone = contract(below('module.m["a"]'))["reservation_candidates"]
    assert [c["address_glob"] for c in alone] == ['module.m["a"].aws_x.b']
    ann, bob = begin(conn), begin(conn)
    ann.acquire(*((c["address_glob"], c["mode"]) for c in found["reservation_candidates"]))
    with refused(conn, "KL301"):
        bob.acquire('module.m["z"].aws_x.b')


def test_nobody_adds_an_instance_to_a_resource_named_through_a_keyed_module_call(
    conn: Connection, contract: Expand
) -> None:
    write(conn, "s", state(1, *(block(f'module.m["{key}"].aws_x.b', 0, 1) for key in "ac")))
    for address in ("module.m.aws_x.b", "module.m.aws_x.b[1]"):
        found = contract(at(address))
        assert found["reservation_candidates"] == [{"address_glob": address, "mode": "write"}]
    ann, bob = begin(conn), begin(conn)
    ann.acquire(*((c["address_glob"], c["mode"]) for c in found["reservation_candidates"]))
    with refused(conn, "KL301"):
        bob.acquire('module.m["z"].aws_x.b[1]')
