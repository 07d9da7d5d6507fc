"""Find the HTTP backend that a Terraform or OpenTofu folder is configured with."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_BLOCK: Final = re.compile(r'\bbackend\s+"http"\s*\{(?P<body>[^{}]*)\}')
_LITERAL: Final = re.compile(
    r'^\s*(address|password)\s*=\s*"((?:[^"\\$%]|\\.)*)"\s*$', re.MULTILINE
)
_COMMENT: Final = re.compile(r"/\*.*?\*/|^\s*(?:#|//).*?$", re.DOTALL | re.MULTILINE)


def discover(cwd: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Return `state_url`, and `token` when a password stands beside it; {} when there is none.

    What `terraform init` recorded wins over the configuration's literals; as for Terraform,
    TF_HTTP_* fill in what neither names.
    """
    found = _from_init(cwd, env)
    if found is None:
        found = _from_configuration(cwd)
    if found is None:
        return {}
    address = found.get("address") or env.get("TF_HTTP_ADDRESS")
    password = found.get("password") or env.get("TF_HTTP_PASSWORD")
    if not address or "/v1/states/" not in address:
        return {}
    return {"state_url": address} | ({"token": password} if password else {})


def _from_init(cwd: Path, env: Mapping[str, str]) -> dict[str, str] | None:
    path = cwd / env.get("TF_DATA_DIR", ".terraform") / "terraform.tfstate"
    try:
        document = json.loads(path.read_bytes(), parse_float=str)
    except (OSError, ValueError):
        return None
    backend: Any = document.get("backend") if isinstance(document, dict) else None
    if not isinstance(backend, dict) or backend.get("type") != "http":
        return None
    config = backend.get("config")
    return {
        key: value
        for key, value in (config if isinstance(config, dict) else {}).items()
        if key in ("address", "password") and isinstance(value, str)
    }


def _from_configuration(cwd: Path) -> dict[str, str] | None:
    for path in sorted((*cwd.glob("*.tf"), *cwd.glob("*.tofu"))):
        try:
            text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
        block = _BLOCK.search(text)
        if block is not None:
            return {
                key: re.sub(r"\\(.)", r"\1", raw) for key, raw in _LITERAL.findall(block["body"])
            }
    return None
