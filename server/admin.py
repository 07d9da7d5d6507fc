"""Routes of /v1/admin: what `kl` does over HTTP."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
from sanic import Blueprint, HTTPResponse, Request

from pyengine import api, api_admin, db, download
from pyengine.errors import KilolockError
from pyengine.importing import import_split
from server.auth import caller_of
from server.bodies import admit, read_document, send_document

T = TypeVar("T")


def blueprint() -> Blueprint:
    """Return the routes that `kl` uses for whole states."""
    routes = Blueprint("admin", url_prefix="/v1/admin")
    routes.add_route(import_state, "/import", methods=["POST"], stream=True)
    routes.add_route(export_state, "/export", methods=["GET"])
    routes.add_route(list_states, "/states", methods=["GET"])
    routes.add_route(state_status, "/status", methods=["GET"])
    routes.add_route(force_unlock, "/unlock", methods=["POST"])
    return routes


async def import_state(request: Request) -> HTTPResponse:
    """Store the document of the body as the next version of ?name=, with ?source=."""
    name, source = parameter(request, "name"), parameter(request, "source", "import")
    await admit(request, name, "state:write")
    document = await read_document(request, request.app.ctx.settings.max_body_bytes)
    database: db.Database = request.app.ctx.database
    return _json(await import_split(database, caller_of(request), name, document, source))


async def export_state(request: Request) -> HTTPResponse | None:
    """Stream the ?version= of ?name=, the current one unless given."""
    name, version = parameter(request, "name"), parameter(request, "version", "current")
    await admit(request, name, "state:read")  # an export has resources, or there is none
    document = download.render(request.app.ctx.database, name, version, caller_of(request))
    return await send_document(request, document, {})


async def list_states(request: Request) -> HTTPResponse:
    """Answer every state in short."""
    return _json({"states": await _run(request, api_admin.list_states)})


async def state_status(request: Request) -> HTTPResponse:
    """Answer how ?name= stands."""
    name = parameter(request, "name")
    return _json(await _run(request, lambda conn: api_admin.state_status(conn, name)))


async def force_unlock(request: Request) -> HTTPResponse:
    """Free the lock that Terraform sees on ?name=; only ?lock_id= when given."""
    name, lock_id = parameter(request, "name"), optional(request, "lock_id")
    freed = await _run(request, lambda conn: api.force_unlock(conn, name, lock_id))
    return _json({"state": name, "lock": freed})


async def _run(request: Request, work: Callable[[db.Connection], Awaitable[T]]) -> T:
    database: db.Database = request.app.ctx.database
    return await database.run(work, caller_of(request))


def parameter(request: Request, key: str, default: str | None = None) -> str:
    """Return the one ?key= of a request, or the default. Raises `invalid_request`."""
    value = optional(request, key)
    if value is None:
        value = default
    if value is None:
        raise KilolockError("invalid_request", f"the query lacks {key}=")
    return value


def optional(request: Request, key: str) -> str | None:
    """Return the one ?key= of a request, if it is there. Raises `invalid_request`."""
    try:
        values = request.get_args(keep_blank_values=True, errors="strict").getlist(key)
    except UnicodeDecodeError as exc:
        raise KilolockError("invalid_request", "the query is not UTF-8") from exc
    if values and len(values) > 1:
        raise KilolockError("invalid_request", f"the query has more than one {key}=")
    return values[0] if values else None


def _json(value: object) -> HTTPResponse:
    """Answer in JSON; numbers keep every digit."""
    encoder = msgspec.json.Encoder(decimal_format="number")
    return HTTPResponse(encoder.encode(value), content_type="application/json")
