"""What goes out comes back, over generated schemas and values."""

import json
from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyengine.codec.codec import Codec
from pyengine.codec.errors import CodecError
from pyengine.codec.wire import WireValue
from tests.pyengine.codec.strategies import DECIMALS, INTEGERS, schemas_and_values

RELAXED = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def exact(text: bytes) -> Any:
    return json.loads(text, parse_int=Decimal, parse_float=Decimal)


@RELAXED
@given(schemas_and_values())
def test_canonical_json_survives_the_wire_byte_for_byte(case: tuple[Codec, bytes]) -> None:
    codec, text = case
    canonical = codec.decode(codec.encode(text))
    assert codec.decode(codec.encode(canonical)) == canonical
    assert codec.canonical(text) == canonical
    assert codec.decode(WireValue(json=text)) == canonical
    assert codec.strip_unknown(text) == text
    assert codec.encode(canonical) == codec.encode(canonical, strip=True)


@RELAXED
@given(schemas_and_values())
def test_canonical_json_is_sorted_compact_and_plain(case: tuple[Codec, bytes]) -> None:
    codec, text = case
    canonical = codec.canonical(text)
    value = exact(canonical)
    assert list(value) == sorted(value)
    assert value.keys() == {name for name, _ in codec.type.members}
    assert not set(b"<>&") & set(canonical)
    codec.merge_sensitive(canonical, b"[]")


@RELAXED
@given(INTEGERS | DECIMALS)
def test_numbers_keep_every_digit(number: int | Decimal) -> None:
    codec = Codec('{"version":0,"block":{"attributes":[{"name":"n","type":"number"}]}}')
    text = codec.decode(codec.encode(f'{{"n":{number}}}'))
    assert b"e" not in text.lower()
    assert exact(text)["n"] == Decimal(number)
    wire = msgspec.msgpack.decode(codec.encode(text))["n"]
    if isinstance(wire, float):
        assert Decimal(wire) == number
        assert not wire.is_integer()


@RELAXED
@given(st.binary(max_size=60), schemas_and_values())
def test_any_bytes_are_decoded_or_refused(data: bytes, case: tuple[Codec, bytes]) -> None:
    codec, text = case
    wire = codec.encode(text)
    for attempt in (data, wire[: len(wire) // 2] + data, wire + data):
        try:
            codec.decode(attempt)
        except CodecError:
            continue
