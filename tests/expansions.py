"""States for scopes and slices, and the example exchange of the state engine protocol."""

from tests.documents import Json, instance, resource, state

AWS = 'provider["registry.terraform.io/hashicorp/aws"]'

PRIMARY = "module.database.aws_db_instance.primary"
GROUP = "module.database.aws_db_parameter_group.primary"
LEGACY = "module.database.aws_db_option_group.legacy"
KEY = "aws_kms_key.main"
FIREWALL = "aws_security_group.db"


def block(address: str, *keys: int | str, needs: list[str] | None = None) -> Json:
    """Return a resource block by its address without own key; a plain instance without keys."""
    *module, type_, name = _steps(address)
    mode = "managed"
    if module and module[-1] == "data":
        module.pop()
        mode = "data"
    members = {"dependencies": needs} if needs else {}
    instances = [
        instance({"id": name}, **members, **({} if key is None else {"index_key": key}))
        for key in (keys or (None,))
    ]
    place = {"module": ".".join(module)} if module else {}
    return resource(name, *instances, mode=mode, type=type_, provider=AWS, **place)


def _steps(address: str) -> list[str]:
    """Split at the dots outside quotes."""
    parts, quoted = [""], False
    for character in address:
        quoted ^= character == '"'
        if character == "." and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def example_state(serial: int = 47) -> Json:
    """Return the state of the protocol's example."""
    return state(serial, block(KEY), block(FIREWALL), block(PRIMARY, needs=[KEY, FIREWALL]))


def example_request() -> Json:
    """Return what the protocol's example sends to scope/expand, but for the state."""
    return {
        "selectors": [
            {"kind": "resource_address", "value": PRIMARY},
            {"kind": "module_prefix", "value": "module.database"},
        ],
        "client_context": {
            "explicit_write_candidates": [PRIMARY],
            "explicit_read_candidates": [KEY],
            "undeployed_config_candidates": [GROUP],
            "removed_config_candidates": [LEGACY],
            "config_nodes": [{"address": GROUP, "dependencies": [KEY]}],
        },
    }


def example_contract() -> Json:
    """Return the scope contract that the example comes to."""
    return {
        "fetch_addresses": [PRIMARY, KEY, FIREWALL],
        "write_addresses": [PRIMARY],
        "read_addresses": [KEY, FIREWALL],
        "config_required_nodes": [GROUP],
        "removed_config_nodes": [LEGACY],
        "missing_from_state": [GROUP],
        "undeployed_candidates": [GROUP],
        "unknown_missing_from_state": [],
        "reservation_candidates": [
            {"address_glob": PRIMARY, "mode": "write"},
            {"address_glob": GROUP, "mode": "write"},  # so that nobody else creates it
            {"address_glob": KEY, "mode": "read"},
            {"address_glob": FIREWALL, "mode": "read"},
        ],
        "confidence": "safe",
        "notes": [],
        "culprits": [],
    }


def at(address: str) -> Json:
    """Return a selector of one address."""
    return {"kind": "resource_address", "value": address}


def below(module: str) -> Json:
    """Return a selector of a module."""
    return {"kind": "module_prefix", "value": module}


def node(address: str, *needs: str) -> Json:
    """Return a block of a client's configuration."""
    return {"address": address, "dependencies": list(needs)}
