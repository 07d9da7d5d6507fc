"""States that broke other tools, posted and imported: each folder holds the inputs of one case."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.sending import Send, import_, post
from tests.documents import encoded, instance, resource, state
from tests.equality import canonical, number, objects
from tests.service import Backend

HERE = Path(__file__).parent


def _read(case: str, file: str = "state.json") -> bytes:
    [folder] = HERE.glob(f"{case}-*")
    return (folder / file).read_bytes()


@pytest.fixture(params=[post, import_], ids=["post", "import"])
def send(request: pytest.FixtureRequest) -> Send:
    """Each way a whole document comes in."""
    chosen: Send = request.param
    return chosen


def _column(backend: Backend, expression: str, view: str = "kl.resources") -> list[Any]:
    found = backend.server.as_kl_server(
        f"select {expression} from {view} as r where r.state_name = %(name)s order by 1",
        name=backend.name,
    )
    return [row[0] for row in found]


def _assert_comes_back(backend: Backend, body: bytes) -> None:
    assert canonical(backend.get().content) == canonical(body)
    assert canonical(backend.export()) == canonical(body)


WHOLE = [
    ("01", "state.json", 2),
    ("03", "state.json", 2),
    ("05", "state.json", 20),
    ("07", "state.json", 3),
    ("08", "state.json", 6),
    ("09", "state-split-block.json", 2),
    ("11", "state.json", 2),
    ("12", "state.json", 1),
    ("12", "state-empty-array.json", 0),
    ("13", "state.json", 3),
    ("13", "state-null-fields.json", 2),
    ("13", "state-null-top.json", 0),
    ("13", "state-minimal.json", 0),
    ("14", "state-v4-flat.json", 1),
    ("14", "state-v4-legacy-provider.json", 2),
    ("17", "trailing-newlines.json", 1),
    ("19", "state.json", 10),
    ("20", "state.json", 6),
    ("26", "state-after-destroy.json", 0),
]


@pytest.mark.parametrize(("case", "file", "count"), WHOLE)
def test_state_becomes_rows_and_comes_back(
    backend: Backend, send: Send, case: str, file: str, count: int
) -> None:
    body = _read(case, file)
    answer = send(backend, body)
    assert answer.status_code == 200, answer.text
    _assert_comes_back(backend, body)
    assert len(_column(backend, "r.address")) == len(objects(body)) == count
    assert send(backend, body).json()["outcome"] == "unchanged"


REFUSED = [
    ("08", "state-bad-deposed-key.json", ["abc", "8"]),
    ("08", "state-bad-status.json", ["planned"]),
    ("09", "state-same-block.json", ["more than once"]),
    ("09", "state-split-block-dup.json", ["more than once"]),
    ("09", "state-dup-deposed.json", ["more than once"]),
    ("09", "state-split-block-two-providers.json", ["west"]),
    ("14", "state-v3.json", ["version 3", "4"]),
    ("14", "state-v5.json", ["version 5", "4"]),
    ("14", "state-v0-noversion.json", ["version", "4"]),
    ("14", "state-version-string.json", ['"4"', "version 4"]),
    ("14", "state-bad-mode.json", ["mode"]),
    ("14", "state-bad-provider-string.json", ["provider"]),
    ("17", "utf8-bom.json", ["byte order mark"]),
    ("17", "utf16le-bom.json", ["UTF-16"]),
    ("17", "trailing-garbage.json", ["JSON"]),
    ("17", "truncated.json", ["JSON"]),
    ("17", "html.json", ["JSON"]),
    ("17", "array.json", ["state"]),
    ("17", "null.json", ["state"]),
    ("17", "whitespace-only.json", ["empty"]),
    ("17", "empty.json", ["empty"]),
    ("17", "invalid-utf8.json", ["UTF-8"]),
]


@pytest.mark.parametrize(("case", "file", "parts"), REFUSED)
def test_state_that_is_none_changes_nothing(
    backend: Backend, send: Send, case: str, file: str, parts: list[str]
) -> None:
    kept = encoded(state(1, resource("kept")))
    backend.post(kept)
    answer = send(backend, _read(case, file))
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    for part in parts:
        assert part in answer.json()["message"]
    assert backend.versions() == 1
    _assert_comes_back(backend, kept)


def test_whole_numbers_keep_every_digit(backend: Backend) -> None:
    body = _read("01")
    backend.post(body)
    served = backend.get().text
    for numeral in (
        "7227701560655103598",
        "9223372036854775807",
        "18446744073709551616",
        "123456789012345678901234567890.123",
    ):
        assert numeral in served
    assert "e+" not in served.lower()
    value = "r.attributes -> 'input' ->> 'value'"
    assert "7227701560655103598" in _column(backend, value)


def test_change_beside_a_large_number_leaves_its_row(backend: Backend) -> None:
    document = json.loads(_read("01"))
    backend.post(encoded(document))
    for block in document["resources"]:
        if block["name"] == "limits":
            block["instances"][0]["attributes"]["id"] = "changed"
    document["serial"] += 1
    backend.post(encoded(document))
    assert _column(backend, "r.address || ' ' || r.create_serial") == [
        f"terraform_data.limits {document['serial']}",
        f"terraform_data.url_map {document['serial'] - 1}",
    ]


def test_nul_shows_as_an_escape_in_addresses(backend: Backend) -> None:
    backend.post(_read("03"))
    assert r'terraform_data.keyed["a\u0000b"]' in _column(backend, "r.address")
    document = backend.get().json()
    keys = [i.get("index_key") for block in document["resources"] for i in block["instances"]]
    assert "a\0b" in keys
    assert "nul\0in output" in [o["value"] for o in document["outputs"].values()]


def test_six_characters_that_look_like_an_escape_stay_six(backend: Backend) -> None:
    text = "\\u0000"
    body = encoded(state(1, resource("a", instance({"id": text}, index_key=text))))
    backend.post(body)
    _assert_comes_back(backend, body)
    assert _column(backend, "r.attributes ->> 'id'") == [text]
    assert _column(backend, "r.address") == ['terraform_data.a["\\\\u0000"]']


HOSTILE_KEYS = [
    r'["\u0007bell"]',
    r'["$$${lit}"]',
    '["*"]',
    '["</script>&"]',
    '["[0]"]',
    '["a.b"]',
    r'["back\\slash"]',
    '["d$${x}"]',
    '["e\u0301"]',
    r'["nl\nnl"]',
    '["p%%{x}"]',
    '["plain"]',
    r'["q\"uote"]',
    r'["tab\tx"]',
    '["with space"]',
    r'["x\"] , y[\""]',
    r'["\u007fdel"]',
    '["ünïcødé"]',
    r'["\u2028ls"]',
    '["😀"]',
]


def test_hostile_keys_print_as_terraform_prints_them(backend: Backend) -> None:
    backend.post(_read("05"))
    expected = {f"terraform_data.k{key}" for key in HOSTILE_KEYS}
    assert set(_column(backend, "r.address")) == expected


def test_instances_come_in_code_point_order_of_their_keys(backend: Backend) -> None:
    document = json.loads(_read("05"))
    document["resources"][0]["instances"].reverse()
    backend.post(encoded(document))
    [block] = backend.get().json()["resources"]
    keys = [i["index_key"] for i in block["instances"]]
    assert keys == sorted(keys)


def test_keys_of_thousands_of_characters_stay_apart(backend: Backend) -> None:
    backend.post(_read("07"))
    addresses = _column(backend, "r.address")
    long = [a for a in addresses if a.startswith("terraform_data.long[")]
    assert len(set(long)) == 2
    assert all(len(a) > 3200 for a in long)
    for address in long:
        found = backend.server.as_kl_server(
            "select r.attributes ->> 'id' from kl.resource_history as r "
            "where r.state_name = %(name)s and r.address = %(address)s",
            name=backend.name,
            address=address,
        )
        assert len(found) == 1


def test_deposed_objects_share_the_address_of_the_current_one(backend: Backend) -> None:
    backend.post(_read("08"))
    found = backend.server.as_kl_server(
        "select r.address, r.deposed_key, r.tainted from kl.resources as r "
        "where r.state_name = %(name)s order by r.address, r.deposed_key nulls first",
        name=backend.name,
    )
    assert found == [
        ("widget_thing.both", None, False),
        ("widget_thing.both", "00000001", False),
        ("widget_thing.both", "00000002", True),
        ("widget_thing.net", None, False),
        ("widget_thing.only_deposed", "a1b2c3d4", False),
        ('widget_thing.tainted["k"]', None, True),
    ]
    assert _column(backend, "count(distinct r.address)") == [4]


def test_refused_duplicate_names_the_address(backend: Backend) -> None:
    for file in ("state-same-block.json", "state-split-block-dup.json", "state-dup-deposed.json"):
        [address] = {f"{b['type']}.{b['name']}" for b in json.loads(_read("09", file))["resources"]}
        assert address in backend.post(_read("09", file)).json()["message"]


def test_block_split_in_two_comes_back_as_one(backend: Backend) -> None:
    backend.post(_read("09", "state-split-block.json"))
    [block] = backend.get().json()["resources"]
    assert len(block["instances"]) == 2


def test_older_client_drops_new_fields_and_history_keeps_them(backend: Backend) -> None:
    new = _read("11")
    backend.post(new)
    old = json.loads(new)
    old["serial"] += 1
    old.pop("x_top_future")
    for block in old["resources"]:
        block.pop("x_resource_future", None)
        for item in block["instances"]:
            item.pop("identity", None)
            item.pop("identity_schema_version", None)
    backend.post(encoded(old))
    _assert_comes_back(backend, encoded(old))
    assert canonical(backend.export("v1")) == canonical(new)
    assert "x_top_future" not in backend.get().text


def test_check_results_are_kept_as_they_came(backend: Backend) -> None:
    body = _read("12")
    backend.post(body)
    assert backend.get().json()["check_results"] == json.loads(body)["check_results"]


def test_block_without_instances_has_no_row(backend: Backend) -> None:
    backend.post(_read("13"))
    assert "gone" not in {b["name"] for b in backend.get().json()["resources"]}
    [key] = [
        i.get("index_key")
        for b in backend.get().json()["resources"]
        for i in b["instances"]
        if b["name"] == "moved_out_of_count"
    ]
    assert key is None


def test_flat_attributes_and_old_providers_survive(backend: Backend) -> None:
    flat = _read("14", "state-v4-flat.json")
    backend.post(flat)
    [block] = backend.get().json()["resources"]
    assert (
        block["instances"][0]["attributes_flat"]
        == json.loads(flat)["resources"][0]["instances"][0]["attributes_flat"]
    )

    other = backend.server.backend()
    legacy = _read("14", "state-v4-legacy-provider.json")
    other.post(legacy)
    expected = sorted(b["provider"] for b in json.loads(legacy)["resources"])
    assert _column(other, "r.provider") == expected


def test_encrypted_state_comes_back_byte_for_byte(backend: Backend, send: Send) -> None:
    body = _read("16")
    plain = [resource(f"r{n}") for n in range(10)]
    envelope = json.loads(body)
    first = encoded(state(max(envelope["serial"] - 1, 0), *plain, lineage=envelope["lineage"]))
    assert send(backend, first).status_code == 200
    assert send(backend, body).status_code == 200
    assert send(backend, body).json()["outcome"] == "unchanged"

    assert backend.get().content == body
    assert backend.export() == body
    assert _column(backend, "r.address") == []
    assert canonical(backend.export("v1")) == canonical(first)
    assert [kind for kind, _ in backend.events() if kind != "import"] == ["became_opaque"]
    status = backend.request("GET", "/v1/admin/status", params={"name": backend.name}).json()
    assert status["current_version"]["opaque"] is True

    again = encoded(state(envelope["serial"] + 1, *plain, lineage=envelope["lineage"]))
    assert send(backend, again).status_code == 200
    assert len(_column(backend, "r.address")) == 10
    assert backend.export("v2") == body


def test_encrypted_state_follows_the_serial_rules(backend: Backend) -> None:
    body = _read("16")
    envelope = json.loads(body)
    backend.post(body)
    for change in ({"serial": envelope["serial"]}, {"lineage": "other", "serial": 2**40}):
        other = json.dumps(envelope | change | {"encrypted_data": "b3RoZXI="}).encode()
        assert backend.post(other).status_code == 409
    assert backend.get().content == body


def test_ciphertext_is_in_no_view(backend: Backend) -> None:
    body = _read("16")
    backend.post(body)
    ciphertext = json.loads(body)["encrypted_data"]
    for view in ("states", "state_versions", "resources", "outputs", "events"):
        rows = backend.server.as_kl_server(
            f"select r::text from kl.{view} as r where r.state_name = %(name)s", name=backend.name
        )
        assert not any(ciphertext in text for (text,) in rows)


@pytest.mark.parametrize(
    "change",
    [
        {"encrypted_data": None},
        {"encryption_version": None},
        {"encrypted_data": 5},
        {"encrypted_data": ""},
        {"encryption_version": ["v0"]},
        {"serial": "x"},
    ],
)
def test_half_an_envelope_is_refused(backend: Backend, send: Send, change: dict[str, Any]) -> None:
    envelope = json.loads(_read("16")) | change
    answer = send(backend, json.dumps(envelope).encode())
    assert answer.status_code == 400
    assert backend.kept() == 0
    shortened = {k: v for k, v in envelope.items() if v is not None}
    assert send(backend, json.dumps(shortened).encode()).status_code == 400


def test_odd_spellings_are_read_alike_on_every_path(backend: Backend, send: Send) -> None:
    assert send(backend, _read("17", "dup-json-keys.json")).status_code == 200
    assert backend.get().json()["serial"] == 7

    other = backend.server.backend()
    assert send(other, _read("17", "case-variant-key.json")).status_code == 200
    assert other.request("GET", "/v1/admin/status", params={"name": other.name}).json()[
        "current_version"
    ]["serial"] in (0, "0")


def test_dependencies_fan_out_to_every_instance(backend: Backend) -> None:
    body = _read("19")
    backend.post(body)
    edges = backend.server.as_kl_server(
        "select d.address, d.depends_on_address from kl.resource_dependencies as d "
        "where d.state_name = %(name)s order by 1, 2",
        name=backend.name,
    )
    created = ['module.site["eu"].widget_thing.created', 'module.site["us.1"].widget_thing.created']
    dependent = [a.replace("created", "dependent") for a in created]
    assert len(edges) == 14
    assert None not in {target for _, target in edges}
    assert {e for e in edges if e[0].startswith("widget_vm.vm")} == {
        (f"widget_vm.vm[{n}]", target)
        for n in (0, 1)
        for target in ("widget_disk.d[0]", "widget_disk.d[1]", "widget_net.shared")
    }
    assert {e for e in edges if e[0] in dependent} == {(d, c) for d in dependent for c in created}
    posted = {
        tuple(i["dependencies"])
        for b in json.loads(body)["resources"]
        for i in b["instances"]
        if "dependencies" in i
    }
    served = {
        tuple(i["dependencies"])
        for b in backend.get().json()["resources"]
        for i in b["instances"]
        if "dependencies" in i
    }
    assert served == posted


def test_ring_of_dependencies_is_walked_once(backend: Backend) -> None:
    backend.post(_read("20"))

    def closure(start: str, here: str, there: str) -> set[str]:
        found = backend.server.as_kl_server(
            f"with recursive reached as (select %(start)s as address union "
            f"select d.{there} from reached as r inner join kl.resource_dependencies as d "
            f"on d.{here} = r.address and d.state_name = %(name)s "
            f"where d.{there} is not null) select address from reached",
            start=start,
            name=backend.name,
        )
        return {row[0] for row in found} - {start}

    ring = {"widget_thing.a", "widget_thing.b", "widget_thing.c"}
    assert closure("widget_thing.leaf", "address", "depends_on_address") == ring
    assert closure("widget_thing.a", "depends_on_address", "address") == {
        "widget_thing.b",
        "widget_thing.c",
        "widget_thing.leaf",
    }


def test_long_chain_goes_in_and_one_change_moves_one_row(backend: Backend) -> None:
    provider = 'provider["registry.terraform.io/acme/widget"]'
    blocks = [
        resource(
            f"r{n}",
            instance(
                {"id": f"w-{n}", "name": f"n{n}", "blob": f"{n:06d}" * 200},
                dependencies=[f"widget_thing.r{n - 1}"] if n else [],
            ),
            type="widget_thing",
            provider=provider,
        )
        for n in range(2000)
    ]
    body = encoded(state(1, *blocks))
    assert backend.post(body).status_code == 200
    _assert_comes_back(backend, body)

    blocks[1234]["instances"][0]["attributes"]["name"] = "changed"
    assert backend.post(state(2, *blocks)).status_code == 200
    assert _column(backend, "r.delete_version_no", "kl.resource_history").count(2) == 1
    assert _column(backend, "r.create_version_no").count(2) == 1


def test_numbers_equal_in_value_are_equal_however_spelled() -> None:
    assert number("1.10") == number("11e-1") == number("0.011E+2")
    assert number("-0.0") == number("0")
    assert number("1e400") != number("1e401")
