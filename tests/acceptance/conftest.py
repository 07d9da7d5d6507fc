"""One kld for all acceptance tests; each has state names and a terraform folder of its own."""

import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.acceptance.cloud import find_mirror, running_cloud
from tests.acceptance.programs import Served, Terraform, backend, find_terraform, serving


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    """A kld on a fresh data folder."""
    with tempfile.TemporaryDirectory(prefix="kl-", dir="/tmp") as name:
        with serving(Path(name) / "data") as running:
            yield running
        assert running.process.returncode == 0


@pytest.fixture(scope="session")
def terraform_program() -> str:
    """The real terraform."""
    program = find_terraform()
    if program is None:
        pytest.skip("terraform is not on PATH")
    return program


@pytest.fixture
def state(request: pytest.FixtureRequest) -> str:
    """A state name that no other test uses."""
    return f"at/{request.node.name.translate(str.maketrans('[]', '..'))[5:]}"


Folders = Callable[[], Terraform]


@pytest.fixture
def folder(terraform_program: str, tmp_path: Path) -> Folders:
    """Make empty folders to run terraform in."""
    numbers = count(1)
    return lambda: Terraform(tmp_path / f"tf{next(numbers)}", terraform_program)


@pytest.fixture
def terraform(folder: Folders, served: Served, state: str) -> Terraform:
    """Terraform in a folder whose backend is `state`; not initialised."""
    made = folder()
    made.write(backend(served, state), "backend.tf")
    return made


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder that holds the provider."""
    found = find_mirror("hashicorp/aws")
    if found is None:
        pytest.skip(
            "no filesystem mirror with hashicorp/aws on this machine; name one in"
            " KL_TEST_PROVIDER_MIRROR"
        )
    return found


@pytest.fixture
def cloud(mirror: Path) -> Iterator[str]:
    """A cloud on loopback."""
    assert mirror
    with running_cloud() as url:
        yield url
