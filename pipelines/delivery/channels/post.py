"""One message by HTTP: a single POST of JSON and its answer.

Belongs here: the exchange. Does not belong here: what is in the message (the channels), what the status means
(`answers`). The standard library's client takes a connection that is open already, follows nothing, uses no proxy and
tries nothing twice; the clients built on it or beside it look the name up once more by themselves.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipelines import __version__
from pipelines.delivery.channel import DeliveryError
from pipelines.delivery.channels.addresses import Reach
from pipelines.delivery.channels.answers import is_taken, not_taken
from pipelines.delivery.channels.connection import Transport, connected
from pipelines.delivery.channels.endpoint import Endpoint
from pipelines.delivery.channels.redaction import Redaction

_LONGEST_BODY = 8 * 1024
"""Bytes of an answer that are read; those of one that took the message are not needed at all."""
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True)
class Post:
    """How one channel posts: where to, whom it may reach, and the secrets that no error may quote."""

    endpoint: Endpoint
    reach: Reach
    transport: Transport
    redaction: Redaction

    def send(self, body: bytes, now: datetime, headers: Mapping[str, str] | None = None) -> None:
        """Return once the other side answered with a success; raises DeliveryError. `now` dates a Retry-After."""
        end = self.endpoint
        with connected(self.transport, end, self.reach) as connection:
            client = http.client.HTTPConnection(end.host, end.port)
            client.default_port = _PORTS[end.scheme]  # left out of the Host header
            client.sock = connection.socket
            try:
                client.request("POST", end.target.get_secret_value(), body, _OWN_HEADERS | dict(headers or {}))
                with client.getresponse() as answer:
                    said = b"" if is_taken(answer.status) else answer.read(_LONGEST_BODY)
            except http.client.RemoteDisconnected:
                raise
            except http.client.HTTPException as error:
                detail = f"{end.host} gave no whole HTTP answer ({type(error).__name__})"
                raise _unless_late(connection.deadline.is_over, detail) from None
            if connection.deadline.is_over:  # Cut off, headers look like headers that have ended.
                raise TimeoutError
        if not is_taken(answer.status):
            quote = self.redaction.quoted(said)
            raise not_taken(end.host, end.variable, answer.status, answer.headers["Retry-After"], quote, now)


_OWN_HEADERS = {
    "Content-Type": "application/json",
    "User-Agent": f"valleywatch/{__version__}",
    "Connection": "close",
}


def encoded(message: Any) -> bytes:
    """Return a message as JSON in ASCII; whatever a name holds is text in it."""
    return json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def _unless_late(is_late: bool, detail: str) -> Exception:
    return TimeoutError() if is_late else DeliveryError("refused", detail, is_transient=True)
