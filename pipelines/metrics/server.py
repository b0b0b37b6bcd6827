"""`/metrics` over HTTP, for a Prometheus that scrapes.

Belongs here: what is answered to whom, and how long a client may take. Does not belong here: the gauges, HTTP itself
(waitress). A scrape never reads the warehouse: a thread looks for a new snapshot and puts what it says together, and
until that is done scrapes are answered with what there was.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import waitress
from prometheus_client import make_wsgi_app
from prometheus_client.core import Metric
from prometheus_client.registry import Collector, CollectorRegistry
from waitress import wasyncore

from pipelines import heartbeat
from pipelines.errors import UsageError, ValleywatchError
from pipelines.metrics.exposition import read_families
from pipelines.warehouse import Warehouse

LOOK_S = 5.0
"""How often it looks whether something new is published: well below any scrape interval."""
LIMITS: Mapping[str, Any] = {
    "threads": 2,
    "connection_limit": 32,
    "channel_timeout": 10,
    "cleanup_interval": 5,
    "max_request_header_size": 16 << 10,
    "max_request_body_size": 1 << 10,
    "ident": None,
}
"""A scrape is one short request: more clients wait, idle ones are cut off, and so are long ones."""
_TEXT = [("Content-Type", "text/plain; charset=utf-8")]
Answer = Iterable[bytes]
Application = Callable[[dict[str, Any], Callable[..., Any]], Answer]


class Published(Collector):
    """The gauges of the newest snapshot, or why there are none."""

    def __init__(self, warehouse: Warehouse, tell: Callable[[str], None]) -> None:
        self._warehouse = warehouse
        self._tell = tell
        self._seen: tuple[Any, ...] | None = None
        self._families: list[Metric] = []
        self.fault: str | None = "starting: nothing is read yet"

    def collect(self) -> Iterable[Metric]:
        """Return the gauges."""
        return self._families

    def refresh(self) -> None:
        """Read what is published if it is not what was read last; what cannot be read takes the old values away."""
        seen = self._key()
        if seen == self._seen and self.fault is None:
            return
        try:
            self._families = read_families(self._warehouse)
        except ValleywatchError as error:
            if str(error) != self.fault:
                self._tell(f"warning: {error}")
            self.fault = str(error)
        else:
            self._seen, self.fault = seen, None

    def follow(self, is_over: threading.Event, every_s: float) -> None:
        """Refresh until it is over. Should that itself break, scrapes must not go on with what was."""
        try:
            while not is_over.is_set():
                self.refresh()
                is_over.wait(every_s)
        finally:
            self.fault = "nothing reads the warehouse any more: restart `valleywatch metrics`"

    def _key(self) -> tuple[Any, ...]:
        """Return what changes whenever something is published, or a run succeeds."""
        stamps = []
        for path in (self._warehouse.snapshot, self._warehouse.folder / heartbeat.NAME):
            try:
                stamps.append((path.resolve().name, path.stat().st_mtime_ns))
            except FileNotFoundError:
                stamps.append(("", 0))
        return tuple(stamps)


def application(published: Published) -> Application:
    """Return the WSGI application: GET of /metrics, 404 elsewhere, 405 for other methods, 503 with the reason."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(published)
    metrics: Application = make_wsgi_app(registry)

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Answer:
        if environ["PATH_INFO"] != "/metrics":
            start_response("404 Not Found", _TEXT)
            return [b"only /metrics is served here\n"]
        if environ["REQUEST_METHOD"] != "GET":
            start_response("405 Method Not Allowed", [*_TEXT, ("Allow", "GET")])
            return [b"only GET is answered\n"]
        if (fault := published.fault) is not None:
            start_response("503 Service Unavailable", _TEXT)
            return [f"{fault}\n".encode()]
        # A query could ask for some of the gauges; nobody needs that, and strangers' input is best not parsed.
        return metrics({**environ, "QUERY_STRING": ""}, start_response)

    return answer


@contextmanager
def listening_on(host: str, port: int) -> Iterator[socket.socket]:
    """Open the address; raise UsageError where that is refused."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        opened = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"cannot listen on {host} port {port}: {why}; give another with --listen HOST:PORT") from None
    with opened:
        yield opened


def serve(warehouse: Warehouse, host: str, port: int, tell: Callable[[str], None], *, look_s: float = LOOK_S) -> None:
    """Answer scrapes until the process is told to end. Port 0 is one that is free; `tell` hears the address."""
    published, is_over = Published(warehouse, tell), threading.Event()
    reading = threading.Thread(target=published.follow, args=(is_over, look_s), name="metrics")
    with listening_on(host, port) as opened:
        clients: dict[int, Any] = {}
        server = waitress.create_server(application(published), map=clients, sockets=[opened], **LIMITS)
        reading.start()
        try:
            shown = f"[{host}]" if ":" in host else host
            tell(f"serving http://{shown}:{opened.getsockname()[1]}/metrics")
            server.run()
        finally:
            is_over.set()
            wasyncore.close_all(clients)
            reading.join()
