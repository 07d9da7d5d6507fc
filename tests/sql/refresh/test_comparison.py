"""Any document: what is read as it was changes no row; what is read otherwise is kept."""

import json
from typing import Any, Self

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from tests.clusters import Connection
from tests.equality import canonical, objects
from tests.sql.refreshing import GONE, Stored, begin
from tests.sql.staging import read, write
from tests.strategies import Numeral, documents, dump, texts, values

Json = dict[str, Any]


class _Spelling(Numeral):
    """A numeral with an exponent that says nothing; not where jsonb would not hold it."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        return super().__new__(cls, text if "e" in text.lower() or len(text) > 200 else f"{text}e0")


def respelled(text: str) -> str:
    """Return the same value in other words: members turned round, white space, exponents."""
    return dump(
        json.loads(
            text,
            object_pairs_hook=lambda pairs: dict(reversed(pairs)),
            parse_int=_Spelling,
            parse_float=_Spelling,
        ),
        "\n",
    )


def _read(stored: Stored, attributes: str) -> tuple[Any, ...]:
    texts = (attributes, None, stored.sensitive_attributes, stored.identity)
    found, prior, sensitive, identity = (t and t.encode("utf-8", "surrogatepass") for t in texts)
    return (
        *(stored.resource_id, "read", stored.schema_version, found, prior, sensitive),
        *(stored.private, identity, stored.identity_schema_version, None),
    )


def _instances(document: Json) -> list[Json]:
    """Return the managed objects of a rendered document, in the order of their paths."""
    blocks = [block for block in document["resources"] if block["mode"] == "managed"]
    return [one for block in blocks for one in block["instances"]]


def _assert_equal(body: bytes, wanted: str) -> None:
    found, expected = (_settled(text) for text in (body.decode(), wanted))
    if canonical(found) != canonical(expected):
        assert objects(found) == objects(expected)
        assert canonical(found) == canonical(expected)


def _settled(text: str) -> str:
    """Return a document in which null is schema version 0, or no attributes."""
    document = json.loads(text, parse_int=Numeral, parse_float=Numeral)
    for one in _instances(document):
        one["schema_version"] = one.get("schema_version") or 0
        one["attributes"] = one.get("attributes") or {}
    return dump(document)


@given(data=st.data())
@settings(
    max_examples=15,
    phases=[Phase.generate],  # shrinking a document takes minutes
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_document(conn: Connection, data: st.DataObject) -> None:
    document = data.draw(documents())
    with conn.transaction(force_rollback=True):
        write(conn, "s", document.encoded(1))
        before = read(conn, "s")

        run = begin(conn)
        stored = sorted(run.objects(), key=lambda o: o.path.encode())
        run.stage(*(_read(o, respelled(o.attributes or "{}")) for o in stored))
        flat = sum(o.attributes_flat is not None for o in stored)
        assert len(run.preview().changed_addresses) == flat
        run.commit()
        rows = "select count(*) from kl.resource_history where create_version_no = 2"
        assert conn.execute(rows.encode()).fetchone() == (flat,)
        expected = json.loads(before, parse_int=Numeral, parse_float=Numeral)
        expected["serial"] = 2
        for one in _instances(expected):
            if one.pop("attributes_flat", None) is not None:
                one["attributes"] = one.get("attributes") or {}
        _assert_equal(read(conn, "s"), dump(expected))

        run = begin(conn)
        stored = sorted(run.objects(), key=lambda o: o.path.encode())
        fates = [data.draw(_fates) for _ in stored]
        event(f"{sum(fate is not None for fate in fates)} of {len(fates)} drifted")
        run.stage(*(_staged(o, fate) for o, fate in zip(stored, fates, strict=True)))
        assert run.commit().resources_checked == len(stored)
        expected["serial"] = 3
        for one, fate in zip(_instances(expected), fates, strict=True):
            if fate == GONE:
                one["gone"] = True
            elif fate is not None:
                one["attributes"] = fate
        for block in expected["resources"]:
            block["instances"] = [o for o in block["instances"] if o.get("gone") is not True]
        _assert_equal(read(conn, "s"), dump(expected))


_fates = st.one_of(
    st.none(), st.just(GONE), st.dictionaries(texts, st.one_of(texts, values), max_size=3)
)


def _staged(stored: Stored, fate: Json | str | None) -> tuple[Any, ...]:
    if fate == GONE:
        return (stored.resource_id, GONE, *[None] * 8)
    return _read(stored, stored.attributes or "{}" if fate is None else dump(fate))
