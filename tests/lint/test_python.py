import ast
import re
from functools import cache
from pathlib import Path

from tests.lint.every import every

ROOT = Path(__file__).parents[2]
PACKAGES = ("pyengine", "server", "cli")
FORBIDDEN_IMPORTS = {
    "pyengine": {"server", "cli"},
    "server": {"cli"},
    "cli": {"server"},
}


def _modules() -> list[Path]:
    return [
        path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "proto" not in path.parts  # generated
    ]


def _label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


@every(_modules, _label)
def test_numbers_never_pass_through_floats(path: Path) -> None:
    for node in _nodes(path):
        assert _called(node) != "float", f"line {getattr(node, 'lineno', 0)}"
        if _called(node) in ("json.loads", "json.load"):
            assert isinstance(node, ast.Call)
            assert any(keyword.arg == "parse_float" for keyword in node.keywords), (
                f"line {node.lineno}: give parse_float"
            )


@every(_modules, _label)
def test_packages_depend_in_one_direction(path: Path) -> None:
    forbidden = FORBIDDEN_IMPORTS[path.relative_to(ROOT).parts[0]]
    imported = {
        name.split(".")[0]
        for node in _nodes(path)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    assert not imported & forbidden


@every(_modules, _label)
def test_only_db_reads_database_errors(path: Path) -> None:
    if _label(path) == "pyengine/db.py":
        return
    for node in _nodes(path):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            assert "psycopg" not in ast.unparse(node.type), f"line {node.lineno}"


@every(_modules, _label)
def test_no_module_keeps_state(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    mutable = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    for node in tree.body:
        if isinstance(node, ast.Assign):
            assert not isinstance(node.value, mutable), f"line {node.lineno}: say Final"
    assert not any(isinstance(node, ast.Global) for node in ast.walk(tree))


@every(_modules, _label)
def test_modules_stay_under_500_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 500


@every(_modules, _label)
def test_calls_of_kl_functions_name_their_columns(path: Path) -> None:
    for node in _nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not re.search(r"\bselect\s+(\w+\.)?\*", node.value), f"line {node.lineno}"


@every(_modules, _label)
def test_nothing_is_left_for_later(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b|NotImplemented", text)
