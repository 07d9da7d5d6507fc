"""Bodies as clients and proxies send them: codings, digests, limits, compression of answers."""

import base64
import gzip
import hashlib
import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.clusters import Cluster
from tests.documents import encoded, instance, lock_info, resource, state
from tests.equality import canonical
from tests.service import Backend, Server, running_server

FIRST = encoded(state(1, resource("a")))
SECOND = encoded(state(2, resource("a", instance({"id": "b"}))))
LIMIT = 4096


@pytest.fixture(scope="module")
def limited(newest_cluster: Cluster) -> Iterator[Server]:
    """A server that takes no more than LIMIT bytes."""
    with (
        newest_cluster.clone() as database,
        running_server(database, KL_MAX_BODY=str(LIMIT)) as server,
    ):
        yield server


def _md5(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "gzip, identity"])
@pytest.mark.parametrize("method", ["POST", "PUT", "LOCK"])
def test_compressed_body_is_415(backend: Backend, method: str, coding: str) -> None:
    answer = backend.request(
        method, content=gzip.compress(FIRST), headers={"Content-Encoding": coding}
    )
    assert answer.status_code == 415
    assert answer.json()["error"] == "unsupported_media_type"
    assert coding in answer.json()["message"]
    assert backend.kept() == 0


def test_identity_coding_is_no_coding(backend: Backend) -> None:
    answer = backend.request("POST", content=FIRST, headers={"Content-Encoding": "Identity"})
    assert answer.status_code == 200


def test_content_md5_that_matches(backend: Backend) -> None:
    answer = backend.request("POST", content=FIRST, headers={"Content-MD5": _md5(FIRST)})
    assert answer.status_code == 200


@pytest.mark.parametrize("digest", ["AAAAAAAAAAAAAAAAAAAAAA==", "x", _md5(SECOND)[:-2]])
def test_content_md5_that_does_not_match_is_refused(backend: Backend, digest: str) -> None:
    assert backend.post(FIRST).status_code == 200
    answer = backend.request("POST", content=SECOND, headers={"Content-MD5": digest})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert "Content-MD5" in answer.json()["message"]
    assert backend.versions() == 1

    lock = backend.request("LOCK", json=lock_info("x"), headers={"Content-MD5": digest})
    assert lock.status_code == 400


def test_force_unlock_as_terraform_sends_it(backend: Backend) -> None:
    assert backend.lock(lock_info("x")).status_code == 200
    address = urlsplit(backend.server.url)
    connection = http.client.HTTPConnection(address.netloc)
    try:
        connection.putrequest("UNLOCK", backend.path)
        connection.putheader("User-Agent", "Go-http-client/1.1")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.putheader("Content-MD5", _md5(b""))
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Accept-Encoding", "gzip")
        connection.endheaders(b"0\r\n\r\n")
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    assert answer.status == 200
    assert backend.lock(lock_info("y")).status_code == 200


def test_chunked_document(backend: Backend) -> None:
    pieces = (FIRST[start : start + 7] for start in range(0, len(FIRST), 7))
    assert backend.request("POST", content=pieces).status_code == 200
    assert canonical(backend.get().content) == canonical(FIRST)


@pytest.mark.parametrize("coding", ["gzip", "deflate, gzip;q=0.5", "*;q=0, GZIP"])
def test_answer_is_compressed_for_who_asks(backend: Backend, coding: str) -> None:
    backend.post(FIRST)
    answer = backend.request("GET", headers={"Accept-Encoding": coding})
    assert answer.headers["content-encoding"] == "gzip"
    assert "accept-encoding" in answer.headers["vary"].lower()
    assert canonical(answer.content) == canonical(FIRST)


@pytest.mark.parametrize("coding", ["identity", "", "gzip;q=0", "br"])
def test_answer_is_plain_for_who_does_not_ask(backend: Backend, coding: str) -> None:
    backend.post(FIRST)
    answer = backend.request("GET", headers={"Accept-Encoding": coding})
    assert "content-encoding" not in answer.headers
    assert canonical(answer.content) == canonical(FIRST)


def test_answers_are_json_and_never_redirect(backend: Backend) -> None:
    answers = [
        backend.get(),
        backend.post(FIRST),
        backend.get(),
        backend.lock(lock_info("x")),
        backend.lock(lock_info("y")),
        backend.unlock(None),
        backend.post(b"x"),
        backend.request("PATCH", content=b"{}"),
        backend.request("POST", f"{backend.path}/", content=SECOND),
        backend.delete(),
    ]
    assert [a.status_code for a in answers] == [404, 200, 200, 200, 423, 200, 400, 405, 400, 200]
    assert all(a.headers["content-type"].startswith("application/json") for a in answers)


@pytest.mark.parametrize("chunked", [False, True])
def test_body_over_the_limit_is_413_and_nothing_is_stored(limited: Server, chunked: bool) -> None:
    backend = limited.backend()
    assert backend.lock(lock_info("x")).status_code == 200
    assert backend.post(FIRST, "x").status_code == 200
    big = encoded(state(2, resource("a", instance({"id": "x" * LIMIT}))))

    content = iter([big]) if chunked else big
    answer = backend.request("POST", params={"ID": "x"}, content=content)

    assert (answer.status_code, answer.json()["error"]) == (413, "payload_too_large")
    assert answer.json()["details"] == {"limit": LIMIT}
    assert str(LIMIT) in answer.json()["message"]
    assert backend.versions() == 1
    assert canonical(backend.get().content) == canonical(FIRST)
    assert backend.unlock(lock_info("x")).status_code == 200


def test_body_at_the_limit_is_taken(limited: Server) -> None:
    backend = limited.backend()
    document = state(1, resource("a", instance({"id": ""})))
    size = len(encoded(document))
    document["resources"][0]["instances"][0]["attributes"]["id"] = "x" * (LIMIT - size)
    body = encoded(document)
    assert len(body) == LIMIT
    assert backend.post(body).status_code == 200
    assert backend.post(body + b"\n").status_code == 413


def test_lock_info_of_megabytes_is_413(backend: Backend) -> None:
    answer = backend.lock(lock_info("x", Info="x" * (1 << 20)))
    assert answer.status_code == 413
    assert backend.kept() == 0
