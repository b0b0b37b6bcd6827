"""A connection to the very address that was checked.

Belongs here: asking for addresses, connecting to one that may be reached, TLS, and what went wrong in the words of
DeliveryError. Does not belong here: what is then said (`post`, `smtp`). Proxies of the environment are not used: they
would resolve names themselves.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from pipelines.delivery.channel import DeliveryError
from pipelines.delivery.channels.addresses import Address, Reach, plain
from pipelines.delivery.channels.deadline import Deadline
from pipelines.delivery.channels.endpoint import Endpoint
from pipelines.errors import UsageError

DEADLINE_S = 10.0
"""Of one attempt in total, from the question for addresses to the last byte of the answer."""
Resolve = Callable[..., list[tuple[Any, ...]]]


def tls_context(environment: Mapping[str, str]) -> ssl.SSLContext:
    """Return what verifies servers: by the system's authorities, which its administrators keep and add their own to, or
    by those of the file that SSL_CERT_FILE names. A list shipped with a package would know neither.

    Raises UsageError where that file cannot be read as certificates (OpenSSL by itself would go on with none).
    """
    bundle = environment.get("SSL_CERT_FILE") or None
    try:
        return ssl.create_default_context(cafile=bundle)
    except (OSError, ValueError):
        problem = "the variable SSL_CERT_FILE names no readable file of certificates in PEM"
        raise UsageError(f"{problem}: correct it, or unset it to use the system's") from None


@dataclass(frozen=True)
class Transport:
    """How connections are made; the same for all channels."""

    tls: ssl.SSLContext
    deadline_s: float
    resolve: Resolve


@dataclass(frozen=True)
class Connection:
    """An open connection and what is left of its time."""

    socket: socket.socket
    deadline: Deadline
    is_allowed: bool
    """Whether its address is one that needs no TLS."""


@contextmanager
def connected(transport: Transport, endpoint: Endpoint, reach: Reach) -> Iterator[Connection]:
    """Connect to the first address of the host that may be reached and answers; by TLS for https and smtps.

    Raises DeliveryError. What is raised within is told in its words too, see `told`.
    """
    deadline = Deadline(transport.deadline_s)
    with told(endpoint.host, deadline):
        addresses = _permitted(endpoint, reach, _addresses(transport, endpoint, deadline))
        raw, address = _first_that_answers(addresses, endpoint.port, deadline)
        with raw, deadline.cuts(raw):
            if endpoint.scheme not in ("https", "smtps"):
                yield Connection(raw, deadline, reach.allows(address))
                return
            with transport.tls.wrap_socket(raw, server_hostname=endpoint.host) as wrapped:
                yield Connection(wrapped, deadline, reach.allows(address))


@contextmanager
def told(host: str, deadline: Deadline) -> Iterator[None]:
    """Turn what the network raises into DeliveryError: in words of the system's or TLS's tables, never of a message.

    All of it is transient, a certificate that does not verify as well: nothing was sent to whoever holds it, and it is
    renewed, or a clock set right, while the message still waits.
    """
    late = DeliveryError("timeout", f"{host} did not answer within {deadline.seconds:g} s", is_transient=True)
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        detail = f"the certificate of {host} does not verify: {error.verify_message}"
        raise DeliveryError("tls", detail, is_transient=True) from None
    except TimeoutError:
        raise late from None
    except ssl.SSLError as error:
        if deadline.is_over:
            raise late from None
        detail = f"no TLS with {host}: {(error.reason or 'it ended the handshake').lower().replace('_', ' ')}"
        raise DeliveryError("tls", detail, is_transient=True) from None
    except OSError as error:
        if deadline.is_over:
            raise late from None
        words = os.strerror(error.errno) if error.errno else "the connection ended"
        raise DeliveryError("refused", f"{host}: {words}", is_transient=True) from None


def _addresses(transport: Transport, endpoint: Endpoint, deadline: Deadline) -> list[Address]:
    """Ask for the host's addresses, in a thread of its own: no resolver takes a deadline."""
    try:
        return [plain(ipaddress.ip_address(endpoint.host))]
    except ValueError:
        pass
    answers: SimpleQueue[list[tuple[Any, ...]] | OSError] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put(transport.resolve(endpoint.host, endpoint.port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answers.put(error if isinstance(error, OSError) else OSError())

    Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=deadline.left_s())
    except Empty:
        detail = f"no address for {endpoint.host} within {deadline.seconds:g} s"
        raise DeliveryError("dns", detail, is_transient=True) from None
    if isinstance(answer, OSError):
        words = answer.strerror if isinstance(answer, socket.gaierror) and answer.strerror else "the name is not known"
        raise DeliveryError("dns", f"no address for {endpoint.host}: {words}", is_transient=True)
    return list(dict.fromkeys(plain(ipaddress.ip_address(found[4][0])) for found in answer))


def _permitted(endpoint: Endpoint, reach: Reach, addresses: list[Address]) -> list[Address]:
    is_tls = endpoint.scheme != "http"  # smtp:// begins TLS later or ends (`smtp`)
    refusals = {address: reach.refusal(address, is_tls=is_tls) for address in addresses}
    permitted = [address for address, refusal in refusals.items() if refusal is None]
    if not permitted:
        why = next(filter(None, refusals.values()), "it has none")
        raise DeliveryError("address", f"{endpoint.host} may not be reached: {why}", is_transient=False)
    return permitted


def _first_that_answers(addresses: list[Address], port: int, deadline: Deadline) -> tuple[socket.socket, Address]:
    """Connect; each address has its part of the time that is left, so that a silent one leaves some for the next."""
    for position, address in enumerate(addresses):
        left = len(addresses) - position
        try:
            connection = socket.create_connection((str(address), port), deadline.left_s() / left)
        except OSError:
            if left == 1:
                raise
            continue
        connection.settimeout(deadline.left_s())
        return connection, address
    raise AssertionError("there is at least one address")
