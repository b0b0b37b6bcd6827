"""A real PostgreSQL of one's own: a scratch folder, a Unix socket, no TCP port, never as root.

Debian's binaries; where they are absent the tests that need them are skipped.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

BINARIES = max(
    (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/postgres")),
    key=lambda folder: int(folder.parent.name),
    default=None,
)
DEADLINE_S = 30
_USER = "postgres"


class Server:
    """A running server; `url` names its database as its superuser."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, database: str = "postgres", user: str = _USER) -> str:
        return f"postgresql://{user}:secret-canary@/{database}?host={self.folder}"

    def rows(self, query: str, *params: Any, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Ask, each time in a session of its own."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(query, params or None)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server and stop it by its id; its sockets need a short path."""
    assert BINARIES
    folder = Path(tempfile.mkdtemp(prefix="vw-pg-"))
    account = pwd.getpwnam(_USER) if os.getuid() == 0 else None
    identity: dict[str, Any] = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
    if account:
        os.chown(folder, account.pw_uid, account.pw_gid)
    try:
        made = subprocess.run(
            [BINARIES / "initdb", "-D", folder / "data", "-U", _USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
            capture_output=True, text=True, timeout=DEADLINE_S, cwd="/", **identity,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [
                    BINARIES / "postgres", "-D", folder / "data", "-k", folder, "-c", "listen_addresses=",
                    "-c", "fsync=off", "-c", "log_statement=all",
                ],
                stdout=log, stderr=log, cwd="/", **identity,
            )  # fmt: skip
        try:
            server = Server(folder)
            _wait(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(DEADLINE_S)
    finally:
        shutil.rmtree(folder)


def _wait(server: Server, process: subprocess.Popen[Any]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while True:
        assert process.poll() is None, (server.folder / "log").read_text()
        try:
            server.rows("select 1")
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, (server.folder / "log").read_text()
            time.sleep(0.02)
        else:
            return


def wait_for(condition: Any, what: str) -> None:
    """Wait until the condition holds; fail at the deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE_S} s for {what}"
        time.sleep(0.01)
