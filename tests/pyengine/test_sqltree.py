from pathlib import Path

import pytest

from pyengine import sqltree
from pyengine.errors import KilolockError


def _tree(root: Path, files: dict[str, str]) -> sqltree.SqlTree:
    defaults = {"functions/roles.sql": "create role r;", "functions/grants.sql": "select 1;"}
    for name, text in (defaults | files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tree = sqltree.load(root)
    sqltree.check_syntax(tree)
    return tree


def _refusal(root: Path, files: dict[str, str]) -> str:
    with pytest.raises(KilolockError) as caught:
        _tree(root, files)
    assert caught.value.code == "invalid_sql_tree"
    return caught.value.message


def test_scripts_follow_what_they_require_and_ties_go_by_name(tmp_path: Path) -> None:
    tree = _tree(
        tmp_path,
        {
            "functions/a/one.view.sql": "-- requires: z/last\nselect 1;",
            "functions/b/two.sql": "select 1;",
            "functions/c/three.sql": "-- requires: a/one.view, b/two\nselect 1;",
            "functions/z/last.sql": "-- a comment\n-- requires: b/two\nselect 1;",
        },
    )
    names = [script.name for script in tree.functions]
    assert names == ["b/two", "z/last", "a/one.view", "c/three", "grants"]


def test_a_cycle_is_refused(tmp_path: Path) -> None:
    message = _refusal(
        tmp_path,
        {
            "functions/a.sql": "-- requires: b\nselect 1;",
            "functions/b.sql": "-- requires: a\nselect 1;",
        },
    )
    assert "a -> b" in message or "b -> a" in message


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    assert "'nobody'" in _refusal(tmp_path, {"functions/a.sql": "-- requires: nobody\nselect 1;"})


def test_a_syntax_error_names_file_and_line(tmp_path: Path) -> None:
    message = _refusal(tmp_path, {"functions/x/bad.sql": "select 1;\n-- é\nselect from from;"})
    assert message.startswith("functions/x/bad.sql:3: ")


@pytest.mark.parametrize("name", ["0002_x", "1_x", "0001-x", "0001_X"])
def test_migrations_are_numbered_without_gaps(tmp_path: Path, name: str) -> None:
    assert name in _refusal(tmp_path, {f"migrations/{name}.sql": "select 1;"})


def test_requires_is_read_from_the_leading_comment_only() -> None:
    text = "-- requires: a, b\n--requires: c/d.view\nselect 1;\n-- requires: e\n"
    assert sqltree.parse_requires(text) == ("a", "b", "c/d.view")


def test_any_change_changes_the_checksum_of_the_functions(tmp_path: Path) -> None:
    before = _tree(tmp_path, {"functions/a.sql": "select 1;"}).functions_checksum
    assert _tree(tmp_path, {}).functions_checksum == before
    assert _tree(tmp_path, {"functions/a.sql": "select 2;"}).functions_checksum != before


def test_an_inventory_is_what_loading_finds(tmp_path: Path) -> None:
    files = {"migrations/0001_x.sql": "select 1;", "functions/b/a.view.sql": "select 'ä';\r\n"}
    tree = _tree(tmp_path, files)
    found = sqltree.take_inventory(tmp_path)
    assert found.migrations == {script.name for script in tree.migrations} == {"0001_x"}
    assert found.functions_checksum == tree.functions_checksum


def test_the_tree_of_the_project_loads() -> None:
    tree = sqltree.load()
    assert tree.migrations[0].name == "0001_schemas"
    assert tree.functions[-1].name == "grants"
