"""Options that several kld commands take."""

from typing import Any

import click


def database_options(command: Any) -> Any:  # noqa: ANN401 - as click types its decorators
    """Add --data-dir and --database-url as parameters."""
    return _options(command)


def remembered_database_options(command: Any) -> Any:  # noqa: ANN401 - as above
    """Add --data-dir and --database-url, kept in the context as a dict instead of passed."""
    return _options(command, expose_value=False, callback=_remember)


def _remember(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    flags = context.ensure_object(dict)
    if value is not None:
        flags[parameter.name] = value


def _options(command: Any, **attributes: Any) -> Any:  # noqa: ANN401 - as above
    for option in (
        click.option(
            "--data-dir",
            metavar="DIR",
            help="Folder of the embedded PostgreSQL [KL_DATA_DIR].",
            **attributes,
        ),
        click.option(
            "--database-url",
            metavar="URL",
            help="Use this PostgreSQL instead of the embedded one [KL_DATABASE_URL].",
            **attributes,
        ),
    ):
        command = option(command)
    return command
