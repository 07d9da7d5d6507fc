import os
import subprocess
import sys
import zipfile
from pathlib import Path

from pyengine import sqltree

ROOT = Path(__file__).parents[2]


def test_the_wheel_carries_the_sql(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")],
        check=True,
        capture_output=True,
        cwd=ROOT,
    )
    (wheel,) = (tmp_path / "dist").glob("kilolock-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    script = "from pyengine import sqltree; t = sqltree.load(); print(t.functions_checksum)"
    installed = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
    ).stdout.strip()
    assert installed == sqltree.load().functions_checksum
