"""Errors as answers: {"error": code, "message": ..., "details": {...}}."""

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from sanic import HTTPResponse, Request
from sanic.exceptions import SanicException
from sanic.handlers import ErrorHandler
from sanic.response import json

from pyengine.errors import KilolockError

_CODES: Final[Mapping[int, str]] = MappingProxyType(
    {404: "not_found", 405: "method_not_allowed", 408: "request_timeout"}
)

# Members of details that the protocol also has at the top.
_PROMOTED: Final = ("conflicts", "current_serial")


class Handler(ErrorHandler):
    """Renders whatever a route raises; nothing of an unexpected error is shown."""

    def default(self, request: Request, exception: Exception) -> HTTPResponse:
        """Return the answer for an exception."""
        if isinstance(exception, KilolockError):
            return render(exception)
        if isinstance(exception, SanicException):
            code = _CODES.get(exception.status_code, "invalid_request")
            message = str(exception) or code
            return json(
                {"error": code, "message": message, "details": {}},
                status=exception.status_code,
                headers=exception.headers,
            )
        logging.getLogger("kilolock.server").error(
            "%s %s failed with %s", request.method, request.path, type(exception).__name__
        )
        return json({"error": "internal", "message": "internal error", "details": {}}, status=500)


def render(error: KilolockError) -> HTTPResponse:
    """Return the answer for an error.

    A lock conflict is at the same time the holder's LockInfo, which Terraform reads from it.
    """
    body: dict[str, Any] = {
        "error": error.code,
        "message": error.message,
        "details": error.details,
    }
    body |= {key: error.details[key] for key in _PROMOTED if key in error.details}
    lock = error.details.get("lock")
    if isinstance(lock, dict):
        body = lock | body
    headers = {"WWW-Authenticate": 'Basic realm="kilolock"'} if error.http_status == 401 else {}
    return json(body, status=error.http_status, headers=headers)
