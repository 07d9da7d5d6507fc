"""TLS by certificate and key; what keeps kld from starting with them."""

import os
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.acceptance.test_remote_state import self_signed
from tests.clusters import Cluster
from tests.service import running_server

pytestmark = pytest.mark.parametrize("cluster", ["pg18"], indirect=True, scope="session")


_SERVE: Final = "from server.commands import main; main()"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    made = tmp_path / "cert.pem", tmp_path / "key.pem"
    self_signed(*made)
    return made


def test_states_are_served_over_tls_only(cluster: Cluster, pair: tuple[Path, Path]) -> None:
    files = {"KL_TLS_CERT": str(pair[0]), "KL_TLS_KEY": str(pair[1])}
    with cluster.clone() as database, running_server(database, **files) as server:
        assert server.url.startswith("https://127.0.0.1:")
        trust = ssl.create_default_context(cafile=str(pair[0]))
        assert httpx.get(f"{server.url}/healthz", verify=trust, timeout=60).status_code == 200
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/healthz", timeout=60)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http{server.url.removeprefix('https')}/healthz", timeout=60)


@pytest.mark.parametrize("missing", ["cert", "key", "other", "absent", "half"])
def test_certificate_that_cannot_be_used_is_named(
    cluster: Cluster, pair: tuple[Path, Path], missing: str, tmp_path: Path
) -> None:
    certificate, key = pair
    if missing == "other":
        self_signed(tmp_path / "x.pem", key)
    elif missing == "absent":
        key = tmp_path / "nothing.pem"
    elif missing in ("cert", "key"):
        (certificate if missing == "cert" else key).write_text("rubbish", encoding="utf-8")
    words = ["--tls-cert", str(certificate)]
    words += [] if missing == "half" else ["--tls-key", str(key)]
    with cluster.clone() as database:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("KL_")}
        done = subprocess.run(
            [sys.executable, "-c", _SERVE, "serve", "--listen", "127.0.0.1:0", *words],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            env=clean | {"KL_DATABASE_URL": database.conninfo("kl_server")},
        )
    assert done.returncode == 2
    assert done.stderr.startswith("kld: ")
    assert "Traceback" not in done.stderr
    assert "TLS needs both" in done.stderr if missing == "half" else str(key) in done.stderr
