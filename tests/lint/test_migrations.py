from typing import Any

from pglast import ast, enums

from tests.lint.every import every
from tests.lint.sqlfiles import SqlFile, migration_files

_SUFFIX = {
    enums.ConstrType.CONSTR_CHECK: "_check",
    enums.ConstrType.CONSTR_UNIQUE: "_key",
    enums.ConstrType.CONSTR_FOREIGN: "_fkey",
    enums.ConstrType.CONSTR_EXCLUSION: "_excl",
    enums.ConstrType.CONSTR_PRIMARY: "_pkey",
}


def _label(file: SqlFile) -> str:
    return file.label


def _tables(file: SqlFile) -> list[Any]:
    return [s for s in file.statements if isinstance(s, ast.CreateStmt)]


@every(migration_files, _label)
def test_replaceable_objects_stay_out(file: SqlFile) -> None:
    assert file.object_names == []


@every(migration_files, _label)
def test_tables_are_private(file: SqlFile) -> None:
    schemas = {table.relation.schemaname for table in _tables(file)}
    assert schemas <= {"kl_internal"}


@every(migration_files, _label)
def test_constraints_are_named_after_their_table(file: SqlFile) -> None:
    for table in _tables(file):
        name = table.relation.relname
        constraints = [
            constraint
            for element in table.tableElts or ()
            for constraint in (
                [element]
                if isinstance(element, ast.Constraint)
                else getattr(element, "constraints", None) or ()
            )
        ]
        for constraint in constraints:
            if constraint.conname and constraint.contype in _SUFFIX:
                assert constraint.conname.startswith(name + "_"), constraint.conname
                assert constraint.conname.endswith(_SUFFIX[constraint.contype]), constraint.conname


@every(migration_files, _label)
def test_indexes_are_named_after_their_table(file: SqlFile) -> None:
    for index in file.statements:
        if isinstance(index, ast.IndexStmt):
            assert index.idxname is not None
            assert index.idxname.startswith(index.relation.relname + "_"), index.idxname
            assert index.idxname.endswith("_idx"), index.idxname
