"""The generated code is what `make proto` generates."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDER = Path("pyengine/provider/proto")


def test_generated_code_is_reproduced_byte_for_byte(tmp_path: Path) -> None:
    protos = sorted(str(path.relative_to(ROOT)) for path in (ROOT / FOLDER).glob("*.proto"))
    out = [f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", "-I", ".", *out, *protos], cwd=ROOT, check=True
    )
    made = sorted(path.name for path in (tmp_path / FOLDER).iterdir())
    kept = sorted(path.name for path in (ROOT / FOLDER).glob("*_pb2.py*"))
    assert made == kept
    for name in made:
        assert (tmp_path / FOLDER / name).read_bytes() == (ROOT / FOLDER / name).read_bytes()
