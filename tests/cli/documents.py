"""State documents for tests of `kl`."""

import json
from pathlib import Path
from typing import Any

LINEAGE = "9f8a4b1c-0000-4000-8000-000000000001"
ENCRYPTED = (
    b'{"serial":3,"lineage":"' + LINEAGE.encode() + b'","meta":{"key_provider.pbkdf2.a":"e30="},'
    b'"encrypted_data":"c2VjcmV0","encryption_version":"v0"}'
)


def document(serial: int = 1, names: tuple[str, ...] = ("one",), **top: Any) -> dict[str, Any]:  # noqa: ANN401 - any member
    """Return a state with one `terraform_data` per name, as Terraform writes it."""
    return {
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": serial,
        "lineage": LINEAGE,
        "outputs": {"o": {"value": "x", "type": "string"}},
        "resources": [
            {
                "mode": "managed",
                "type": "terraform_data",
                "name": name,
                "provider": 'provider["terraform.io/builtin/terraform"]',
                "instances": [
                    {
                        "schema_version": 0,
                        "attributes": {"id": name, "input": {"value": 1, "type": "number"}},
                        "sensitive_attributes": [],
                    }
                ],
            }
            for name in sorted(names)
        ],
        "check_results": None,
    } | top


def write(path: Path, body: dict[str, Any] | bytes) -> str:
    """Write a document; return its path as an argument."""
    path.write_bytes(body if isinstance(body, bytes) else json.dumps(body).encode())
    return str(path)
