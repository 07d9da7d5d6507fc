"""State names in addresses, and credentials in headers."""

import base64
import http.client
from urllib.parse import quote, urlsplit

import pytest

from tests.documents import Json, encoded, lock_info, resource, state
from tests.service import Backend, Server

NAMES = [
    "d/ot.s",
    "deep/er/and/deeper",
    "naïve name",
    "été/環境/😀",
    "100%",
    "a%2Fb",
    "q?x=1&y#z",
    "a+b=c;d,e@f:g",
    "..a/.b./...",
    "ws_nothing",
    "ws_a/b/c",
    "n" * 512,
]


def _document(mark: str) -> Json:
    return state(1, resource("a"), lineage=mark)


def _send(server: Server, method: str, target: str, body: bytes = b"") -> int:
    """Send a request whose target reaches the server as it is written."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


@pytest.mark.parametrize("name", NAMES)
def test_name_addresses_one_state(service: Server, name: str) -> None:
    backend = service.backend(name)
    assert backend.lock(lock_info("x")).status_code == 200
    assert backend.post(_document(name[:9]), "x").status_code == 200
    assert backend.unlock(lock_info("x")).status_code == 200
    assert backend.get().json()["lineage"] == name[:9]
    assert backend.versions() == 1
    listed = backend.request("GET", "/v1/admin/states").json()["states"]
    assert [s["name"] for s in listed].count(name) == 1
    assert backend.delete().status_code == 200


def test_escaped_and_plain_slash_are_one_name(service: Server) -> None:
    body = encoded(_document("slash"))
    assert _send(service, "POST", "/v1/states/one%2Ftwo", body) == 200
    assert service.backend("one/two").get().json()["lineage"] == "slash"


def test_query_of_the_address_is_kept_apart(backend: Backend) -> None:
    backend.lock(lock_info("x"))
    answer = backend.request(
        "POST", content=encoded(_document("q")), params={"ID": "x", "x": "1", "workspace": "w"}
    )
    assert answer.status_code == 200
    assert backend.request("GET", params={"x": "1"}).json()["lineage"] == "q"


def test_names_that_differ_in_case_or_composition_are_different(service: Server) -> None:
    names = ["Case", "case", "\u00e9", "e\u0301", "trail", "trail "]
    for name in names:
        assert service.backend(name).post(_document(name)).status_code == 200
    for name in names:
        assert service.backend(name).get().json()["lineage"] == name


@pytest.mark.parametrize(
    "target",
    [
        "",
        "/",
        "a//b",
        "a/",
        "%2Fa",
        ".",
        "a/../b",
        "a/./b",
        "..%2F..%2Fetc",
        "a%00b",
        "a%0Ab",
        "a%7Fb",
        "a%C2%9Bb",
        "%FF",
        "n" * 513,
        quote("é" * 513),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "LOCK", "UNLOCK", "DELETE"])
def test_name_that_cannot_be_used_is_refused(service: Server, target: str, method: str) -> None:
    before = service.rows("select count(*) from kl_internal.states")
    body = {"POST": encoded(_document("x")), "LOCK": b'{"ID":"x"}'}.get(method, b"")
    assert _send(service, method, f"/v1/states/{target}", body) in (400, 404, 405)
    assert service.rows("select count(*) from kl_internal.states") == before


def test_nul_in_a_name_is_told_as_such(service: Server) -> None:
    answer = service.backend("x").request("GET", "/v1/states/a%00b")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert answer.json()["message"].startswith("state name 'a%00b' cannot be used: ")


def test_three_part_name_is_the_same_state_in_the_default_environment(service: Server) -> None:
    [(qualified,)] = service.rows(
        "select w.public_id || '/' || e.public_id from kl_internal.environments as e "
        "inner join kl_internal.workspaces as w on w.id = e.workspace_id "
        "where w.name = 'default' and e.name = 'default'"
    )
    assert service.backend("three").post(_document("three")).status_code == 200
    assert service.backend(f"{qualified}/three").get().json()["lineage"] == "three"


def test_unknown_environment_is_404(service: Server) -> None:
    backend = service.backend("ws_nowhere/env_nothing/prod")
    for answer in (
        backend.get(),
        backend.post(_document("x")),
        backend.lock(lock_info("x")),
        backend.unlock(None),
        backend.delete(),
    ):
        assert (answer.status_code, answer.json()["error"]) == (404, "state_not_found")
        assert "ws_nowhere/env_nothing" in answer.json()["message"]


def test_environment_keeps_its_states_apart(service: Server) -> None:
    service.rows(
        "with w as (insert into kl_internal.workspaces (public_id, name) "
        "values ('ws_two', 'two') returning id) "
        "insert into kl_internal.environments (workspace_id, public_id, name) "
        "select id, 'env_two', 'two' from w returning id"
    )
    other, plain = service.backend("ws_two/env_two/shared"), service.backend("shared")
    assert other.post(_document("two")).status_code == 200
    assert plain.get().status_code == 404
    assert plain.post(_document("default")).status_code == 200
    assert other.get().json()["lineage"] == "two"
    names = [s["name"] for s in plain.request("GET", "/v1/admin/states").json()["states"]]
    assert {"ws_two/env_two/shared", "shared"} <= set(names)


@pytest.mark.parametrize(
    "credential",
    [
        None,
        "Basic " + base64.b64encode("us er:1:p:ä%@/#".encode()).decode(),
        "Bearer not a token of ours",
    ],
)
def test_open_server_serves_whoever_asks(backend: Backend, credential: str | None) -> None:
    headers = {} if credential is None else {"Authorization": credential}
    answer = backend.request("POST", content=encoded(_document("x")), headers=headers)
    assert answer.status_code in (200, 401)
