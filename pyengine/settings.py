"""Settings from flags, KL_* variables, .kl.toml, the Terraform backend block, defaults."""

import getpass
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args
from urllib.parse import unquote, urlsplit

from pyengine.backend_block import discover
from pyengine.errors import KilolockError

DEFAULT_LISTEN: Final = "127.0.0.1:8080"
DEFAULT_MAX_BODY: Final = 1 << 30
DEFAULT_QUERY_SECONDS: Final = 10
SYSTEM_DATA_DIR: Final = Path("/var/lib/kilolock")

_ENV: Final = {
    "database_url": "KL_DATABASE_URL",
    "query_url": "KL_QUERY_URL",
    "query_seconds": "KL_QUERY_SECONDS",
    "data_dir": "KL_DATA_DIR",
    "listen_addr": "KL_LISTEN_ADDR",
    "state_url": "KL_STATE_URL",
    "token": "KL_TOKEN",
    "protocol": "KL_PROTOCOL",
    "max_body_bytes": "KL_MAX_BODY",
    "actor": "KL_ACTOR",
    "auth": "KL_AUTH",
    "static_token": "KL_STATIC_TOKEN",
    "tls_cert": "KL_TLS_CERT",
    "tls_key": "KL_TLS_KEY",
}
_SECRETS: Final = ("token", "static_token")
_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_LOOPBACK: Final = ("localhost", "::1")

Auth = Literal["open", "static", "database"]
Source = Literal["flag", "env", "file", "backend", "default"]
_RANK: Final[tuple[Source, ...]] = ("flag", "env", "file", "backend", "default")


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of both programs. `sources` tells where each value came from."""

    data_dir: Path
    listen_addr: str = DEFAULT_LISTEN
    database_url: str | None = field(default=None, repr=False)
    query_url: str | None = field(default=None, repr=False)
    query_seconds: int = DEFAULT_QUERY_SECONDS
    state_url: str | None = None
    token: str | None = field(default=None, repr=False)
    protocol: str = "state-engine"
    max_body_bytes: int = DEFAULT_MAX_BODY
    actor: str = "unknown@cli"
    auth: Auth = "open"
    static_token: str | None = field(default=None, repr=False)
    tls_cert: str | None = None
    tls_key: str | None = None
    sources: Mapping[str, Source] = field(default_factory=dict, repr=False)

    @property
    def transport(self) -> Literal["sql", "http"]:
        """Return how `kl` reaches states: by the nearer named of database and URL."""
        sql = min(self._rank("database_url"), self._rank("data_dir"))
        http = self._rank("state_url") if self.state_url else len(_RANK)
        if http < sql:
            return "http"
        return "sql"

    @property
    def query_transport(self) -> Literal["sql", "http"]:
        """Return how `kl query` asks: through the login of `query_url` where that is nearer."""
        if self.query_url and self._rank("query_url") <= self._rank("state_url"):
            return "sql"
        return self.transport

    @property
    def embedded(self) -> bool:
        """Tell whether the database is the embedded one of `data_dir`."""
        return self.database_url is None or self._rank("data_dir") < self._rank("database_url")

    @property
    def database_conninfo(self) -> str:
        """Return `database_url`, which must be set. Raises `invalid_configuration`."""
        assert self.database_url is not None
        return self._readable("database_url", self.database_url)

    @property
    def query_conninfo(self) -> str | None:
        """Return `query_url`, if it is set. Raises `invalid_configuration`."""
        return None if self.query_url is None else self._readable("query_url", self.query_url)

    @property
    def listen(self) -> tuple[str, int]:
        """Return host and port of `listen_addr`."""
        return parse_listen(self.listen_addr)

    def _readable(self, key: str, url: str) -> str:
        from pyengine.db import checked_conninfo  # loads psycopg, which HTTP does without

        places = {"flag": f"--{key.replace('_', '-')}", "file": f"{key} in .kl.toml"}
        return checked_conninfo(url, places.get(self.sources.get(key, "env"), _ENV[key]))

    def _rank(self, key: str) -> int:
        return _RANK.index(self.sources.get(key, "default"))


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Settings:
    """Gather the settings; a None flag is a flag not given. Raises `invalid_configuration`."""
    env = os.environ if env is None else env
    cwd = Path.cwd() if cwd is None else cwd
    layers: list[tuple[Source, dict[str, Any]]] = [
        ("flag", {k: v for k, v in (flags or {}).items() if v is not None}),
        ("env", {key: env[name] for key, name in _ENV.items() if env.get(name)}),
        ("file", _read_file(cwd, env)),
        ("backend", {}),
    ]
    if not any("state_url" in values for _, values in layers):
        layers[3] = ("backend", discover(cwd, env))
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for source, layer in layers:
        for key, value in layer.items():
            if key not in values:
                values[key], sources[key] = value, source
    return Settings(
        database_url=_optional(values, "database_url"),
        query_url=_optional(values, "query_url"),
        query_seconds=_seconds(values.get("query_seconds", DEFAULT_QUERY_SECONDS)),
        data_dir=_data_dir(values.get("data_dir")),
        listen_addr=_checked_listen(str(values.get("listen_addr", DEFAULT_LISTEN))),
        state_url=_optional(values, "state_url"),
        token=_optional(values, "token"),
        protocol=str(values.get("protocol", "state-engine")),
        max_body_bytes=parse_size(values.get("max_body_bytes", DEFAULT_MAX_BODY)),
        actor=str(values.get("actor") or _default_actor(env)),
        auth=_checked_auth(values),
        static_token=_optional(values, "static_token"),
        tls_cert=_optional(values, "tls_cert"),
        tls_key=_optional(values, "tls_key"),
        sources=sources,
    )


def parse_listen(text: str) -> tuple[str, int]:
    """Split HOST:PORT, [IPV6]:PORT or :PORT (loopback). Raises `invalid_configuration`."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not colon or not port.isdecimal() or int(port) > 65535 or (":" in host and "[" not in text):
        raise _invalid(f"listen address {text!r} is not HOST:PORT")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches `host`."""
    return host in _LOOPBACK or re.fullmatch(r"127(\.\d+){3}", host) is not None


def parse_size(value: int | str) -> int:
    """Return bytes from a number, or a number with K, M or G (powers of 1024)."""
    match = re.fullmatch(r"\s*(\d+)\s*([kmg]?)(?:i?b)?\s*", str(value).lower())
    if match is None:
        raise _invalid(f"size {value!r} is not a number of bytes, such as 1073741824 or 1G")
    return int(match[1]) * _UNITS[match[2]]


def _seconds(value: int | str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,3}", str(value)):
        raise _invalid(f"KL_QUERY_SECONDS {value!r} is not a number of seconds from 1 to 9999")
    return int(value)


def split_state_url(url: str) -> tuple[str, str]:
    """Split a state URL into the server's base URL and the state's name, unescaped once."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # is read here
    except ValueError:
        raise _wrong_state_url(url) from None  # its words repeat the URL
    base, found, name = parts.path.partition("/v1/states/")
    if parts.scheme not in ("http", "https") or not parts.netloc or not found or not name:
        raise _wrong_state_url(url)
    return f"{parts.scheme}://{parts.netloc}{base}", unquote(name)


def _wrong_state_url(url: str) -> KilolockError:
    shown = url.rpartition("@")[2].partition("?")[0]  # the rest may name a password
    return _invalid(f"state URL {shown!r} is not http(s)://HOST/v1/states/NAME")


def default_data_dir() -> Path:
    """Return the embedded database's folder; for root one that another user can reach."""
    if os.geteuid() == 0:
        return SYSTEM_DATA_DIR
    import platformdirs  # most commands are told the folder

    return Path(platformdirs.user_data_dir("kilolock", appauthor=False))


def _read_file(cwd: Path, env: Mapping[str, str]) -> dict[str, Any]:
    path = _find_file(cwd)
    if path is None:
        return {}
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise _invalid(f"{path}: {exc}") from exc
    auth = document.pop("auth", {})
    known = {key: value for key, value in document.items() if key in _ENV and key not in _SECRETS}
    unknown = sorted(set(document) - set(known))
    if unknown:
        raise _invalid(f"{path}: unknown or misplaced setting {unknown[0]!r}")
    if not isinstance(auth, dict) or set(auth) - {"token_env"}:
        raise _invalid(f"{path}: [auth] takes token_env, the name of a variable")
    if "data_dir" in known:
        known["data_dir"] = path.parent / Path(str(known["data_dir"])).expanduser()
    token = env.get(str(auth["token_env"])) if "token_env" in auth else None
    return known | ({"token": token} if token else {})


def _find_file(cwd: Path) -> Path | None:
    for folder in (cwd, *cwd.parents):
        candidate = folder / ".kl.toml"
        if candidate.is_file():
            return candidate
        if (folder / ".git").exists():
            return None
    return None


def _data_dir(value: str | Path | None) -> Path:
    path = default_data_dir() if value is None else Path(value).expanduser()
    return Path(os.path.abspath(path))  # noqa: PTH100 - not resolve(): a link stays a link


def _default_actor(env: Mapping[str, str]) -> str:
    return f"{env.get('USER') or env.get('LOGNAME') or _login()}@cli"


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no account has our number
        return "unknown"


def _optional(values: Mapping[str, Any], key: str) -> str | None:
    value = values.get(key)
    return None if value is None else str(value)


def _checked_auth(values: Mapping[str, Any]) -> Auth:
    auth = values.get("auth", "open")
    if auth not in get_args(Auth):
        raise _invalid(f"auth {auth!r} is none of {', '.join(get_args(Auth))}")
    if auth == "static" and not values.get("static_token"):
        raise _invalid("auth static needs the token in KL_STATIC_TOKEN")
    if bool(values.get("tls_cert")) != bool(values.get("tls_key")):
        raise _invalid("TLS needs both a certificate and its key")
    return cast("Auth", auth)


def _checked_listen(text: str) -> str:
    parse_listen(text)
    return text


def _invalid(message: str) -> KilolockError:
    return KilolockError("invalid_configuration", message)
