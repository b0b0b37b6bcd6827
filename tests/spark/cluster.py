"""A standalone Spark cluster on loopback: a master and its workers, children of the test, ended by their ids.

Belongs here: processes. Does not belong here: what runs on them.
"""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psutil

DEADLINE_S = 150.0
T = TypeVar("T")
EXECUTOR = "CoarseGrainedExecutorBackend"
# Young JVMs: the time goes into starting and compiling, which the first compiler alone does in half the time.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def spark_home() -> Path:
    """Return where all of Spark is; not there where only requirements.lock is installed."""
    found = importlib.util.find_spec("pyspark")
    assert found is not None, "`make test-spark` installs pyspark"
    assert found.origin is not None
    return Path(found.origin).parent


def wait_for(look: Callable[[], T | None], what: str, deadline_s: float = DEADLINE_S) -> T:
    """Return what `look` finds as soon as it finds something."""
    until = time.monotonic() + deadline_s
    while time.monotonic() < until:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {deadline_s:.0f} s")


class Cluster:
    """The processes, and the address of the master."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self.started: list[subprocess.Popen[bytes]] = []
        self.master = ""
        folder.mkdir(parents=True)

    def start(self) -> None:
        """Start the master and two workers."""
        _, log = self._start("master", "org.apache.spark.deploy.master.Master")
        self.master = wait_for(lambda: _found(r"Starting Spark master at (spark://\S+)", log), "a master")
        for _ in range(2):
            self.add_worker()

    def add_worker(self) -> None:
        """Start a worker of one core and wait until the master knows it."""
        name = f"worker-{len(self.started)}"
        arguments = ("-c", "1", "-m", "2g", "-d", str(self.folder / name), self.master)
        worker, log = self._start(name, "org.apache.spark.deploy.worker.Worker", *arguments)
        wait_for(lambda: _found(r"(Successfully registered with master)", log), "a worker")
        self.workers.append(worker)

    @contextmanager
    def connect(self) -> Iterator[str]:
        """Run a Spark Connect server on the cluster, which takes all of it; give its address."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        confs = (
            "spark.connect.grpc.binding.address=127.0.0.1",
            f"spark.connect.grpc.binding.port={port}",
            "spark.driver.host=127.0.0.1",
            "spark.driver.bindAddress=127.0.0.1",
            "spark.executor.memory=768m",
            "spark.sql.session.timeZone=Asia/Kolkata",
        )
        options = [part for conf in confs for part in ("--conf", conf)]
        program = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
        submit = [str(spark_home() / "bin" / "spark-submit"), "--master", self.master, *options, *program]
        server, log = self._start_command("connect", submit, memory="768m")
        wait_for(lambda: _found(r"(Spark Connect server started)", log), "a Spark Connect server")
        yield f"sc://127.0.0.1:{port}"
        server.kill()
        wait_for(lambda: not self.executors(), "the end of its executors")

    def kill_worker(self) -> int:
        """End a worker as a power cut would; return its id."""
        worker = self.workers.pop()
        worker.kill()
        worker.wait()
        return worker.pid

    def executors(self) -> list[psutil.Process]:
        """Return the executors that run for an application."""
        return [process for worker in self.workers for process in children(worker.pid, EXECUTOR)]

    def applications(self) -> list[str]:
        """Return the applications that executors were started for."""
        return sorted({path.name for path in self.folder.glob("worker-*/app-*")})

    def n_executors_started(self, application: str) -> int:
        """Return how many executors an application has had."""
        return len(list(self.folder.glob(f"worker-*/{application}/*")))

    def shuffled(self) -> list[Path]:
        """Return what executors have written for each other."""
        return list(self.folder.glob("local/**/shuffle_*.index"))

    def stop(self) -> None:
        """End all processes; those of an application end with their worker's."""
        left = [child for started in self.started for child in children(started.pid)]
        for process in (*self.started, *left):
            process.kill() if isinstance(process, subprocess.Popen) else _end(process)
        for started in self.started:
            started.wait()

    def _start(self, name: str, main: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
        at = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        return self._start_command(name, [str(spark_home() / "bin" / "spark-class"), main, *at, *arguments])

    def _start_command(
        self, name: str, command: list[str], memory: str = "256m"
    ) -> tuple[subprocess.Popen[bytes], Path]:
        log = self.folder / f"{name}.log"
        environment = os.environ | {
            "SPARK_HOME": str(spark_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": memory,
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "TZ": "America/New_York",
        }
        with log.open("wb") as output:
            started = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        self.started.append(started)
        return started, log


def children(pid: int, of: str = "") -> list[psutil.Process]:
    """Return the living processes below one, those whose command names `of`."""
    try:
        below = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [process for process in below if _is_alive(process) and of in " ".join(_command(process))]


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


def _end(process: psutil.Process) -> Any:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return None


def _found(pattern: str, log: Path) -> str | None:
    match = re.search(pattern, log.read_text(errors="replace"))
    return match[1] if match else None
