"""`make demo`, with terraform and without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.programs import environment, find_terraform

ROOT = Path(__file__).parents[2]
ROW = ' module.site["lagos"].terraform_data.server[1]  | 1.0    | 1.1'


def _path_without_terraform(folder: Path) -> str:
    """Return a PATH with the programs of this one but terraform, by links in `folder`."""
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        if Path(place).is_dir():
            for program in Path(place).iterdir():
                link = folder / program.name
                if program.name != "terraform":
                    link.unlink(missing_ok=True)
                    link.symlink_to(program)
    return str(folder)


@pytest.mark.parametrize("with_terraform", [True, False], ids=["terraform", "sample"])
def test_the_demo_answers_and_leaves_nothing(tmp_path: Path, *, with_terraform: bool) -> None:
    if with_terraform and find_terraform() is None:
        pytest.skip("terraform is not on PATH")
    path = os.environ["PATH"] if with_terraform else _path_without_terraform(tmp_path)
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
