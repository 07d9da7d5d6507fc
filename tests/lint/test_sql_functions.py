import re
from functools import cache

from pyengine.errors import BY_SQLSTATE
from tests.lint.every import every
from tests.lint.sqlfiles import SEARCH_PATH, Function, functions_files


@cache
def _functions() -> list[Function]:
    return [function for file in functions_files() for function in file.functions]


def _public() -> list[Function]:
    return [function for function in _functions() if function.public]


def _helpers() -> list[Function]:
    return [function for function in _functions() if not function.public]


def _name(function: Function) -> str:
    return function.name


@every(_functions, _name)
def test_volatility_is_stated(function: Function) -> None:
    assert function.volatility is not None


@every(_public, _name)
def test_a_public_function_is_a_door_or_a_reader(function: Function) -> None:
    if function.definer:
        assert function.search_path == SEARCH_PATH
        return
    assert function.language == "sql", "a reader is in SQL"
    assert function.volatility in ("stable", "immutable")
    assert function.search_path is None, "a SET clause keeps the planner from inlining a reader"
    assert "kl_internal" not in function.code, "what touches kl_internal is a door"


@every(_helpers, _name)
def test_a_helper_is_invoker_with_the_search_path_of_doors(function: Function) -> None:
    comment = function.file.comments.get(function.name, "")
    assert function.definer == ("Definer: a view calls it as its reader." in comment)
    inlined = "Inlined." in function.file.comments.get(function.name, "")
    if inlined and function.language == "sql":
        assert function.search_path is None, "a SET clause keeps the planner from inlining"
        return
    assert function.search_path == SEARCH_PATH


@every(_functions, _name)
def test_parameters_and_variables_carry_their_prefix(function: Function) -> None:
    assert [name for name in function.inputs if not name.startswith("p_")] == []
    assert [name for name in function.variables if not name.startswith("v_")] == []


@every(_functions, _name)
def test_trigger_functions_say_so(function: Function) -> None:
    assert function.name.split(".")[1].startswith("tg_") == function.is_trigger


@every(_functions, _name)
def test_no_handler_swallows_everything(function: Function) -> None:
    assert not re.search(r"\bwhen\s+others\b", function.code, re.IGNORECASE)


@every(_functions, _name)
def test_no_dynamic_sql(function: Function) -> None:
    assert not re.search(r"\bexecute\b", function.code, re.IGNORECASE)


@every(_functions, _name)
def test_raised_codes_are_in_the_table_and_in_the_comment(function: Function) -> None:
    assert function.raised <= set(BY_SQLSTATE)
    comment = function.file.comments.get(function.name, "")
    assert set(re.findall(r"KL\d{3}", comment)) <= set(BY_SQLSTATE)
    assert function.raised <= set(re.findall(r"KL\d{3}", comment)), "name them under Raises"


@every(_functions, _name)
def test_a_body_stays_readable(function: Function) -> None:
    # STYLE splits at about 80; this stops what is clearly past it.
    assert len(function.body.strip().splitlines()) <= 120
