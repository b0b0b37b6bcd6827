"""A relay on loopback that passes requests on to a store and breaks the answers as told."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Request:
    """What the client asked."""

    method: str
    path: str
    range: str | None
    authorization: str

    @property
    def is_body(self) -> bool:
        """Whether it asks for the content of an object."""
        return self.method == "GET" and "list-type" not in self.path


@dataclass
class Answer:
    """What the client is given."""

    status: int
    headers: list[tuple[str, str]]
    """Names in lower case."""
    body: bytes
    sent_bytes: int | None = None
    """Bytes of the body after which the connection is cut; None: all."""
    release: threading.Event | None = None
    """Set when the answer may go on after `sent_bytes`."""


Change = Callable[[Request, Answer], Answer]


@dataclass
class Relay:
    """Passes everything on until `change` is set. `seen` are the requests so far."""

    upstream: str
    change: Change = lambda _request, answer: answer
    seen: list[Request] = field(default_factory=list)
    before: Callable[[Request], None] = lambda _request: None
    """Done after the client has asked and before the store is."""
    rewrite: Callable[[str], str] = str
    """What the store is asked for instead of a path and its query."""

    def __enter__(self) -> Self:
        relay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_arguments: Any) -> None:
                pass

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except ConnectionError:
                    self.close_connection = True

            def do_GET(self) -> None:
                relay._answer(self)

            def do_HEAD(self) -> None:
                relay._answer(self)

        self._server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    @property
    def address(self) -> str:
        """Where the relay listens."""
        return f"http://{LOOPBACK}:{self._server.server_address[1]}"

    def bodies(self) -> list[Request]:
        """The requests for contents so far."""
        return [request for request in self.seen if request.is_body]

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        request = Request(
            handler.command, handler.path, handler.headers.get("Range"), handler.headers.get("Authorization", "")
        )
        self.seen.append(request)
        self.before(request)
        parts = urlsplit(self.upstream)
        upstream = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
        try:
            upstream.request(handler.command, self.rewrite(handler.path), headers=dict(handler.headers))
            given = upstream.getresponse()
            answer = Answer(given.status, [(name.lower(), value) for name, value in given.getheaders()], given.read())
        finally:
            upstream.close()
        answer = self.change(request, answer)
        handler.send_response_only(answer.status)
        own = {"transfer-encoding", "connection"} | ({"content-length"} if request.method == "GET" else set())
        for name, value in answer.headers:
            if name not in own:
                handler.send_header(name, value)
        if request.method == "GET":
            handler.send_header("Content-Length", str(len(answer.body)))
        handler.end_headers()
        if request.method == "GET":
            handler.wfile.write(answer.body[: answer.sent_bytes])
        if answer.release is not None:
            answer.release.wait(30)
        if answer.sent_bytes is not None:
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)


def error_answer(status: int, code: str, words: str = "words of a store") -> Answer:
    """Return an answer as S3 refuses."""
    body = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{words}</Message></Error>'.encode()
    return Answer(status, [("content-type", "application/xml")], body)
