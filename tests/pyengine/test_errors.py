import re

from pyengine.errors import BY_CODE, BY_SQLSTATE, CODES, KilolockError
from tests.clusters import Connection


def test_codes_and_sqlstates_are_unique() -> None:
    assert len(BY_CODE) == len(BY_SQLSTATE) == len(CODES)


def test_sqlstates_are_of_our_class() -> None:
    assert all(re.fullmatch(r"KL[0-4]\d\d", row.sqlstate) for row in CODES)


def test_table_equals_the_database(conn: Connection) -> None:
    rows = conn.execute(
        "select e.sqlstate, e.code, e.http_status from kl.error_codes as e order by e.sqlstate"
    ).fetchall()
    assert rows == sorted((row.sqlstate, row.code, row.http_status) for row in CODES)


def test_status_and_sqlstate_follow_from_the_code() -> None:
    error = KilolockError("terraform_locked", "held", {"holder": "x"})
    assert (error.http_status, error.sqlstate, error.exit_code) == (423, "KL303", 1)
    assert error.retryable


def test_a_wrong_request_is_not_worth_a_retry() -> None:
    assert not KilolockError("invalid_request", "no").retryable


def test_an_unknown_code_is_an_internal_error() -> None:
    assert KilolockError("surprise", "?").http_status == 500
