"""Every error has one SQLSTATE, one code and one status, in SQL and in Python alike."""

import re
from pathlib import Path

from pyengine.errors import CODES
from tests.clusters import Connection

SQL = Path(__file__).parents[2] / "sql" / "functions"
PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"


def test_error_codes_equal_those_of_the_client(conn: Connection) -> None:
    rows = conn.execute("select sqlstate, code, http_status from kl.error_codes").fetchall()
    assert set(rows) == {(c.sqlstate, c.code, c.http_status) for c in CODES}
    assert len(rows) == len(CODES)


def test_status_fits_the_class(conn: Connection) -> None:
    rows = conn.execute("select sqlstate, http_status from kl.error_codes").fetchall()
    allowed = {"0": {400, 413}, "1": {401, 403}, "2": {404}, "3": {409, 423}, "4": {422}}
    for sqlstate, status in rows:
        assert status in allowed[sqlstate[2]], sqlstate


def test_every_raised_state_is_in_the_table(conn: Connection) -> None:
    known = {s for (s,) in conn.execute("select sqlstate from kl.error_codes").fetchall()}
    raised = {
        found
        for path in SQL.rglob("*.sql")
        for found in re.findall(r"errcode = '(KL\d{3})'", path.read_text(encoding="utf-8"))
    }
    assert raised <= known


def test_protocol_lists_the_same_errors() -> None:
    listed = re.findall(
        r"^\| (KL\d{3}) \| `(\w+)` \| (\d{3}) \|$",
        PROTOCOL.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert listed == [(c.sqlstate, c.code, str(c.http_status)) for c in CODES]
