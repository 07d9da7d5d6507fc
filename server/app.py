"""The application: pool life-cycle, routes, error rendering."""

import asyncio
from typing import Any, Final
from uuid import uuid4

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sanic import Sanic
from sanic.constants import HTTP_METHODS
from sanic.router import Router

from pyengine import api, db
from pyengine.errors import KilolockError
from pyengine.settings import Settings
from server import (
    admin,
    backend,
    drift,
    engine_commit,
    engine_runs,
    engine_scope,
    errors,
    health,
    openapi,
    query,
    readers,
    token_use,
    verify,
)
from server.bodies import DRAIN_BYTES
from server.freed_scopes import FreedScopes

App = Sanic[Any, Any]

_SWEEP_SECONDS: Final = 600
_SWEEP_AGE: Final = "1 hour"
_DAY: Final = 86400


class StateRouter(Router):
    """A router that lets Terraform's own methods through."""

    ALLOWED_METHODS: tuple[Any, ...] = (*HTTP_METHODS, "LOCK", "UNLOCK")


def create_app(settings: Settings) -> App:
    """Build the application for a database whose schema is installed."""
    assert settings.database_url is not None, "the caller found or started a database"
    app: App = Sanic(
        f"kilolock-{uuid4().hex[:8]}",
        router=StateRouter(),
        configure_logging=False,
        error_handler=errors.Handler(),
    )
    app.config.REQUEST_MAX_SIZE = settings.max_body_bytes + DRAIN_BYTES
    app.config.REQUEST_TIMEOUT = _DAY  # a large document over a slow line
    app.config.RESPONSE_TIMEOUT = _DAY
    app.config.KEEP_ALIVE_TIMEOUT = 75
    app.ctx.settings = settings
    app.ctx.freed_scopes = FreedScopes(_conninfo(settings))
    app.ctx.database = db.Database(_conninfo(settings), application_name="kld")
    app.blueprint(health.blueprint())
    app.blueprint(backend.blueprint())
    app.blueprint(admin.blueprint())
    app.blueprint(query.blueprint())
    app.blueprint(readers.blueprint())
    app.blueprint(verify.blueprint())
    app.blueprint(openapi.blueprint())
    app.blueprint(drift.blueprint())
    app.blueprint(engine_runs.blueprint())
    app.blueprint(engine_commit.blueprint())
    app.blueprint(engine_scope.blueprint())
    token_use.watch(app)
    app.register_listener(_open, "before_server_start")
    app.register_listener(_close, "after_server_stop")
    return app


def _conninfo(settings: Settings) -> str:
    """Tell every session how this server authenticates: SQL then refuses a missing token."""
    given = conninfo_to_dict(settings.database_url or "").get("options") or ""
    return make_conninfo(settings.database_url or "", options=f"{given} -c kl.auth={settings.auth}")


async def _open(app: App) -> None:
    await app.ctx.database.open()
    await query.open_for(app)
    app.ctx.sweeper = asyncio.create_task(_sweep(app.ctx.database))


async def _close(app: App) -> None:
    app.ctx.sweeper.cancel()
    await asyncio.wait([app.ctx.sweeper])
    await app.ctx.freed_scopes.close()
    await query.close_for(app)
    await app.ctx.database.close()


async def _sweep(database: db.Database) -> None:
    """Drop what clients staged and never committed."""
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        try:
            await database.run(lambda conn: api.sweep_uploads(conn, _SWEEP_AGE))
        except KilolockError:
            continue  # db.py has logged it; the next round tries again
