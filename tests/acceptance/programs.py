"""kld and terraform, run the way their users run them."""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from pyengine import embedded_host

BIN = Path(sys.executable).parent
_LISTENING = re.compile(r"kilolock: listening on (https?://\S+)\n")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FOREIGN = ("TF_", "KL_", "PG", "AWS_")


def environment(**variables: str) -> dict[str, str]:
    """Return this process's variables without those that configure what is run, plus some."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN)}
    # A large provider spends a quarter of its short life collecting its own garbage.
    return {"GOGC": "400"} | kept | variables


@dataclass(frozen=True)
class Served:
    """A running kld on a data folder of its own."""

    process: subprocess.Popen[str]
    url: str
    data_dir: Path

    def state_url(self, name: str) -> str:
        """Return the address of a state; `name` is already escaped for a URL."""
        return f"{self.url}/v1/states/{name}"

    def query(self, sql: str, *values: Any, user: str = "kl_query") -> list[tuple[Any, ...]]:  # noqa: ANN401 - any parameter
        """Return the rows of a question, asked as an analyst unless told."""
        with psycopg.connect(conninfo(self.data_dir, user), autocommit=True) as conn:
            return conn.execute(sql.encode(), values).fetchall()

    def kld(self, *words: str) -> str:
        """Run another kld command on the same data folder; return what it prints."""
        return run(BIN / "kld", *words, KL_DATA_DIR=str(self.data_dir))

    def kl(self, *words: str) -> str:
        """Run kl on the same data folder; return what it prints."""
        return run(BIN / "kl", *words, KL_DATA_DIR=str(self.data_dir))


def conninfo(data_dir: Path, user: str) -> str:
    """Return how `user` connects to the running embedded database of a data folder."""
    postmaster = embedded_host.read_postmaster(data_dir / "pgdata")
    assert postmaster is not None
    return make_conninfo(host=str(postmaster.socket_dir), port=5432, user=user, dbname="kilolock")


def run(program: Path, *words: str, **variables: str) -> str:
    """Run a program that must succeed; return its standard output."""
    done = subprocess.run(
        [str(program), *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(data_dir: Path, listen: str = "127.0.0.1:0", **variables: str) -> Iterator[Served]:
    """Run `kld serve` until the block ends; lend it once it says where it listens."""
    words = [str(BIN / "kld"), "serve", "--listen", listen, "--data-dir", str(data_dir)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env=environment(**variables)
    ) as process:
        try:
            assert process.stdout is not None
            ready, _, _ = select.select([process.stdout], [], [], 120)
            line = process.stdout.readline() if ready else ""
            match = _LISTENING.fullmatch(line)
            assert match is not None, f"no listening line but {line!r}"
            yield Served(process, match[1], data_dir)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)


@dataclass(frozen=True)
class Done:
    """What a terraform command left behind; colours are taken out."""

    exit_code: int
    out: str
    err: str


@dataclass(frozen=True)
class Running:
    """A terraform command at work."""

    process: subprocess.Popen[str]
    log: Path

    def finish(self) -> Done:
        """Wait for its end; `out` is all it printed."""
        code = self.process.wait(timeout=120)
        return Done(code, _COLOUR.sub("", self.log.read_text(encoding="utf-8")), "")

    def interrupt(self) -> None:
        """Press Ctrl-C on terraform alone."""
        self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End it and what it started, at once."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=60)


@dataclass(frozen=True)
class Terraform:
    """terraform in a folder of its own, with nothing of this machine's configuration."""

    folder: Path
    program: str
    variables: dict[str, str] = field(default_factory=dict)
    cli_configuration: str = ""
    timeout: int = 300

    def __post_init__(self) -> None:
        """Make the folder and the configuration file that keeps others out."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._cli_file.write_text(self.cli_configuration, encoding="utf-8")

    @property
    def _cli_file(self) -> Path:
        return self.folder / "cli.tfrc"

    def write(self, text: str, name: str = "main.tf") -> None:
        """Write a configuration file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def attempt(self, *words: str) -> Done:
        """Run a command whatever its outcome."""
        done = subprocess.run(
            [self.program, *words],
            check=False,
            capture_output=True,
            text=True,
            timeout=self.timeout,
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
        )
        return Done(done.returncode, _COLOUR.sub("", done.stdout), _COLOUR.sub("", done.stderr))

    def __call__(self, *words: str) -> str:
        """Run a command that must succeed; return its standard output."""
        done = self.attempt(*words)
        assert done.exit_code == 0, f"terraform {' '.join(words)}: {done.out}{done.err}"
        return done.out

    @contextmanager
    def running(self, *words: str) -> Iterator["Running"]:
        """Run a command beside the block, in a process group that ends with the block."""
        log = self.folder / "running.log"
        with (
            log.open("w", encoding="utf-8") as output,
            subprocess.Popen(
                [self.program, *words],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
                cwd=self.folder,
                env=self._environment(),
                start_new_session=True,
            ) as process,
        ):
            started = Running(process, log)
            try:
                yield started
            finally:
                started.kill()

    def _environment(self) -> dict[str, str]:
        return environment(
            HOME=str(self.folder),
            TF_CLI_CONFIG_FILE=str(self._cli_file),
            TF_IN_AUTOMATION="1",
            TF_INPUT="0",
            CHECKPOINT_DISABLE="1",
            **self.variables,
        )


def path_without(folder: Path, *programs: str) -> str:
    """Return a PATH with the programs of this one but those, by links in `folder`."""
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        if Path(place).is_dir():
            for program in Path(place).iterdir():
                link = folder / program.name
                if program.name not in programs:
                    link.unlink(missing_ok=True)
                    link.symlink_to(program)
    return str(folder)


def find_terraform() -> str | None:
    """Return the terraform program on PATH."""
    return shutil.which("terraform")


def backend(served: Served, name: str, *, post_unlock: bool = False) -> str:
    """Return the backend block of a state; `post_unlock`: by POST to an address of its own."""
    address = served.state_url(name)
    lines = [f'address = "{address}"', f'lock_address = "{address}"']
    if post_unlock:
        lines += [
            f'unlock_address = "{served.url}/v1/state-unlock/{name}"',
            'unlock_method = "POST"',
        ]
    else:
        lines.append(f'unlock_address = "{address}"')
    return 'terraform {\n  backend "http" {\n    ' + "\n    ".join(lines) + "\n  }\n}\n"
