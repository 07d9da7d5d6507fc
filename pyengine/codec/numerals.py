"""Numbers as decimal text: never through a binary float where a digit could be lost."""

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Final

from pyengine.codec.errors import MismatchError

_MOST_DIGITS: Final = 100_000
_DECIMAL: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_TEN_DIGITS: Final = Context(prec=10, rounding=ROUND_HALF_EVEN)
_INT64: Final = range(-(1 << 63), 1 << 63)
_SHORT: Final = 4000


def decimal_of(text: str) -> Decimal:
    """Parse a decimal numeral exactly; refuse any other spelling, and ones too long to write."""
    if not _DECIMAL.fullmatch(text):
        raise MismatchError("a number is required, not other text")
    return bounded(Decimal(text))


def bounded(number: Decimal) -> Decimal:
    """Return a finite number that can be written in 100,000 digits; refuse any other."""
    if not number.is_finite():
        raise MismatchError("a number must be finite")
    if abs(number.adjusted()) > _MOST_DIGITS or number.as_tuple().exponent < -2 * _MOST_DIGITS:  # type: ignore[operator]
        raise MismatchError(f"a number of more than {_MOST_DIGITS:,} digits")
    return number


def number_text(number: int | Decimal) -> str:
    """Return plain decimal text without exponent or trailing zeros; negative zero is `-0`."""
    if isinstance(number, int):
        return str(number) if number.bit_length() < _SHORT else format(Decimal(number), "f")
    text = format(bounded(number), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def float_text(number: float) -> str:
    """Return the shortest decimal text that means this double."""
    return number_text(Decimal(repr(number)))


def wire_number(number: int | Decimal) -> int | float | str:
    """Return what goes on the wire: an int64, an exact double that is no integer, or text."""
    if isinstance(number, int):
        return number if number in _INT64 else number_text(number)
    text = number_text(number)
    if "." not in text:
        return _wire_integer(text)
    if len(text) > 1100:  # no double needs more digits
        return text
    numerator, denominator = number.as_integer_ratio()
    exact = denominator & (denominator - 1) == 0 and numerator.bit_length() <= 53
    return numerator / denominator if exact and denominator.bit_length() < 1000 else text


def ten_digits(number: Decimal) -> str:
    """Return `%.10g` of a number, by which Terraform orders the members of sets of objects."""
    if not number:
        return "-0" if number.is_signed() else "0"
    sign, digits, exponent = _TEN_DIGITS.normalize(number).as_tuple()
    text = "".join(map(str, digits))
    assert isinstance(exponent, int)
    magnitude = len(text) + exponent - 1
    if -4 <= magnitude < 10:
        body = format(Decimal((0, digits, exponent)), "f")
    else:
        mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
        body = f"{mantissa}e{'-' if magnitude < 0 else '+'}{abs(magnitude):02d}"
    return "-" + body if sign else body


def _wire_integer(text: str) -> int | str:
    if len(text) > 20:
        return text
    number = int(text)
    return number if number in _INT64 else text
