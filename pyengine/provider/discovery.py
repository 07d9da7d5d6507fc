"""Find the program of a provider on this machine; nothing is ever fetched."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from pyengine.provider.address import SourceAddress, os_arch, parse_source
from pyengine.provider.errors import ProviderError
from pyengine.provider.lockfile import LOCK_FILE, LockedProvider, read_lock_file
from pyengine.provider.packages import (
    Package,
    find_executable,
    package_hashes,
    packages_below,
    unpack,
    version_key,
)


class FoundProvider(Struct, frozen=True):
    """A program to run."""

    address: SourceAddress
    version: str
    executable: Path


class SearchPath(Struct, frozen=True):
    """Folders in order: the first that has a provider decides; later ones are a fallback.

    `cache` is for hashes and what was unpacked; None: the user's own."""

    folders: tuple[Path, ...]
    locked: Mapping[str, LockedProvider]
    cache: Path | None = None

    @classmethod
    def from_environment(
        cls,
        explicit: Sequence[Path] = (),
        *,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> "SearchPath":
        """Return explicit folders, then KL_PROVIDER_PATH, then those Terraform would use."""
        env = os.environ if environ is None else environ
        here = Path.cwd() if cwd is None else cwd
        home = Path(env.get("HOME") or Path.home())
        folders = (
            *(here / path for path in explicit),
            *_paths(env.get("KL_PROVIDER_PATH"), here),
            *_defaults(env, here, home),
        )
        return cls(
            folders=tuple(dict.fromkeys(folders)),
            locked=read_lock_file(here / LOCK_FILE),
        )

    def find(self, source: str) -> FoundProvider:
        """Find the locked version of a provider, or the highest of the first folder that has it.

        Raises provider_builtin, provider_not_found (saying what was looked for and where), and
        provider_checksum where the lock file knows hashes and none fits.
        """
        address = parse_source(source)
        if address.is_builtin:
            raise ProviderError("provider_builtin", f"{address} is part of Terraform itself")
        try:
            return self._found(self._package(address))
        except OSError as exc:
            raise ProviderError(
                "provider_not_found", f"{address} was found and cannot be used: {exc}"
            ) from exc

    def _package(self, address: SourceAddress) -> Package:
        locked = self.locked.get(str(address))
        if locked is not None:
            return self._locked_package(address, locked)
        for folder in self.folders:
            packages = list(packages_below(folder, address))
            if packages:
                return max(packages, key=_order)
        raise self._missing(str(address))

    def _locked_package(self, address: SourceAddress, locked: LockedProvider) -> Package:
        every = [item for folder in self.folders for item in packages_below(folder, address)]
        candidates = [item for item in every if item.version == locked.version]
        if not candidates:
            versions = sorted(
                {item.version for item in every}, key=lambda text: version_key(text) or ()
            )
            raise self._missing(
                f"{address} {locked.version}, which {LOCK_FILE} requires",
                f"; found: {', '.join(versions)}" if versions else "",
            )
        for package in candidates:
            hashes = package_hashes(package, self._cache())
            if not locked.hashes or any(item in locked.hashes for item in hashes):
                return package
        raise ProviderError(
            "provider_checksum",
            f"{address} {locked.version} was found, but none of the hashes in {LOCK_FILE} fits: "
            + ", ".join(str(item.path) for item in candidates),
        )

    def _found(self, package: Package) -> FoundProvider:
        folder = unpack(package, self._cache()) if package.is_packed else package.path
        return FoundProvider(
            package.address, package.version, find_executable(folder, package.address)
        )

    def _cache(self) -> Path:
        if self.cache is not None:
            return self.cache
        import platformdirs  # most providers are unpacked, and locked by nothing

        return Path(platformdirs.user_cache_dir("kilolock")) / "providers"

    def _missing(self, what: str, found: str = "") -> ProviderError:
        places = [str(path) for path in self.folders]
        return ProviderError(
            "provider_not_found",
            f"no program for {what} ({os_arch()}){found}; run terraform init here, or name its"
            f" folder in KL_PROVIDER_PATH; looked in {', '.join(places)}",
            {"searched": places},
        )


def _order(package: Package) -> tuple[object, ...]:
    return version_key(package.version) or ()


def _paths(text: str | None, here: Path) -> Iterable[Path]:
    return (here / item for item in (text or "").split(os.pathsep) if item)


def _defaults(env: Mapping[str, str], here: Path, home: Path) -> Iterable[Path]:
    yield home / ".terraform.d" / "plugin-cache"
    yield here / (env.get("TF_DATA_DIR") or ".terraform") / "providers"
    yield from _paths(env.get("TF_PLUGIN_CACHE_DIR"), here)
    yield here / "terraform.d" / "plugins"
    yield home / ".terraform.d" / "plugins"
    data_home = env.get("XDG_DATA_HOME")
    yield (Path(data_home) if data_home else home / ".local" / "share") / "terraform" / "plugins"
    for folder in (env.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(os.pathsep):
        if folder:
            yield Path(folder) / "terraform" / "plugins"
