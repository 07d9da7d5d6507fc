"""`kl refresh` beside `terraform apply -refresh-only`: same provider, objects, parallelism, run.

The provider is the real one for AWS, the objects are IAM groups of a cloud on loopback: one call to
the cloud each, so that what is around the call shows. Prints a table, saves it as JSON.
KL_BENCH_REFRESH_SIZES names the sizes (1000 unless told; 10,000 take a quarter of an hour). What
takes Terraform minutes it does once.

A later refresh stands beside the calls that it makes, and nothing else: the provider's program is
launched and configured, upgrades and reads every object, and is closed, by the client and with the
parallelism of `kl`. What the calls need is found, compiled and encoded before the clock starts, and
nobody looks for cycles in the memory of the tests meanwhile. Everything else is charged to `kl`:
its interpreter and modules, what it asks the database, codec, comparison and commit. The cloud's
pace drifts: rounds change places, and the medians of their differences are what counts.
"""

import asyncio
import gc
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import msgspec
import pytest

from cli.output import print_table
from pyengine.codec.codec import Codec
from tests.acceptance.cloud import (
    cli_configuration,
    find_mirror,
    provider_block,
    running_cloud,
)
from tests.acceptance.programs import Terraform, find_terraform, serving
from tests.acceptance.refreshing import PROVIDER, SOURCE, Refreshing
from tests.bench.provider_calls import Calls, resource_schemas
from tests.documents import Json

pytestmark = pytest.mark.bench

SIZES = tuple(int(size) for size in os.environ.get("KL_BENCH_REFRESH_SIZES", "1000").split(","))
RESULTS = Path(__file__).parents[2] / "bench-results" / "refresh.json"
PARALLELISM = 10
TWICE_UP_TO = 1000
ROUNDS = 9
PATIENCE = 1800
TYPES = ("aws_iam_group", "aws_s3_bucket", "aws_instance", "aws_dynamodb_table", "aws_lb")


def test_refresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Measure each size on a server and a cloud of its own."""
    # An installed kl has its bytecode at hand; this one has it from its second run on.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    mirror, program = find_mirror(SOURCE), find_terraform()
    if mirror is None or program is None:
        pytest.skip("needs terraform and a filesystem mirror with hashicorp/aws")
    measured = {size: _measure(size, mirror, program) for size in SIZES}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(measured, indent=2) + "\n")
    names = list(measured[SIZES[0]])
    rows = [
        (name, *(f"{found[name]:.2f}" if name in found else None for found in measured.values()))
        for name in names
    ]
    print_table(("", *(f"{size:,}" for size in SIZES)), rows)


def _measure(size: int, mirror: Path, program: str) -> dict[str, float]:
    found: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory(prefix="kl-", dir="/tmp") as name,
        serving(Path(name) / "data") as served,
        running_cloud() as cloud,
    ):
        document = _document(cloud, size)
        one = Refreshing(served, "one", mirror, cloud)
        one.put(document | {"resources": _first(document)})
        one.configure()
        _forget_schemas(one)
        with _timed(found, "start, nothing cached"):
            one.refresh()
        with _timed(found, "start, schema cached"):
            one.refresh()

        at = Refreshing(served, "many", mirror, cloud)
        at.put(document)
        at.configure()
        terraform = _terraform(Path(name) / "tf", mirror, program, cloud, document)
        for turn in ("first", "second"):
            if turn == "first" or size <= TWICE_UP_TO:
                with _timed(found, f"terraform apply -refresh-only, {turn}"):
                    out = terraform(
                        "apply", "-refresh-only", "-auto-approve", f"-parallelism={PARALLELISM}"
                    )
                assert "0 added, 0 changed, 0 destroyed" in out
            with _timed(found, f"kl refresh, {turn}"):
                refreshed = at.refresh("--parallelism", str(PARALLELISM))
            assert (refreshed["resources_checked"], refreshed["changed_addresses"]) == (size, [])
        _beyond_the_calls(found, at, document, size)
        for turn in ("first", "second"):
            theirs = found.get(f"terraform apply -refresh-only, {turn}, s")
            if theirs is not None:
                found[f"kl / terraform, {turn}"] = found[f"kl refresh, {turn}, s"] / theirs
        _codecs(found, at)
    return found


def _beyond_the_calls(found: dict[str, float], at: Refreshing, document: Json, size: int) -> None:
    """Take later refreshes in turn with the calls that they make: a machine's pace changes."""
    calls = Calls.prepare(at, document)
    rounds: list[dict[str, float]] = []

    def refresh(one: dict[str, float]) -> None:
        with _timed(one, "kl refresh, later"):
            at.refresh("--parallelism", str(PARALLELISM))

    def call(one: dict[str, float]) -> None:
        with _no_cycles_sought(), _timed(one, "the provider's calls alone"):
            asyncio.run(calls.make(PARALLELISM))

    for number in range(ROUNDS if size <= TWICE_UP_TO else 1):
        one: dict[str, float] = {}
        for turn in (refresh, call) if number % 2 == 0 else (call, refresh):
            turn(one)
        for unit in ("s", "CPU s"):
            one[f"later kl refresh beyond the calls, {unit}"] = (
                one[f"kl refresh, later, {unit}"] - one[f"the provider's calls alone, {unit}"]
            )
        rounds.append(one)
    for name in rounds[0]:
        found[name] = statistics.median(one[name] for one in rounds)


@contextmanager
def _timed(found: dict[str, float], name: str) -> Iterator[None]:
    """Note wall time, and CPU time: our own, and of the programs that were run and have ended."""
    before, start = _cpu(), time.perf_counter()
    yield
    found[f"{name}, s"] = time.perf_counter() - start
    found[f"{name}, CPU s"] = _cpu() - before


@contextmanager
def _no_cycles_sought() -> Iterator[None]:
    """Keep this process, which is large, from looking through its memory: `kl` hardly does."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _cpu() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _document(cloud: str, size: int) -> Json:
    iam = boto3.client(
        "iam",
        endpoint_url=cloud,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )

    def made(number: int) -> Json:
        group = iam.create_group(GroupName=f"g{number}")["Group"]
        attributes = {
            "arn": group["Arn"],
            "id": group["GroupName"],
            "name": group["GroupName"],
            "path": group["Path"],
            "unique_id": group["GroupId"],
        }
        return {
            "index_key": number,
            "schema_version": 0,
            "attributes": attributes,
            "sensitive_attributes": [],
            "private": "bnVsbA==",
        }

    with ThreadPoolExecutor(8) as pool:
        instances = list(pool.map(made, range(size)))
    block = {"mode": "managed", "type": "aws_iam_group", "name": "g", "provider": PROVIDER}
    return {
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": 1,
        "lineage": "bench-refresh",
        "outputs": {},
        "resources": [block | {"instances": instances}],
        "check_results": None,
    }


def _first(document: Json) -> list[Json]:
    (block,) = document["resources"]
    return [block | {"instances": block["instances"][:1]}]


def _forget_schemas(at: Refreshing) -> None:
    """Empty the cache, which configuring has filled."""
    at.served.query(
        "with gone as (delete from kl_internal.provider_schemas returning id) select from gone",
        user="postgres",
    )


def _terraform(folder: Path, mirror: Path, program: str, cloud: str, document: Json) -> Terraform:
    (block,) = document["resources"]
    terraform = Terraform(
        folder, program, cli_configuration=cli_configuration(mirror), timeout=PATIENCE
    )
    terraform.write(provider_block(cloud), "provider.tf")
    terraform.write(
        f'resource "aws_iam_group" "g" {{\n  count = {len(block["instances"])}\n'
        '  name  = "g${count.index}"\n}\n'
    )
    terraform.write(json.dumps(document), "terraform.tfstate")
    terraform("init")
    return terraform


def _codecs(found: dict[str, float], at: Refreshing) -> None:
    """Note how many instances of real types go through the codec in a second, out and back."""
    for type_, schema in sorted(resource_schemas(at, TYPES).items()):
        codec = Codec(schema)
        text = codec.canonical(_filled(json.loads(schema)["block"]))
        found[f"codec, {type_}, instances / s"] = _rate(
            lambda codec=codec, text=text: codec.decode(codec.encode(text))  # type: ignore[misc]
        )


def _filled(block: Json) -> bytes:
    """Return attributes with a value wherever a plain one fits: more than a real object has."""
    values: dict[str, Any] = {"string": "a value of some length", "number": 8080, "bool": True}
    values |= {'["map","string"]': {"Name": "x", "team": "y"}, '["set","string"]': ["a", "b"]}
    values['["list","string"]'] = ["a", "b"]

    def one(inner: Json) -> Json:
        made = {
            a["name"]: values.get(
                a["type"]
                if isinstance(a["type"], str)
                else json.dumps(a["type"], separators=(",", ":"))
            )
            for a in inner["attributes"]
            if "type" in a and not a.get("write_only")
        }
        for b in inner["block_types"]:
            single = b["nesting"] in ("SINGLE", "GROUP")
            made[b["type_name"]] = one(b["block"]) if single else [one(b["block"])]
        return made

    return msgspec.json.encode(one(block))


def _rate(work: Callable[[], object]) -> float:
    rounds, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < 1:
        work()
        rounds += 1
    return rounds / spent
