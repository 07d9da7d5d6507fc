"""Reach states through a server."""

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, BinaryIO, Final, NoReturn, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from cli.reading_http import HttpReading
from pyengine.answer import Answer
from pyengine.api import FreedLock
from pyengine.api_admin import ListedState
from pyengine.api_commit import Moved, Operated
from pyengine.api_verify import Verified
from pyengine.errors import CODES, KilolockError
from pyengine.importing import Imported
from pyengine.settings import Settings, split_state_url

T = TypeVar("T")

_BLOCK: Final = 1 << 20
# Storing, or rendering the first byte of, a very large state takes its time.
_TIMEOUT: Final = httpx.Timeout(60.0, connect=10.0, read=600.0)


class _States(msgspec.Struct):
    states: list[ListedState]


class _Unlocked(msgspec.Struct):
    lock: FreedLock | None


class HttpTransport(HttpReading):
    """The calls of `Transport` as requests."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def import_state(self, name: str, file: BinaryIO, source: str) -> Imported:
        """Stream `file` to the server."""
        length = _length(file)
        headers = {"Content-Type": "application/json"}
        if length is not None:
            headers["Content-Length"] = str(length)
        answer = await self._call(
            "POST",
            "/v1/admin/import",
            {"name": name, "source": source},
            content=_blocks(file),
            headers=headers,
        )
        return _decode(answer, Imported)

    async def export_state(self, name: str, version: str) -> AsyncGenerator[bytes, None]:
        """Yield a version as it arrives."""
        with _translated(self._client):
            async with self._client.stream(
                "GET", "/v1/admin/export", params={"name": name, "version": version}
            ) as answer:
                if answer.status_code != httpx.codes.OK:
                    await answer.aread()
                    _refused(answer)
                async for chunk in answer.aiter_bytes():
                    yield chunk

    async def list_states(self) -> list[ListedState]:
        """Return every state, by name."""
        return _decode(await self._call("GET", "/v1/admin/states"), _States).states

    async def state_status(self, name: str) -> dict[str, Any]:
        """Return what kl.state_status tells of a state."""
        answer = await self._call("GET", "/v1/admin/status", {"name": name})
        return _decode(answer, dict[str, Any])

    async def verify_state(self, name: str, cursor: dict[str, Any] | None) -> Verified:
        """Check the part of a state that begins at `cursor`."""
        return await self._post("/v1/admin/verify", {"cursor": cursor}, Verified, {"name": name})

    async def force_unlock(self, name: str, lock_id: str | None) -> FreedLock | None:
        """Free the lock that Terraform sees."""
        params = {"name": name} | ({} if lock_id is None else {"lock_id": lock_id})
        return _decode(await self._call("POST", "/v1/admin/unlock", params), _Unlocked).lock

    async def delete_state(self, name: str) -> None:
        """Delete a state; its history is kept."""
        await self._call("DELETE", f"/v1/states/{quote(name, safe='/')}")

    async def query(self, text: str) -> Answer:
        """Ask the server's query door."""
        return await self._post("/v1/admin/query", {"sql": text}, Answer)

    async def remove_resources(
        self, name: str, addresses: Sequence[str], *, apply: bool
    ) -> Operated:
        """Take objects out of a state, or say what that would do."""
        body = {"state": name, "addresses": addresses}
        return await self._post(_operation("remove", apply=apply), body, Operated)

    async def move_resources(
        self, name: str, moves: Sequence[tuple[str, str]], to_name: str | None, *, apply: bool
    ) -> Moved:
        """Give objects other addresses, in their state or another, or say what that would do."""
        listed = [{"address": source, "to": target} for source, target in moves]
        body = {"state": name, "moves": listed, "to_state": to_name}
        return await self._post(_operation("move", apply=apply), body, Moved)

    async def rollback_resource(self, name: str, address: str, to: str, *, apply: bool) -> Operated:
        """Bring an address back to what it was at a version, or say what that would do."""
        body = {"state": name, "address": address, "to": to}
        return await self._post(_operation("rollback", apply=apply), body, Operated)

    async def ask(self, method: str, path: str, params: dict[str, str], kind: type[T]) -> T:
        """Send a request; return its answer as `kind`."""
        return _decode(await self._call(method, path, params), kind)

    async def _post(
        self, path: str, body: object, kind: type[T], params: dict[str, str] | None = None
    ) -> T:
        content = msgspec.json.encode(body)
        headers = {"Content-Type": "application/json"}
        return _decode(await self._call("POST", path, params, content, headers), kind)

    async def _call(
        self,
        method: str,
        path: str,
        params: dict[str, str] | None = None,
        content: AsyncIterator[bytes] | bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        with _translated(self._client):
            answer = await self._client.request(
                method, path, params=params, content=content, headers=headers
            )
        if answer.status_code != httpx.codes.OK:
            _refused(answer)
        return answer


@asynccontextmanager
async def open_http(settings: Settings) -> AsyncIterator[HttpTransport]:
    """Prepare to call the server of the settings' state URL."""
    assert settings.state_url is not None
    base, _ = split_state_url(settings.state_url)
    headers = {"User-Agent": "kl", "Kilolock-Actor": quote(settings.actor, safe="@ ")}
    if settings.token:
        headers["Authorization"] = f"Bearer {settings.token}"
    try:
        client = httpx.AsyncClient(base_url=base, headers=headers, timeout=_TIMEOUT)
    except httpx.InvalidURL as exc:  # which quotes of it what may be a password
        message = "the state URL, or a proxy's in the environment, is no URL"
        raise KilolockError("invalid_configuration", message) from exc
    except (ValueError, ImportError) as exc:  # proxies it cannot use
        raise KilolockError("invalid_configuration", f"state URL or proxy: {exc}") from exc
    async with client:
        yield HttpTransport(client)


def _operation(verb: str, *, apply: bool) -> str:
    return f"/v1/state-engine/resource-{verb}/{'apply' if apply else 'preview'}"


def _length(file: BinaryIO) -> int | None:
    """Return how many bytes are left to read; None for a pipe."""
    try:
        status = os.fstat(file.fileno())
        return status.st_size - file.tell() if stat.S_ISREG(status.st_mode) else None
    except OSError:
        return None


async def _blocks(file: BinaryIO) -> AsyncIterator[bytes]:
    while block := await asyncio.to_thread(file.read, _BLOCK):
        yield block


def _decode(answer: httpx.Response, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(answer.content, type=kind)
    except msgspec.DecodeError as exc:
        raise _strange(answer) from exc


def _refused(answer: httpx.Response) -> NoReturn:
    """Raise what a refusal says: our error, a holder's LockInfo, or only its status."""
    try:
        body = msgspec.json.decode(answer.content)
    except msgspec.DecodeError:
        raise _strange(answer) from None
    if not isinstance(body, dict):
        raise _strange(answer)
    code, message, details = (body.get(key) for key in ("error", "message", "details"))
    if isinstance(code, str) and isinstance(message, str):
        raise KilolockError(code, message, details if isinstance(details, dict) else None)
    raise _strange(answer)


def _strange(answer: httpx.Response) -> KilolockError:
    by_status = {row.http_status: row.code for row in CODES if row.http_status in (401, 403)}
    url = answer.request.url.copy_with(userinfo=b"", query=None)
    return KilolockError(
        by_status.get(answer.status_code, "unexpected_answer"),
        f"{url} answered {answer.status_code} {answer.reason_phrase}, not as Kilolock does;"
        " check the state URL and what stands between",
    )


@contextmanager
def _translated(client: httpx.AsyncClient) -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as exc:
        host = client.base_url.copy_with(userinfo=b"")
        reason = str(exc) or type(exc).__name__
        if isinstance(exc, (httpx.ConnectError, httpx.ConnectTimeout)):
            message = f"cannot reach {host}: {reason}; does the server run? check the state URL"
        else:
            message = (
                f"the connection to {host} broke: {reason}; try again, and if it was a large"
                " document that you sent, see the server's limit (KL_MAX_BODY)"
            )
        raise KilolockError("server_unavailable", message) from exc
