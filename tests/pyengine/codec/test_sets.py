"""Sets come in Terraform's order, once each."""

import json
from decimal import Decimal
from typing import Any

import pytest

from pyengine.codec.codec import Codec
from pyengine.codec.numerals import ten_digits
from pyengine.codec.sets import quoted


def canonical(element: Any, members: str) -> str:
    attribute = {"name": "v", "type": ["set", element]}
    codec = Codec(json.dumps({"version": 0, "block": {"attributes": [attribute]}}))
    text = f'{{"v":{members}}}'
    assert codec.decode(codec.encode(text)) == codec.canonical(text)
    return codec.canonical(text).decode()[5:-1]


@pytest.mark.parametrize(
    ("element", "given", "ordered"),
    [
        ("string", '["b","a","b",null,"B","é","z",null]', '["B","a","b","z","é",null]'),
        ("string", '["\\ud83d\\ude00","\\uffee"]', '["\uffee","\U0001f600"]'),
        ("number", "[10,2,2.0,-1,0.5,1e2]", "[-1,0.5,2,10,100]"),
        ("bool", "[true,false,true]", "[false,true]"),
        (
            ["object", {"a": "string", "b": "number"}],
            '[{"a":"q","b":2},{"a":"q","b":10},{"a":null,"b":1},{"a":"q","b":2}]',
            '[{"a":"q","b":10},{"a":"q","b":2},{"a":null,"b":1}]',
        ),
        (["list", "string"], '[["b"],["a","c"],["a"]]', '[["a","c"],["a"],["b"]]'),
        (["set", "string"], '[["b","a"],["a","b"],[]]', '[["a","b"],[]]'),
        (["map", "bool"], '[{"k":true},{"k":false},{}]', '[{"k":false},{"k":true},{}]'),
        (["tuple", ["bool", "number"]], "[[true,1],[false,2]]", "[[false,2],[true,1]]"),
    ],
)
def test_order(element: Any, given: str, ordered: str) -> None:
    assert canonical(element, given) == ordered


@pytest.mark.parametrize(
    ("number", "text"),
    [("0", "0"), ("-0", "-0"), ("10", "10"), ("1e10", "1e+10"), ("9999999999", "9999999999"),
     ("12345678901", "1.23456789e+10"), ("0.0001", "0.0001"), ("0.00001", "1e-05"),
     ("-1.5", "-1.5"), ("1e100", "1e+100"), ("0.12345678905", "0.123456789"),
     ("123456789.05", "123456789"), ("1234.5678901", "1234.56789")],
)  # fmt: skip
def test_ten_digits_as_go_prints_them(number: str, text: str) -> None:
    assert ten_digits(Decimal(number)) == text


def test_quoting_as_go_does() -> None:
    assert quoted('a"\\\n\x01é\u200b\U000e0001') == '"a\\"\\\\\\n\\x01é\\u200b\\U000e0001"'
