"""`make demo` and `make drift-demo`, with what they can use and without."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.acceptance.programs import BIN, environment, find_terraform, path_without

ROOT = Path(__file__).parents[2]
ROW = ' module.site["lagos"].terraform_data.server[1]  | 1.0    | 1.1'


@pytest.mark.parametrize(
    "with_terraform",
    [
        pytest.param(True, id="terraform"),
        pytest.param(False, id="sample", marks=pytest.mark.slow),
    ],
)
def test_the_demo_answers_and_leaves_nothing(tmp_path: Path, *, with_terraform: bool) -> None:
    if with_terraform and find_terraform() is None:
        pytest.skip("terraform is not on PATH")
    path = os.environ["PATH"] if with_terraform else path_without(tmp_path, "terraform")
    done = subprocess.run(
        [sys.executable, "-m", "tests.demo"],
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
        cwd=ROOT,
        env=environment(PATH=path),
    )
    assert done.returncode == 0, done.stderr
    assert ("Apply complete!" in done.stdout) is with_terraform
    assert ROW in done.stdout.splitlines()
    assert done.stderr == ""


@pytest.mark.parametrize(
    "missing",
    [
        pytest.param((), id="curl and jq"),
        pytest.param(("curl", "jq"), id="python", marks=pytest.mark.slow),
    ],
)
def test_the_drift_demo_answers_twice_and_leaves_nothing(
    tmp_path: Path, missing: tuple[str, ...]
) -> None:
    for program in ("curl", "jq"):
        if program not in missing and shutil.which(program) is None:
            pytest.skip(f"{program} is not on PATH")
    temporary, programs = tmp_path / "tmp", tmp_path / "bin"
    temporary.mkdir()
    programs.mkdir()
    done = subprocess.run(
        [str(ROOT / "examples" / "big-state" / "drift-demo.sh")],
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
        env=environment(
            PATH=path_without(programs, *missing), KL_BIN=str(BIN), TMPDIR=str(temporary)
        ),
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "random_pet.web\tkeepers.image" in lines
    assert ' random_pet.web | ["keepers.image"]' in lines
    assert [line for line in lines if line.endswith("on PATH: Python compares instead.")] == (
        ["jq is not on PATH: Python compares instead."] if missing else []
    )
    assert len([line for line in lines if line.startswith("Time: ")]) == 1
    assert list(temporary.iterdir()) == []
    assert str(temporary) not in _commands(), "something still runs"


def _commands() -> str:
    """Return the command lines of everything that runs on the test's data folders."""
    return "\n".join(
        " ".join(process.info["cmdline"] or ())
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"]
    )
