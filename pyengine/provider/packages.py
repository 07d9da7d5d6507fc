"""Packages of providers on disk: which there are below a folder, their hashes, unpacking."""

import base64
import hashlib
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from pyengine.provider.address import SourceAddress, os_arch
from pyengine.provider.errors import ProviderError

_VERSION: Final = re.compile(
    r"(?P<core>[0-9]+(?:\.[0-9]+){1,2})(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, EOFError)


class Package(Struct, frozen=True):
    """One version of a provider for this platform: an unpacked folder or a zip file."""

    address: SourceAddress
    version: str
    path: Path

    @property
    def is_packed(self) -> bool:
        """Tell whether it is a zip file."""
        return self.path.is_file()


def packages_below(base: Path, address: SourceAddress) -> Iterator[Package]:
    """Iterate over the packages of a provider below one folder, in either layout."""
    folder = base / address.host / address.namespace / address.type
    for entry in _entries(folder):
        if entry.is_dir():
            unpacked = entry / os_arch()
            if version_key(entry.name) is not None and unpacked.is_dir():
                yield Package(address, entry.name, unpacked)
            continue
        version = _packed_version(entry.name, address)
        if version is not None:
            yield Package(address, version, entry)


def version_key(version: str) -> tuple[object, ...] | None:
    """Return a key that orders versions, releases above their previews; None: no version."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return None
    core = tuple(int(part) for part in match["core"].split("."))
    preview = match["pre"]
    parts = tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in (preview or "").split(".")
    )
    return (preview is None, core + (0,) * (3 - len(core)), parts)


def find_executable(folder: Path, address: SourceAddress) -> Path:
    """Return the program inside an unpacked package; raise provider_not_found without one."""
    name = f"terraform-provider-{address.type}"
    for entry in _entries(folder):
        if re.fullmatch(re.escape(name) + r"([_.].*)?", entry.name) and not entry.is_dir():
            return entry
    raise ProviderError("provider_not_found", f"{folder} holds no program named {name}")


def package_hashes(package: Package, cache: Path) -> Iterator[str]:
    """Iterate over the hashes a lock file may have for a package, the cheapest first.

    A damaged zip file has but its own. Large programs take seconds to hash: what an unpacked
    package had is remembered below `cache` until a file's size, inode, or times change (the change
    time is nobody's to set).
    """
    if package.is_packed:
        yield f"zh:{_file_digest(package.path).hex()}"
        with suppress(*_DAMAGED), zipfile.ZipFile(package.path) as archive:
            yield _h1(
                (item.filename, _digest(archive, item))
                for item in archive.infolist()
                if not item.is_dir()
            )
        return
    root = package.path.resolve()
    files = sorted(path for path in root.rglob("*") if path.is_file())
    memory = cache / "hashes" / _fingerprint(root, files)
    known = _recall(memory)
    if known is None:
        known = _h1((path.relative_to(root).as_posix(), _file_digest(path)) for path in files)
        _remember(memory, known)
    yield known


def unpack(package: Package, cache: Path) -> Path:
    """Unpack a zip file below `cache`, under its hash; return the folder. Once for each file."""
    folder = cache / _file_digest(package.path).hex()
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="unpack-", dir=cache))
    try:
        with zipfile.ZipFile(package.path) as archive:
            archive.extractall(work)
        find_executable(work, package.address).chmod(0o755)
        work.chmod(0o755)
        if not folder.is_dir():
            work.replace(folder)
    except (*_DAMAGED, OSError) as exc:
        if not folder.is_dir():  # somebody else may have been quicker
            raise ProviderError(
                "provider_not_found", f"{package.path.name} cannot be unpacked: {exc}"
            ) from exc
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def _packed_version(name: str, address: SourceAddress) -> str | None:
    stem = name.lower()
    prefix = f"terraform-provider-{address.type.lower()}_"
    if not stem.startswith(prefix) or not stem.endswith(".zip"):
        return None
    parts = stem.removesuffix(".zip").removeprefix(prefix).split("_")
    if len(parts) < 3 or "_".join(parts[1:3]) != os_arch():
        return None
    return parts[0] if version_key(parts[0]) is not None else None


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _fingerprint(root: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256(str(root).encode())
    for path in files:
        info = path.stat()
        times = (info.st_size, info.st_ino, info.st_dev, info.st_mtime_ns, info.st_ctime_ns)
        digest.update(f"\n{path}\0{times}".encode())
    return digest.hexdigest()


def _recall(memory: Path) -> str | None:
    try:
        return memory.read_text(encoding="ascii").strip() or None
    except OSError:
        return None


def _remember(memory: Path, known: str) -> None:
    with suppress(OSError):  # without a cache every run hashes again
        memory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        work = memory.with_suffix(f".{os.getpid()}")
        work.write_text(known, encoding="ascii")
        work.replace(memory)


def _h1(files: Iterable[tuple[str, bytes]]) -> str:
    lines = "".join(f"{digest.hex()}  {name}\n" for name, digest in sorted(files))
    return "h1:" + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()


def _file_digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _digest(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> bytes:
    digest = hashlib.sha256()
    with archive.open(item) as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.digest()
