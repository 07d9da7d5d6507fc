"""What /v1/state-engine asks: bodies as typed requests, and the state that a request means."""

import re
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import unquote, urlsplit

import msgspec
from sanic import HTTPResponse, Request

from pyengine.errors import KilolockError
from server.bodies import read_body

T = TypeVar("T")

# No text of ours holds a NUL, and PostgreSQL takes none.
Text = Annotated[str, msgspec.Meta(pattern=r"^[^\x00]*$")]

SMALL_BODY: Final = 1 << 20
LIST_BODY: Final = 1 << 24  # addresses of a hundred thousand objects
_STATES: Final = "/v1/states/"
_PLACE: Final = re.compile(r"^(?P<problem>.*?)(?: - at `(?P<place>.*)`)?$", re.DOTALL)
_MISSING: Final = re.compile(r"^Object missing required field `([^`]+)`$")
_PART: Final = re.compile(r"\.([A-Za-z0-9_]+)|\[(\d+)\]")


class StateRequest(msgspec.Struct):
    """A state in one of the protocol's forms: see `name_of`. Unknown members are ignored."""

    state: Text | None = None
    state_url: Text | None = None
    workspace_id: Annotated[str, msgspec.Meta(pattern="^ws_[0-9a-z]+$")] | None = None
    env_public_id: Annotated[str, msgspec.Meta(pattern="^env_[0-9a-z]+$")] | None = None
    state_name: Text | None = None

    @property
    def names_a_state(self) -> bool:
        """Tell whether any form is there."""
        return any(form is not None for form in _forms(self))


async def decode(request: Request, kind: type[T], limit: int = SMALL_BODY) -> T:
    """Return the body as a `kind`; an empty one is {}. The route must be a stream.

    Raises `invalid_request`, with the JSON pointer of what is wrong, and `payload_too_large`.
    """
    body = await read_body(request, limit)
    return parse(body or b"{}", kind)


def parse(body: bytes | bytearray, kind: type[T]) -> T:
    """Return JSON text as a `kind`. Raises `invalid_request`."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as exc:
        problem, pointer = _located(str(exc))
        where = f" at {pointer}" if pointer else ""
        raise KilolockError(
            "invalid_request", f"the body is wrong{where}: {problem}", {"pointer": pointer}
        ) from exc
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise KilolockError(
            "invalid_request", f"the body is not JSON: {exc}", {"pointer": ""}
        ) from exc


def fault(text: str, kind: Any) -> str | None:  # noqa: ANN401 - any type that msgspec knows
    """Return the JSON pointer of what in a JSON text is of another type than `kind` has."""
    try:
        msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as exc:
        return _located(str(exc))[1]
    except (msgspec.DecodeError, RecursionError):
        pass  # such as surrogates without their other half
    return None


def _located(text: str) -> tuple[str, str]:
    """Split `problem - at `$.want[0].mode`` into the problem and /want/0/mode.

    What is missing is pointed at where it would stand.
    """
    match = _PLACE.match(text)
    assert match is not None, "the pattern matches any text"
    parts = _PART.findall(match["place"] or "")
    missing = [(name, "") for name in _MISSING.findall(match["problem"])]
    return match["problem"], "".join(f"/{name or number}" for name, number in parts + missing)


def name_of(state: StateRequest) -> str:
    """Return the name of the state that a request means. Raises `invalid_request`."""
    _, _, *given = _forms(state)
    forms = [state.state is not None, state.state_url is not None, any(given)]
    if sum(forms) != 1:
        raise _invalid(
            "name the state in one form: state, state_url, or workspace_id with env_public_id "
            "and state_name",
            "/state",
        )
    if state.state is not None:
        return state.state
    if state.state_url is not None:
        return _name_in(state.state_url)
    if not all(given):
        raise _invalid("workspace_id, env_public_id and state_name go together", "/workspace_id")
    return "/".join(part or "" for part in given)


def _forms(state: StateRequest) -> tuple[str | None, ...]:
    return (
        state.state,
        state.state_url,
        state.workspace_id,
        state.env_public_id,
        state.state_name,
    )


def _name_in(url: str) -> str:
    """Return the name in a state's address, unescaped once. The host is not looked at."""
    try:
        _, found, name = urlsplit(url).path.partition(_STATES)
        name = unquote(name, errors="strict")
        if found and "\0" not in name:
            return name
    except ValueError as exc:
        raise _invalid(f"state_url is not a URL: {exc}", "/state_url") from exc
    raise _invalid(f"state_url has no {_STATES}NAME in its path", "/state_url")


def _invalid(message: str, pointer: str) -> KilolockError:
    return KilolockError("invalid_request", message, {"pointer": pointer})


def answer(value: object) -> HTTPResponse:
    """Answer in JSON; numbers keep every digit."""
    encoder = msgspec.json.Encoder(decimal_format="number")
    return HTTPResponse(encoder.encode(value), content_type="application/json")
