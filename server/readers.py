"""Routes of /v1/admin that read: history, differences, resources, graphs, tags."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
from sanic import Blueprint, HTTPResponse, Request

from pyengine import api_readers, db
from pyengine.errors import KilolockError
from pyengine.pages import limit_of
from server.admin import optional, parameter
from server.auth import caller_of

T = TypeVar("T")


def blueprint() -> Blueprint:
    """Return the routes that `kl history`, `diff`, `resource`, `graph` and `tag` use."""
    routes = Blueprint("readers", url_prefix="/v1/admin")
    routes.add_route(history, "/history", methods=["GET"])
    routes.add_route(diff, "/diff", methods=["GET"])
    routes.add_route(resource, "/resource", methods=["GET"])
    routes.add_route(timeline, "/timeline", methods=["GET"])
    routes.add_route(graph, "/graph", methods=["GET"])
    routes.add_route(tags, "/tags", methods=["GET"])
    routes.add_route(set_tag, "/tags", methods=["PUT"])
    routes.add_route(unset_tag, "/tags", methods=["DELETE"])
    return routes


async def history(request: Request) -> HTTPResponse:
    """Answer a page of the versions of ?name=, newest first."""
    name, (after, limit) = parameter(request, "name"), _page(request)
    return await _answer(request, lambda conn: api_readers.state_history(conn, name, after, limit))


async def diff(request: Request) -> HTTPResponse:
    """Answer a page of what differs between the versions ?from= and ?to= of ?name=."""
    name, (after, limit) = parameter(request, "name"), _page(request)
    from_, to = parameter(request, "from"), parameter(request, "to", "current")
    return await _answer(
        request, lambda conn: api_readers.diff_versions(conn, name, from_, to, after, limit)
    )


async def resource(request: Request) -> HTTPResponse:
    """Answer the objects at ?address= of ?name= as they were at ?version=."""
    name, address = parameter(request, "name"), parameter(request, "address")
    version = parameter(request, "version", "current")
    return await _answer(
        request, lambda conn: api_readers.resource_at(conn, name, address, version)
    )


async def timeline(request: Request) -> HTTPResponse:
    """Answer a page of every content that the objects at ?address= of ?name= had."""
    name, (after, limit) = parameter(request, "name"), _page(request)
    address = parameter(request, "address")
    return await _answer(
        request, lambda conn: api_readers.resource_timeline(conn, name, address, after, limit)
    )


async def graph(request: Request) -> HTTPResponse:
    """Answer a page of the graph of ?name=, or of what ?address= needs (?dependents=true)."""
    name, (after, limit) = parameter(request, "name"), _page(request)
    address = optional(request, "address")
    dependents = parameter(request, "dependents", "false")
    if dependents not in ("true", "false"):
        raise KilolockError("invalid_request", "dependents= is true or false")
    return await _answer(
        request,
        lambda conn: api_readers.dependency_graph(
            conn, name, address, after, limit, dependents=dependents == "true"
        ),
    )


async def tags(request: Request) -> HTTPResponse:
    """Answer the tags of ?name=."""
    name = parameter(request, "name")
    return await _answer(request, lambda conn: api_readers.version_tags(conn, name))


async def set_tag(request: Request) -> HTTPResponse:
    """Let ?tag= name the ?version= of ?name=."""
    name, tag = parameter(request, "name"), parameter(request, "tag")
    version = parameter(request, "version", "current")
    return await _answer(request, lambda conn: api_readers.set_tag(conn, name, tag, version))


async def unset_tag(request: Request) -> HTTPResponse:
    """Remove ?tag= from ?name=."""
    name, tag = parameter(request, "name"), parameter(request, "tag")
    return await _answer(request, lambda conn: api_readers.unset_tag(conn, name, tag))


async def _answer(request: Request, work: Callable[[db.Connection], Awaitable[T]]) -> HTTPResponse:
    database: db.Database = request.app.ctx.database
    found = await database.run(work, caller_of(request))
    encoder = msgspec.json.Encoder(decimal_format="number")  # every digit
    return HTTPResponse(encoder.encode(found), content_type="application/json")


def _page(request: Request) -> tuple[str | None, int]:
    return optional(request, "after"), limit_of(optional(request, "limit"))
