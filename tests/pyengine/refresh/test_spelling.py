"""What did not change in an object that did keeps its spelling."""

import pytest

from pyengine.refresh.spelling import keep_spelling


@pytest.mark.parametrize(
    ("stored", "prior", "new", "kept"),
    [
        ('{"a":1.0}', '{"a":1}', '{"a":1}', '{"a":1.0}'),
        ('{"s":["b","a"],"n":1}', '{"n":1,"s":["a","b"]}', '{"n":2,"s":["a","b"]}',
         '{"n":2,"s":["b","a"]}'),
        ('{"b":null,"n":1}', '{"b":[],"n":1}', '{"b":[],"n":2}', '{"b":null,"n":2}'),
        ('{"n":1}', '{"m":null,"n":1}', '{"m":null,"n":2}', '{"n":2}'),
        ('{"n":1}', '{"m":null,"n":1}', '{"m":0,"n":1}', '{"m":0,"n":1}'),
        ('{"o":{"x":[2, 1],"y":1}}', '{"o":{"x":[1,2],"y":1}}', '{"o":{"x":[1,2],"y":2}}',
         '{"o":{"x":[2, 1],"y":2}}'),
        ('{"l":[{"s":[2,1]},1]}', '{"l":[{"s":[1,2]},1]}', '{"l":[{"s":[1,2]},2]}',
         '{"l":[{"s":[1,2]},2]}'),
        ('{"d":{"value":true,"type":"bool"}}', '{"d":{"value":true,"type":"bool"}}',
         '{"d":{"value":1,"type":"number"}}', '{"d":{"value":1,"type":"number"}}'),
        ('{"n":12345678901234567890.50}', '{"n":12345678901234567890.5,"z":1}',
         '{"n":12345678901234567890.5,"z":2}', '{"n":12345678901234567890.50,"z":2}'),
        ("{}", "null", '{"a":1}', '{"a":1}'),
    ],
)  # fmt: skip
def test_only_what_changed_is_spelled_anew(stored: str, prior: str, new: str, kept: str) -> None:
    assert keep_spelling(stored.encode(), prior.encode(), new.encode()).decode() == kept
