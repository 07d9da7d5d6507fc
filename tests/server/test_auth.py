"""Credentials over HTTP: who is asked for one, how it may come, what is said about a wrong one."""

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import psycopg
import pytest

from pyengine.settings import Settings
from server.app import create_app
from tests.clusters import Cluster, Connection
from tests.documents import encoded, lock_info, resource, state
from tests.service import Server, running_server

# The database's version makes no difference here.
pytestmark = pytest.mark.parametrize("cluster", ["pg18"], indirect=True, scope="session")

STATIC: Final = "pä:s/s@w#o%r?d \"'\\ 😀=&+"
OPEN_ROUTES: Final = {"/healthz", "/versionz", "/v1/openapi.json"}
CHALLENGE: Final = 'Basic realm="kilolock"'
OUTPUTS: Final = {"o": {"value": "x", "type": "string", "sensitive": True}}


@dataclass(frozen=True)
class Guarded:
    """A server that asks for tokens of its database."""

    server: Server

    def token(self, *scopes: str, **options: str) -> str:
        """Make a token; options: environment, prefix, lifetime, name."""
        return _token(self.server.superuser, scopes, options)

    def request(self, token: str | None, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401
        """Send a request with a bearer token."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.server.client.request(method, path, headers=headers, **options)


def _token(root: Connection, scopes: tuple[str, ...], options: dict[str, str]) -> str:
    row = root.execute(
        "select token from kl.create_token(p_name => coalesce(%s, gen_random_uuid()::text),"
        " p_scopes => %s, p_environment => %s, p_state_prefix => %s, p_lifetime => %s::interval)",
        (
            options.get("name"),
            list(scopes),
            options.get("environment"),
            options.get("prefix"),
            options.get("lifetime"),
        ),
    ).fetchone()
    assert row is not None
    return str(row[0])


@pytest.fixture(scope="module")
def guarded(cluster: Cluster) -> Iterator[Guarded]:
    """A server with --auth database; two states are there."""
    with cluster.clone() as database, running_server(database, KL_AUTH="database") as server:
        made = Guarded(server)
        token = made.token("state:write")
        for name in ("app/one", "other"):
            document = state(1, resource("a"), outputs=OUTPUTS)
            answer = made.request(token, "POST", f"/v1/states/{name}", content=encoded(document))
            assert answer.status_code == 200, answer.text
        yield made


@pytest.fixture(scope="module")
def static(cluster: Cluster) -> Iterator[Server]:
    """A server with one token, of odd characters."""
    with (
        cluster.clone() as database,
        running_server(database, KL_AUTH="static", KL_STATIC_TOKEN=STATIC) as server,
    ):
        yield server


def _routes() -> list[tuple[str, str]]:
    """Return a method and a path for every route there is, from the router itself."""
    app = create_app(Settings(data_dir=Path("/nowhere"), database_url="dbname=none"))
    app.router.finalize()
    found = []
    for route in app.router.routes:
        path = "/" + re.sub(r"<apply_id[^>]*>", NOBODY, route.path)
        path = re.sub(r"<[^>]*>", "app/one", path)
        found += [(method, path) for method in sorted(route.methods) if method != "OPTIONS"]
    return sorted(set(found))


NOBODY: Final = "00000000-0000-4000-8000-000000000000"
# Well-formed for every request of the engine, which ignores members that it does not know.
ENGINE_BODY: Final = {
    "state": "app/one",
    "apply_id": NOBODY,
    "status": "failed",
    "want": [{"address_glob": "*", "mode": "write"}],
    "selectors": [],
    "addresses": ["terraform_data.a"],
    "moves": [{"address": "terraform_data.a", "to": "terraform_data.b"}],
    "mode": "delta",
    "delta": {},
    "base_serial": 1,
}
PARAMETERS: Final = {
    "name": "app/one",
    "address": "terraform_data.a",
    "from": "v1",
    "tag": "t",
    "reason": "seen",
}


@pytest.mark.parametrize(("method", "path"), _routes())
def test_every_route_but_health_asks_for_a_token(
    guarded: Guarded, static: Server, method: str, path: str
) -> None:
    for server in (guarded.server, static):
        for token in (None, "kl_wrong"):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            body = b'{"ID": "x"}' if "LOCK" in method or "unlock" in path else b"{}"
            if path.startswith("/v1/state-engine/"):
                one = {"address": "terraform_data.a", "to": "v1"} if "rollback" in path else {}
                body = json.dumps(ENGINE_BODY | one).encode()
            answer = server.client.request(
                method,
                path,
                params=PARAMETERS,
                content=None if method in ("GET", "HEAD", "DELETE") else body,
                headers=headers,
            )
            if path in OPEN_ROUTES:
                assert answer.status_code == 200
                continue
            assert answer.status_code == 401, answer.text
            assert answer.headers["WWW-Authenticate"] == CHALLENGE
            if method != "HEAD":
                assert answer.json()["error"] == "unauthenticated"
            assert "kl_wrong" not in answer.text


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize("user", ["", "kilolock", "ünïcode", "a b%@/"])
def test_basic_password_is_the_token_whoever_the_user_is(static: Server, user: str) -> None:
    answer = static.client.get("/v1/admin/states", headers={"Authorization": _basic(user, STATIC)})
    assert answer.status_code == 200
    assert static.client.get("/v1/admin/states", auth=(user, STATIC)).status_code == 200


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER   "])
def test_bearer_token_may_be_any_text(static: Server, scheme: str) -> None:
    header = scheme.encode() + STATIC.encode()
    answer = static.client.get("/v1/admin/states", headers={b"Authorization": header})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        b"Bearer",
        b"Bearer \xff\xfe",
        b"Bearer a\xc3",
        b"Basic",
        b"Basic !!!",
        b"Basic " + base64.b64encode(STATIC.encode().replace(b":", b"")),
        b"Basic " + base64.b64encode(b"u:\xff"),
        b"Basic " + base64.b64encode(b"u:a\0b"),
        b"Basic " + base64.b64encode(b"u:\xed\xa0\x80"),
        b"Basic " + base64.b64encode(b"u:"),
        b"Digest username=u",
        b"Negotiate abc",
        STATIC.encode(),
        b"Token " + STATIC.encode(),
        b"Bearer " + STATIC.encode() + b"x",
        b"Bearer " + STATIC.encode()[:-1],
        b"Bearer " + STATIC.upper().encode(),
        b"Basic " + base64.b64encode(b":" * 3000),
    ],
)
def test_what_is_no_token_is_as_good_as_none(
    static: Server, guarded: Guarded, header: bytes
) -> None:
    for server in (static, guarded.server):
        answer = server.client.get("/v1/admin/states", headers={b"Authorization": header})
        assert answer.status_code == 401, answer.text
        assert answer.headers["WWW-Authenticate"] == CHALLENGE


def test_missing_right_is_403_without_a_challenge(guarded: Guarded) -> None:
    answer = guarded.request(guarded.token("state:read"), "DELETE", "/v1/states/other")
    assert answer.status_code == 403
    assert answer.json()["error"] == "forbidden"
    assert "WWW-Authenticate" not in answer.headers


def test_outputs_only_token_gets_outputs_and_nothing_else(guarded: Guarded) -> None:
    token = guarded.token("outputs:read")
    document = guarded.request(token, "GET", "/v1/states/app/one").json()
    assert (document["outputs"], document["resources"]) == (OUTPUTS, [])
    body = encoded(state(9, resource("b")))
    for method, path, content in (
        ("POST", "/v1/states/app/one", body),
        ("PUT", "/v1/states/app/one", body),
        ("DELETE", "/v1/states/app/one", None),
        ("LOCK", "/v1/states/app/one", json.dumps(lock_info("x")).encode()),
        ("UNLOCK", "/v1/states/app/one", json.dumps(lock_info("x")).encode()),
        ("UNLOCK", "/v1/states/app/one", b""),
        ("POST", "/v1/state-unlock/app/one", json.dumps(lock_info("x")).encode()),
        ("GET", "/v1/admin/export?name=app/one", None),
        ("GET", "/v1/admin/status?name=app/one", None),
        ("GET", "/v1/admin/states", None),
        ("GET", "/v1/admin/resource?name=app/one&address=terraform_data.a", None),
        ("GET", "/v1/admin/history?name=app/one", None),
        ("POST", "/v1/admin/unlock?name=app/one", b""),
        ("POST", "/v1/admin/import?name=app/one", body),
        ("POST", "/v1/admin/query", b'{"sql": "select 1"}'),
    ):
        answer = guarded.request(token, method, path, content=content)
        assert answer.status_code == 403, (method, path, answer.text)
    assert guarded.request(token, "GET", "/v1/states/nothing").status_code == 404


def test_who_may_only_write_begins_by_id_what_the_token_reaches(guarded: Guarded) -> None:
    reader = guarded.token("state:read")
    path = "/v1/state-engine/state/resolve"
    found = guarded.request(reader, "POST", path, json={"state": "other"}).json()
    path, body = "/v1/state-engine/apply-runs/begin", {"state_id": found["state_id"]}
    begun = guarded.request(guarded.token("state:write"), "POST", path, json=body)
    assert (begun.status_code, begun.json().get("state_id")) == (200, found["state_id"])
    beyond = guarded.request(guarded.token("state:write", prefix="app/"), "POST", path, json=body)
    assert (beyond.status_code, beyond.json()["error"]) == (404, "state_not_found")
    assert guarded.request(reader, "POST", path, json=body).status_code == 403


def test_prefix_hides_all_other_names(guarded: Guarded) -> None:
    token = guarded.token("state:read", prefix="app/")
    listed = guarded.request(token, "GET", "/v1/admin/states").json()["states"]
    assert [s["name"] for s in listed] == ["app/one"]
    assert guarded.request(token, "GET", "/v1/states/app/one").status_code == 200
    said = {
        guarded.request(token, "GET", f"/v1/states/{name}").text for name in ("other", "nothing")
    }
    assert len(said) == 1
    assert guarded.request(token, "GET", "/v1/states/other").status_code == 403


def test_environment_token_reaches_its_own_names_only(guarded: Guarded) -> None:
    root = guarded.server.superuser
    root.execute("select kl.create_workspace('http')")
    row = root.execute("select kl.create_environment('http', 'e')").fetchone()
    assert row is not None
    token = guarded.token("state:read", "state:write", environment=row[0])
    body = encoded(state(1, resource("a")))
    assert guarded.request(token, "POST", f"/v1/states/{row[0]}/x", content=body).is_success
    for name in ("other", "x", "ws_0/env_0/x"):
        assert guarded.request(token, "GET", f"/v1/states/{name}").status_code == 403
        assert guarded.request(token, "POST", f"/v1/states/{name}", content=body).status_code == 403
    listed = guarded.request(token, "GET", "/v1/admin/states").json()["states"]
    assert [s["name"] for s in listed] == [f"{row[0]}/x"]


def test_import_as_an_apply_needs_the_admin_right(guarded: Guarded) -> None:
    def send(token: str, serial: int) -> httpx.Response:
        return guarded.request(
            token,
            "POST",
            "/v1/admin/import?name=app/applied&source=apply",
            content=encoded(state(serial, resource("a"))),
        )

    refused = send(guarded.token("state:read", "state:write"), 1)
    assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")
    assert send(guarded.token("admin"), 1).json()["outcome"] == "written"
    assert send(guarded.token("admin", prefix="app/"), 2).json()["outcome"] == "written"
    assert send(guarded.token("admin", prefix="b/"), 3).status_code == 403


def test_revoked_and_expired_tokens_end_at_once(guarded: Guarded) -> None:
    token = guarded.token("state:read", name="brief")
    assert guarded.request(token, "GET", "/v1/admin/states").status_code == 200
    guarded.server.superuser.execute("select kl.revoke_token('brief')")
    assert guarded.request(token, "GET", "/v1/admin/states").status_code == 401
    expired = guarded.token("state:read", lifetime="-1 second")
    assert guarded.request(expired, "GET", "/v1/admin/states").status_code == 401


def test_use_is_noted_once_a_minute_and_only_where_a_token_was_asked_for(guarded: Guarded) -> None:
    def used() -> Any:  # noqa: ANN401 - a timestamp or null
        rows = guarded.server.rows(
            "select last_used_at from kl.list_tokens() where name = %(name)s", name="watched"
        )
        return rows[0][0]

    token = guarded.token("outputs:read", name="watched")
    assert guarded.request(token, "GET", "/healthz").status_code == 200
    assert guarded.request(token, "GET", "/v1/admin/states").status_code == 403
    assert used() is None
    assert guarded.request(token, "GET", "/v1/states/other").status_code == 200
    first = used()
    assert first is not None
    assert guarded.request(token, "GET", "/v1/states/other").status_code == 200
    assert used() == first


def test_actor_header_gives_a_name_and_no_right(guarded: Guarded) -> None:
    client, token = guarded.server.client, guarded.token("state:read", "state:write")
    headers = {"Authorization": f"Bearer {token}", "Kilolock-Actor": "kl_owner%00%C3%A9"}
    body = encoded(state(1, resource("a")))
    params = {"name": "acted"}
    answer = client.post("/v1/admin/import", params=params, content=body, headers=headers)
    assert answer.status_code == 200
    assert guarded.server.rows(
        "select v.actor, starts_with(v.principal, 'token:') from kl.state_versions as v"
        " where v.state_name = 'acted'"
    ) == [("kl_owner\ufffdé", True)]


def test_no_log_holds_a_token(cluster: Cluster, capfd: pytest.CaptureFixture[str]) -> None:
    database_log = _database_log(cluster)
    start = database_log.stat().st_size
    secrets = []
    with cluster.clone() as database, running_server(database, KL_AUTH="database") as server:
        made = Guarded(server)
        good, other = made.token("state:read", "state:write"), made.token("outputs:read")
        secrets = [good, other, "kl_unknown_token", "planted-password"]
        document = state(1, resource("a"), lineage="planted-password")
        for token in secrets:
            for method, path, content in (
                ("GET", "/v1/admin/states", None),
                ("POST", "/v1/states/s", encoded(document)),
                ("POST", "/v1/states/s", b'{"version": 4, "planted-password'),
                ("LOCK", "/v1/states/s", b"planted-password"),
                ("GET", "/v1/states/%00", None),
            ):
                made.request(token, method, path, content=content)
                server.client.request(method, path, auth=("u", token), content=content)
        # What the database refuses to do leaves a line in its log.
        database.cluster.execute("drop schema kl cascade", database=database.name)
        assert made.request(good, "GET", "/v1/admin/states").status_code == 500
    with cluster.clone() as database:
        command = {"KL_AUTH": "static", "KL_STATIC_TOKEN": "static-planted-token"}
        with running_server(database, **command) as server:
            server.client.get("/v1/admin/states", auth=("u", "static-planted-token"))
            server.client.get("/v1/admin/states", auth=("u", "static-planted-tokem"))
    output = capfd.readouterr()
    with database_log.open(encoding="utf-8", errors="replace") as log:
        log.seek(start)
        said = output.out + output.err + log.read()
    assert "database error" in said or "kilolock" in said
    for secret in (*secrets, "static-planted-toke"):
        assert secret not in said


def _database_log(cluster: Cluster) -> Path:
    with psycopg.connect(cluster.conninfo("postgres", "postgres")) as conn:
        row = conn.execute("show data_directory").fetchone()
    assert row is not None
    return Path(row[0]) / "server.log"
