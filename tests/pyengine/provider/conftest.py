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


def _folders() -> set[Path]:
    return {
        path for path in Path(tempfile.gettempdir()).glob("kl-*") if not (path / "data").exists()
    }


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    folders = _folders()
    children = set(psutil.Process().children(recursive=True))
    yield
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = set(psutil.Process().children(recursive=True)) - children
        if not left and _folders() <= folders:
            return
        time.sleep(0.02)
    assert not left
    assert _folders() <= folders


@pytest.fixture
def stub(tmp_path: Path) -> Stub:
    """Install the stub with a scenario; return its program."""

    def install(**scenario: Any) -> Path:  # noqa: ANN401 - JSON
        return install_stub(tmp_path / "mirror", scenario)

    return install
