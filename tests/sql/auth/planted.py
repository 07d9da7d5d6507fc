"""Two environments: one full of things to find, one empty, and callers with a right to neither."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from tests.clusters import Cluster, Connection, Database
from tests.documents import BUILTIN, ENCRYPTED, LINEAGE, instance, lock_info, resource, state
from tests.sql.staging import Upload, stage, write

MARK: Final = "mk7q"
ADDRESS: Final = f"terraform_data.{MARK}a"
LOCK: Final = lock_info(f"{MARK}-lock", Who=f"{MARK}-who", Info=f"{MARK}-info")
LIMITED: Final = "kl_test_limited"
SEALED: Final = ENCRYPTED.replace(LINEAGE.encode(), f"{MARK}-lineage".encode())


@dataclass(frozen=True)
class Caller:
    """A login, and the settings that a server gives its session."""

    name: str
    login: str
    token: str = ""
    auth: str = ""


@dataclass(frozen=True)
class World:
    """A database, what is planted in it, and who comes to look for it."""

    database: Database
    environment: str
    ids: Mapping[str, str]
    upload: Upload
    foreign: tuple[Caller, ...]
    admin: Caller
    reader: Caller
    addresses: tuple[str, ...] = (ADDRESS, f"terraform_data.{MARK}b", f"output.{MARK}o")

    @property
    def state(self) -> str:
        """Return the full name of the state."""
        return f"{self.environment}/{MARK}-name"

    def connect(self, caller: Caller) -> Connection:
        """Open the session that a caller has."""
        options = f"-c kl.auth={caller.auth}" if caller.auth else ""
        conn = psycopg.connect(
            self.database.conninfo(caller.login), autocommit=True, options=options
        )
        conn.execute("select set_config('kl.token', %s, false)", (caller.token,))
        return conn


def document(name: str, serial: int) -> dict[str, Any]:
    """Return a document with a mark in every place there is, that reads its own outputs."""
    one = instance(
        {"id": f"{MARK}-id{serial}", "password": f"{MARK}-password"},
        sensitive_attributes=[[{"type": "get_attr", "value": "password"}]],
        private="bWs3cQ==",
        identity={"id": f"{MARK}-identity"},
        dependencies=[f"terraform_data.{MARK}b"],
    )
    address = f"https://states.example/v1/states/{name}"
    config = {"value": {"address": address}, "type": ["object", {"address": "string"}]}
    read = instance({"backend": "http", "config": config, "outputs": None})
    return state(
        serial,
        resource(f"{MARK}a", one),
        resource(f"{MARK}b"),
        resource(f"{MARK}r", read, mode="data", type="terraform_remote_state"),
        lineage=f"{MARK}-lineage",
        outputs={f"{MARK}o": {"value": f"{MARK}-output", "type": "string"}},
    )


def ensure_limited(root: Connection) -> None:
    """Make the analyst's login that environments can be shut to, once per cluster."""
    if not root.execute("select 1 from pg_roles where rolname = %s", (LIMITED,)).fetchone():
        root.execute(f"create role {LIMITED} login in role kl_analyst".encode())


@contextmanager
def planted(cluster: Cluster) -> Iterator[World]:
    """Lend the world on a database of its own."""
    with cluster.clone() as database, database.connect("postgres") as root:
        ensure_limited(root)
        theirs, ours = (_environment(root, name) for name in ("theirs", "ours"))
        root.execute("select kl.limit_analyst(%s, %s)", (LIMITED, [ours]))
        name = f"{theirs}/{MARK}-name"
        with database.connect() as server:
            write(server, name, document(name, 1))
            stage(server, document(name, 2)).import_(name, "refresh")
            server.execute("select kl.set_tag(%s, %s)", (name, f"{MARK}-tag"))
            server.execute(
                "select kl.configure_provider(%s, %s, %s)",
                (name, BUILTIN, json.dumps({"token": f"{MARK}-config"})),
            )
            server.execute("select kl.lock_state(%s, %s)", (name, json.dumps(LOCK)))
            sealed = write(server, f"{name}-sealed", SEALED)
            upload = stage(server, document(name, 3))
        ids = plant_runs(root)
        everything = ["state:read", "state:write", "outputs:read", "admin"]
        expired = _token(root, theirs, everything, lifetime="-1 second")
        revoked = _token(root, theirs, everything)
        root.execute("select kl.revoke_token(%s)", (revoked,))
        other = _token(root, theirs, everything, prefix="other")
        yield World(
            database,
            theirs,
            ids | {"upload": str(upload.id), "sealed": str(sealed.version_id)},
            upload,
            foreign=(
                _by_token("other environment", _token(root, ours, everything)),
                _by_token("other prefix", other),
                _by_token("expired", expired),
                _by_token("revoked", revoked),
                _by_token("unknown", "kl_0"),
                _by_token("no token", ""),
                _by_token("outputs only", _token(root, theirs, ["outputs:read"])),
                Caller("limited analyst", LIMITED),
            ),
            admin=Caller("admin", "kl_server", auth="open"),
            reader=_by_token("reader", _token(root, theirs, ["state:read"])),
        )


def _by_token(name: str, token: str) -> Caller:
    return Caller(name, "kl_server", token, "database")


def _environment(root: Connection, name: str) -> str:
    root.execute("select kl.create_workspace(%s)", (name,))
    return _text(root, "select kl.create_environment(%s, %s)", name, name)


def _token(
    root: Connection,
    environment: str,
    scopes: list[str],
    *,
    prefix: str | None = None,
    lifetime: str | None = None,
) -> str:
    return _text(
        root,
        "select token from kl.create_token(p_name => gen_random_uuid()::text, p_scopes => %s,"
        " p_environment => %s, p_state_prefix => %s, p_lifetime => %s::interval)",
        scopes,
        environment,
        prefix,
        lifetime,
    )


def plant_runs(root: Connection) -> dict[str, str]:
    """Plant runs, a reservation, a native lock; return every id of the state with 2 versions."""
    row = root.execute(
        "with version as ("
        "  select v.* from kl_internal.state_versions as v where v.version_no = 2"
        "), apply as ("
        "  insert into kl_internal.apply_runs"
        "  (state_id, from_version_id, principal, actor, error_summary, started_at)"
        "  select v.state_id, v.id, 'kl_server', %(mark)s, %(mark)s, now() from version as v"
        "  returning id, state_id"
        "), refresh as ("
        "  insert into kl_internal.refresh_runs (state_id, from_version_id, actor, error_summary)"
        "  select v.state_id, v.id, %(mark)s, %(mark)s from version as v returning id"
        "), native_lock as ("
        "  insert into kl_internal.state_locks"
        "  (state_id, kind, lock_id, lock_info, who, principal, apply_id, acquired_at)"
        "  select a.state_id, 'native', 'state-engine-' || a.id, '{}', %(mark)s, %(mark)s, a.id,"
        "  now() from apply as a"
        "), reservation as ("
        "  insert into kl_internal.resource_reservations"
        "  (state_id, apply_id, address_glob, mode, principal, acquired_at, expires_at,"
        "  path, scope, occupancy)"
        "  select a.state_id, a.id, %(mark)s, 'write', %(mark)s, now(), now() + interval '1 day',"
        "  '', kl_internal.scope_range(''), '(,)'"
        "  from apply as a"
        ") select v.state_id, v.id, a.id, r.id from version as v, apply as a, refresh as r",
        {"mark": MARK},
    ).fetchone()
    assert row is not None
    return dict(zip(("state", "version", "apply", "refresh"), map(str, row), strict=True))


def _text(conn: Connection, query: str, *values: Any) -> str:  # noqa: ANN401 - any parameter
    row = conn.execute(query.encode(), values).fetchone()
    assert row is not None
    return str(row[0])
