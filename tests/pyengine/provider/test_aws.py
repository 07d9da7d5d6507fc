"""The real provider with the largest schema, where this machine has it; it calls nobody."""

import asyncio
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pyengine.codec.codec import Codec
from pyengine.codec.config import ProviderConfig
from pyengine.codec.errors import CodecError
from pyengine.codec.types import Type
from pyengine.provider.client import ProviderClient
from pyengine.provider.discovery import FoundProvider, SearchPath
from pyengine.provider.errors import ProviderError
from pyengine.provider.schemas import ProviderSchemas
from tests.acceptance.cloud import find_mirror

SOURCE = "hashicorp/aws"
CONFIG = {
    "region": "eu-west-1",
    "access_key": "none",
    "secret_key": {"env": "SECRET"},
    "skip_credentials_validation": True,
    "skip_requesting_account_id": True,
    "skip_metadata_api_check": "true",
    "max_retries": "1",
}


@pytest.fixture(scope="module")
def found() -> FoundProvider:
    mirror = find_mirror(SOURCE)
    if mirror is None:
        pytest.skip("no mirror with the AWS provider on this machine")
    path = SearchPath.from_environment([mirror], environ={"HOME": "/nonexistent"})
    return path.find(SOURCE)


@pytest.fixture(scope="module")
def schemas(found: FoundProvider) -> ProviderSchemas:
    async def ask() -> ProviderSchemas:
        async with await ProviderClient.open(found.executable) as client:
            assert await client.identity_schemas() == {}
            return await client.get_schema()

    return asyncio.run(ask())


def test_all_types_come_in_one_answer(schemas: ProviderSchemas) -> None:
    assert len(schemas.resource_types) > 1500
    begun = time.thread_time()
    bucket = Codec(schemas.resource("aws_s3_bucket"))
    assert time.thread_time() - begun < 0.5  # one type does not pay for the others
    assert "bucket" in dict(bucket.type.members)


def test_configured_provider_upgrades_refuses_and_finds_nothing(
    found: FoundProvider, schemas: ProviderSchemas
) -> None:
    codec = Codec(schemas.resource("aws_vpc"))

    async def run(url: str) -> None:
        text = json.dumps(CONFIG | {"endpoints": {"sts": url, "ec2": url}})
        config = ProviderConfig(schemas.provider).build(text, {"SECRET": "none"})
        async with await ProviderClient.open(found.executable) as client:
            stored = '{"id":"vpc-1","cidr_block":"10.0.0.0/16","tags":{"a":"b"}}'
            # SDK providers fill in what the stored text lacks, so that it has the right shape.
            upgraded = await client.upgrade_resource_state("aws_vpc", 1, stored.encode())
            state = codec.decode(upgraded.value)
            assert msgspec.json.decode(state)["tags"] == {"a": "b"}
            await client.configure(config, validate=False)
            with pytest.raises(ProviderError) as caught:
                await client.upgrade_resource_state("aws_none", 0, b"{}")
            assert caught.value.code == "provider_failed"
            answer = await client.read_resource("aws_vpc", codec.encode(state), private=b"{}")
            assert (answer.new_state, answer.private) == (None, b"{}")
            await client.stop()

    with _cloud_without_anything() as url:
        asyncio.run(run(url))


class _NotFound(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))  # unread bytes would reset the answer
        error = "<Error><Code>InvalidVpcID.NotFound</Code></Error>"
        body = f"<Response><Errors>{error}</Errors></Response>".encode()
        self.send_response(400)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:  # noqa: ANN401
        pass


@contextmanager
def _cloud_without_anything() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _NotFound) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Values:
    """Values of a type, from a seed; deep blocks are left empty."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def value(self, type_: Type, depth: int = 0) -> Any:  # noqa: ANN401
        if type_.write_only or (depth and not type_.block and self._random.random() < 0.2):
            return None
        match type_.kind:
            case "string":
                return self._random.choice(["", "arn:aws:x", "<&>", "é", "0", '{"a":[1]}'])
            case "number":
                return self._random.choice([0, 7, -1, 2**70, 2**53 + 1])
            case "bool":
                return self._random.random() < 0.5
            case "object":
                return {name: self.value(item, depth + 1) for name, item in type_.members}
            case "map":
                return {key: self._element(type_, depth) for key in "ba"}
            case _:
                size = 0 if depth > 7 else self._random.randint(0, 2)
                return [self._element(type_, depth) for _ in range(size)]

    def _element(self, type_: Type, depth: int) -> Any:  # noqa: ANN401
        assert type_.element is not None
        return self.value(type_.element, depth + 1)


def assert_round_trips(schemas: ProviderSchemas, names: Iterator[str]) -> None:
    for number, name in enumerate(names):
        codec = Codec(schemas.resource(name))
        text = msgspec.json.encode(Values(number).value(codec.type))
        wire = codec.encode(text)
        canonical = codec.decode(wire)
        assert codec.encode(canonical) == wire, name
        assert codec.canonical(canonical) == canonical, name
        assert codec.strip_unknown(canonical) is canonical
        codec.merge_sensitive(canonical, b"[]")
        assert codec.decode(codec.encode("{}")) == codec.canonical("{}")
        with pytest.raises(CodecError):
            codec.encode('{"no_such_attribute":1}')


def test_values_of_a_sample_of_types_round_trip(schemas: ProviderSchemas) -> None:
    names = sorted(schemas.resource_types)[::40]
    assert_round_trips(schemas, iter(["aws_wafv2_web_acl", "aws_instance", *names]))


@pytest.mark.bench
def test_values_of_every_type_round_trip(schemas: ProviderSchemas) -> None:
    assert_round_trips(schemas, iter(sorted(schemas.resource_types)))


def test_lock_file_of_the_real_terraform_is_obeyed(found: FoundProvider, tmp_path: Path) -> None:
    """The hash was taken from what `terraform init` writes for this package."""
    mirror = found.executable.parents[5]
    known = "edXOJWE4ORX8Fm+dpVpICzMZJat4AX0VRCAy/xkcOc0="
    if found.version != "5.100.0":
        pytest.skip("the hash is known for 5.100.0 only")
    _lock(tmp_path, found.version, known)
    for _ in range(2):  # computed, then remembered
        path = SearchPath.from_environment([mirror], environ={"HOME": "/none"}, cwd=tmp_path)
        path = SearchPath(path.folders, path.locked, tmp_path / "cache")
        assert path.find(SOURCE) == found
    assert list((tmp_path / "cache").iterdir()), "what was computed is remembered"
    _lock(tmp_path, found.version, "A" * 43 + "=")
    path = SearchPath.from_environment([mirror], environ={"HOME": "/none"}, cwd=tmp_path)
    path = SearchPath(path.folders, path.locked, tmp_path / "cache")
    with pytest.raises(ProviderError) as caught:
        path.find(SOURCE)
    assert caught.value.code == "provider_checksum"


def _lock(folder: Path, version: str, digest: str) -> None:
    (folder / ".terraform.lock.hcl").write_text(
        f'provider "registry.terraform.io/{SOURCE}" {{\n'
        f'  version = "{version}"\n  hashes = ["h1:{digest}"]\n}}\n'
    )
