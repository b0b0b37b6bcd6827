"""Servers on loopback that answer as told, byte by byte where need be.

Each keeps what it was asked; none outlives its `with` block.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Request:
    """What was posted."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(frozen=True)
class Reply:
    """What is answered."""

    status: int = 200
    body: bytes = b"ok"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Receiver:
    """An HTTP server: the replies in their order, the last one again and again."""

    port: int
    replies: list[Reply]
    seen: list[Request] = field(default_factory=list)

    def next_reply(self) -> Reply:
        """Take the next reply."""
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def receiver(*replies: Reply, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Serve HTTP, by TLS where there is a context."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_arguments: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.seen.append(Request(self.command, self.path, headers, body))
            reply = found.next_reply()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def do_GET(self) -> None:
            self.do_POST()

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    found = Receiver(server.server_address[1], list(replies) or [Reply()])
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


Behaviour = Callable[[socket.socket, threading.Event], None]
"""What is done with a connection; the event is set when the test is over."""


@contextmanager
def raw_server(behave: Behaviour) -> Iterator[int]:
    """Accept connections and do with each as told; yield the port."""
    over = threading.Event()
    listener = socket.create_server((LOOPBACK, 0))
    threads: list[threading.Thread] = []

    def one(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            behave(connection, over)

    def accept() -> None:
        with suppress(OSError):
            while True:
                thread = threading.Thread(target=one, args=(listener.accept()[0],), daemon=True)
                thread.start()
                threads.append(thread)

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        over.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in [accepting, *threads]:
            thread.join(10)


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.create_server((LOOPBACK, 0)) as listener:
        return int(listener.getsockname()[1])
