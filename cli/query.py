"""kl query: an analyst's question in SQL."""

from contextlib import AsyncExitStack
from typing import BinaryIO, Final

import click
import msgspec

from cli import output
from cli.options import format_of, query_options, settings_of
from cli.running import run
from pyengine.answer import Answer
from pyengine.errors import KilolockError
from pyengine.settings import Settings


@click.command()
@click.argument("sql", required=False)
@click.option(
    "-f", "--file", type=click.File("rb"), help="Read the statement from here (- for stdin)."
)
@click.option(
    "--query-url",
    metavar="URL",
    help="Ask this PostgreSQL, as a member of kl_analyst only [KL_QUERY_URL].",
)
@query_options
@click.pass_context
def query(
    ctx: click.Context, sql: str | None, file: BinaryIO | None, query_url: str | None
) -> None:
    """Run one SELECT, VALUES, TABLE, WITH or EXPLAIN over the views of Kilolock.

    Nothing can be changed this way: the statement runs as a login that may only read, in a
    read-only transaction, for a limited time. Over HTTP it needs an admin's token.
    """
    if (sql is None) == (file is None):
        raise click.UsageError("give the statement, or -f FILE", ctx)
    text = sql if file is None else _text_of(file)
    settings = settings_of(ctx, query_url=query_url)
    answer = run(lambda: _ask(settings, text or ""))
    {"json": output.print_json, "csv": _print_csv, "table": _print_rows}[format_of(ctx)](answer)
    if answer.truncated:
        click.echo(f"kl: truncated after {answer.row_count} rows: a limit was reached", err=True)


async def _ask(settings: Settings, text: str) -> Answer:
    async with AsyncExitStack() as stack:
        if settings.query_transport == "http":
            from cli.transport_http import open_http

            return await (await stack.enter_async_context(open_http(settings))).query(text)
        from cli.database import embedded_conninfo
        from pyengine.query import open_door

        url = settings.query_conninfo
        if url is None and settings.embedded:
            url = await embedded_conninfo(settings, stack, "kl_query", create=False)
        door = await stack.enter_async_context(open_door(url, settings.query_seconds))
        return await door.ask(text)


def _text_of(file: BinaryIO) -> str:
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise KilolockError("query_refused", f"{file.name} is not UTF-8") from exc


def _print_rows(answer: Answer) -> None:
    headings = [output.cell(column.name) for column in answer.columns]
    if headings:
        output.print_table(
            headings, [[_shown(cell) for cell in _cells(row)] for row in answer.rows]
        )


def _print_csv(answer: Answer) -> None:
    output.print_csv(
        [column.name for column in answer.columns],
        (
            [None if cell == b"null" else _plain(cell) for cell in _cells(row)]
            for row in answer.rows
        ),
    )


def _cells(row: msgspec.Raw) -> list[bytes]:
    return [bytes(cell) for cell in msgspec.json.decode(row, type=list[msgspec.Raw])]


def _shown(cell: bytes) -> str:
    return "NULL" if cell == b"null" else _plain(cell)


def _plain(cell: bytes) -> str:
    """Return a text without its quotes, anything else as its JSON: every digit is kept."""
    return msgspec.json.decode(cell, type=str) if cell.startswith(b'"') else cell.decode()


COMMANDS: Final[tuple[click.Command, ...]] = (query,)
