"""Routes of /v1/state-engine that change a state: commit, remove, move, roll back.

The rules are those of the functions of schema `kl`; these routes carry bytes.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from types import MappingProxyType
from typing import Final, TypeVar
from uuid import UUID

import msgspec
from sanic import Blueprint, HTTPResponse, Request

from pyengine import api, api_commit, db, statefile, upload
from pyengine.errors import KilolockError
from server.auth import caller_of
from server.bodies import read_body
from server.engine_commit_types import (
    Commit,
    Committed,
    Delta,
    Move,
    OlderDelta,
    Remove,
    Rollback,
)
from server.engine_requests import LIST_BODY, answer, decode, fault, name_of, parse

T = TypeVar("T")

# Where what the functions of `kl` point at stands in a body of another form.
_AS_SENT: Final[Mapping[str, str]] = MappingProxyType({})
_OLDER: Final = MappingProxyType({"/delta": ""})
_ONE_ADDRESS: Final = MappingProxyType({"/addresses/0": "/address"})
_ONE_MOVE: Final = MappingProxyType({"/moves/0": ""})


def blueprint() -> Blueprint:
    """Return the routes that change a state natively."""
    routes = Blueprint("engine_commit", url_prefix="/v1/state-engine")
    for handler, path in (
        (commit, "/state/commit"),
        (preview_removal, "/resource-remove/preview"),
        (apply_removal, "/resource-remove/apply"),
        (preview_move, "/resource-move/preview"),
        (apply_move, "/resource-move/apply"),
        (preview_rollback, "/resource-rollback/preview"),
        (apply_rollback, "/resource-rollback/apply"),
    ):
        routes.add_route(handler, path, methods=["POST"], stream=True)
    return routes


async def commit(request: Request) -> HTTPResponse:
    """Commit what an apply run changed, as a delta or as a whole document."""
    body = await read_body(request, request.app.ctx.settings.max_body_bytes)
    asked, mark = await asyncio.to_thread(_read_commit, body)
    if asked.mode == "snapshot":
        return answer(await _commit_snapshot(request, asked, mark))
    delta = _delta(asked, mark)
    base = api_commit.Base(asked.base_serial, asked.version_id)
    name = name_of(asked)
    older = _given(asked.delta) is None
    try:
        done = await _run(
            request,
            lambda conn: api_commit.commit_delta(conn, name, asked.apply_id, base, delta),
            _OLDER if older else _AS_SENT,
        )
    except KilolockError as exc:
        # The database names the object; where it stands in the request is found here.
        if exc.code == "invalid_request" and exc.details.keys() == {"address"} | (
            exc.details.keys() & {"member"}
        ):
            exc.details["pointer"] = await asyncio.to_thread(_place_of_fault, delta, older)
        raise
    return answer(Committed(done.committed_serial, done.new_version_id, "delta"))


async def _commit_snapshot(request: Request, asked: Commit, mark: bytes | None) -> Committed:
    name, base = name_of(asked), api_commit.Base(asked.base_serial, asked.version_id)
    given = _whole(asked, mark)

    async def work(
        conn: db.Connection, upload_id: UUID, objects: int, digest: bytes
    ) -> api.Written:
        staged = api_commit.Upload(upload_id, objects, digest)
        return await api_commit.commit_snapshot(conn, name, asked.apply_id, base, staged)

    database: db.Database = request.app.ctx.database
    with _pointing("/raw_state"):
        document = await asyncio.to_thread(statefile.split, given)
        written = await upload.write(database, caller_of(request), name, document, work)
    assert written.version_id is not None, "written and unchanged name a version"
    return Committed(written.serial or Decimal(0), written.version_id, "snapshot")


async def preview_removal(request: Request) -> HTTPResponse:
    """Say what taking objects out of a state would do."""
    return await _remove(request, apply=False)


async def apply_removal(request: Request) -> HTTPResponse:
    """Take objects out of a state; what they stand for is not touched."""
    return await _remove(request, apply=True)


async def preview_move(request: Request) -> HTTPResponse:
    """Say what giving objects other addresses would do."""
    return await _move(request, apply=False)


async def apply_move(request: Request) -> HTTPResponse:
    """Give objects other addresses, in their state or in another one."""
    return await _move(request, apply=True)


async def preview_rollback(request: Request) -> HTTPResponse:
    """Say what bringing an address back to a version would do."""
    return await _roll_back(request, apply=False)


async def apply_rollback(request: Request) -> HTTPResponse:
    """Bring the objects at one address back to what they were at a version."""
    return await _roll_back(request, apply=True)


async def _remove(request: Request, *, apply: bool) -> HTTPResponse:
    asked = await decode(request, Remove, LIST_BODY)
    name = name_of(asked)
    if (asked.address is None) == (asked.addresses is None):
        raise _invalid("give either address or addresses", "/addresses")
    addresses = asked.addresses if asked.address is None else [asked.address]
    return answer(
        await _run(
            request,
            lambda conn: api_commit.remove_resources(
                conn, name, addresses or [], apply=apply, actor=asked.actor
            ),
            _AS_SENT if asked.address is None else _ONE_ADDRESS,
        )
    )


async def _move(request: Request, *, apply: bool) -> HTTPResponse:
    asked = await decode(request, Move, LIST_BODY)
    name = name_of(asked)
    moves = [(m.address, m.to) for m in asked.moves or []]
    if asked.address is not None and asked.to is not None and asked.moves is None:
        moves = [(asked.address, asked.to)]
    elif asked.address is not None or asked.to is not None or asked.moves is None:
        raise _invalid("give either address and to, or moves", "/moves")
    return answer(
        await _run(
            request,
            lambda conn: api_commit.move_resources(
                conn, name, moves, asked.to_state, apply=apply, actor=asked.actor
            ),
            _AS_SENT if asked.address is None else _ONE_MOVE,
        )
    )


async def _roll_back(request: Request, *, apply: bool) -> HTTPResponse:
    asked = await decode(request, Rollback)
    name = name_of(asked)
    return answer(
        await _run(
            request,
            lambda conn: api_commit.rollback_resource(
                conn, name, asked.address, asked.to, apply=apply, actor=asked.actor
            ),
        )
    )


def _read_commit(body: bytearray) -> tuple[Commit, bytes | None]:
    """Return the request, and what stands for surrogates without their other half in it."""
    try:
        return parse(body or b"{}", Commit), None
    except KilolockError:
        mark = b"@" + secrets.token_hex(16).encode() + b"@"
        masked, found = statefile.mask_surrogates(body, mark)
        if not found:
            raise
        return parse(masked, Commit), mark


def _delta(asked: Commit, mark: bytes | None) -> str:
    """Return the delta as JSON text; made of the members of the older form if there is none."""
    given = _given(asked.delta)
    if given is not None:
        compact = msgspec.json.format(given, indent=-1)  # the database then has nothing to strip
        return _text(_payload(compact, mark), "/delta")
    members = {
        "write_set": msgspec.json.encode(asked.write_set),
        "delete_set": msgspec.json.encode(asked.delete_set),
        "output_delete_set": msgspec.json.encode(asked.output_delete_set),
        "raw_state": _whole(asked, mark),
    }
    pairs = (msgspec.json.encode(key) + b":" + value for key, value in members.items())
    text = b"{" + b",".join(pairs) + b"}"
    return _text(text if mark is None else text.replace(mark, b"\\u"), "/raw_state")


def _whole(asked: Commit, mark: bytes | None) -> bytes:
    """Return the document of raw_state, which may stand in a text."""
    text = _given(asked.raw_state)
    if text is None:
        wanted = "raw_state" if asked.mode == "snapshot" else "delta"
        raise _invalid(f"there is no {wanted}", f"/{wanted}")
    if text.startswith(b'"'):
        text = msgspec.json.decode(text, type=str).encode()
    document = _payload(text, mark)
    if asked.mode == "delta":
        _require_json(document)
    return document


def _given(piece: msgspec.Raw) -> bytes | None:
    text = bytes(piece)
    return None if text == b"null" else text


def _require_json(document: bytes) -> None:
    masked, _ = statefile.mask_surrogates(document, b"?")
    try:
        msgspec.json.decode(masked, type=msgspec.Raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        raise _invalid(f"raw_state holds no JSON document: {exc}", "/raw_state") from exc


def _payload(piece: bytes, mark: bytes | None) -> bytes:
    return piece if mark is None else piece.replace(mark, b"\\u")


def _text(piece: bytes, pointer: str) -> str:
    try:
        return piece.decode()
    except UnicodeDecodeError as exc:
        raise _invalid("the body is not UTF-8", pointer) from exc


async def _run(
    request: Request,
    work: Callable[[db.Connection], Awaitable[T]],
    places: Mapping[str, str] = _AS_SENT,
) -> T:
    database: db.Database = request.app.ctx.database
    try:
        return await database.run(work, caller_of(request))
    except KilolockError as exc:
        pointer = str(exc.details.get("pointer", ""))
        for asked, sent in places.items():
            if pointer.startswith(asked):
                exc.details["pointer"] = sent + pointer.removeprefix(asked)
        raise


def _place_of_fault(delta: str, older: bool) -> str:
    """Return the JSON pointer of what in a payload is of the wrong type, else of its resources."""
    if older:
        return fault(delta, OlderDelta) or "/raw_state/resources"
    return "/delta" + (fault(delta, Delta) or "/resources")


@contextmanager
def _pointing(pointer: str) -> Iterator[None]:
    """Point at a member where a refusal tells what is wrong in it, not where it stands."""
    try:
        yield
    except KilolockError as exc:
        if exc.code == "invalid_request":
            exc.details.setdefault("pointer", pointer)
        raise


def _invalid(message: str, pointer: str) -> KilolockError:
    return KilolockError("invalid_request", message, {"pointer": pointer})
