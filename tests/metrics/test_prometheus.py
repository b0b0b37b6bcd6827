"""A real Prometheus scrapes the endpoint and answers what the snapshot says."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipelines.commands.metrics import LOOPBACK
from tests.conftest import FleetWarehouse
from tests.metrics.test_dashboard import EXPRESSIONS
from tests.metrics.test_server import DEADLINE_S, serving
from tests.place import Place, request

SCRAPE = """
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
scrape_configs:
  - job_name: valleywatch
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        return int(opened.getsockname()[1])


@contextmanager
def prometheus(folder: Path, scraped_port: int) -> Iterator[int]:
    """The server from Debian's package, on loopback, with a store of its own."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("prometheus is not installed: apt-get install prometheus")
    (folder / "prometheus.yml").write_text(SCRAPE.format(port=scraped_port))
    port = free_port()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'store'}",
             f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log, cwd=folder,
        )  # fmt: skip
        try:
            yield port
        finally:
            process.terminate()
            process.wait(DEADLINE_S)


def queried(port: int, query: str) -> list[dict[str, Any]]:
    """What the query API answers; nothing while the server starts."""
    url = f"http://{LOOPBACK}:{port}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            result: list[dict[str, Any]] = json.load(answer)["data"]["result"]
            return result
    except OSError:
        return []


def awaited(port: int, query: str) -> list[dict[str, Any]]:
    deadline = time.monotonic() + DEADLINE_S
    while not (found := queried(port, query)):
        assert time.monotonic() < deadline, f"no answer to {query}"
        time.sleep(0.05)
    return found


@pytest.mark.slow  # Prometheus hands its targets on every five seconds
def test_prometheus_scrapes_and_answers(place: Place, tmp_path: Path) -> None:
    hostile = 'po"ol\\n}\n'
    place.write("log.jsonl", [*(request(n) for n in range(3)), request(9, deployment=hostile, cached_tokens=700)])
    place.settle()
    with serving(place) as (scraped_port, _), prometheus(tmp_path, scraped_port) as port:
        awaited(port, "up == 1")
        found = awaited(port, "valleywatch_hit_rate")
        assert {row["metric"]["deployment"]: float(row["value"][1]) for row in found} == {"pool": 0.4, hostile: 0.7}
        assert awaited(port, 'valleywatch_state{state="unknown", deployment="pool"}')[0]["value"][1] == "1"


@pytest.mark.slow  # the same
def test_every_panel_of_the_dashboard_shows_something_of_the_demo(
    fleet_warehouse: FleetWarehouse, tmp_path: Path
) -> None:
    with serving(fleet_warehouse.place) as (scraped_port, _), prometheus(tmp_path, scraped_port) as port:
        awaited(port, "valleywatch_state")
        empty = [name for name, expression in EXPRESSIONS.items() if not queried(port, expression)]
        assert empty == []
