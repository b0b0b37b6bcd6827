"""Dagster's real daemon and web server on loopback, with a home of their own, and what they answer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import REPO
from tests.place import Place

HOST = "127.0.0.1"
BIN = Path(sys.executable).parent
POLL_S = 0.5
STOP_S = 60.0
"""How long a service may take to end once it is told to."""


def environment(place: Place, home: Path) -> dict[str, str]:
    """Return what an operator sets."""
    return os.environ | {
        "DAGSTER_HOME": str(home),
        "VALLEYWATCH_CONFIG": str(place.config),
        "PYTHONPATH": str(REPO),
    }


def make_home(folder: Path) -> Path:
    """Make a DAGSTER_HOME with the settings that the package ships."""
    folder.mkdir(parents=True)
    shutil.copy2(REPO / "dagster_home" / "dagster.yaml", folder)
    return folder


@dataclass(frozen=True)
class Services:
    """The running daemon and web server. processes: by name, each the leader of a group of its own."""

    port: int
    processes: dict[str, subprocess.Popen[bytes]]
    logs: Path

    def ask(self, query: str) -> dict[str, Any]:
        """Ask the web server by GraphQL."""
        request = urllib.request.Request(
            f"http://{HOST}:{self.port}/graphql",
            json.dumps({"query": query}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = json.load(answer)
        assert "errors" not in found, found
        data: dict[str, Any] = found["data"]
        return data

    def runs(self) -> list[dict[str, Any]]:
        """Return the job's runs, the newest first, tags as a mapping."""
        found = self.ask(
            '{runsOrError(filter: {pipelineName: "daily"}) {... on Runs {results {runId status tags {key value}}}}}'
        )
        return [
            run | {"tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in found["runsOrError"]["results"]
        ]

    def wait(self, what: str, deadline_s: float, condition: Callable[[], Any]) -> Any:
        """Return the condition's first true answer; fail with the services' last words where there is none in time."""
        end = time.monotonic() + deadline_s
        while time.monotonic() < end:
            with suppress(urllib.error.URLError, ConnectionError, TimeoutError):
                if found := condition():
                    return found
            assert all(process.poll() is None for process in self.processes.values()), self.last_words()
            time.sleep(POLL_S)
        raise AssertionError(f"{what}: not within {deadline_s} s\n{self.last_words()}")

    def last_words(self) -> str:
        """Return the ends of what the services printed."""
        return "\n".join(f"{path.name}:\n{path.read_text()[-3000:]}" for path in sorted(self.logs.glob("*.log")))

    def stop(self) -> dict[str, int]:
        """Tell both to end, as systemd does; return their exit codes once they and all they started are gone."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        codes = {name: process.wait(STOP_S) for name, process in self.processes.items()}
        for name, process in self.processes.items():
            end = time.monotonic() + STOP_S
            while group_is_there(process.pid):
                assert time.monotonic() < end, f"{name} left processes behind"
                time.sleep(POLL_S)
        return codes


def group_is_there(leader: int) -> bool:
    """Say whether a process of the group is left."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def services(place: Place, home: Path) -> Iterator[Services]:
    """Start both; whatever happens, nothing of them is left."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    commands = {
        "webserver": ["dagster-webserver", "-h", HOST, "-p", str(port), "-m", "pipelines.definitions"],
        "daemon": ["dagster-daemon", "run", "-m", "pipelines.definitions"],
    }
    processes: dict[str, subprocess.Popen[bytes]] = {}
    at = Services(port, processes, home)
    try:
        for name, (program, *arguments) in commands.items():
            with (home / f"{name}.log").open("wb") as log:
                processes[name] = subprocess.Popen(
                    [BIN / program, *arguments],
                    cwd=place.folder,
                    env=environment(place, home),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            # Both make the tables of an empty home, and Dagster 1.13 does not do that twice at one time.
            at.wait("the web server", 240, lambda: at.ask("{version}"))
        yield at
    finally:
        for process in processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
