"""A document that is split while it arrives is the one that is split as a whole."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyengine import statefile
from pyengine.arriving import ArrivingDocument
from pyengine.errors import KilolockError
from tests import strategies
from tests.documents import Json, instance, resource, state

Split = tuple[object, ...] | str


def _arrive(body: bytes, step: int, part: int, longest: int = 1 << 20) -> Split:
    arriving = ArrivingDocument(len(body), part, longest)
    for start in range(0, len(body), step):
        arriving.feed(body[start : start + step])
    return _outcome(arriving.finish)


def _whole(body: bytes) -> Split:
    return _outcome(lambda: statefile.split(body))


def _outcome(split: object) -> Split:
    assert callable(split)
    try:
        document: statefile.Document = split()
    except KilolockError as exc:
        return str(exc)
    payload = document.payload
    return (
        payload(document.head),
        [(payload(name), payload(value)) for name, value in document.outputs],
        [payload(header) for header in document.headers],
        document.blocks,
        [piece and payload(piece) for piece in document.slices],
        document.surrogate_mark is None and document.digests,
        [bytes(chunk) for chunk in document.chunks],
    )


def _cuts(body: bytes, step: int, part: int) -> int:
    """Tell how many resources were there before the document was whole."""
    arriving = ArrivingDocument(len(body), part)
    for start in range(0, len(body), step):
        arriving.feed(body[start : start + step])
    return len(arriving._document.headers)


def _indented(document: Json) -> bytes:
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


RESOURCES = [resource(f"r{n}", instance({"id": n}), instance({"id": -n})) for n in range(9)]
CHECKS = [{"object_kind": "resource", "config_addr": f"a.b{n}", "status": "pass"} for n in range(9)]
PLAIN = _indented(state(1, *RESOURCES, check_results=CHECKS))


@given(
    document=strategies.documents(),
    step=st.integers(1, 400),
    part=st.integers(1, 400),
    longest=st.sampled_from([50, 1 << 20]),
)
def test_any_document(document: strategies.Document, step: int, part: int, longest: int) -> None:
    body = document.encoded(7)
    assert _arrive(body, step, part, longest) == _whole(body)


@given(data=st.data(), step=st.integers(1, 200))
def test_any_damage(data: st.DataObject, step: int) -> None:
    start = data.draw(st.integers(0, len(PLAIN)))
    end = data.draw(st.integers(start, min(len(PLAIN), start + 30)))
    instead = data.draw(st.sampled_from([b"", b"{", b"}", b"]", b"[", b",", b'"', b"\xff", b"0"]))
    body = PLAIN[:start] + instead + PLAIN[end:]
    assert _arrive(body, step, 1) == _whole(body)


@pytest.mark.parametrize("step", [1, 7, 100, 4096])
def test_resources_are_split_before_the_document_is_whole(step: int) -> None:
    assert _arrive(PLAIN, step, 1) == _whole(PLAIN)
    assert _cuts(PLAIN, step, 1) == len(RESOURCES) - 1


def _odd() -> Iterator[tuple[str, bytes]]:
    yield "byte order mark", b"\xef\xbb\xbf" + PLAIN
    yield "surrogate", PLAIN.replace(b'"r5"', b'"r\\ud800"')
    yield "no UTF-8 in the resources", PLAIN.replace(b'"r5"', b'"r\xff"')
    yield "no UTF-8 after them", PLAIN.replace(b"a.b8", b"a.b\xff")
    yield "letters", PLAIN.replace(b'"r5"', '"r\u00fc\U0001f600"'.encode())
    yield "unknown key", PLAIN.replace(b'"name": "r5"', b'"name": "r5", "new": 1')
    yield "other order", PLAIN.replace(b'"name": "r5"', b'"new": 1, "name": "r5"')
    yield "instances that are none", PLAIN.replace(b'"name": "r5"', b'"instances": 3, "name": ""')
    yield "resource that is none", PLAIN.replace(b"\n    {", b"\n    3,\n    {", 4)
    yield "no resource", PLAIN.replace(b"\n    {", b"\n    ,\n    {", 4)
    yield "envelope", PLAIN.replace(b'"version": 4', b'"encryption_version": "v0", "version": 4')
    yield "resources again", PLAIN.replace(b'"check_results"', b'"resources"')
    yield "resources before", PLAIN.replace(b'"version"', b'"resources": [], "version"')
    yield "resources inside", PLAIN.replace(b'"resources"', b'"x": {\n  "resources"') + b"}"
    yield "resources in a text", PLAIN.replace(b'"resources"', b'"x": "\n  "resources"')
    yield "nothing follows", PLAIN[: PLAIN.index(b"]\n}")]
    yield "more follows", PLAIN + b"{}"
    yield "nested", PLAIN.replace(b'"r5"', b"[" * 100_000)
    yield "compact", json.dumps(json.loads(PLAIN), separators=(",", ":")).encode()
    yield "nothing", b""


ODD = dict(_odd())


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("step", [1, 64, 1500])
def test_what_is_odd(name: str, step: int) -> None:
    body = ODD[name]
    assert body != PLAIN
    assert _arrive(body, step, 1) == _whole(body)
