"""Large states as Terraform writes them: indented, keys sorted, about 1.9 KB an instance."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_INSTANCES_PER_RESOURCE = 50


def write_state(path: Path, instances: int, *, serial: int = 1, changed: int | None = None) -> None:
    """Write a state with that many instances; `changed`: the number of one with another name."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_pieces(instances, serial, changed))


def _pieces(instances: int, serial: int, changed: int | None) -> Iterator[str]:
    head = {
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": serial,
        "lineage": "5a2a3d8e-9f5b-4b0e-8a56-3f6a86e6f0aa",
        "outputs": {},
    }
    yield json.dumps(head, indent=2)[:-2] + ',\n  "resources": ['
    for first in range(0, instances, _INSTANCES_PER_RESOURCE):
        numbers = range(first, min(first + _INSTANCES_PER_RESOURCE, instances))
        resource = {
            "module": f'module.site["s{first // 2000:04}"]',
            "mode": "managed",
            "type": "widget_instance",
            "name": f"n{first // _INSTANCES_PER_RESOURCE:05}",
            "provider": 'provider["registry.terraform.io/acme/widget"]',
            "instances": [_instance(n - first, n, renamed=n == changed) for n in numbers],
        }
        text = json.dumps(resource, indent=2).replace("\n", "\n    ")
        yield ("," if first else "") + "\n    " + text
    yield '\n  ],\n  "check_results": null\n}\n'


def _instance(key: int, number: int, *, renamed: bool) -> dict[str, Any]:
    mark = hashlib.sha256(str(number).encode()).hexdigest()
    return {
        "index_key": key,
        "schema_version": 1,
        "attributes": {
            "ami": f"ami-{mark[:17]}",
            "arn": f"arn:aws:ec2:eu-west-1:123456789012:instance/i-{mark[:17]}",
            "availability_zone": "eu-west-1a",
            "cpu_core_count": number,
            "ebs_block_device": [
                {
                    "delete_on_termination": True,
                    "device_name": f"/dev/sd{letter}",
                    "encrypted": True,
                    "iops": 3000,
                    "volume_id": f"vol-{mark[i : i + 17]}",
                    "volume_size": 100,
                }
                for i, letter in enumerate("abc")
            ],
            "id": f"i-{mark[:17]}",
            "monitoring": False,
            "private_ip": "10.0.0.1",
            "subnet_id": f"subnet-{mark[20:37]}",
            "tags": {
                "Name": f"n{number}" + ("-renamed" if renamed else ""),
                "env": "prod",
                "team": f"t{number % 7}",
            },
            "timeouts": None,
            "user_data": mark[:40],
            "vpc_security_group_ids": [f"sg-{mark[i : i + 17]}" for i in range(3)],
        },
        "sensitive_attributes": [],
        "private": "eyJzY2hlbWFfdmVyc2lvbiI6IjEifQ==",
        "dependencies": ["widget_group.sg", "widget_network.main", "widget_subnet.a"],
    }
