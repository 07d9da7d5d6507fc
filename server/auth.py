"""Turn a request's credential into a caller.

open: nobody is asked. static: one token, compared here. database: any token, and SQL decides what
it may do (kl_internal.caller_grant).
"""

import base64
import binascii
import hmac
from urllib.parse import unquote

from sanic import Request

from pyengine.db import Caller
from pyengine.errors import KilolockError
from pyengine.settings import Settings


def caller_of(request: Request) -> Caller:
    """Return who calls; raise `unauthenticated` when the server asks for a token it did not get.

    The name for the audit trail comes from `kl`; a plain Terraform is named by its LockInfo.
    """
    settings: Settings = request.app.ctx.settings
    header = request.headers.get("kilolock-actor")
    actor = unquote(header).replace("\0", "\ufffd") if header else None
    if settings.auth == "open":
        return Caller(actor=actor)
    token = token_of(request)
    if token is None:
        raise KilolockError(
            "unauthenticated",
            "a token is needed: as a bearer token, or as the password of HTTP Basic",
        )
    if settings.auth == "database":
        request.ctx.token = token
        return Caller(token=token, actor=actor)
    if not hmac.compare_digest(token.encode(), (settings.static_token or "").encode()):
        raise KilolockError("unauthenticated", "the token is not the server's")
    return Caller(actor=actor)


def token_of(request: Request) -> str | None:
    """Return the bearer token, or the password of HTTP Basic (Terraform's way).

    What can be no token, such as bytes that are not UTF-8, is as good as none.
    """
    scheme, _, value = (request.headers.get("authorization") or "").partition(" ")
    token = value.strip()
    if scheme.lower() == "basic":
        try:
            token = base64.b64decode(token, validate=True).decode().partition(":")[2]
        except (binascii.Error, ValueError):
            return None
    elif scheme.lower() != "bearer":
        return None
    if "\0" in token or any("\ud800" <= character <= "\udfff" for character in token):
        return None
    return token or None
