"""POST /v1/admin/query: an analyst's statement, for installation admins."""

from typing import Any, Final

import msgspec
from sanic import Blueprint, HTTPResponse, Request

from pyengine import api_admin, db
from pyengine.errors import KilolockError
from pyengine.query import QueryDoor, open_door
from server.auth import caller_of
from server.bodies import read_body

_BODY_BYTES: Final = 1 << 20


class _Question(msgspec.Struct, forbid_unknown_fields=True):
    sql: str


def blueprint() -> Blueprint:
    """Return the route of the query door."""
    routes = Blueprint("query", url_prefix="/v1/admin")
    routes.add_route(query, "/query", methods=["POST"], stream=True)
    return routes


async def open_for(app: Any) -> None:  # noqa: ANN401 - Sanic's own generic type
    """Open the door where the settings name a login for it; without one each question says so."""
    settings = app.ctx.settings
    app.ctx.query_door = None
    if settings.query_conninfo is not None:
        app.ctx.query_door = open_door(settings.query_conninfo, settings.query_seconds)
        await app.ctx.query_door.open()


async def close_for(app: Any) -> None:  # noqa: ANN401 - the same
    """Close the door's sessions."""
    if app.ctx.query_door is not None:
        await app.ctx.query_door.close()


async def query(request: Request) -> HTTPResponse:
    """Run the one statement of {"sql": TEXT} and answer its rows."""
    body = await read_body(request, _BODY_BYTES)
    database: db.Database = request.app.ctx.database
    await database.run(api_admin.require_admin, caller_of(request))
    door: QueryDoor = request.app.ctx.query_door or open_door(None, 0)
    answer = await door.ask(_sql(body))
    return HTTPResponse(msgspec.json.encode(answer), content_type="application/json")


def _sql(body: bytearray) -> str:
    try:
        return msgspec.json.decode(body, type=_Question).sql
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise KilolockError("invalid_request", f'the body is not {{"sql": TEXT}}: {exc}') from exc
