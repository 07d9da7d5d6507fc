"""Whether requests can be served, and by which release."""

from importlib.metadata import version

from sanic import Blueprint, HTTPResponse, Request
from sanic.response import json

from pyengine import api_admin


def blueprint() -> Blueprint:
    """Return the routes /healthz and /versionz."""
    routes = Blueprint("health")
    routes.add_route(healthz, "/healthz", methods=["GET"])
    routes.add_route(versionz, "/versionz", methods=["GET"])
    return routes


async def healthz(request: Request) -> HTTPResponse:
    """Answer 200 when the database answers with our schema, 503 otherwise."""
    await request.app.ctx.database.run(api_admin.ping, read_only=True)
    return json({"status": "ok"})


async def versionz(_: Request) -> HTTPResponse:
    """Tell the release."""
    return json({"version": version("kilolock")})
