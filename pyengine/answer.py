"""What the query door answers, whichever way it was asked."""

import msgspec


class Column(msgspec.Struct, frozen=True):
    """A column of an answer; type as PostgreSQL names it (int8, numeric, jsonb, text[])."""

    name: str
    type: str


class Answer(msgspec.Struct, frozen=True):
    """An answer. Each row is the JSON text of an array, numbers with every digit."""

    columns: list[Column]
    rows: list[msgspec.Raw]
    row_count: int
    truncated: bool
