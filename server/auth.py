"""Turn a request's credential into a caller."""

import base64
import binascii
from urllib.parse import unquote

from sanic import Request

from pyengine.db import Caller


def caller_of(request: Request) -> Caller:
    """Return who calls: a bearer token, or the password of HTTP Basic (Terraform's way).

    The name for the audit trail comes from `kl`; a plain Terraform is named by its LockInfo.
    """
    actor = request.headers.get("kilolock-actor")
    return Caller(token=_token(request), actor=unquote(actor) if actor else None)


def _token(request: Request) -> str | None:
    scheme, _, value = (request.headers.get("authorization") or "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip() or None
    if scheme.lower() == "basic":
        try:
            decoded = base64.b64decode(value.strip(), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        return decoded.partition(":")[2] or None
    return None
