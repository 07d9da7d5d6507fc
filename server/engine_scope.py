"""Routes of /v1/state-engine that read: capabilities, identity, scope, slice."""

from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

import msgspec
from sanic import Blueprint, HTTPResponse, Request

from pyengine import api_scope, db
from server.auth import caller_of
from server.engine_requests import LIST_BODY, StateRequest, Text, answer, decode, name_of

T = TypeVar("T")


class Selector(msgspec.Struct):
    """What a scope is about: kind is resource_address, module_prefix or file_hint."""

    kind: Text
    value: Text


class ConfigNode(msgspec.Struct):
    """A block of the client's configuration and the blocks it refers to."""

    address: Text
    dependencies: list[Text] | None = None


class ModuleCall(msgspec.Struct):
    """A module call: whether it has keys, and whether no input of it reaches an output of it."""

    address: Text
    self_contained: bool | None = None
    keyed: bool | None = None


class ClientContext(msgspec.Struct):
    """What the client knows of its configuration."""

    explicit_write_candidates: list[Text] | None = None
    explicit_read_candidates: list[Text] | None = None
    undeployed_config_candidates: list[Text] | None = None
    removed_config_candidates: list[Text] | None = None
    config_nodes: list[ConfigNode] | None = None
    module_calls: list[ModuleCall] | None = None


class ExpandRequest(StateRequest):
    """What to expand. require_safe: an error instead of any scope but a safe one."""

    selectors: list[Selector] | None = None
    client_context: ClientContext | None = None
    require_safe: bool | None = None


class SliceRequest(StateRequest):
    """Which instances and outputs; base_serial or version_id is what the client knows."""

    addresses: list[Text] | None = None
    outputs: list[Text] | None = None
    base_serial: int | None = None
    version_id: UUID | None = None
    format: Text | None = None


def blueprint() -> Blueprint:
    """Return the routes that come before a native write."""
    routes = Blueprint("engine_scope", url_prefix="/v1/state-engine")
    routes.add_route(capabilities, "/capabilities", methods=["GET"])
    routes.add_route(resolve, "/state/resolve", methods=["POST"], stream=True)
    routes.add_route(expand, "/scope/expand", methods=["POST"], stream=True)
    routes.add_route(fetch, "/state/slice", methods=["POST"], stream=True)
    return routes


async def capabilities(request: Request) -> HTTPResponse:
    """Answer which parts of the protocol the caller may use here."""
    found = await _read(request, api_scope.capabilities)
    return answer({"protocol": "state-engine", "version": "v1", "capabilities": found})


async def resolve(request: Request) -> HTTPResponse:
    """Answer which state the body means, and how it stands."""
    name = name_of(await decode(request, StateRequest))
    return answer(await _read(request, lambda conn: api_scope.resolve_state(conn, name)))


async def expand(request: Request) -> HTTPResponse:
    """Answer the scope of what the body selects."""
    body = await decode(request, ExpandRequest, LIST_BODY)
    name = name_of(body)
    selectors = msgspec.to_builtins(body.selectors or [])
    context = msgspec.to_builtins(body.client_context)

    async def work(conn: db.Connection) -> str:
        return await api_scope.expand_scope(
            conn, name, selectors, context, require_safe=bool(body.require_safe)
        )

    return _json(await _read(request, work))


async def fetch(request: Request) -> HTTPResponse:
    """Answer the instances and outputs that the body lists."""
    body = await decode(request, SliceRequest, LIST_BODY)
    name, addresses, outputs = name_of(body), body.addresses or [], body.outputs or []

    async def work(conn: db.Connection) -> str:
        return await api_scope.fetch_slice(
            conn,
            name,
            addresses,
            outputs,
            body.base_serial,
            body.version_id,
            body.format or "native",
        )

    return _json(await _read(request, work))


async def _read(request: Request, work: Callable[[db.Connection], Awaitable[T]]) -> T:
    database: db.Database = request.app.ctx.database
    return await database.run(work, caller_of(request), read_only=True)


def _json(text: str) -> HTTPResponse:
    return HTTPResponse(text, content_type="application/json")
