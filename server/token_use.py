"""Remember when each token was last used, at most once a minute."""

import hashlib
import time
from typing import Any, Final

from sanic import HTTPResponse, Request, Sanic

from pyengine import api_auth, db
from pyengine.errors import KilolockError

_SECONDS: Final = 60
_FAILED: Final = 400


def watch(app: Sanic[Any, Any]) -> None:
    """Note the token of each answered request of a server that asks for tokens."""
    app.ctx.token_uses = {}
    if app.ctx.settings.auth == "database":
        middleware: Any = _note  # its declared type knows no coroutine of two arguments
        app.register_middleware(middleware, "response")


async def _note(request: Request, response: HTTPResponse) -> None:
    """Note only what a route asked for and the database accepted: anybody can send a header."""
    token: str | None = getattr(request.ctx, "token", None)
    if token is None or response.status >= _FAILED:
        return
    uses: dict[bytes, float] = request.app.ctx.token_uses
    key, now = hashlib.sha256(token.encode()).digest(), time.monotonic()
    if now - uses.get(key, -_SECONDS) < _SECONDS:
        return
    uses[key] = now
    await _touch(request.app.ctx.database, token)


async def _touch(database: db.Database, token: str) -> None:
    try:
        await database.run(api_auth.touch_token, db.Caller(token=token))
    except KilolockError:
        return  # db.py has logged it; when a token was last used is no more than a hint
