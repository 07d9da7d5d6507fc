"""Write a file whole or not at all."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pyengine.errors import KilolockError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Lend a file that takes the place of `path` when the block ends well.

    It is readable by its owner only, unless `path` exists and says otherwise. What is no regular
    file is written in place. Raises `output_failed`.
    """
    try:
        target = path.resolve()
        mode = target.stat().st_mode if target.exists() else stat.S_IFREG | 0o600
        if not stat.S_ISREG(mode):
            with target.open("wb") as device:
                yield device
            return
        with _beside(target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
            Path(file.name).replace(target)
    except OSError as exc:
        raise KilolockError("output_failed", f"{path}: {exc.strerror or exc}") from exc


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    with tempfile.NamedTemporaryFile(
        dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".part", delete=False
    ) as file:
        try:
            yield file  # type: ignore[misc]  # typed as a wrapper of the BinaryIO it is
        finally:
            with suppress(FileNotFoundError):  # renamed: all is well
                Path(file.name).unlink()
