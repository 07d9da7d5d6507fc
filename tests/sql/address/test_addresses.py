"""The algebra of addresses: printing, parsing, and paths whose prefixes are containment."""

import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.addresses import Address, Key, Step, escaped, module_address, quoted
from tests.clusters import Connection
from tests.sql.staging import refused

# A character that is new in one Unicode version prints differently in another.
_settled = strategies.texts.filter(lambda t: all(unicodedata.category(c) != "Cn" for c in t))
_short_texts = st.one_of(_settled, st.sampled_from(["\ufdd0", "a\ufdd0b", "\uffff", "\U0010ffff"]))
_keys: st.SearchStrategy[Key] = st.one_of(
    st.none(), st.integers(0, 12), st.integers(0, 10**30), _short_texts
)
_steps: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(st.sampled_from(["m", "m2", "web", "web2", "web_"]), _keys), max_size=3
)
_addresses = st.builds(
    Address,
    _steps.map(tuple),
    st.sampled_from(["managed", "data"]),
    st.sampled_from(["x", "x_y", "x2"]),
    st.sampled_from(["a", "a2", "a-b", "ab"]),
    st.one_of(_keys, st.just(-3)),  # no client writes negative ones: they have no order
    st.sampled_from(["", "", "00000001", "deadbeef"]),
)

_PATHS = """
select
    coalesce(m.module_path, '')
        || kl_internal.resource_path('', a.mode, a.type, a.name)
        || kl_internal.instance_key_path(a.key, true)
        || coalesce(E'\\x07' || nullif(a.deposed, ''), '') as path,
    coalesce(m.module_path, '')
        || kl_internal.resource_path('', a.mode, a.type, a.name) as resource_path,
    coalesce(m.module_path, '') as module_path,
    a.name || kl_internal.instance_key_text(a.key, true) as last
from rows from (
    jsonb_to_recordset(%s) as (
        module text, mode text, type text, name text, key jsonb, deposed text
    )
) with ordinality as a (module, mode, type, name, key, deposed, position)
cross join lateral kl_internal.parse_module(a.module) as m
order by a.position
"""


def _value(conn: Connection, query: str, *parameters: Any) -> Any:  # noqa: ANN401 - one value
    row = conn.execute(query.encode(), parameters).fetchone()
    assert row is not None
    return row[0]


def _paths(conn: Connection, addresses: list[Address]) -> list[tuple[str, str, str, str]]:
    rows = [
        {
            "module": module_address(list(a.modules)),
            "mode": a.mode,
            "type": a.type,
            "name": a.name,
            "key": escaped(a.key) if isinstance(a.key, str) else a.key,
            "deposed": a.deposed,
        }
        for a in addresses
    ]
    return conn.execute(_PATHS.encode(), (strategies.dump(rows),)).fetchall()


@given(key=_short_texts)
@settings(max_examples=150, deadline=None)
def test_keys_print_as_the_model_prints_and_read_back(owner: Connection, key: str) -> None:
    text = _value(owner, "select kl_internal.quote_key(%s)", escaped(key))
    assert f"[{text}]" == quoted(key)
    assert _value(owner, "select kl_internal.unquote_key(%s)", text[1:-1]) == escaped(key)


@given(addresses=st.lists(_addresses, min_size=2, max_size=6))
@settings(max_examples=80, deadline=None)
def test_paths_are_ordered_contained_and_distinct_as_addresses_are(
    owner: Connection, addresses: list[Address]
) -> None:
    rows = _paths(owner, addresses)
    for one, (path, resource_path, module_path, last) in zip(addresses, rows, strict=True):
        assert one.text.endswith(last)
        for other, (other_path, *_) in zip(addresses, rows, strict=True):
            assert (path == other_path) == (one == other)
            assert (path < other_path) == (one.order < other.order)
            assert other_path.startswith(resource_path) == (one.resource == other.resource)
            inside = other.modules[: len(one.modules)] == one.modules
            assert other_path.startswith(module_path) == inside


@given(steps=_steps, space=st.sampled_from(["", " ", "\t", "\n "]))
@settings(max_examples=80, deadline=None)
def test_module_addresses_parse_whatever_the_space(
    owner: Connection, steps: list[Step], space: str
) -> None:
    text = module_address(steps)
    loose = f"{space}.{space}".join(
        f"module{space}.{space}{name}{space}{quoted(key)}{space}" for name, key in steps
    )
    query = "select m.module_path, m.address, m.config_address from kl_internal.parse_module(%s) m"
    first = owner.execute(query, (text,)).fetchone()
    assert first is not None
    assert first == owner.execute(query, (loose,)).fetchone()
    assert first[1] == text
    assert first[2] == ".".join(f"module.{name}" for name, _ in steps)


@given(addresses=st.lists(_addresses, max_size=6), space=st.sampled_from(["", " "]))
@settings(max_examples=80, deadline=None)
def test_many_addresses_parse_at_once_as_each_does_alone(
    owner: Connection, addresses: list[Address], space: str
) -> None:
    # A space in front leaves only the general way to read an address.
    texts = [
        replace(a, deposed="", key=None if a.key == -3 else a.key).text + space for a in addresses
    ]
    together = owner.execute(
        "select * from kl_internal.parse_addresses(%s) as a order by a.ordinal", (texts,)
    ).fetchall()
    alone = owner.execute(
        "select n.ordinal, a.* from unnest(%s::text[]) with ordinality as n (address, ordinal)"
        " cross join lateral kl_internal.parse_address(' ' || n.address) as a order by n.ordinal",
        (texts,),
    ).fetchall()
    assert together == alone
    assert [row[0] for row in together] == list(range(1, len(texts) + 1))
    assert [row[-2] + space for row in together] == texts


def test_web_does_not_contain_web2(owner: Connection) -> None:
    web = Address((("web", None),), "managed", "x", "a")
    others = [
        Address((("web2", None),), "managed", "x", "a"),
        Address((("webX", None),), "managed", "x", "a"),
        Address((("web", 0),), "managed", "x", "a"),
        Address((("web", "0"),), "managed", "x", "a"),
        Address((), "managed", "web", "a"),
    ]
    [(_, _, module_path, _), *rows] = _paths(owner, [web, *others])
    assert not any(path.startswith(module_path) for path, *_ in rows)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0, "0"),
        ("", None),
        ("a", "a\x01"),
        ("\x08A", "\x01"),
        ("\x08", "\x01"),
        ("\ufdd00000", "\0"),
        ("a", "A"),
    ],
)
def test_keys_that_look_alike_have_different_paths(owner: Connection, one: Key, other: Key) -> None:
    pair = [Address((), "managed", "x", "a", key) for key in (one, other)]
    [(first, *_), (second, *_)] = _paths(owner, pair)
    assert first != second
    assert not first.startswith(second)
    assert not second.startswith(first)


def test_integers_are_ordered_by_value_at_any_length(owner: Connection) -> None:
    numbers = [-3, 0, 1, 2, 9, 10, 11, 99, 100, 10**19, 10**20 - 1, 10**20, 10**21, 10**40]
    rows = _paths(owner, [Address((), "managed", "x", "a", n) for n in numbers])
    paths = [path for path, *_ in rows]
    assert paths == sorted(paths)


def test_long_keys_stay_distinct_and_fit_an_index(owner: Connection) -> None:
    key = "".join(f"{n * 7919:x}" for n in range(700))[:3200]
    addresses = [
        Address((("m", key),), "managed", "x", "a", key),
        Address((("m", key),), "managed", "x", "a", key[:-1] + "X"),
        Address((("m", key[:-1] + "X"),), "managed", "x", "a", key),
        Address((("m", key[:200]),), "managed", "x", "a", key[:201]),
        Address(tuple((f"m{n}", key) for n in range(9)), "managed", "x", key, key),
        Address(tuple((f"m{n}", key) for n in range(9)), "managed", "x", key, key + "y"),
        Address(tuple((f"m{n}", key) for n in range(10)), "managed", "x", key, key),
    ]
    paths = [path for path, *_ in _paths(owner, addresses)]
    assert len(set(paths)) == len(addresses)
    assert max(len(path.encode()) for path in paths) < 2700
    [(_, _, module_path, _)] = _paths(owner, addresses[:1])
    assert paths[1].startswith(module_path)
    assert not paths[2].startswith(module_path)


def test_long_module_paths_stay_distinct_and_fit_an_index(owner: Connection) -> None:
    steps = tuple((f"m{n}".ljust(190, "n"), f"{n}".ljust(190, "k")) for n in range(6))
    others = [steps[:5], (*steps[:5], (steps[5][0], "k")), (*steps[:5], ("m", steps[5][1]))]
    addresses = [Address(s, "managed", "x", "a", None) for s in (steps, *others)]
    rows = _paths(owner, addresses)
    assert len({module_path for _, _, module_path, _ in rows}) == len(addresses)
    assert max(len(path.encode()) for path, *_ in rows) < 2700


@pytest.mark.parametrize("text", ["a.b[01]", "a.b[1.0]", "a . b [ 001 ]"])
def test_an_integer_key_is_read_by_its_value(owner: Connection, text: str) -> None:
    query = "select a.address, a.path from kl_internal.parse_address(%s) as a"
    assert owner.execute(query, (text,)).fetchone() == owner.execute(query, ("a.b[1]",)).fetchone()


@pytest.mark.parametrize(
    "text",
    [
        "m", "module", "module.", ".module.a", "module.a.", "module.a.b", "module..a", "module.a[]",
        "module.a[k]", "module.a[-1]", "module.a[1.5]", "module.a['k']", 'module.a["k]',
        'module.a["k"', 'module.a["a" "b"]', 'module.a["${x}"]', 'module.a["%{x}"]', "module.a.0",
        r'module.a["\x"]', r'module.a["\u12"]', 'module.a["k"]module.b', "Module.a", "module.a[*]",
    ],
)  # fmt: skip
def test_text_that_is_no_module_address_is_refused(owner_conn: Connection, text: str) -> None:
    with refused(owner_conn, "KL001") as refusal:
        owner_conn.execute("select kl_internal.parse_module(%s)", (text,))
    assert set(refusal.detail) <= {"module", "key"}
    assert refusal.detail


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("module.a[00]", "module.a[0]"),
        ("module.a[0.0]", "module.a[0]"),
        (r'module.a["\u00e9"]', 'module.a["é"]'),
        (r'module.a["\U0001f600"]', 'module.a["😀"]'),
        (r'module.a["$${x}%%{y}$z"]', 'module.a["$${x}%%{y}$z"]'),
        (r'module.a["\u0000"]', r'module.a["\u0000"]'),
        ('module.a["].module.b["]', 'module.a["].module.b["]'),
    ],
)
def test_module_address_is_put_in_terraforms_spelling(
    owner: Connection, text: str, address: str
) -> None:
    query = "select m.address from kl_internal.parse_module(%s) as m"
    assert _value(owner, query, text) == address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("a.b", "a.b"),
        ("data.a.b", "data.a.b"),
        ("module.m.a.b", "module.m.a.b"),
        ('module.m["k"].module.n[3].data.a.b', "module.m.module.n.data.a.b"),
        (' module . m [ "a.b[0]" ] . a . b ', "module.m.a.b"),
        ("resource.a.b", "a.b"),
        ("resource.module.b", "module.b"),
        ("data.module.b", "data.module.b"),
        ("a-1.é", "a-1.é"),
    ],
)
def test_dependency_is_read_as_a_configuration_address(
    owner: Connection, text: str, address: str
) -> None:
    assert _value(owner, "select kl_internal.parse_dependency(%s)", text) == address


@pytest.mark.parametrize(
    "text", ["", "a", "a.b.c", "a.b[0]", 'a.b["k"]', "module.m", "data.a", "a..b", "a b.c"]
)
def test_text_that_is_no_dependency_is_refused(owner_conn: Connection, text: str) -> None:
    with refused(owner_conn, "KL001") as refusal:
        owner_conn.execute("select kl_internal.parse_dependency(%s)", (text,))
    assert refusal.detail == {"dependency": text}
