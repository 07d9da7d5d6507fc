"""Read request bodies within limits; stream documents out."""

import asyncio
import base64
import hashlib
import zlib
from collections.abc import AsyncGenerator
from typing import Any, Final

from sanic import HTTPResponse, Request

from pyengine import api_auth, statefile
from pyengine.arriving import ArrivingDocument
from pyengine.errors import KilolockError
from pyengine.statefile import Document
from server.auth import caller_of

DRAIN_BYTES: Final = 1 << 30
LOCK_INFO_BYTES: Final = 1 << 20
_LARGE: Final = 8 << 20  # a smaller document is split at once when it is there


async def read_body(request: Request, limit: int) -> bytearray:
    """Return the whole body; refuse a coding (415), too many bytes (413), a wrong digest (400)."""
    body = bytearray()
    async for chunk in _chunks(request, limit):
        body += chunk
    return body


async def read_document(request: Request, limit: int) -> Document:
    """Return the document of the body, split while it arrives; refuse what `read_body` does."""
    declared = request.headers.get("content-length", "")
    if not declared.isdecimal() or not _LARGE <= int(declared) <= limit:
        return await asyncio.to_thread(statefile.split, await read_body(request, limit))
    document = ArrivingDocument(int(declared))
    async for chunk in _chunks(request, limit):
        document.feed(chunk)
    return await asyncio.to_thread(document.finish)


async def _chunks(request: Request, limit: int) -> AsyncGenerator[bytes, None]:
    coding = request.headers.get("content-encoding", "identity")
    if coding.lower() != "identity":
        await _drain(request)
        raise KilolockError(
            "unsupported_media_type",
            f"Content-Encoding {coding[:40]} is not accepted; send the document as it is",
        )
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        await _drain(request)
        raise _too_large(limit)
    digest = hashlib.md5(usedforsecurity=False)
    expected = request.headers.get("content-md5")
    size = 0
    while (chunk := await _read(request)) is not None:
        size += len(chunk)
        if size > limit:
            await _drain(request)
            raise _too_large(limit)
        if expected:
            digest.update(chunk)
        yield chunk
    if expected and expected != base64.b64encode(digest.digest()).decode():
        raise KilolockError(
            "invalid_request",
            "Content-MD5 does not match the body: it was changed on the way; send it again",
        )


async def admit(request: Request, name: str, scope: str) -> None:
    """Check the caller's right to a state before its bytes are taken."""
    try:
        caller = caller_of(request)
        await request.app.ctx.database.run(
            lambda conn: api_auth.require_access(conn, name, scope), caller, read_only=True
        )
    except KilolockError:
        await _drain(request)
        raise


async def _read(request: Request) -> bytes | None:
    stream: Any = request.stream  # its base class declares no read()
    return None if stream is None else await stream.read()


async def _drain(request: Request) -> None:
    """Read on, so that a client that is still sending gets to see the answer."""
    drained = 0
    while drained < DRAIN_BYTES and (chunk := await _read(request)) is not None:
        drained += len(chunk)


def _too_large(limit: int) -> KilolockError:
    return KilolockError(
        "payload_too_large",
        f"the body is larger than the limit of {limit} bytes (KL_MAX_BODY); nothing was stored",
        {"limit": limit},
    )


async def send_document(
    request: Request, blocks: AsyncGenerator[bytes, None], headers: dict[str, str]
) -> HTTPResponse | None:
    """Stream a document, compressed when the client asks; cut the connection if it breaks off.

    What `blocks` raises before its first block becomes an ordinary error answer.
    """
    first = await anext(blocks)
    packer = _packer(request)
    if packer is not None:
        headers = headers | {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    answer = await request.respond(content_type="application/json", headers=headers)
    assert answer is not None
    try:
        await answer.send(_packed(packer, first))
        async for block in blocks:
            await answer.send(_packed(packer, block))
        if packer is not None:
            await answer.send(packer.flush())
        await answer.eof()
    except BaseException:
        # Half a document must not look like a whole one.
        transport: Any = request.transport
        if transport is not None:
            transport.abort()
        raise
    finally:
        await blocks.aclose()
    return None


def _packer(request: Request) -> "zlib._Compress | None":
    codings = request.headers.get("accept-encoding", "")
    for part in codings.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() == "gzip":
            refused = weight.replace(" ", "").lower() in ("q=0", "q=0.0", "q=0.00", "q=0.000")
            return None if refused else zlib.compressobj(1, wbits=31)
    return None


def _packed(packer: "zlib._Compress | None", block: bytes) -> bytes:
    return block if packer is None else packer.compress(block)
