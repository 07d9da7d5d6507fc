"""Routes of /v1/state-engine for native writers: runs, reservations, the lock Terraform sees."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from sanic import Blueprint, HTTPResponse, Request

from pyengine import api_runs, db
from pyengine.errors import KilolockError
from server.auth import caller_of
from server.engine_requests import LIST_BODY, answer, decode, name_of
from server.engine_run_types import (
    Abort,
    Acquire,
    Begin,
    Finish,
    Held,
    ListRuns,
    Lock,
    LockHeld,
    Release,
    Released,
    Renew,
    RunPage,
    Unlock,
)
from server.reserving import reserve

T = TypeVar("T")


def blueprint() -> Blueprint:
    """Return the routes that native writers use around a commit."""
    routes = Blueprint("engine_runs", url_prefix="/v1/state-engine")
    for handler, path in (
        (begin, "/apply-runs/begin"),
        (finish, "/apply-runs/<apply_id:str>/finish"),
        (abort, "/apply-runs/<apply_id:str>/abort"),
        (list_runs, "/apply-runs/list"),
        (acquire, "/reservations/acquire"),
        (renew, "/reservations/renew"),
        (release, "/reservations/release"),
        (lock, "/terraform-lock/acquire"),
        (unlock, "/terraform-lock/release"),
    ):
        routes.add_route(handler, path, methods=["POST"], stream=True)
    routes.add_route(status, "/apply-runs/<apply_id:str>/status", methods=["GET"])
    return routes


async def begin(request: Request) -> HTTPResponse:
    """Begin a native apply."""
    asked = await decode(request, Begin)

    named = name_of(asked) if asked.names_a_state or asked.state_id is None else None

    async def work(conn: db.Connection) -> api_runs.BegunRun:
        name = await api_runs.state_name(conn, asked.state_id) if named is None else named
        run = await api_runs.begin_apply_run(
            conn, name, asked.actor, asked.source_serial, asked.info
        )
        if asked.state_id not in (None, run.state_id):
            raise KilolockError(
                "invalid_request",
                "state_id is of another state than the one that is named",
                {"pointer": "/state_id"},
            )
        return run

    return answer(await _run(request, work))


async def status(request: Request, apply_id: str) -> HTTPResponse:
    """Answer how a native apply stands."""
    run_id = _uuid(apply_id)
    return answer(await _run(request, lambda conn: api_runs.apply_run_status(conn, run_id)))


async def finish(request: Request, apply_id: str) -> HTTPResponse:
    """End a native apply as committed or failed."""
    run_id, asked = _uuid(apply_id), await decode(request, Finish)
    return answer(
        await _run(
            request,
            lambda conn: api_runs.finish_apply_run(
                conn,
                run_id,
                asked.status,
                asked.committed_serial,
                asked.resources_planned,
                asked.resources_applied,
                asked.error,
            ),
        )
    )


async def abort(request: Request, apply_id: str) -> HTTPResponse:
    """End a native apply that will not commit."""
    run_id, asked = _uuid(apply_id), await decode(request, Abort)
    return answer(
        await _run(request, lambda conn: api_runs.abort_apply_run(conn, run_id, asked.reason))
    )


async def list_runs(request: Request) -> HTTPResponse:
    """Answer a page of the native applies of a state, newest first."""
    asked = await decode(request, ListRuns)
    name = name_of(asked)
    runs = await _run(
        request, lambda conn: api_runs.list_apply_runs(conn, name, asked.limit, asked.before)
    )
    return answer(RunPage(runs))


async def acquire(request: Request) -> HTTPResponse:
    """Reserve scopes, all or none; wait for them if asked to."""
    asked = await decode(request, Acquire, LIST_BODY)
    name, lease = name_of(asked), timedelta(seconds=asked.lease_seconds)
    want = [{"address_glob": w.address_glob, "mode": w.mode} for w in asked.want]
    places = [place for place, call in enumerate(asked.module_calls) if not call.keyed]
    unkeyed = [asked.module_calls[place].address for place in places]

    async def work(conn: db.Connection) -> list[api_runs.Reservation]:
        return await api_runs.acquire_reservations(
            conn, name, asked.apply_id, asked.holder, lease, want, unkeyed
        )

    context = request.app.ctx
    try:
        held = await reserve(
            context.database, context.freed_scopes, caller_of(request), work, asked.wait_seconds
        )
    except KilolockError as exc:
        _, found, position = str(exc.details.get("pointer")).partition("/unkeyed_modules/")
        if found:
            exc.details["pointer"] = f"/module_calls/{places[int(position)]}/address"
        raise
    return answer(_held(held))


async def renew(request: Request) -> HTTPResponse:
    """Let the live leases of an apply go on."""
    asked = await decode(request, Renew)
    lease = timedelta(seconds=asked.lease_seconds)
    held = await _run(
        request, lambda conn: api_runs.renew_reservations(conn, asked.apply_id, lease)
    )
    return answer(_held(held))


async def release(request: Request) -> HTTPResponse:
    """Free what an apply has reserved."""
    asked = await decode(request, Release)
    freed = await _run(request, lambda conn: api_runs.release_reservations(conn, asked.apply_id))
    return answer(Released(freed))


async def lock(request: Request) -> HTTPResponse:
    """Show a state as locked to plain Terraform."""
    asked = await decode(request, Lock, LIST_BODY)
    name = name_of(asked)
    lock_id = await _run(
        request,
        lambda conn: api_runs.acquire_native_lock(
            conn, name, asked.apply_id, asked.holder, asked.scope_summary
        ),
    )
    return answer(LockHeld(lock_id))


async def unlock(request: Request) -> HTTPResponse:
    """End the lock that plain Terraform sees; lock_id is null when it was not held."""
    asked = await decode(request, Unlock)
    name = name_of(asked) if asked.names_a_state else None
    lock_id = await _run(
        request,
        lambda conn: api_runs.release_native_lock(conn, name, asked.apply_id, asked.lock_id),
    )
    return answer(LockHeld(lock_id))


async def _run(request: Request, work: Callable[[db.Connection], Awaitable[T]]) -> T:
    database: db.Database = request.app.ctx.database
    return await database.run(work, caller_of(request))


def _held(reservations: list[api_runs.Reservation]) -> Held:
    return Held(reservations, min((r.expires_at for r in reservations), default=None))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as exc:
        raise KilolockError(
            "invalid_request", f"{text[:80]!r} is not the id of an apply run"
        ) from exc
