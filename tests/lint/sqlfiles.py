"""The SQL files of the checkout, parsed once, in the shape the lints ask about."""

import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pglast
from pglast import ast, enums

ROOT = Path(__file__).parents[2]
SQL = ROOT / "sql"
NOT_OBJECTS = ("roles.sql", "grants.sql")
SEARCH_PATH = ["pg_catalog", "pg_temp"]
_COMMENTED = {enums.ObjectType.OBJECT_FUNCTION, enums.ObjectType.OBJECT_VIEW}


@dataclass(frozen=True)
class SqlFile:
    """One file with its statements."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def statements(self) -> list[Any]:
        return [raw.stmt for raw in pglast.parse_sql(self.text)]

    @property
    def label(self) -> str:
        return self.path.relative_to(SQL).as_posix()

    @cached_property
    def code(self) -> str:
        """The text without comments and quoted strings; lines stay where they are."""
        return _blank_out(self.text)

    @property
    def functions(self) -> list["Function"]:
        return [Function(self, s) for s in self.statements if isinstance(s, ast.CreateFunctionStmt)]

    @property
    def views(self) -> list[Any]:
        return [s for s in self.statements if isinstance(s, ast.ViewStmt)]

    @property
    def object_names(self) -> list[str]:
        """Return schema.name of everything the file creates."""
        views = [f"{view.view.schemaname}.{view.view.relname}" for view in self.views]
        return [function.name for function in self.functions] + views

    @property
    def comments(self) -> dict[str, str]:
        """Return the comments on functions and views, by schema.name."""
        found = {}
        for statement in self.statements:
            if isinstance(statement, ast.CommentStmt) and statement.objtype in _COMMENTED:
                target = statement.object
                parts = target.objname if isinstance(target, ast.ObjectWithArgs) else target
                found[".".join(part.sval for part in parts)] = statement.comment or ""
        return found


@dataclass(frozen=True)
class Function:
    """One create function statement."""

    file: SqlFile
    statement: Any

    @property
    def name(self) -> str:
        return ".".join(part.sval for part in self.statement.funcname)

    @property
    def public(self) -> bool:
        return self.name.startswith("kl.")

    @cached_property
    def options(self) -> dict[str, Any]:
        return {option.defname: option.arg for option in self.statement.options}

    @property
    def language(self) -> str:
        return str(self.options["language"].sval)

    @property
    def volatility(self) -> str | None:
        return self.options["volatility"].sval if "volatility" in self.options else None

    @property
    def definer(self) -> bool:
        return "security" in self.options and bool(self.options["security"].boolval)

    @property
    def search_path(self) -> list[str] | None:
        for option in self.statement.options:
            if option.defname == "set" and option.arg.name == "search_path":
                return [value.val.sval for value in option.arg.args]
        return None

    @property
    def body(self) -> str:
        return str(self.options["as"][0].sval) if "as" in self.options else ""

    @property
    def code(self) -> str:
        return _blank_out(self.body)

    @property
    def inputs(self) -> list[str]:
        """Return the names of the parameters a caller passes."""
        taken = {
            enums.FunctionParameterMode.FUNC_PARAM_IN,
            enums.FunctionParameterMode.FUNC_PARAM_INOUT,
            enums.FunctionParameterMode.FUNC_PARAM_VARIADIC,
            enums.FunctionParameterMode.FUNC_PARAM_DEFAULT,
        }
        parameters = self.statement.parameters or ()
        return [p.name or "" for p in parameters if p.mode in taken]

    @property
    def variables(self) -> list[str]:
        """Return the names in the outermost declare section of a PL/pgSQL body."""
        section = re.search(r"^declare$(.*?)^begin$", self.code, re.DOTALL | re.MULTILINE)
        if self.language != "plpgsql" or section is None:
            return []
        return re.findall(r"^ {4}(\w+)\s+\S", section[1], re.MULTILINE)

    @property
    def is_trigger(self) -> bool:
        if self.statement.returnType is None:  # out parameters tell
            return False
        names = [part.sval for part in self.statement.returnType.names]
        return "trigger" in names or "event_trigger" in names

    @property
    def raised(self) -> set[str]:
        return set(re.findall(r"errcode\s*=\s*'(KL\d{3})'", self.body))


@cache
def functions_files() -> tuple[SqlFile, ...]:
    """Return every file below sql/functions that defines an object."""
    paths = sorted((SQL / "functions").rglob("*.sql"))
    return tuple(SqlFile(path) for path in paths if path.name not in NOT_OBJECTS)


@cache
def migration_files() -> tuple[SqlFile, ...]:
    """Return every migration."""
    return tuple(SqlFile(path) for path in sorted((SQL / "migrations").glob("*.sql")))


_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|\bE'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"",
    re.DOTALL | re.IGNORECASE,
)


def _blank_out(text: str) -> str:
    return _TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
