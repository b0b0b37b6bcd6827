"""The real Alertmanager, as Debian packages it, on loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.delivery.loopback import LOOPBACK, Receiver, Reply, free_port, receiver

BINARY = shutil.which("prometheus-alertmanager")
CONFIG = """
route:
  receiver: told
  group_by: [valleywatch_key]
  group_wait: 0s
  group_interval: 1s
receivers:
  - name: told
    webhook_configs:
      - url: http://{host}:{port}/
        send_resolved: true
"""


@dataclass(frozen=True)
class Alertmanager:
    """A running server, and what it tells its own receiver."""

    url: str
    told: Receiver

    def alerts(self) -> list[dict[str, Any]]:
        """The alerts that are open."""
        with urllib.request.urlopen(f"{self.url}/api/v2/alerts", timeout=10) as answer:
            found: list[dict[str, Any]] = json.load(answer)
            return found

    def by_key(self, key: str) -> list[dict[str, Any]]:
        """The open alerts of one key."""
        return [alert for alert in self.alerts() if alert["labels"]["valleywatch_key"] == key]

    def notified(self, key: str) -> list[str]:
        """What it told of one key."""
        bodies = [json.loads(request.body) for request in self.told.seen]
        return [body["status"] for body in bodies if body["groupLabels"].get("valleywatch_key") == key]


def wait_for(holds: Callable[[], Any], what: str) -> None:
    """Return once it holds; fail after 20 s."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


@contextmanager
def running(folder: Path) -> Iterator[Alertmanager]:
    """Start one; it ends by its own process. Skips where there is none."""
    if BINARY is None:
        pytest.skip("needs Debian's prometheus-alertmanager")
    port = free_port()
    with receiver(Reply(200)) as told:
        (folder / "config.yml").write_text(CONFIG.format(host=LOOPBACK, port=told.port))
        options = {
            "config.file": folder / "config.yml",
            "storage.path": folder / "data",
            "web.listen-address": f"{LOOPBACK}:{port}",
            "cluster.listen-address": "",
        }
        command = [BINARY, *(f"--{name}={value}" for name, value in options.items())]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        found = Alertmanager(f"http://{LOOPBACK}:{port}", told)

        def is_ready() -> bool:
            assert process.poll() is None, (folder / "log").read_text()
            try:
                with urllib.request.urlopen(f"{found.url}/-/ready", timeout=10) as answer:
                    return bool(answer.status == 200)
            except (urllib.error.URLError, ConnectionError):
                return False

        try:
            wait_for(is_ready, "Alertmanager")
            yield found
        finally:
            process.terminate()
            process.wait(10)
