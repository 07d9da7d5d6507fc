import pytest

from pyengine import readonly
from pyengine.errors import KilolockError

DEEP = "select " + "(" * 4000 + "1" + ")" * 4000


def _refusal(text: str) -> KilolockError:
    with pytest.raises(KilolockError) as caught:
        readonly.check(text)
    assert caught.value.code == "query_refused"
    assert caught.value.http_status == 400
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "select 1",
        "SELECT 1;",
        "select 1 ;; -- done",
        "SELECT 'delete from t; -- not a write' AS s",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<3) SELECT * FROM r",
        'SELECT count(*) AS "update" FROM t -- trailing comment',
        "VALUES (1),(2)",
        "TABLE t",
        "explain select 1",
        "explain (analyze false, format json) select 1",
        "(select 1) union (select 2) order by 1",
        "select $$ for update; drop $$",
        DEEP,
    ],
)
def test_what_only_reads_passes(text: str) -> None:
    readonly.check(text)


@pytest.mark.parametrize(
    ("text", "node", "line", "column"),
    [
        ("with x as (delete from t returning 1) select * from x", "DeleteStmt", 1, 6),
        ("select *\nfrom (with y as (insert into t values (1) returning 1)\n select * from y) as z",
         "InsertStmt", 2, 12),
        ("with u as (update t set a = 1 returning a) table u", "UpdateStmt", 1, 6),
        ("explain analyze delete from t", "ExplainStmt", 1, 9),
        ("explain (verbose, analyze) select 1", "ExplainStmt", 1, 19),
        ("explain delete from t", "DeleteStmt", 1, 9),
        ("explain (analyze 1) select 1", "ExplainStmt", 1, 10),
        ("select 1; delete from t", "DeleteStmt", 1, 11),
        ("commit; delete from t; begin", "DeleteStmt", 1, 9),
        ("do $$ begin delete from t; end $$", "DoStmt", 1, 1),
        ("\n-- é\n  insert into t default values", "InsertStmt", 3, 3),
        ("select 'é', 'for update' from t for no key update", "LockingClause", 1, 33),
        ("select * from (select 1 from t for share) as x", "LockingClause", 1, 32),
        ("select 1 into x", "IntoClause", 1, 15),
        ("merge into t using s on true when matched then delete", "MergeStmt", 1, 1),
        ("create table x as select 1", "CreateTableAsStmt", 1, 1),
        ("copy (select 1) to program 'id'", "CopyStmt", 1, 1),
        ("set role postgres", "VariableSetStmt", 1, 1),
        ("show all", "VariableShowStmt", 1, 1),
        ("declare c cursor for select 1", "DeclareCursorStmt", 1, 1),
        ("prepare p as select 1", "PrepareStmt", 1, 1),
        ("call p()", "CallStmt", 1, 1),
        ("listen x", "ListenStmt", 1, 1),
        ("lock table t", "LockStmt", 1, 1),
        ("select 'é' frm from from", "SyntaxError", 1, 21),
    ],
)  # fmt: skip
def test_anything_else_is_refused_by_name_and_place(
    text: str, node: str, line: int, column: int
) -> None:
    details = _refusal(text).details
    assert (details["node"], details["line"], details["column"]) == (node, line, column)
    assert readonly.place(text, details["position"]) == (line, column)


@pytest.mark.parametrize("text", ["", "  ", "-- nothing", ";", "/* x */"])
def test_nothing_is_no_statement(text: str) -> None:
    assert _refusal(text).details["node"] == "Nothing"


@pytest.mark.parametrize(
    "text",
    [
        "select '" + "x" * readonly.MAX_CHARACTERS + "'",
        "select " + "1+" * 40_000 + "1",
        "select " + "- " * 40_000 + "1",
        "select " + "not " * 9_999 + "true " + "or true " * 9_000,
        "select '\0'",
        "select '\ud800'",
    ],
)
def test_text_that_no_parser_should_see_is_refused(text: str) -> None:
    assert _refusal(text).details["node"] in ("Text", "SyntaxError")


def test_nesting_up_to_the_limit_is_survived() -> None:
    for text in (
        "select " + "1+" * (readonly.MAX_TOKENS // 2 - 2) + "1",
        "select 1 " + "union select 1 " * (readonly.MAX_TOKENS // 3 - 2),
    ):
        readonly.check(text)
    _refusal("select " + "(" * 15_000)
