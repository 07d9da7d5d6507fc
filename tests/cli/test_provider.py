"""kl provider: configurations, and whether every provider of a state is ready."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Kl
from tests.clusters import Database
from tests.documents import resource
from tests.refreshing import PROVIDER, SOURCE, Refreshing, error, place, widget

ARGUMENTS = [
    {"name": "region", "type": "string", "required": True},
    {"name": "token", "type": "string", "optional": True, "sensitive": True},
]
SCHEMA = {"version": 0, "block": {"attributes": ARGUMENTS}}


@pytest.fixture
def stub(cli_database: Database, tmp_path: Path, request: pytest.FixtureRequest) -> Refreshing:
    """A state of the test's own and a folder for its providers."""
    found = place(cli_database, tmp_path / "mirror", request.node.name)
    found.put(widget("a"))
    return found


@pytest.fixture
def here(kl: Kl, cli_database: Database, stub: Refreshing, monkeypatch: pytest.MonkeyPatch) -> Kl:
    """`kl` that works in the database and finds the providers."""
    monkeypatch.setenv("KL_DATABASE_URL", cli_database.conninfo("kl_server"))
    monkeypatch.setenv("KL_PROVIDER_PATH", str(stub.mirror))
    monkeypatch.setenv("HOME", "/nonexistent")
    return kl


def _file(tmp_path: Path, config: object) -> str:
    path = tmp_path / "config.json"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return str(path)


def test_configuration_is_stored_shown_and_removed(
    here: Kl, stub: Refreshing, tmp_path: Path
) -> None:
    stub.provider(provider_schema=SCHEMA)
    config = {"region": "eu", "token": {"env": "TOKEN"}}
    done = here("provider", "configure", stub.name, "acme/widget", "--from-json",
                _file(tmp_path, config))  # fmt: skip
    assert (done.exit_code, done.err) == (0, "")
    assert done.out.decode() == f"{stub.name}: {PROVIDER} configured\n"
    west = f"module.net.{PROVIDER}"
    done = here("provider", "configure", stub.name, west, "--alias", "west", "--from-json",
                _file(tmp_path, {"region": "us"}), "--actor", "bob")  # fmt: skip
    assert done.out.decode() == f"{stub.name}: {west}.west configured\n"

    eu = ("acme/widget", "--alias", 'by["eu"]')
    done = here("provider", "configure", stub.name, *eu, "--from-json",
                _file(tmp_path, {"region": "eu"}))  # fmt: skip
    assert done.out.decode() == f'{stub.name}: {PROVIDER}.by["eu"] configured\n'
    assert here("provider", "get", stub.name, f'{PROVIDER}.by["eu"]').json == {"region": "eu"}
    assert here("provider", "remove", stub.name, *eu).exit_code == 0

    assert here("provider", "get", stub.name, "acme/widget").json == config
    assert here("provider", "get", stub.name, f"{west}.west").json == {"region": "us"}
    listed = here("provider", "list", stub.name, "--format", "json").json
    assert [(row["provider"], row["arguments"], row["actor"]) for row in listed] == [
        (f"{west}.west", ["region"], "bob"),
        (PROVIDER, ["region", "token"], "ann@cli"),
    ]
    table = here("provider", "list", stub.name).out.decode().splitlines()
    assert table[2].split()[:3] == [PROVIDER, "region,", "token"]

    gone = here("provider", "remove", stub.name, "acme/widget")
    assert gone.out.decode() == f"{stub.name}: {PROVIDER} removed\n"
    for command in ("get", "remove"):
        done = here("provider", command, stub.name, "acme/widget")
        assert (done.exit_code, done.err[:23]) == (1, "kl: address_not_found: ")


def test_secrets_as_such_are_refused_unless_allowed(
    here: Kl, stub: Refreshing, tmp_path: Path
) -> None:
    stub.provider(provider_schema=SCHEMA)
    config = _file(tmp_path, {"region": "eu", "token": "t0p-secret"})
    configure = ("provider", "configure", stub.name, SOURCE, "--from-json", config)
    done = here(*configure)
    assert (done.exit_code, done.out) == (1, b"")
    assert done.err.startswith("kl: invalid_request: token: sensitive; ")
    assert "t0p-secret" not in done.err
    assert here(*configure, "--allow-literal-secrets").exit_code == 0
    assert b"t0p-secret" not in here("provider", "list", stub.name).out


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "region: a value is required"),
        ({"region": "eu", "zone": "a"}, "there is no argument 'zone'"),
        ({"region": ["s3cret"]}, "region: "),
        ('{"region": s3cret}', "is not a JSON object"),
        ('["s3cret"]', "is not a JSON object"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(
    here: Kl, stub: Refreshing, tmp_path: Path, config: object, words: str
) -> None:
    stub.provider(provider_schema=SCHEMA)
    done = here("provider", "configure", stub.name, "acme/widget", "--from-json",
                _file(tmp_path, config))  # fmt: skip
    assert done.exit_code == 1
    assert words in done.err
    assert "s3cret" not in done.err
    assert here("provider", "list", stub.name, "--format", "json").json == []


def test_without_the_program_every_text_may_be_secret(
    here: Kl, stub: Refreshing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def configure(config: object, *options: str) -> str:
        text = json.dumps(config).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        return here(
            "provider", "configure", stub.name, "acme/unknown", "--from-json", "-", *options
        ).err

    assert "region: perhaps sensitive" in configure({"region": "eu"})
    assert configure({"region": {"env": "REGION"}, "retries": 3}) == ""
    assert configure({"region": "eu"}, "--allow-literal-secrets") == ""


def test_verify_tells_which_providers_are_ready(
    here: Kl, stub: Refreshing, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.provider(provider_schema=SCHEMA, validate={"diagnostics": []})
    stub.provider("acme/refusing", configure=error("no credentials"))
    provider = 'provider["registry.terraform.io/acme/{}"]'
    stub.put(
        widget("a"),
        widget("b", provider=f"{PROVIDER}.west"),
        widget("c", provider=provider.format("refusing")),
        widget("d", provider=provider.format("nowhere")),
        widget("e", type="widget_other", provider=f"{PROVIDER}.other"),
        resource("f"),
        serial=2,
    )
    stub.configure(PROVIDER, {"region": {"env": "REGION"}})
    stub.configure(f"{PROVIDER}.other", {"region": "eu"})
    monkeypatch.setenv("REGION", "eu")
    done = here("provider", "verify", stub.name, "--format", "json")
    assert done.exit_code == 1
    found = {row["provider"]: row for row in done.json}
    ready = found.pop(PROVIDER)
    assert (ready["version"], ready["protocol"], ready["problem"]) == (stub.version, 5, None)
    builtin = found.pop('provider["terraform.io/builtin/terraform"]')
    assert (builtin["version"], builtin["problem"]) == ("builtin", None)
    problems = {name.removeprefix('provider["registry.terraform.io/'): row["problem"]
                for name, row in found.items()}  # fmt: skip
    assert "region: a value is required" in problems['acme/widget"].west']
    assert problems['acme/refusing"]'].startswith("no credentials (no configuration is stored ")
    assert "no program for registry.terraform.io/acme/nowhere" in problems['acme/nowhere"]']
    assert problems['acme/widget"].other'] == "it has no resource type widget_other"
    assert any(call["call"] == "ValidateProviderConfig" for call in stub.calls())
    assert stub.versions() == [(1, "import"), (2, "import")]

    stub.put(widget("a"), serial=3)
    table = here("provider", "verify", stub.name)
    assert table.exit_code == 0
    assert table.out.decode().splitlines()[1].split() == [
        PROVIDER, stub.version, "1", "yes", "-",
    ]  # fmt: skip
