"""The algebra of scopes, against a model: what covers what, what meets what, what is widened."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.addresses import Address, Key, escaped, module_address
from tests.clusters import Connection
from tests.documents import resource, state
from tests.scopes import Glob, covers, tokens_of
from tests.sql.staging import refused, write

_texts = st.one_of(
    strategies.texts.filter(lambda t: t.isprintable()),
    st.sampled_from(
        ["a", "b", "a]", '"', "].module.b[", "a.*", "*", "\x01", "\x08A", "\\", "${a}"]
    ),
)
_keys: st.SearchStrategy[Key] = st.one_of(st.none(), st.integers(0, 3), _texts)
_names = st.sampled_from(["web", "web2", "webX", "web_", "m"])
_modules = st.lists(st.tuples(_names, _keys), max_size=3).map(tuple)
_resources = st.tuples(
    st.sampled_from(["managed", "data"]),
    st.sampled_from(["x", "x_y", "aws_x"]),
    st.sampled_from(["y", "y2", "a-b"]),
)
_long = st.tuples(st.sampled_from(["n" * 150, "é" * 90, "web"]), st.sampled_from(["k" * 190, None]))
globs = st.one_of(
    st.builds(Glob, _modules, st.none(), st.none(), st.booleans()),
    st.builds(Glob, _modules, _resources, _keys),
).filter(lambda g: bool(g.modules) or not g.star)
_long_globs = st.builds(
    Glob,
    st.lists(st.one_of(_long, _long, st.tuples(_names, _keys)), min_size=2, max_size=9).map(tuple),
    st.one_of(st.none(), _resources),
)

_SCOPES = """
select p.path, p.widened, p.note
from unnest(%(globs)s::text[]) with ordinality as g (glob, position)
cross join lateral kl_internal.scope_path(null, g.glob, %(unkeyed)s::text[]) as p
order by g.position
"""


@dataclass(frozen=True)
class Scope:
    """What kl_internal.scope_path answers."""

    path: str
    widened: bool
    note: str | None


def _scopes(conn: Connection, globs: list[Glob], unkeyed: list[str]) -> list[Scope]:
    values = {"globs": [glob.text for glob in globs], "unkeyed": unkeyed}
    return [Scope(*row) for row in conn.execute(_SCOPES.encode(), values).fetchall()]


def _path(conn: Connection, address: Address) -> str:
    row = conn.execute(
        "select m.module_path || kl_internal.resource_path('', %s, %s, %s) "
        "|| kl_internal.instance_key_path(%s::jsonb, true) from kl_internal.parse_module(%s) as m",
        (
            address.mode, address.type, address.name,
            strategies.dump(escaped(address.key) if isinstance(address.key, str) else address.key),
            module_address(list(address.modules)),
        ),
    ).fetchone()  # fmt: skip
    assert row is not None
    return str(row[0])


def _meet(conn: Connection, one: str, other: str) -> tuple[bool, bool]:
    row = conn.execute(
        "select s.one && s.other, s.one @> s.other "
        "from (select kl_internal.scope_range(%s), kl_internal.scope_range(%s)) as s (one, other)",
        (one, other),
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def _object_of(glob: Glob) -> Address:
    """Return an object that the glob names when every call without key has one instance."""
    mode, type_, name = glob.resource or ("managed", "x", "y")
    return Address(glob.modules, mode, type_, name, glob.key)


@pytest.mark.thorough
@given(globs=st.lists(globs, min_size=2, max_size=4), unkeyed=st.sets(_names, max_size=3))
@settings(max_examples=150, deadline=None)
def test_scopes_cover_and_meet_as_in_the_model(
    owner: Connection, globs: list[Glob], unkeyed: set[str]
) -> None:
    known = {(name,) for name in unkeyed} | {(a, b) for a in unkeyed for b in unkeyed}
    known |= {(a, b, c) for a in unkeyed for b in unkeyed for c in unkeyed}
    claims = [".".join(f"module.{name}" for name in call) for call in known]
    scopes = _scopes(owner, globs, claims)
    for glob, scope in zip(globs, scopes, strict=True):
        taken = glob.reserved(known)
        assert scope.widened == (taken != glob.named)
        assert scope.widened == (scope.note is not None)
        for other_glob, other in zip(globs, scopes, strict=True):
            wanted = other_glob.reserved(known)
            assert _meet(owner, scope.path, other.path) == (
                covers(taken, wanted) or covers(wanted, taken),
                covers(taken, wanted),
            )
            one = _object_of(other_glob)
            held = owner.execute(
                'select kl_internal.scope_range(%s) @> (%s::text collate "C")',
                (scope.path, _path(owner, one)),
            ).fetchone()
            assert held == (covers(taken, tokens_of(one)),)


@pytest.mark.thorough
@given(globs=st.lists(_long_globs, min_size=2, max_size=3))
@settings(max_examples=60, deadline=None)
def test_long_scopes_are_cut_to_wider_ones_that_fit(owner: Connection, globs: list[Glob]) -> None:
    # The same chain at several depths: what contains must still contain.
    chains = [Glob(globs[0].modules[:n]) for n in range(1, len(globs[0].modules))]
    every = [*globs, *chains]
    scopes = _scopes(owner, every, [])
    for glob, scope in zip(every, scopes, strict=True):
        assert len(scope.path.encode()) <= 900
        for other_glob, other in zip(every, scopes, strict=True):
            if covers(glob.reserved(), other_glob.reserved()):
                assert _meet(owner, scope.path, other.path)[0]
            one = _object_of(other_glob)
            if covers(glob.reserved(), tokens_of(one)):
                held = owner.execute(
                    'select kl_internal.scope_range(%s) @> (%s::text collate "C")',
                    (scope.path, _path(owner, one)),
                ).fetchone()
                assert held == (True,)


@pytest.mark.parametrize("chars", [850, 890, 900, 920, 1000, 1290, 1310, 2500])
def test_what_is_below_a_long_module_stays_below_its_scope(owner: Connection, chars: int) -> None:
    # Steps of about 400 bytes leave a gap in which a shortened module path fits.
    steps = tuple((f"{n}" + "n" * 199, "k" * 190) for n in range(chars // 400 + 1))
    outer = Glob((*steps, ("end", "e" * min(chars % 400, 190))))
    inner = Glob((*outer.modules, ("x" * 200, "k" * 200)), ("managed", "x", "y"))
    one, other = _scopes(owner, [outer, inner], [])
    assert _meet(owner, one.path, other.path)[0]
    assert max(len(one.path.encode()), len(other.path.encode())) <= 900
    path = _path(owner, _object_of(inner))
    for scope in (one, other):
        assert path.startswith(scope.path)


@pytest.mark.parametrize("chars", [100, 150, 190])
def test_a_long_resource_in_long_modules_is_cut_to_what_fits(owner: Connection, chars: int) -> None:
    steps = (("n" * 190, "k" * 190), ("n" * chars, "k" * chars))
    glob = Glob(steps, ("managed", "x" * 180, "y" * 180), "k" * 190)
    [scope] = _scopes(owner, [glob], [])
    assert scope.widened
    assert len(scope.path.encode()) <= 900
    assert _path(owner, _object_of(glob)).startswith(scope.path)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "**", "module.*", "module.*.aws_x.y", "aws_x.*", "aws_*.y", "aws_x.y[*]",
        "aws_x.y.*", "module.m.aws_x.*", "module.m[*]", "module.m.**", "module.m.*.*", "data.*",
        "data.x.y.*",
        "module.m*", "module.m.aws_x", "*.y", "module.m.*x", "x", "?", "module.m.* .y",
    ],
)  # fmt: skip
def test_other_wildcards_are_refused(owner_conn: Connection, text: str) -> None:
    with refused(owner_conn, "KL001"):
        owner_conn.execute("select kl_internal.scope_path(null, %s, null)", (text,))


@pytest.mark.parametrize("claim", ["module.m.aws_x.y", "m", "module.*x[", ""])
def test_claims_that_are_no_module_prove_nothing(owner_conn: Connection, claim: str) -> None:
    query = "select p.widened from kl_internal.scope_path(null, 'module.m.aws_x.y', %s) as p"
    if claim == "":
        assert owner_conn.execute(query, ([claim],)).fetchone() == (True,)
        return
    with refused(owner_conn, "KL001"):
        owner_conn.execute(query, ([claim],))


def _in_state(conn: Connection, glob: str, *unkeyed: str) -> tuple[Any, ...]:
    row = conn.execute(
        "select p.path, p.widened from kl_internal.states as s "
        "cross join lateral kl_internal.scope_path(s.id, %s, %s) as p where s.name = 's'",
        (glob, list(unkeyed)),
    ).fetchone()
    assert row is not None
    return row


def test_the_state_tells_which_calls_have_keys(owner_conn: Connection) -> None:
    one = resource("y", module="module.plain")
    keyed = resource("y", module='module.keyed["a"]')
    both = [resource("y", module="module.both"), resource("y", module="module.both[0]")]
    nested = resource("y", module='module.keyed["a"].module.in')
    write(owner_conn, "s", state(1, one, keyed, *both, nested))
    assert not _in_state(owner_conn, "module.plain.aws_x.z")[1]
    assert not _in_state(owner_conn, 'module.keyed["b"].aws_x.z')[1]
    assert not _in_state(owner_conn, 'module.keyed["a"].module.in.aws_x.z')[1]
    assert not _in_state(owner_conn, "module.new.aws_x.z", "module.new")[1]
    assert not _in_state(owner_conn, "aws_x.z")[1]
    assert not _in_state(owner_conn, "module.keyed")[1], "the whole call is what it says"
    keyed_call = _in_state(owner_conn, "module.keyed")[0]
    for glob in ("module.keyed.aws_x.z", "module.keyed.module.in.aws_x.z"):
        assert _in_state(owner_conn, glob, "module.keyed") == (keyed_call, True)
    assert _in_state(owner_conn, "module.both.aws_x.z")[1]
    assert _in_state(owner_conn, "module.new.aws_x.z")[1]
