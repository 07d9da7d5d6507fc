"""Whole states through a real server, at three sizes, beside the same bytes as one jsonb value.

Prints a table, saves it as JSON. KL_BENCH_SIZES names the sizes; ratios are of one run.
"""

import gzip
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest

from cli.output import print_table
from pyengine import embedded_host
from tests.acceptance.large import write_state
from tests.acceptance.programs import (
    Served,
    Terraform,
    backend,
    conninfo,
    find_terraform,
    serving,
)

pytestmark = pytest.mark.bench

SIZES = tuple(
    int(size) for size in os.environ.get("KL_BENCH_SIZES", "1000,10000,100000").split(",")
)
RESULTS = Path(__file__).parents[2] / "bench-results" / "states.json"
_MIB = 1 << 20
_CHUNK = 1 << 20


def test_states() -> None:
    """Measure each size on a server of its own."""
    measured = {size: _measure(size) for size in SIZES}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(measured, indent=2) + "\n")
    names = list(measured[SIZES[0]])
    rows = [(name, *(f"{measured[size].get(name, 0):.2f}" for size in SIZES)) for name in names]
    print_table(("", *(f"{size:,}" for size in SIZES)), rows)


def _measure(size: int) -> dict[str, float]:
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="kl-", dir="/tmp") as name:
        folder = Path(name)
        first, second = folder / "first.json", folder / "second.json"
        write_state(first, size)
        write_state(second, size, serial=2, changed=size // 2)
        found["body, MiB"] = first.stat().st_size / _MIB
        with serving(folder / "data") as served:
            with _jsonb(served, first) as (insert, select):
                # Read before, as the insert's is: the file is no part of either.
                _posts(served, found, size, first.read_bytes(), second.read_bytes(), insert)
                _gets(served, found, size, select)
            _terraform(served, found, folder, first)
        with serving(folder / "data") as served:
            _first_get(served, found)
        _ratios(found)
    return found


def _posts(
    served: Served,
    found: dict[str, float],
    size: int,
    first: bytes,
    second: bytes,
    insert: Callable[[], None],
) -> None:
    """First and later POSTs and the same body as jsonb, side by side: the load may change."""
    with _client(served) as (client, path):

        def post(body: bytes) -> None:
            _request(client, "POST", path, body)

        post(first)  # what a first request of a session compiles is not of interest
        insert()
        rounds: list[dict[str, float]] = []
        for number in range(_rounds(size)):
            one: dict[str, float] = {}
            _request(client, "DELETE", path)
            _cost(served, one, "jsonb insert", insert)
            before = _disk(served)
            with _peak(served) as peak:
                _cost(served, one, "first POST", lambda: post(first))
            if number == 0:
                found["bytes on disk of the first version, MiB"] = (_disk(served) - before) / _MIB
                found["server memory over idle, POST, MiB"] = peak()
            one["POST again, no change, s"] = _timed(lambda: post(first))
            before = _disk(served)
            one["POST again, one change, s"] = _timed(lambda: post(second))
            if number == 0:
                found["bytes on disk of one change, MiB"] = (_disk(served) - before) / _MIB
            rounds.append(one)
        for name in rounds[0]:
            found[name] = statistics.median(one[name] for one in rounds)


def _gets(served: Served, found: dict[str, float], size: int, select: Callable[[], None]) -> None:
    with _client(served) as (client, path):
        gets, selects = [], []
        for _ in range(_rounds(size)):
            selects.append(_timed(select))
            gets.append(_get(client, path, "identity"))
        found["GET, first byte, s"] = statistics.median(begun for _, begun in gets)
        found["GET, whole, s"] = statistics.median(whole for whole, _ in gets)
        found["GET, whole, gzip, s"] = _get(client, path, "gzip")[0]
        found["jsonb select, s"] = statistics.median(selects)


def _rounds(size: int) -> int:
    return 15 if size <= 1000 else 5 if size < 100_000 else 3


@contextmanager
def _client(served: Served) -> Iterator[tuple[HTTPConnection, str]]:
    """Lend a connection, and the path of the state that is measured."""
    url = urlsplit(served.state_url("bench"))
    assert url.hostname is not None
    # httpx would take seconds of the two cores to send a large body.
    with closing(HTTPConnection(url.hostname, url.port, timeout=600)) as client:
        yield client, url.path


def _first_get(served: Served, found: dict[str, float]) -> None:
    """What a GET takes of a server that has done nothing yet: no memory is left over to use."""
    with _client(served) as (client, path), _peak(served) as peak:
        _get(client, path, "identity")
    found["server memory over idle, GET, MiB"] = peak()


def _request(client: HTTPConnection, method: str, path: str, body: bytes | None = None) -> None:
    client.request(method, path, body)
    answer = client.getresponse()
    text = answer.read()
    assert answer.status == 200, text


def _get(client: HTTPConnection, path: str, coding: str) -> tuple[float, float]:
    """Return seconds to the last and to the first byte; the document is checked to be whole."""
    start = time.perf_counter()
    client.request("GET", path, headers={"Accept-Encoding": coding})
    answer = client.getresponse()
    parts = [answer.read1(_CHUNK)]
    begun = time.perf_counter() - start
    while part := answer.read1(_CHUNK):
        parts.append(part)
    taken = time.perf_counter() - start
    assert answer.status == 200
    body = b"".join(parts)
    assert (gzip.decompress(body) if coding == "gzip" else body).endswith(b"}\n")
    return taken, begun


@contextmanager
def _jsonb(served: Served, path: Path) -> Iterator[tuple[Callable[[], None], Callable[[], None]]]:
    """The same body as one jsonb value: chunks by COPY, aggregated, cast, inserted; and read."""
    body = path.read_bytes()
    with psycopg.connect(conninfo(served.data_dir, "postgres"), autocommit=True) as conn:
        conn.execute("create unlogged table public.chunks (n int, chunk bytea)")
        conn.execute("create table public.bodies (body jsonb)")

        def insert() -> None:
            conn.execute("truncate public.chunks")
            with conn.cursor().copy("copy public.chunks from stdin (format binary)") as copy:
                copy.set_types(["int4", "bytea"])
                for start in range(0, len(body), _CHUNK):
                    copy.write_row((start // _CHUNK, body[start : start + _CHUNK]))
            conn.execute(
                "insert into public.bodies select convert_from("
                "string_agg(chunk, ''::bytea order by n), 'UTF8')::jsonb from public.chunks"
            )

        def select() -> None:
            conn.execute("select body::text from public.bodies limit 1").fetchone()

        yield insert, select
        conn.execute("drop table public.chunks, public.bodies")


def _terraform(served: Served, found: dict[str, float], folder: Path, path: Path) -> None:
    """Terraform's whole commands: our backend, and its own pg backend on the same PostgreSQL."""
    program = find_terraform()
    if program is None:
        return
    socket = psycopg.conninfo.conninfo_to_dict(conninfo(served.data_dir, "postgres"))["host"]
    url = f"postgres://postgres@/kilolock?host={socket}&sslmode=disable"
    pg = f'terraform {{\n  backend "pg" {{\n    conn_str = "{url}"\n  }}\n}}\n'
    for name, text in (("kilolock", backend(served, "terraform")), ("pg backend", pg)):
        terraform = Terraform(folder / name.replace(" ", "-"), program)
        terraform.write(text)
        terraform("init")
        found[f"terraform state push, {name}, s"] = _timed(
            lambda terraform=terraform: terraform("state", "push", str(path))
        )
        found[f"terraform state pull, {name}, s"] = _timed(
            lambda terraform=terraform: terraform("state", "pull")
        )


def _ratios(found: dict[str, float]) -> None:
    first = found["first POST, s"]
    found["first POST / jsonb insert"] = first / found["jsonb insert, s"]
    found["one change / first POST"] = found["POST again, one change, s"] / first
    found["GET / jsonb select"] = found["GET, whole, s"] / found["jsonb select, s"]
    found["POST memory / body"] = found["server memory over idle, POST, MiB"] / found["body, MiB"]


def _disk(served: Served) -> int:
    size = served.query(
        "select sum(pg_total_relation_size(c.oid))::int8 from pg_class as c "
        "join pg_namespace as n on n.oid = c.relnamespace "
        "where n.nspname = 'kl_internal' and c.relkind = 'r' and c.relpersistence = 'p'",
        user="postgres",
    )
    return int(size[0][0])


def _cost(served: Served, found: dict[str, float], name: str, work: Callable[[], Any]) -> None:
    """Note seconds on the clock, and seconds of processors in the server and in PostgreSQL."""
    before = _used(served)
    found[f"{name}, s"] = _timed(work)
    found[f"{name}, s of processors"] = _used(served) - before


def _used(served: Served) -> float:
    postmaster = embedded_host.read_postmaster(served.data_dir / "pgdata")
    assert postmaster is not None
    parents = [psutil.Process(postmaster.pid), psutil.Process(served.process.pid)]
    times = [p.cpu_times() for p in (*parents, *parents[0].children(recursive=True))]
    ended = times[0].children_user + times[0].children_system
    return sum(t.user + t.system for t in times) + ended


def _timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def _peak(served: Served) -> Iterator[Callable[[], float]]:
    """Watch the server's memory; afterwards, the MiB by which it rose above where it was."""
    process = psutil.Process(served.process.pid)
    idle = process.memory_info().rss
    seen, done = [idle], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            seen.append(process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: (max(seen) - idle) / _MIB
    finally:
        done.set()
        watcher.join()
