"""Where programs are looked for, which version is taken, and what a lock file says."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from pyengine.provider.address import os_arch, parse_source
from pyengine.provider.discovery import FoundProvider, SearchPath
from pyengine.provider.errors import ProviderError
from pyengine.provider.lockfile import parse_lock_file
from pyengine.provider.packages import package_hashes, packages_below, version_key

SOURCE = "registry.terraform.io/acme/widget"


def put(base: Path, version: str = "1.0.0", text: str = "#!/bin/sh\n", name: str = "") -> Path:
    folder = base / SOURCE / version / os_arch()
    folder.mkdir(parents=True)
    program = folder / (name or f"terraform-provider-widget_v{version}_x5")
    program.write_text(text)
    return program


def put_zip(base: Path, version: str = "1.0.0", name: str = "") -> Path:
    folder = base / SOURCE
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (name or f"terraform-provider-widget_{version}_{os_arch()}.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("LICENSE", "none")
        archive.writestr(f"terraform-provider-widget_v{version}", "#!/bin/sh\n")
    return path


def lock(folder: Path, version: str, *hashes: str) -> None:
    listed = "".join(f'    "{item}",\n' for item in hashes)
    text = f'provider "{SOURCE}" {{\n  version = "{version}"\n  hashes = [\n{listed}  ]\n}}\n'
    (folder / ".terraform.lock.hcl").write_text(text)


class Places:
    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.cwd = root / "work"
        self.cwd.mkdir()
        self.environ = {"HOME": str(self.home)}
        self.explicit: list[Path] = []
        self.cache = root / "cache"

    def find(self, source: str = SOURCE) -> FoundProvider:
        path = SearchPath.from_environment(self.explicit, environ=self.environ, cwd=self.cwd)
        return SearchPath(path.folders, path.locked, self.cache).find(source)

    def failure(self, source: str = SOURCE) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            self.find(source)
        return caught.value


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_first_folder_that_has_the_provider_decides(places: Places, tmp_path: Path) -> None:
    default = put(places.home / ".terraform.d/plugin-cache", "9.0.0")
    assert places.find().executable == default
    places.environ["KL_PROVIDER_PATH"] = f"{tmp_path / 'none'}:{tmp_path / 'env'}"
    assert places.find().executable == default
    from_env = put(tmp_path / "env", "2.0.0")
    assert places.find().executable == from_env
    places.explicit = [tmp_path / "flag"]
    assert places.find().executable == from_env
    from_flag = put(tmp_path / "flag", "1.0.0")
    assert places.find() == FoundProvider(parse_source(SOURCE), "1.0.0", from_flag)


@pytest.mark.parametrize(
    "place",
    [
        "home/.terraform.d/plugin-cache",
        "work/.terraform/providers",
        "cache-dir",
        "work/terraform.d/plugins",
        "home/.terraform.d/plugins",
        "home/.local/share/terraform/plugins",
        "share2/terraform/plugins",
    ],
)
def test_every_default_place_is_searched(places: Places, tmp_path: Path, place: str) -> None:
    places.environ |= {
        "TF_PLUGIN_CACHE_DIR": str(tmp_path / "cache-dir"),
        "XDG_DATA_DIRS": f"{tmp_path / 'share1'}:{tmp_path / 'share2'}",
    }
    assert places.failure().code == "provider_not_found"
    program = put(tmp_path / place)
    assert places.find().executable == program


def test_terraform_data_folder_and_data_home_may_be_elsewhere(
    places: Places, tmp_path: Path
) -> None:
    places.environ |= {"TF_DATA_DIR": "data", "XDG_DATA_HOME": str(tmp_path / "xdg")}
    xdg = put(tmp_path / "xdg/terraform/plugins", "1.0.0")
    assert places.find().executable == xdg
    data = put(places.cwd / "data/providers", "1.1.0")
    assert places.find().executable == data


def test_order_of_the_default_places_is_theirs_whatever_the_versions(
    places: Places, tmp_path: Path
) -> None:
    places.environ["TF_PLUGIN_CACHE_DIR"] = str(tmp_path / "cache-dir")
    for version, place in enumerate(
        (
            "home/.terraform.d/plugins",
            "work/terraform.d/plugins",
            "cache-dir",
            "work/.terraform/providers",
            "home/.terraform.d/plugin-cache",
            "flag-b",
            "flag-a",
        )
    ):
        program = put(tmp_path / place, f"{9 - version}.0.0")
        places.explicit = [tmp_path / "flag-a", tmp_path / "flag-b"]
        assert places.find().executable == program


def test_highest_release_of_a_folder_is_taken(places: Places, tmp_path: Path) -> None:
    places.explicit = [tmp_path / "a"]
    for version in ("1.9.0", "1.10.0", "2.0.0-beta1", "x"):
        put(tmp_path / "a", version)
    assert places.find().version == "1.10.0"


def test_versions_are_ordered_as_versions() -> None:
    ordered = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.b", "1.0.0-rc.2", "1.0.0-rc.10"]
    shuffled = [ordered[index] for index in (3, 0, 4, 2, 1)]
    assert sorted(shuffled, key=lambda text: version_key(text) or ()) == ordered
    assert version_key("1.0") == version_key("1.0.0")
    assert version_key("v1.0.0") is None


def test_links_are_followed_and_other_platforms_left_alone(places: Places, tmp_path: Path) -> None:
    program = put(tmp_path / "mirror")
    linked = places.cwd / ".terraform/providers" / SOURCE / "1.0.0"
    linked.mkdir(parents=True)
    (tmp_path / "chain").symlink_to(program.parent)
    (linked / os_arch()).symlink_to(tmp_path / "chain")
    (linked.parent / "2.0.0" / "plan9_mips").mkdir(parents=True)
    found = places.find()
    assert found.version == "1.0.0"
    assert found.executable.resolve() == program


def test_program_is_the_first_that_is_named_for_the_provider(
    places: Places, tmp_path: Path
) -> None:
    program = put(tmp_path / "m", name="terraform-provider-widget")
    for name in ("terraform-provider-widgets", "LICENSE", "README"):
        program.with_name(name).write_text("")
    program.with_name("terraform-provider-widget.d").mkdir()
    places.explicit = [tmp_path / "m"]
    assert places.find().executable == program
    program.unlink()
    assert "holds no program" in places.failure().message


def test_zip_files_are_unpacked_once(places: Places, tmp_path: Path) -> None:
    archive = put_zip(tmp_path / "m")
    put_zip(tmp_path / "m", name=f"Terraform-Provider-Widget_0.9.0_{os_arch()}_extra.ZIP")
    put_zip(tmp_path / "m", name="terraform-provider-widget_3.0.0_plan9_mips.zip")
    places.explicit = [tmp_path / "m"]
    first = places.find()
    assert (first.version, first.executable.stat().st_mode & 0o111) == ("1.0.0", 0o111)
    assert places.find() == first
    assert len(list(places.cache.iterdir())) == 1
    archive.write_bytes(b"PK broken")
    assert "cannot be unpacked" in places.failure().message
    lock(places.cwd, "1.0.0", "h1:none")
    assert places.failure().code == "provider_checksum"


def test_what_cannot_be_unpacked_for_lack_of_a_place_is_told(
    places: Places, tmp_path: Path
) -> None:
    put_zip(tmp_path / "m")
    places.explicit = [tmp_path / "m"]
    places.cache.touch()
    error = places.failure()
    assert (error.code, str(places.cache) in error.message) == ("provider_not_found", True)


def test_lock_file_decides_the_version_across_all_folders(places: Places, tmp_path: Path) -> None:
    places.explicit = [tmp_path / "flag"]
    put(tmp_path / "flag", "2.0.0")
    locked = put(places.home / ".terraform.d/plugins", "1.0.0")
    lock(places.cwd, "1.0.0")
    assert places.find().executable == locked
    lock(places.cwd, "3.0.0")
    error = places.failure()
    assert error.code == "provider_not_found"
    assert "3.0.0" in error.message
    assert "found: 1.0.0, 2.0.0" in error.message
    assert str(tmp_path / "flag") in error.message


def test_any_one_hash_that_fits_is_enough(places: Places, tmp_path: Path) -> None:
    good = put(tmp_path / "good")
    put(tmp_path / "bad", text="#!/bin/sh\nexit 1\n")
    places.explicit = [tmp_path / "bad", tmp_path / "good"]
    package = next(packages_below(tmp_path / "good", parse_source(SOURCE)))
    (fitting,) = package_hashes(package, places.cache)
    lock(places.cwd, "1.0.0", "zh:00", "h1:other", fitting)
    assert places.find().executable == good
    lock(places.cwd, "1.0.0", "zh:00", "h1:other")
    error = places.failure()
    assert error.code == "provider_checksum"
    good.write_text("#!/bin/sh\nexit 2\n")
    lock(places.cwd, "1.0.0", fitting)
    assert places.failure().code == "provider_checksum"


def test_hashes_of_zip_files_are_both_kinds(places: Places, tmp_path: Path) -> None:
    archive = put_zip(tmp_path / "m")
    places.explicit = [tmp_path / "m"]
    lock(places.cwd, "1.0.0", "zh:" + hashlib.sha256(archive.read_bytes()).hexdigest())
    unpacked = places.find().executable.parent
    package = next(packages_below(tmp_path / "m", parse_source(SOURCE)))
    _, h1 = package_hashes(package, places.cache)
    lock(places.cwd, "1.0.0", h1)
    assert places.find().executable.parent == unpacked


def test_missing_and_builtin_providers_are_told_apart(places: Places) -> None:
    error = places.failure("acme/none")
    assert error.code == "provider_not_found"
    assert "registry.terraform.io/acme/none" in error.message
    assert str(places.home / ".terraform.d/plugins") in error.details["searched"]
    assert places.failure("terraform.io/builtin/terraform").code == "provider_builtin"


@pytest.mark.parametrize(
    ("source", "full"),
    [
        ("aws", "registry.terraform.io/hashicorp/aws"),
        ("acme/widget", "registry.terraform.io/acme/widget"),
        ("registry.opentofu.org/acme/widget", "registry.opentofu.org/acme/widget"),
    ],
)
def test_source_addresses_are_completed(source: str, full: str) -> None:
    assert str(parse_source(source)) == full


@pytest.mark.parametrize("source", ["", "a/b/c/d", "../widget", "a//b", "a/..", 'a/"b"', "a b"])
def test_what_is_no_source_address_is_refused(source: str) -> None:
    with pytest.raises(ProviderError):
        parse_source(source)


def test_lock_file_in_the_form_terraform_writes() -> None:
    text = """
# This file is maintained automatically by "terraform init".
// Manual edits may be lost in future updates.
/* provider "no" { } */
provider "registry.terraform.io/hashicorp/aws" {
  version     = "5.100.0"
  constraints = ">= 5.0.0, < 6.0.0"
  hashes = [
    "h1:Ijt7pOlB7Tr7maGQIqtsLFbl7pSMIj06TVdkoSBcYOw=",
    "zh:054b8dd49f0549c9a7cc27d159e45327b7b65cf404da5e5a20da154b90b8a644", # last
  ]
}
other "thing" { nested { a = "}" } }
provider "registry.terraform.io/acme/widget" { version = "1.0.0" }
"""
    found = parse_lock_file(text)
    assert found["registry.terraform.io/hashicorp/aws"].version == "5.100.0"
    assert len(found["registry.terraform.io/hashicorp/aws"].hashes) == 2
    assert found[SOURCE].hashes == ()
    assert len(found) == 2


@pytest.mark.parametrize(
    "text",
    [
        "provider {",
        'provider "a" { version = }',
        'provider "a" { version "1" }',
        'provider "a" { hashes = ["x"] }',
        'provider "a" { version = "1" ',
        "provider 'a' {}",
        'provider "\\q" {}',
        "<html>",
    ],
)
def test_broken_lock_file_is_refused(text: str) -> None:
    with pytest.raises(ProviderError) as caught:
        parse_lock_file(text)
    assert (caught.value.code, caught.value.exit_code) == ("invalid_configuration", 2)
