"""POST /v1/admin/verify: a state and its history against their hashes, part by part."""

from typing import Any, Final

import msgspec
from sanic import Blueprint, HTTPResponse, Request

from pyengine import api_verify, db
from pyengine.errors import KilolockError
from server.admin import parameter
from server.auth import caller_of
from server.bodies import read_body

_BODY_BYTES: Final = 1 << 16


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    cursor: dict[str, Any] | None = None


def blueprint() -> Blueprint:
    """Return the route of kl verify."""
    routes = Blueprint("verify", url_prefix="/v1/admin")
    routes.add_route(verify, "/verify", methods=["POST"], stream=True)
    return routes


async def verify(request: Request) -> HTTPResponse:
    """Check the part of ?name= that begins at the body's cursor; the first without one."""
    name, part = parameter(request, "name"), _part(await read_body(request, _BODY_BYTES))
    database: db.Database = request.app.ctx.database
    verified = await database.run(
        lambda conn: api_verify.verify_state(conn, name, part.cursor), caller_of(request)
    )
    return HTTPResponse(msgspec.json.encode(verified), content_type="application/json")


def _part(body: bytearray) -> _Part:
    try:
        return msgspec.json.decode(body, type=_Part) if body else _Part()
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise KilolockError(
            "invalid_request", f'the body is not {{"cursor": …}} of the answer before: {exc}'
        ) from exc
