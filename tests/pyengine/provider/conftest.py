"""Programs to talk to; after every test no child process and no socket folder may be left."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import psutil
import pytest

from tests.provider_stub.install import install_stub


class Stub(Protocol):
    def __call__(self, **scenario: Any) -> Path: ...  # noqa: ANN401 - JSON


@pytest.fixture(autouse=True)
def _nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Give the test a temporary folder that nobody else uses, and see it empty at the end."""
    tmp_path_factory.getbasetemp()  # chosen on first use: not in a folder that goes away
    # Below /tmp, whatever TMPDIR says: the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="kl-", dir="/tmp") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        children = set(psutil.Process().children(recursive=True))
        yield
        deadline = time.monotonic() + 30
        while left := (
            set(psutil.Process().children(recursive=True)) - children | set(Path(folder).iterdir())
        ):
            assert time.monotonic() < deadline, left
            time.sleep(0.02)


@pytest.fixture
def stub(tmp_path: Path) -> Stub:
    """Install the stub with a scenario; return its program."""

    def install(**scenario: Any) -> Path:  # noqa: ANN401 - JSON
        return install_stub(tmp_path / "mirror", scenario)

    return install
