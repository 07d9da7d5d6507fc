"""State documents as Terraform writes them, for any test."""

import json
from typing import Any

LINEAGE = "0f3c8e5a-7a0e-4c1d-9a55-1d2f3b4c5d6e"
OTHER_LINEAGE = "aaaaaaaa-0000-4000-8000-000000000001"
BUILTIN = 'provider["terraform.io/builtin/terraform"]'

Json = dict[str, Any]


def instance(attributes: Json | None = None, **members: Any) -> Json:  # noqa: ANN401 - any JSON
    """Return an instance object."""
    return {
        "schema_version": 0,
        "attributes": {"id": "a"} if attributes is None else attributes,
        "sensitive_attributes": [],
    } | members


def resource(name: str = "a", *instances: Json, **members: Any) -> Json:  # noqa: ANN401 - any JSON
    """Return a resource block; one plain instance unless some are given."""
    return (
        {"mode": "managed", "type": "terraform_data", "name": name, "provider": BUILTIN}
        | members
        | {"instances": list(instances) or [instance({"id": name})]}
    )


def state(serial: int = 1, *resources: Json, **top: Any) -> Json:  # noqa: ANN401 - any JSON
    """Return a whole document."""
    return {
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": serial,
        "lineage": LINEAGE,
        "outputs": {},
        "resources": list(resources),
        "check_results": None,
    } | top


def encoded(document: Json) -> bytes:
    """Return the bytes of a document."""
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def lock_info(lock_id: str, operation: str = "OperationTypeApply", **members: str) -> Json:
    """Return a LockInfo as Terraform sends it."""
    return {
        "ID": lock_id,
        "Operation": operation,
        "Info": "",
        "Who": "ann@ci-1",
        "Version": "1.11.4",
        "Created": "2024-01-01T00:00:00.123456789Z",
        "Path": "",
    } | members


ENCRYPTED = (
    b'{"serial":3,"lineage":"' + LINEAGE.encode() + b'","meta":{"key_provider.pbkdf2.a":"e30="},'
    b'"encrypted_data":"c2VjcmV0","encryption_version":"v0"}'
)
