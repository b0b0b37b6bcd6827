"""The endpoint: only GET of /metrics, never waiting for the warehouse, never values that nobody reads any more."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import waitress
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from waitress import wasyncore

from pipelines.commands.metrics import address
from pipelines.errors import UsageError, ValleywatchError
from pipelines.metrics import server
from pipelines.metrics.exposition import as_text, read_families
from pipelines.metrics.server import LIMITS, Published, application
from tests.conftest import REPO
from tests.place import Place, request

pytestmark = pytest.mark.jobs

DEADLINE_S = 30.0


@pytest.fixture
def settled(place: Place) -> Place:
    place.write("log.jsonl", [request(number) for number in range(3)])
    place.settle()
    return place


@contextmanager
def serving(place: Place) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The real command on a free port; it is told to end at the end, if it has not."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "pipelines", "metrics", "--listen", "127.0.0.1:0", "--config", str(place.config)],
        env=os.environ | {"PYTHONPATH": str(REPO)}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.fullmatch(r"serving http://127\.0\.0\.1:(\d+)/metrics\n", said)
        assert found, said
        yield int(found[1]), process
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE_S)


def asked(port: int, method: str = "GET", path: str = "/metrics", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, "not within the deadline"
        threading.Event().wait(0.02)


def test_the_command_serves_the_exposition_and_ends_on_sigterm(settled: Place) -> None:
    with serving(settled) as (port, process):
        until(lambda: asked(port)[0] == 200)
        began = time.monotonic()
        status, headers, body = asked(port)
        assert time.monotonic() - began < 1
        assert status == 200
        assert headers["content-type"].startswith("text/plain; version=0.0.4")
        assert "server" not in headers
        assert body == as_text(read_families(settled.warehouse)).removesuffix(b"# EOF\n")
        _, headers, body = asked(port, Accept="application/openmetrics-text; version=1.0.0")
        assert headers["content-type"].startswith("application/openmetrics-text")
        assert list(text_string_to_metric_families(body.decode()))
        assert (
            asked(port, path="/")[0] == asked(port, path="/metrics/")[0] == asked(port, path="/favicon.ico")[0] == 404
        )
        for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS"):
            status, headers, _ = asked(port, method)
            assert (status, headers["allow"]) == (405, "GET")
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=DEADLINE_S)[1]
        assert process.returncode == 143
        assert said.startswith("valleywatch: stopped by SIGTERM")


def test_a_port_in_use_is_said(settled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert settled.valleywatch("metrics", "--listen", str(port)) == 2
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("9464", ("127.0.0.1", 9464)),
        ("0.0.0.0:9464", ("0.0.0.0", 9464)),
        ("[::1]:1", ("::1", 1)),
        ("box:80", ("box", 80)),
    ],
)
def test_an_address_is_read(text: str, found: tuple[str, int]) -> None:
    assert address(text) == found


@pytest.mark.parametrize("text", ["", "x", ":9464", "host:", "host:x", "65536", "1.5", "²", "-1", "[]:1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        address(text)


def scraped(published: Published, path: str = "/metrics", method: str = "GET") -> tuple[str, bytes]:
    """One request straight to the application."""
    status: list[str] = []
    environ = {"PATH_INFO": path, "REQUEST_METHOD": method, "QUERY_STRING": "name[]=valleywatch_state"}
    body = b"".join(application(published)(environ, lambda line, _headers: status.append(line)))
    return status[0], body


def test_before_anything_is_published_it_says_so_and_then_serves(place: Place) -> None:
    told: list[str] = []
    published = Published(place.warehouse, told.append)
    assert scraped(published) == ("503 Service Unavailable", b"starting: nothing is read yet\n")
    published.refresh()
    published.refresh()
    status, body = scraped(published)
    assert status.startswith("503")
    assert b"nothing is published" in body
    assert len(told) == 1
    place.write("log.jsonl", [request()])
    place.settle()
    published.refresh()
    status, body = scraped(published)
    assert status == "200 OK"
    assert b'valleywatch_hit_rate{deployment="pool"} 0.4' in body


def test_a_new_snapshot_is_seen_and_the_same_one_is_read_once(settled: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[None] = []

    def counted(*given: Any) -> Any:
        readings.append(None)
        return read_families(*given)

    monkeypatch.setattr(server, "read_families", counted)
    published = Published(settled.warehouse, pytest.fail)
    published.refresh()
    published.refresh()
    assert len(readings) == 1
    settled.write("more.jsonl", [request("later", deployment="other")])
    settled.settle()
    published.refresh()
    assert len(readings) == 2
    assert b'deployment="other"' in scraped(published)[1]


def test_a_scrape_never_waits_for_a_reading(settled: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    published = Published(settled.warehouse, pytest.fail)
    published.refresh()
    before = scraped(published)
    is_reading, may_end = threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        is_reading.set()
        assert may_end.wait(DEADLINE_S)
        return read_families(*given)

    monkeypatch.setattr(server, "read_families", slow)
    settled.ingest()
    reading = threading.Thread(target=published.refresh)
    reading.start()
    assert is_reading.wait(DEADLINE_S)
    assert scraped(published) == before
    may_end.set()
    reading.join()
    assert scraped(published) != before


def test_what_cannot_be_read_any_more_is_not_served_as_if_it_could(settled: Place) -> None:
    told: list[str] = []
    published = Published(settled.warehouse, told.append)
    published.refresh()
    settled.warehouse.snapshot.resolve().write_bytes(b"no database")
    published.refresh()
    status, body = scraped(published)
    assert status.startswith("503")
    assert b"cannot be read" in body
    assert len(told) == 1


def test_a_reading_that_breaks_takes_the_values_away(settled: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    published = Published(settled.warehouse, pytest.fail)
    published.refresh()
    monkeypatch.setattr(published, "_key", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        published.follow(threading.Event(), 0.01)
    assert b"restart" in scraped(published)[1]


def test_clients_that_dawdle_are_cut_off_and_delay_nobody(settled: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    published = Published(settled.warehouse, pytest.fail)
    published.refresh()
    limits = {**LIMITS, "channel_timeout": 1, "cleanup_interval": 0}
    with socket.create_server(("127.0.0.1", 0)) as opened:
        clients: dict[int, Any] = {}
        http_server = waitress.create_server(application(published), map=clients, sockets=[opened], **limits)
        running = threading.Thread(target=http_server.run)
        running.start()
        port = opened.getsockname()[1]
        idlers = [socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) for _ in range(20)]
        try:
            for idler in idlers:
                idler.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
            assert asked(port)[0] == 200
            for idler in idlers:
                until(lambda: asked(port)[0] == 200)  # the server looks after its clients when one of them speaks
                assert idler.recv(4096) == b""
            with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as talker:
                talker.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * LIMITS["max_request_header_size"] + b"\r\n\r\n")
                assert talker.recv(4096).startswith(b"HTTP/1.0 431")
        finally:
            for idler in idlers:
                idler.close()
            http_server.trigger.pull_trigger(lambda: wasyncore.close_all(clients))
            running.join(DEADLINE_S)
        assert not running.is_alive()
        http_server.task_dispatcher.shutdown()


def test_a_fault_is_an_error_of_ours() -> None:
    with (
        pytest.raises(ValleywatchError, match=r"cannot listen on 203\.0\.113\.1"),
        server.listening_on("203.0.113.1", 9),
    ):
        pytest.fail("that is no address of this machine")
