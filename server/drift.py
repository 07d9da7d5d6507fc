"""/v1/admin/drift: what refreshes found changed, and acknowledgements."""

from typing import Final

import msgspec
from sanic import Blueprint, HTTPResponse, Request

from pyengine import api_drift, db
from pyengine.api_drift import Acknowledged
from pyengine.errors import KilolockError
from server.admin import parameter
from server.auth import caller_of

_MOST: Final = 10_000


def blueprint() -> Blueprint:
    """Return the routes of `kl drift`."""
    routes = Blueprint("drift", url_prefix="/v1/admin")
    routes.add_route(drift, "/drift", methods=["GET"])
    routes.add_route(acknowledge, "/drift", methods=["PUT"])
    return routes


async def drift(request: Request) -> HTTPResponse:
    """Answer the drift of ?name=, at most ?limit= objects of it."""
    name, limit = parameter(request, "name"), _limit(parameter(request, "limit", str(_MOST)))
    database: db.Database = request.app.ctx.database
    found = await database.run(
        lambda conn: api_drift.list_current_drift(conn, name, limit), caller_of(request)
    )
    return _json(found)


async def acknowledge(request: Request) -> HTTPResponse:
    """Set aside the drift at ?address= of ?name=, for ?reason=."""
    name, address = parameter(request, "name"), parameter(request, "address")
    reason = parameter(request, "reason")
    database: db.Database = request.app.ctx.database
    count = await database.run(
        lambda conn: api_drift.ack_drift(conn, name, address, reason), caller_of(request)
    )
    return _json(Acknowledged(count))


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= _MOST:
        raise KilolockError("invalid_request", f"limit= is a number from 1 to {_MOST}")
    return int(text)


def _json(value: object) -> HTTPResponse:
    encoder = msgspec.json.Encoder(decimal_format="number")  # every digit
    return HTTPResponse(encoder.encode(value), content_type="application/json")
