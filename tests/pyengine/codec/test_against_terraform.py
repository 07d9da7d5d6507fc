"""What the real terraform stores for an answer is what the codec makes of it, byte for byte."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from pyengine.codec.codec import Codec
from tests.provider_stub.install import install_stub
from tests.pyengine.codec.strategies import dumps, plain_schemas_and_values

TERRAFORM = shutil.which("terraform")
SOURCE = "registry.terraform.io/acme/widget"


def cases(number: int) -> list[tuple[dict[str, Any], bytes]]:
    """Return schemas and values, the same ones every time."""
    found: list[tuple[dict[str, Any], bytes]] = []

    @settings(
        max_examples=number,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(plain_schemas_and_values())
    def collect(case: tuple[dict[str, Any], Any]) -> None:
        schema, value = case
        found.append((schema, dumps(value)))

    collect()
    return found


def terraform(folder: Path, *arguments: str) -> None:
    env = {
        **os.environ,
        "TF_CLI_CONFIG_FILE": str(folder / "cli.tfrc"),
        "TF_DISABLE_PLUGIN_TLS": "1",
        "CHECKPOINT_DISABLE": "1",
        "TF_DATA_DIR": str(folder / "data"),
    }
    done = subprocess.run(
        [TERRAFORM or "", *arguments, "-no-color"],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def written(instance: bytes) -> bytes:
    """Return attributes as they stand in a state, without the indentation."""
    return msgspec.json.format(instance, indent=-1)


@pytest.mark.skipif(TERRAFORM is None, reason="terraform is not on this machine")
def test_stored_attributes_are_byte_equal_and_sensitive_paths_the_same(tmp_path: Path) -> None:
    drawn = cases(150)
    types = {f"widget_t{index}": schema for index, (schema, _) in enumerate(drawn)}
    codecs = {name: Codec(json.dumps(schema)) for name, schema in types.items()}
    wires = {name: codecs[name].encode(text) for name, (_, text) in zip(types, drawn, strict=True)}
    mirror = tmp_path / "mirror"
    scenario = {
        "protocol": 6,
        "schemas": types,
        "reads_by_type": {
            name: {"new_state_msgpack_hex": wire.hex()} for name, wire in wires.items()
        },
    }
    install_stub(mirror, scenario, source=SOURCE)
    (tmp_path / "cli.tfrc").write_text(
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n'
    )
    (tmp_path / "main.tf.json").write_text(
        json.dumps(
            {
                "terraform": {"required_providers": {"widget": {"source": SOURCE}}},
                "resource": {name: {"x": {}} for name in types},
            }
        )
    )
    state = {"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l"}
    resources = [
        {
            "mode": "managed",
            "type": name,
            "name": "x",
            "provider": f'provider["{SOURCE}"]',
            "instances": [
                {
                    "schema_version": 0,
                    "attributes": json.loads(codec.canonical("{}"), parse_float=str),
                }
            ],
        }
        for name, codec in codecs.items()
    ]
    (tmp_path / "terraform.tfstate").write_text(json.dumps({**state, "resources": resources}))
    terraform(tmp_path, "init", "-input=false")
    terraform(tmp_path, "apply", "-refresh-only", "-auto-approve", "-input=false")
    stored = _stored(tmp_path / "terraform.tfstate")
    assert stored.keys() == codecs.keys()
    for name, (text, sensitive) in stored.items():
        assert codecs[name].decode(wires[name]) == text, name
        assert codecs[name].canonical(text) == text, name
        merged = json.loads(codecs[name].merge_sensitive(text, b"[]"), parse_float=str)
        assert sorted(map(str, merged)) == sorted(map(str, sensitive)), name


def _stored(path: Path) -> dict[str, tuple[bytes, Any]]:
    """Return attributes and sensitive_attributes by resource type."""
    document = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
    found = {}
    for block in msgspec.json.decode(document["resources"], type=list[dict[str, msgspec.Raw]]):
        (instance,) = msgspec.json.decode(block["instances"], type=list[dict[str, msgspec.Raw]])
        name = msgspec.json.decode(block["type"], type=str)
        sensitive = msgspec.json.decode(instance["sensitive_attributes"])
        found[name] = written(bytes(instance["attributes"])), sensitive
    return found
