"""What the embedded PostgreSQL needs of the operating system: a user, permissions, locks."""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from msgspec import Struct

from pyengine.errors import KilolockError

SYSTEM_USER: Final = "kilolock"
_SOCKET_NAME: Final = "/.s.PGSQL.5432"
_SOCKET_PATH_MAX: Final = 100  # sun_path holds 104 bytes on the strictest system
_POLL_SECONDS: Final = 0.02


class RunAs(Struct, frozen=True):
    """The user PostgreSQL runs as; `change` tells that it is not our own."""

    uid: int
    gid: int
    change: bool


class FileLock:
    """An flock on one open file: the kernel drops it when the process dies, however it dies."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    async def acquire(self, *, exclusive: bool, timeout_seconds: int) -> bool:
        """Take or convert the lock, waiting up to `timeout_seconds`; tell whether we have it."""
        operation = (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB
        deadline = time.monotonic() + timeout_seconds
        while True:
            try:
                fcntl.flock(self._fd, operation)
                return True
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
            await asyncio.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Release the lock and the file."""
        os.close(self._fd)


class Postmaster(Struct, frozen=True):
    """A running server, as its postmaster.pid tells."""

    pid: int
    socket_dir: Path
    ready: bool


def read_postmaster(pgdata: Path) -> Postmaster | None:
    """Return the server running on `pgdata`; None when none is, whatever file a crash left."""
    try:
        lines = (pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        pid = int(lines[0])
        # After a restart of the machine the number may belong to another program.
        if not _folder_of(pid).samefile(pgdata):
            return None
    except (OSError, ValueError, IndexError):
        return None
    ready = len(lines) > 7 and lines[7].strip() in ("ready", "standby")
    return Postmaster(pid, Path(lines[4]) if len(lines) > 4 else Path(), ready)


def _folder_of(pid: int) -> Path:
    """Return where a process works. Raises OSError where there is none that we may look at."""
    if Path("/proc/self/cwd").exists():
        return Path(f"/proc/{pid}/cwd").readlink()
    import psutil  # every command would wait for it, and only systems without /proc need it

    try:
        return Path(psutil.Process(pid).cwd())
    except psutil.Error as exc:
        raise OSError(str(exc)) from exc


async def run_as(pgdata: Path) -> RunAs:
    """Return our own user; as root, the owner of `pgdata`, or a system user, made when missing."""
    if os.geteuid() != 0:
        return RunAs(os.geteuid(), os.getegid(), change=False)
    with contextlib.suppress(FileNotFoundError):
        info = pgdata.stat()
        return RunAs(info.st_uid, info.st_gid, change=True)
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        await _add_user()
        entry = pwd.getpwnam(SYSTEM_USER)
    return RunAs(entry.pw_uid, entry.pw_gid, change=True)


async def _add_user() -> None:
    if shutil.which("useradd"):
        words = ["useradd", "--system", "--user-group", "--no-create-home"]
        words += ["--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", SYSTEM_USER]
    else:
        words = ["adduser", "-S", "-D", "-H", "-s", "/sbin/nologin", SYSTEM_USER]
    try:
        done = await asyncio.to_thread(
            subprocess.run, words, check=False, stdin=subprocess.DEVNULL, capture_output=True
        )
    except OSError as exc:
        raise _no_user(str(exc)) from exc
    try:
        pwd.getpwnam(SYSTEM_USER)  # somebody else may have made it meanwhile
    except KeyError as exc:
        raise _no_user(done.stderr.decode(errors="replace").strip()) from exc


def make_folder(path: Path, user: RunAs) -> None:
    """Make `path`, or correct it, to be the server's alone."""
    path.mkdir(mode=0o700, exist_ok=True)
    if user.change:
        os.chown(path, user.uid, user.gid)
    path.chmod(0o700)


def let_search(path: Path, user: RunAs) -> None:
    """Let the server pass through `path` and its parents: search permission, never read."""
    if not user.change:
        return
    for folder in (path, *path.parents):
        info = folder.stat()
        if not _may(info, user, stat.S_IXOTH):
            folder.chmod(stat.S_IMODE(info.st_mode) | stat.S_IXOTH)


def let_execute(installation: Path, user: RunAs) -> None:
    """Let the server run the PostgreSQL installed below `installation`, whatever umask made it."""
    if not user.change:
        return
    let_search(installation.parent, user)
    for folder, _, names in os.walk(installation):
        here = Path(folder)
        for path in (here, *(here / name for name in names)):
            info = path.stat()
            wanted = stat.S_IROTH | (stat.S_IXOTH if info.st_mode & stat.S_IXUSR else 0)
            if not _may(info, user, wanted):
                path.chmod(stat.S_IMODE(info.st_mode) | wanted)


def choose_socket_dir(data_dir: Path, user: RunAs) -> Path:
    """Make a private folder for the socket: in `data_dir`, or elsewhere when that is too long."""
    wanted = data_dir / "socket"
    if len(os.fsencode(wanted)) + len(_SOCKET_NAME) > _SOCKET_PATH_MAX:
        digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
        base = Path("/run" if user.change else os.environ.get("XDG_RUNTIME_DIR", ""))
        if not base.is_absolute() or not os.access(base, os.W_OK):
            base = Path(tempfile.gettempdir())
        wanted = base / f"kilolock-{user.uid}-{digest}"
        if len(os.fsencode(wanted)) + len(_SOCKET_NAME) > _SOCKET_PATH_MAX:
            wanted = Path("/tmp") / wanted.name  # noqa: S108 - ownership is checked below
        _refuse_foreign(wanted, user)
    make_folder(wanted, user)
    return wanted


def _refuse_foreign(path: Path, user: RunAs) -> None:
    """Refuse a folder that somebody else put where ours belongs."""
    try:
        info = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(info.st_mode) or info.st_uid not in (user.uid, os.geteuid()):
        raise KilolockError("embedded_failed", f"{path} belongs to somebody else; remove it")


def _may(info: os.stat_result, user: RunAs, wanted_of_other: int) -> bool:
    """Tell whether the mode bits that apply to `user` include those wanted."""
    if info.st_uid == user.uid:
        wanted = wanted_of_other << 6
    elif info.st_gid == user.gid:
        wanted = wanted_of_other << 3
    else:
        wanted = wanted_of_other
    return info.st_mode & wanted == wanted


def _no_user(reason: str) -> KilolockError:
    return KilolockError(
        "embedded_failed",
        f"PostgreSQL does not run as root, and user {SYSTEM_USER} cannot be made: {reason};"
        " make that user, run as another one, or set KL_DATABASE_URL",
    )
