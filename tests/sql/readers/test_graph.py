"""kl.blast_radius, kl.dependencies_of, kl.dependency_graph."""

from tests.sql.readers.conftest import Ask


def _walk(ask: Ask, function: str, state: str, address: str) -> list[tuple[str, int]]:
    rows = ask(f"select * from kl.{function}(%s, %s)", state, address)
    return [(row["address"], row["depth"]) for row in rows]


def test_depth_is_the_longest_way_although_lists_are_transitive(ask: Ask) -> None:
    assert _walk(ask, "blast_radius", "chain", "terraform_data.a") == [
        ("terraform_data.b", 1),
        ("terraform_data.c", 2),
    ]
    assert _walk(ask, "dependencies_of", "chain", "terraform_data.c") == [
        ("terraform_data.b", 1),
        ("terraform_data.a", 2),
    ]
    assert _walk(ask, "blast_radius", "chain", "terraform_data.c") == []


def test_a_depth_limits_what_is_needed(ask: Ask) -> None:
    rows = ask("select * from kl.dependencies_of('chain', 'terraform_data.c', 1)")
    assert [row["address"] for row in rows] == ["terraform_data.b"]


def test_what_the_state_does_not_have_is_still_named(ask: Ask) -> None:
    (row,) = ask("select * from kl.dependencies_of('chain', 'terraform_data.d')")
    assert (row["address"], row["config_address"]) == (None, "terraform_data.gone")


def test_a_ring_comes_to_an_end(ask: Ask) -> None:
    assert _walk(ask, "blast_radius", "20", "widget_thing.a") == [
        ("widget_thing.c", 1),
        ("widget_thing.leaf", 1),
        ("widget_thing.b", 2),
    ]
    needed = {address for address, _ in _walk(ask, "dependencies_of", "20", "widget_thing.leaf")}
    assert needed == {"widget_thing.a", "widget_thing.b", "widget_thing.c"}
    assert _walk(ask, "blast_radius", "20", "widget_thing.self[0]") == [("widget_thing.self[1]", 1)]


def test_dependencies_have_no_keys_so_all_instances_count(ask: Ask) -> None:
    hit = _walk(ask, "blast_radius", "19", 'module.site["eu"].widget_thing.created')
    assert hit == [
        ('module.site["eu"].widget_thing.dependent', 1),
        ('module.site["us.1"].widget_thing.dependent', 1),
        ('widget_dns.rec["eu"]', 2),
    ]
    needed = _walk(ask, "dependencies_of", "19", "widget_vm.vm[1]")
    assert [address for address, _ in needed] == [
        "widget_disk.d[0]",
        "widget_disk.d[1]",
        "widget_net.shared",
    ]


def test_a_graph_leaves_out_what_follows(ask: Ask) -> None:
    rows = ask("select * from kl.dependency_graph('chain')")
    assert {row["config_address"]: row["depends_on"] for row in rows} == {
        "terraform_data.a": [],
        "terraform_data.b": ["terraform_data.a"],
        "terraform_data.c": ["terraform_data.b"],
        "terraform_data.d": ["terraform_data.gone"],
        "terraform_data.gone": [],
    }
    assert [row["instances"] for row in rows] == [1, 1, 1, 1, 0]
    rows = ask("select * from kl.dependency_graph('chain', 'terraform_data.b', true)")
    assert [row["config_address"] for row in rows] == ["terraform_data.b", "terraform_data.c"]
