"""A state with a secret of its own in every place that can hold one."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tests.clusters import Cluster, Connection
from tests.documents import Json, instance, lock_info, resource, state
from tests.sql.auth.planted import MARK, Caller, World, plant_runs
from tests.sql.staging import stage, write

SECRET: Final = "zq9"
NUMBER: Final = 907134
PUBLIC: Final = "seen7"
ANALYST: Final = Caller("analyst", "kl_query")


def attr(name: str) -> Json:
    """Return a step to an attribute."""
    return {"type": "get_attr", "value": name}


def index(key: int | str) -> Json:
    """Return a step to an element."""
    kind = "number" if isinstance(key, int) else "string"
    return {"type": "index", "value": {"value": key, "type": kind}}


def secret(place: str) -> str:
    """Return the secret of a place."""
    return f"{SECRET}-{place}"


def attributes(turn: int) -> tuple[Json, list[list[Json]]]:
    """Return attributes with secrets everywhere, and the paths that call them sensitive."""
    values = {
        "id": f"{PUBLIC}-{turn}",
        "password": secret(f"top{turn}"),
        "pin": NUMBER + turn,
        "list": [{"key": secret(f"list{turn}"), "name": PUBLIC}, {"key": None, "name": PUBLIC}],
        "deep": {"a": [{"b": {"c": [secret(f"deep{turn}")], "d": PUBLIC}}]},
        "map": {"k.1": secret(f"map{turn}"), "0": secret(f"zero{turn}"), "open": PUBLIC},
        "set": [{"v": secret(f"set{turn}")}],
        "block": [{"token": secret(f"block{turn}")}],
        "dynamic": {"value": secret(f"dynamic{turn}"), "type": "string"},
        "typed": {
            "value": {"type": secret(f"typed{turn}"), "value": secret(f"value{turn}")},
            "type": ["object", {"type": "string", "value": "string"}],
        },
        "inner": {
            "value": {"a": {"password": secret(f"inner{turn}")}},
            "type": ["object", {"a": ["object", {"password": "string"}]}],
        },
        "gone": None,
        "nul": f"{secret(f'nul{turn}')}\0" if turn == 2 else secret(f"nul{turn}"),
        "scalar": secret(f"scalar{turn}"),
    }
    paths = [
        [attr("password")],
        [attr("pin")],
        [attr("list"), index(0), attr("key")],
        [attr("list"), index(1), attr("key")],
        [attr("deep"), attr("a"), index(0), attr("b"), attr("c"), index(0)],
        [attr("map"), index("k.1")],
        [attr("map"), index("0")],
        [attr("set")],
        [attr("block"), attr("token")],
        [attr("dynamic")],
        [attr("typed"), attr("type")],
        [attr("typed"), attr("value")],
        [attr("inner"), attr("a"), attr("password")],
        [attr("gone"), attr("x")],
        [attr("nowhere"), index(3)],
        [attr("nul")],
        [attr("scalar"), attr("below"), index(0)],
    ]
    return values, paths


def document(name: str, serial: int, turn: int) -> Json:
    """Return a document of a writer that lists what is sensitive."""
    values, paths = attributes(turn)
    full: Json = {
        "sensitive_attributes": paths,
        "private": base64.b64encode(secret(f"private{turn}").encode()).decode(),
        "identity": {"id": secret(f"identity{turn}")},
        "identity_schema_version": 0,
        "future": secret(f"extra{turn}"),
        "dependencies": ["terraform_data.old"],
    }
    flat = instance(attributes_flat={"password": secret(f"flat{turn}")})
    del flat["attributes"]
    address = f"https://u{SECRET}:{secret('url')}@h.example/v1/states/{name}?t={secret('query')}"
    remote = {
        "backend": "http",
        "config": {
            "value": {"address": address, "password": secret("config"), "headers": [SECRET]},
            "type": ["object", {}],
        },
        "defaults": {"value": {"x": secret("default")}, "type": ["object", {}]},
        "outputs": {"value": {"x": secret(f"remote{turn}")}, "type": ["object", {}]},
    }
    return state(
        serial,
        resource(
            "a",
            instance(values, **full),
            instance(values, deposed="0123abcd", **full),
            later=secret(f"header{turn}"),
        ),
        resource("all", instance({"x": secret(f"all{turn}")}, sensitive_attributes=[[]])),
        resource("flat", flat),
        resource("r", instance(remote), mode="data", type="terraform_remote_state"),
        old(),
        *([resource("brief", instance(values, **full))] if turn == 1 else []),
        outputs={
            "secret": {"value": secret(f"output{turn}"), "type": "string", "sensitive": True},
            "object": {
                "value": {"a": secret(f"oo{turn}")},
                "type": ["object", {"a": "string"}],
                "sensitive": True,
            },
            "open": {"value": PUBLIC, "type": "string", "deprecated": secret(f"note{turn}")},
        },
        check_results=[
            {
                "object_kind": "resource",
                "config_addr": "terraform_data.a",
                "status": "fail",
                "objects": [
                    {
                        "object_addr": "terraform_data.a",
                        "status": "fail",
                        "failure_messages": [secret(f"check{turn}")],
                    }
                ],
            }
        ],
        later=secret(f"top-level{turn}"),
    )


def old() -> Json:
    """Return a resource as a writer before 1.8 leaves it; it stays the same ever after."""
    return resource(
        "old",
        instance(
            {"id": secret("old"), "list": [{"x": secret("older")}], "size": 5},
            dependencies=[],
        ),
    )


@contextmanager
def secrets_planted(cluster: Cluster) -> Iterator[World]:
    """Lend a database with the state in it: history, drift, a lock, runs."""
    with cluster.clone() as database, database.connect("postgres") as root:
        environment = _one(root, "select environment from kl.list_environments()")
        name = f"{environment}/{MARK}-name"
        with database.connect() as server:
            write(server, name, state(1, old(), terraform_version="1.7.5"))
            stage(server, document(name, 2, 1)).import_(name, "refresh")
            write(server, name, document(name, 3, 2))
            stage(server, document(name, 4, 3)).import_(name, "refresh")
            server.execute("select kl.set_tag(%s, %s)", (name, f"{MARK}-tag"))
            info = lock_info("lock", Info=secret("info"), Path=secret("path"))
            server.execute("select kl.lock_state(%s, %s)", (name, json.dumps(info)))
            upload = stage(server, document(name, 5, 4))
        ids = plant_runs(root)
        token = _one(
            root, "select token from kl.create_token('x', '{state:read}', null, null, null)"
        )
        yield World(
            database,
            environment,
            ids | {"upload": str(upload.id), "sealed": ids["version"]},
            upload,
            foreign=(),
            admin=Caller("admin", "kl_server", auth="open"),
            reader=Caller("reader", "kl_server", token, "database"),
            addresses=(
                "terraform_data.a",
                "terraform_data.all",
                "terraform_data.flat",
                "terraform_data.old",
                "terraform_data.brief",
                "data.terraform_remote_state.r",
                "output.secret",
            ),
        )


def _one(conn: Connection, query: str) -> Any:  # noqa: ANN401 - whatever is asked for
    row = conn.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]
