"""Put the stub on disk as a provider that discovery and terraform can find."""

import json
import sys
from pathlib import Path
from typing import Any

from pyengine.provider.address import os_arch, parse_source

ROOT = Path(__file__).parents[2]


def install_stub(
    mirror: Path,
    scenario: dict[str, Any],
    *,
    source: str = "registry.terraform.io/acme/widget",
    version: str = "1.0.0",
) -> Path:
    """Write a scenario and a program that plays it below `mirror`; return the program's path."""
    return install_program(
        mirror,
        [sys.executable, "-m", "tests.provider_stub", "{folder}/scenario.json"],
        source=source,
        version=version,
        files={"scenario.json": json.dumps(scenario)},
    )


def install_program(
    mirror: Path,
    command: list[str],
    *,
    source: str,
    version: str = "1.0.0",
    files: dict[str, str] | None = None,
) -> Path:
    """Wrap a command as a provider program; `{folder}` in it is where `files` are written."""
    address = parse_source(source)
    folder = mirror / str(address) / version / os_arch()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (files or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    words = " ".join(f"'{word.replace('{folder}', str(folder))}'" for word in command)
    program = folder / f"terraform-provider-{address.type}_v{version}"
    program.write_text(f"#!/bin/sh\nexport PYTHONPATH='{ROOT}'\nexec {words}\n", encoding="utf-8")
    program.chmod(0o755)
    return program
