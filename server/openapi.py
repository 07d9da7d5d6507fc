"""/v1/openapi.json: the contract as served, from the routes and what operations.py says of them."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from sanic import Blueprint, HTTPResponse, Request, Sanic

from pyengine.errors import BY_CODE, LOCAL_STATUS
from server.engine_requests import answer
from server.operations import OPERATIONS, Operation, Parameter

_METHODS: Final = ("get", "put", "post", "delete")
_REFERENCE: Final = "#/components/schemas/{name}"
_VARIABLE: Final = re.compile(r"<(\w+):[^>]*>")
_ERROR: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["error", "message", "details"],
    "properties": {
        "error": {"type": "string"},
        "message": {"type": "string"},
        "details": {"type": "object"},
        "conflicts": {"type": "array", "items": {"type": "object"}},
        "current_serial": {"type": "integer"},
    },
}
# What any route may answer: for the caller, for the request, for the database.
_ALWAYS: Final = ("invalid_request", "unauthenticated", "forbidden", "database_unavailable")


def blueprint() -> Blueprint:
    """Return the route of the description."""
    routes = Blueprint("openapi", url_prefix="/v1")
    routes.add_route(openapi, "/openapi.json", methods=["GET"])
    return routes


async def openapi(request: Request) -> HTTPResponse:
    """Describe every route in OpenAPI 3.1."""
    return answer(describe(request.app))


def describe(app: Sanic[Any, Any]) -> dict[str, Any]:
    """Return the description. LOCK and UNLOCK, which OpenAPI has no word for, are in x-methods."""
    schemas = _Schemas()
    paths: dict[str, dict[str, Any]] = {}
    for method, path, handler in sorted(routes(app), key=lambda route: route[:2]):
        described = _operation(method, path, handler.__doc__ or "", schemas)
        place = paths.setdefault(path, {})
        if method.lower() not in _METHODS:
            place = place.setdefault("x-methods", {})
        place[method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "Kilolock", "version": "v1"},
        "security": [{"bearer": []}, {"basic": []}],
        "paths": paths,
        "components": {
            "schemas": schemas.components(),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "basic": {"type": "http", "scheme": "basic"},
            },
        },
    }


def routes(app: Sanic[Any, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield method, path as OpenAPI writes it, and handler of every route."""
    for route in app.router.routes:
        path = "/" + _VARIABLE.sub(r"{\1}", route.path)
        for method in route.methods:
            yield method, path, route.handler


def _operation(method: str, path: str, told: str, schemas: "_Schemas") -> dict[str, Any]:
    operation = OPERATIONS[f"{method} {path}"]
    variables = [Parameter(name, place="path") for name in re.findall(r"\{(\w+)\}", path)]
    described: dict[str, Any] = {
        "summary": " ".join(told.split("\n\n")[0].split()),
        "operationId": f"{method.lower()}{re.sub('[^a-z]+', '_', path)}".strip("_"),
        "parameters": [_parameter(item) for item in (*variables, *operation.query)],
        "responses": _responses(operation, schemas),
    }
    if operation.request is not None:
        content = {"application/json": {"schema": schemas.of(operation.request)}}
        described["requestBody"] = {"required": True, "content": content}
    if operation.open_to_all:
        described["security"] = []
    return described


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.required or parameter.place == "path",
        "schema": dict(parameter.schema),
    }


def _responses(operation: Operation, schemas: "_Schemas") -> dict[str, Any]:
    good = {"application/json": {"schema": schemas.of(operation.answer)}}
    responses: dict[str, Any] = {"200": {"description": "Done.", "content": good}}
    by_status: dict[int, list[str]] = {}
    for code in (*(() if operation.open_to_all else _ALWAYS), *operation.errors):
        status = BY_CODE[code].http_status if code in BY_CODE else LOCAL_STATUS[code]
        by_status.setdefault(status, []).append(code)
    for status, codes in sorted(by_status.items()):
        content = {"application/json": {"schema": {"$ref": _REFERENCE.format(name="Error")}}}
        responses[str(status)] = {"description": ", ".join(codes), "content": content}
    return responses


class _Schemas:
    """JSON Schemas of the types that operations name. Decimals are written as numbers."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {"Error": _ERROR}

    def of(self, kind: Any) -> dict[str, Any]:  # noqa: ANN401 - any type that msgspec knows
        """Return the schema of a type, or of one of several; of anything for None."""
        if kind is None:
            return {}
        if isinstance(kind, tuple):
            return {"anyOf": [self.of(one) for one in kind]}
        (schema,), found = msgspec.json.schema_components([kind], ref_template=_REFERENCE)
        self._found |= {name: _as_number(item) for name, item in found.items()}
        return schema

    def components(self) -> dict[str, Any]:
        """Return every schema by name."""
        return dict(sorted(self._found.items()))


def _as_number(schema: Any) -> Any:  # noqa: ANN401 - any part of a schema
    if isinstance(schema, dict):
        if schema.get("format") == "decimal":
            return {"type": "number"}
        return {key: _as_number(value) for key, value in schema.items()}
    return [_as_number(item) for item in schema] if isinstance(schema, list) else schema
