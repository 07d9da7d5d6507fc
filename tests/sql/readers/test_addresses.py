"""kl.address_path and kl.known_path: addresses as people write them."""

import json

import psycopg
import pytest

from tests.clusters import Connection
from tests.sql.readers.conftest import Ask


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.b", " a . b "),
        ("a.b", "resource.a.b"),
        ("a.b[0]", "a.b[ 00 ]"),
        ("a.b[0]", "a.b[0.0]"),
        ('a.b["é"]', 'a.b["\\u00e9"]'),
        ('a.b["${x}"]'.replace("${", "$${"), 'a.b["$${x}"]'),
        ('module.m["k"].data.a.b', 'module . m [ "k" ] . data . a . b'),
        ("module.m[1].a.b", "module.m[01].a.b"),
    ],
)
def test_spellings_of_one_address_are_one_path(ask: Ask, one: str, other: str) -> None:
    (row,) = ask("select kl.address_path(%s) as one, kl.address_path(%s) as other", one, other)
    assert row["one"] == row["other"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.b[0]", 'a.b["0"]'),
        ("a.b", "data.a.b"),
        ("a.b", "resource.data.b"),
        ("module.a.b.c", "a.b"),
        ('a.b["x.y"]', 'a.b["x"]'),
    ],
)
def test_different_addresses_are_different_paths(ask: Ask, one: str, other: str) -> None:
    (row,) = ask("select kl.address_path(%s) as one, kl.address_path(%s) as other", one, other)
    assert row["one"] != row["other"]


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("", "it is empty"),
        ("a", "write [module"),
        ("a.b.c", "write [module"),
        ("data.a", "write [module"),
        ("resource.data.a.b", "write [module"),
        ("module.m", "names a module"),
        ("module.m.a", "write [module"),
        ("a.b['x']", "double quotes"),
        ("a.b[x]", "a key is"),
        ("a.b[]", "a key is missing"),
        ("a.b[-1]", "not negative"),
        ("a.b[*]", "wildcards"),
        ("a.b[1", "bracket"),
        ('a.b["x]', "double quote"),
        ("a..b", "name is missing"),
        ('a.b["${x}"]', "not a quoted instance key"),
        ('a.b["\\q"]', "not a quoted instance key"),
    ],
)
def test_a_malformed_address_is_told_what_is_wrong(
    analyst: Connection, address: str, hint: str
) -> None:
    with pytest.raises(psycopg.Error) as failed:
        analyst.execute("select kl.address_path(%s)", (address,))
    assert failed.value.sqlstate == "KL001"
    assert json.loads(failed.value.diag.message_detail or "null")
    assert hint in (failed.value.diag.message_primary or "")


def test_every_address_of_a_state_leads_to_its_row(ask: Ask) -> None:
    rows = ask("select state_name, address, path from kl.resources where deposed_key is null")
    assert len(rows) > 30
    for row in rows:
        (found,) = ask("select kl.known_path(%s, %s) as path", row["state_name"], row["address"])
        (parsed,) = ask("select kl.address_path(%s) as path", row["address"])
        assert row["path"].startswith(found["path"])
        assert found["path"] == parsed["path"]
        assert row["path"].removeprefix(found["path"]) in ("", "\x02")


def test_a_composed_spelling_finds_the_only_match(ask: Ask) -> None:
    decomposed, composed = 'terraform_data.k["e\u0301"]', 'terraform_data.k["\u00e9"]'
    (row,) = ask(
        "select kl.known_path('05', %s) = kl.address_path(%s) as same", composed, decomposed
    )
    assert row["same"]
