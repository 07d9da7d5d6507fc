import re

from tests.lint.every import every
from tests.lint.sqlfiles import SqlFile, functions_files, migration_files


def _label(file: SqlFile) -> str:
    return file.label


def _all_files() -> list[SqlFile]:
    return [*functions_files(), *migration_files()]


@every(functions_files, _label)
def test_a_file_defines_the_one_object_it_is_named_after(file: SqlFile) -> None:
    stem = file.path.name.removesuffix(".sql")
    schema = "kl_internal" if stem.startswith("_") else "kl"
    bare = stem.removeprefix("_")
    expected = f"{schema}.{bare.removesuffix('.view')}"
    assert file.object_names == [expected]
    assert bare.endswith(".view") == bool(file.views)
    kinds = {type(statement).__name__ for statement in file.statements}
    assert kinds <= {"CreateFunctionStmt", "ViewStmt", "CommentStmt"}


@every(functions_files, _label)
def test_a_public_object_has_its_comment_beside_it(file: SqlFile) -> None:
    for name in file.object_names:
        if name.startswith("kl."):
            comment = file.comments.get(name, "")
            sentence, _, rest = comment.partition("\n\n")
            assert sentence.rstrip().endswith((".", ":")), f"{name}: a sentence, then a blank line"
            assert "Callers:" in rest or file.views, f"{name}: say who calls it"


@every(_all_files, _label)
def test_form(file: SqlFile) -> None:
    lines = file.text.splitlines()
    assert [n for n, line in enumerate(lines, 1) if len(line) > 100] == [], "over 100 columns"
    assert [n for n, line in enumerate(lines, 1) if line != line.rstrip()] == [], "trailing space"
    assert "\t" not in file.text
    assert file.text.endswith("\n")


@every(_all_files, _label)
def test_keywords_are_in_lower_case(file: SqlFile) -> None:
    keywords = r"\b(SELECT|FROM|WHERE|CREATE|TABLE|FUNCTION|INSERT|UPDATE|DELETE|NULL|BEGIN|END)\b"
    assert not re.findall(keywords, file.code)


def test_there_are_no_overloads() -> None:
    names = [name for file in functions_files() for name in file.object_names]
    assert len(names) == len(set(names))


@every(functions_files, _label)
def test_an_object_can_be_applied_again(file: SqlFile) -> None:
    for statement in [*file.views, *(function.statement for function in file.functions)]:
        assert statement.replace, "create or replace"


@every(functions_files, _label)
def test_addresses_are_never_matched_by_pattern(file: SqlFile) -> None:
    assert not re.findall(r"\b(i?like|similar\s+to)\b|(?<![!~])~~", file.code, re.IGNORECASE)
