"""Terraform's HTTP backend: /v1/states/NAME and /v1/state-unlock/NAME.

The rules are kl.write_state's, kl.lock_state's and kl.unlock_state's; these routes carry bytes.
"""

from typing import Any, Final
from urllib.parse import unquote
from uuid import UUID

from sanic import Blueprint, HTTPResponse, Request
from sanic.response import json

from pyengine import api, db, download, upload
from pyengine.errors import KilolockError
from server.auth import caller_of
from server.bodies import LOCK_INFO_BYTES, admit, read_body, read_document, send_document

_STATES: Final = "/v1/states/<name:path>"
_UNLOCK: Final = "/v1/state-unlock/<name:path>"


def blueprint() -> Blueprint:
    """Return the routes that an unmodified Terraform uses."""
    routes = Blueprint("backend")
    routes.add_route(get_state, _STATES, methods=["GET"])
    routes.add_route(write_state, _STATES, methods=["POST", "PUT"], stream=True)
    routes.add_route(delete_state, _STATES, methods=["DELETE"])
    routes.add_route(lock_state, _STATES, methods=["LOCK"], stream=True)
    routes.add_route(unlock_state, _STATES, methods=["UNLOCK"], name="unlock", stream=True)
    routes.add_route(unlock_state, _UNLOCK, methods=["POST"], name="state_unlock", stream=True)
    return routes


async def get_state(request: Request, name: str) -> HTTPResponse | None:
    """Stream the current version; 404 when there is none."""
    name = decoded(name)
    document = download.render(request.app.ctx.database, name, "current", caller_of(request))
    return await send_document(request, document, {})


async def write_state(request: Request, name: str) -> HTTPResponse:
    """Store a document as the next version. 200 also for a retry of the current one."""
    name, caller, lock_id = decoded(name), caller_of(request), request.args.get("ID")
    database: db.Database = request.app.ctx.database
    await admit(request, name, "state:write")
    document = await read_document(request, request.app.ctx.settings.max_body_bytes)

    async def commit(
        conn: db.Connection, upload_id: UUID, objects: int, digest: bytes
    ) -> api.Written:
        return await api.write_state(conn, name, upload_id, objects, digest, lock_id)

    written = await upload.write(database, caller, name, document, commit)
    return json(
        {
            "outcome": written.outcome,
            "version_id": str(written.version_id),
            "version_no": written.version_no,
            "serial": int(written.serial or 0),
        }
    )


async def delete_state(request: Request, name: str) -> HTTPResponse:
    """Delete a state; its history is kept."""
    name = decoded(name)
    await _run(request, lambda conn: api.delete_state(conn, name))
    return json({"deleted": name})


async def lock_state(request: Request, name: str) -> HTTPResponse:
    """Take the lock with the LockInfo of the body."""
    name, info = decoded(name), await _lock_info(request)
    lock_id = await _run(request, lambda conn: api.lock_state(conn, name, info))
    return json({"ID": lock_id})


async def unlock_state(request: Request, name: str) -> HTTPResponse:
    """Free the lock that the LockInfo of the body names; any plain one for an empty body."""
    name, info = decoded(name), await _lock_info(request)
    freed = await _run(request, lambda conn: api.unlock_state(conn, name, info))
    return json({"ID": freed})


async def _run(request: Request, work: Any) -> Any:  # noqa: ANN401 - what the coroutine returns
    return await request.app.ctx.database.run(work, caller_of(request))


async def _lock_info(request: Request) -> str:
    body = await read_body(request, LOCK_INFO_BYTES)
    try:
        return body.decode()
    except UnicodeDecodeError as exc:
        raise KilolockError("invalid_request", "the body is not UTF-8; a LockInfo is") from exc


def decoded(name: str) -> str:
    """Undo the escapes of a state's name in a path, once: a%2Fb and a/b are one name."""
    try:
        plain = unquote(name, errors="strict")
    except UnicodeDecodeError as exc:
        raise KilolockError("invalid_request", f"state name {name!r} is not UTF-8") from exc
    if "\0" in plain:
        raise KilolockError("invalid_request", f"state name {name!r} cannot be used: it holds NUL")
    return plain
