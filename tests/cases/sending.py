"""How a whole document comes in."""

from collections.abc import Callable

import httpx

from tests.service import Backend

Send = Callable[[Backend, bytes], httpx.Response]


def post(backend: Backend, body: bytes) -> httpx.Response:
    """Send it as Terraform does."""
    return backend.post(body)


def import_(backend: Backend, body: bytes) -> httpx.Response:
    """Send it as `kl import` does."""
    return backend.request("POST", "/v1/admin/import", params={"name": backend.name}, content=body)
