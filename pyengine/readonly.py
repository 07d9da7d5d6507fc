"""Parse an analyst's statement and explain refusals. The database role is the guard, not this."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn

import pglast
from pglast import ast

from pyengine.errors import KilolockError

MAX_CHARACTERS: Final = 100_000
# The parser's own recursion stays far from the end of the stack.
MAX_TOKENS: Final = 16_000

_RUNS: Final = "the query door runs one SELECT, VALUES, TABLE, WITH or plain EXPLAIN"
_LOCKING: Final = ("UPDATE", "NO", "SHARE", "KEY")


def check(text: str) -> None:
    """Raise `query_refused` unless `text` is one statement that only reads.

    details: node (the parser's name for what is refused), line, column, position (all from 1).
    """
    _check_size(text)
    try:
        statements: Sequence[Any] = pglast.parse_sql(text)
    except pglast.parser.ParseError as exc:
        message, offset = (*exc.args, None)[:2]
        _refuse(text, "SyntaxError", offset, str(message))
    if not statements:
        _refuse(text, "Nothing", None, f"there is no statement; {_RUNS}")
    if len(statements) > 1:
        second = statements[1]
        _refuse(
            text,
            type(second.stmt).__name__,
            _skip_space(text, second.stmt_location),
            f"a second statement, {_words(second.stmt)}; {_RUNS}",
        )
    _check_statement(text, statements[0].stmt, _skip_space(text, statements[0].stmt_location))


def place(text: str, position: int) -> tuple[int, int]:
    """Return line and column, from 1, of the character `position`, from 1."""
    before = text[: max(position - 1, 0)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _check_size(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        _refuse(text, "Text", None, f"the text has more than {MAX_CHARACTERS} characters")
    if "\0" in text:
        _refuse(text, "Text", text.index("\0"), "the text has a NUL character")
    try:
        tokens = pglast.scan(text)
    except UnicodeEncodeError as exc:
        _refuse(text, "Text", exc.start, "the text has half of a surrogate pair")
    except pglast.parser.ParseError as exc:
        _refuse(text, "SyntaxError", None, str(exc.args[0]))
    if len(tokens) > MAX_TOKENS:
        _refuse(text, "Text", None, f"the text has more than {MAX_TOKENS} words and signs")


def _check_statement(text: str, statement: Any, start: int) -> None:  # noqa: ANN401 - any node
    if isinstance(statement, ast.ExplainStmt):
        for option in statement.options or ():
            if option.defname == "analyze" and not _says_no(option):
                offset = _find(text, r"\banaly[sz]e\b", start)
                _refuse(
                    text, "ExplainStmt", offset, f"EXPLAIN ANALYZE runs what it explains; {_RUNS}"
                )
        statement = statement.query
        if not isinstance(statement, ast.SelectStmt):
            start = _find(text, rf"\b{_words(statement).split()[0]}\b", start)
    if not isinstance(statement, ast.SelectStmt):
        _refuse(text, type(statement).__name__, start, f"{_words(statement)} is refused; {_RUNS}")
    for node, offset in _nodes(statement, start):
        name = type(node).__name__
        if isinstance(node, ast.IntoClause):
            at = getattr(node.rel, "location", None)
            _refuse(text, name, at, f"SELECT INTO makes a table; {_RUNS}")
        if isinstance(node, ast.LockingClause):
            _refuse(text, name, _locking(text), f"FOR UPDATE and the like lock rows; {_RUNS}")
        if name.endswith("Stmt") and not isinstance(node, ast.SelectStmt):
            _refuse(text, name, offset, f"{_words(node)} inside the query changes data; {_RUNS}")


def _nodes(root: ast.Node, start: int) -> Iterator[tuple[ast.Node, int]]:
    """Yield every node with the nearest offset known for it; without recursion."""
    stack: list[tuple[Any, int]] = [(root, start)]
    while stack:
        value, offset = stack.pop()
        if isinstance(value, tuple):
            stack.extend((item, offset) for item in value)
        elif isinstance(value, ast.Node):
            offset = getattr(value, "location", None) or offset
            yield value, offset
            stack.extend((getattr(value, slot), offset) for slot in type(value).__slots__)  # type: ignore[attr-defined]  # each kind of node has them


def _says_no(option: ast.DefElem) -> bool:
    value = getattr(option.arg, "sval", None)
    number = getattr(option.arg, "ival", None)
    boolean = getattr(option.arg, "boolval", None)
    return number == 0 or boolean is False or str(value).lower() in ("false", "off", "no", "0")


def _locking(text: str) -> int | None:
    tokens = pglast.scan(text)
    for token, after in itertools.pairwise(tokens):
        if token.name == "FOR" and after.name in _LOCKING:
            return int(token.start)
    return None


def _find(text: str, pattern: str, start: int) -> int:
    match = re.compile(pattern, re.IGNORECASE).search(text, start)
    return match.start() if match else start


def _skip_space(text: str, start: int) -> int:
    """Return where the first token at or after `start` begins: comments do not count."""
    for token in pglast.scan(text):
        if token.start >= start and token.name not in ("SQL_COMMENT", "C_COMMENT", "ASCII_59"):
            return int(token.start)
    return start


def _words(node: ast.Node) -> str:
    """Return DeleteStmt as DELETE, CreateTableAsStmt as CREATE TABLE AS."""
    name = type(node).__name__.removesuffix("Stmt")
    return " ".join(re.findall(r"[A-Z]+[a-z]*", name)).upper()


def _refuse(text: str, node: str, offset: int | None, message: str) -> NoReturn:
    details: dict[str, Any] = {"node": node}
    if offset is not None:
        line, column = place(text, offset + 1)
        details |= {"position": offset + 1, "line": line, "column": column}
        message = f"line {line}, column {column}: {message}"
    raise KilolockError("query_refused", message, details)
