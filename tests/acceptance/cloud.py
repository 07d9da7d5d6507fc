"""A cloud on loopback, and the provider for it where this machine has one."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.acceptance.programs import BIN, environment
from tests.waiting import wait_for

HOST: Final = "registry.terraform.io"
SERVICES: Final = ("dynamodb", "iam", "s3", "sns", "ssm", "sts")
_DEPTH: Final = 4
_LEFT_OUT: Final = frozenset({"proc", "sys", "dev", "run", "tmp"})


def find_mirror(provider: str) -> Path | None:
    """Return a filesystem mirror that holds `provider` (NAMESPACE/TYPE), or None.

    KL_TEST_PROVIDER_MIRROR goes first, then Terraform's own folders, then a shallow search.
    """
    for mirror in _mirrors():
        if (mirror / HOST / provider).is_dir():
            return mirror
    return None


def _mirrors() -> Iterator[Path]:
    if named := os.environ.get("KL_TEST_PROVIDER_MIRROR"):
        path = Path(named)
        yield path.parent if path.name == HOST else path
        return
    yield Path.home() / ".terraform.d" / "plugins"
    yield Path.home() / ".local" / "share" / "terraform" / "plugins"
    yield from _search(Path("/"), _DEPTH)


def _search(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            inside = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return
    if HOST in inside:
        yield folder
    if depth > 0:
        for name in inside:
            if depth < _DEPTH or name not in _LEFT_OUT:
                yield from _search(folder / name, depth - 1)


def cli_configuration(mirror: Path) -> str:
    """Return a CLI configuration that installs providers from `mirror` and nowhere else."""
    return f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n'


def provider_block(url: str) -> str:
    """Return the configuration of the provider that sends everything to `url`."""
    endpoints = "\n".join(f'    {name} = "{url}"' for name in SERVICES)
    return f"""
terraform {{
  required_providers {{
    aws = {{ source = "hashicorp/aws" }}
  }}
}}
provider "aws" {{
  region                      = "eu-west-1"
  access_key                  = "test"
  secret_key                  = "test"
  s3_use_path_style           = true
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  endpoints {{
{endpoints}
  }}
}}
"""


@contextmanager
def running_cloud() -> Iterator[str]:
    """Run moto's server on a port that it chooses until the block ends; lend its URL."""
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(
            [sys.executable, str(BIN / "moto_server"), "-H", "127.0.0.1", "-p", "0"],
            stdout=log,
            stderr=log,
            env=environment(),
        ) as process,
    ):
        try:
            wait_for(lambda: process.poll() is not None or _told(log.fileno()))
            url = _told(log.fileno())
            assert url is not None, "moto_server ended at its start"
            yield url
        finally:
            process.terminate()


def _told(log: int) -> str | None:
    # Read where it is: the server's own place in the file is ours, too.
    found = re.search(rb"Running on (http://\S+)", os.pread(log, 1 << 16, 0))
    return found[1].decode() if found else None
