"""JSON that jsonb cannot hold goes through its escaped form and comes back as it was."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.clusters import Connection
from tests.equality import parse
from tests.sql.staging import refused

_ROUND_TRIP = """
select
    kl_internal.unescape_json(kl_internal.escaped_jsonb(t.text)::text),
    kl_internal.fits_jsonb(t.text),
    case when kl_internal.fits_jsonb(t.text) then t.text::jsonb::text end
from (select %s::text as text) as t
"""


def _text(value: object, *, ascii_only: bool) -> str:
    return strategies.dump(value, ascii_only=ascii_only)


@given(value=st.dictionaries(strategies.texts, strategies.values, max_size=4), plain=st.booleans())
@example({"a": "\\u0000", "b": "\\\\u0000", "\\": "\0", '"': "\ufdd0n12"}, True)
@example({"n": strategies.Numeral("1e400"), "s": '"1e400", 1e999'}, False)
@settings(max_examples=150, deadline=None)
def test_escaped_form_loses_nothing(owner: Connection, value: object, plain: bool) -> None:
    text = _text(value, ascii_only=plain)
    row = owner.execute(_ROUND_TRIP, (text,)).fetchone()
    assert row is not None
    back, fits, as_jsonb = row
    assert parse(back) == parse(text)
    if fits:
        assert parse(as_jsonb) == parse(text)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ('{"a":1}', True),
        (r'"\ud83d\ude00"', True),
        ('"\ufdd0"', True),
        ("12345678901234567890.10", True),
        (r'"\u0000"', False),
        (r'"\ud800"', False),
        ("1e400", False),
        ("1e999999", False),
        ('{"a": 1} x', False),
    ],
)
def test_what_jsonb_holds_as_it_is(owner: Connection, text: str, fits: bool) -> None:
    assert owner.execute("select kl_internal.fits_jsonb(%s)", (text,)).fetchone() == (fits,)


@pytest.mark.parametrize("text", ["", "x", "{", '{"a":}', "[1,]", '"\\x"', "1e", '{"a":1} {'])
def test_text_that_is_no_json_is_refused(owner_conn: Connection, text: str) -> None:
    with refused(owner_conn, "KL001"):
        owner_conn.execute("select kl_internal.escaped_jsonb(%s)", (text,))


def test_set_is_compared_without_order_and_repetition(owner: Connection) -> None:
    query = "select kl_internal.canonical_set(%s::jsonb) = kl_internal.canonical_set(%s::jsonb)"
    assert owner.execute(query, ('[["b"],["a"],["b"]]', '[["a"],["b"]]')).fetchone() == (True,)
    assert owner.execute(query, ('[["a"]]', '[["a"],["b"]]')).fetchone() == (False,)
