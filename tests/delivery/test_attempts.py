"""A2, A3, A4: what an endpoint can do to an attempt, and what becomes of the message."""

from __future__ import annotations

import socket
import threading
from datetime import timedelta
from email.utils import format_datetime
from time import monotonic
from typing import Any

import pytest

from pipelines.delivery.channel import Channel, DeliveryError
from tests.delivery.conftest import DEADLINE_S, Authority, Build
from tests.delivery.loopback import LOOPBACK, Reply, free_port, raw_server, receiver
from tests.delivery.notices import NOW, TRIGGER
from tests.delivery.resolving import Names

SLACK_OF_TIME_S = 1.5
"""How much longer than its deadline an attempt may take on a busy machine."""


def failure(channel: Channel) -> DeliveryError:
    """Send one alert; return how that failed."""
    with pytest.raises(DeliveryError) as caught:
        channel.send([TRIGGER], n_more=0, digest_key=None, now=NOW)
    return caught.value


def read_request(connection: socket.socket) -> None:
    """Read until the headers have ended."""
    said = b""
    while b"\r\n\r\n" not in said:
        said += connection.recv(65536)


def silent(_connection: socket.socket, over: threading.Event) -> None:
    """Accept and say nothing."""
    over.wait(30)


def slow_headers(connection: socket.socket, over: threading.Event) -> None:
    """Begin well and send a header of a byte every 50 ms."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not over.wait(0.05):
        connection.sendall(b"a")


def slow_status(connection: socket.socket, over: threading.Event) -> None:
    """Say even the status a byte at a time."""
    for byte in b"HTTP/1.1 200 OK\r\n" * 100:
        if over.wait(0.05):
            return
        connection.sendall(bytes([byte]))


def slow_body(connection: socket.socket, over: threading.Event) -> None:
    """Refuse, and say why a byte at a time."""
    connection.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 1000000\r\n\r\n")
    while not over.wait(0.05):
        connection.sendall(b"a")


def endless_continue(connection: socket.socket, over: threading.Event) -> None:
    """Say 100 for ever."""
    while not over.is_set():
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def slow_handshake(connection: socket.socket, over: threading.Event) -> None:
    """Begin a TLS record of 16 KiB and send it a byte at a time."""
    connection.sendall(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc")
    while not over.wait(0.05):
        connection.sendall(b"a")


def test_a_slow_handshake_ends_at_the_deadline(build: Build) -> None:
    with raw_server(slow_handshake) as port:
        begun = monotonic()
        error = failure(build("webhook", f"https://{LOOPBACK}:{port}/", deadline_s=DEADLINE_S))
        assert monotonic() - begun < DEADLINE_S + SLACK_OF_TIME_S
    assert (error.reason, error.is_transient) == ("timeout", True)


@pytest.mark.parametrize("behave", [silent, slow_headers, slow_status, slow_body, endless_continue])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_attempt_ends_at_its_deadline(build: Build, behave: Any, scheme: str, authority: Authority) -> None:
    def server(connection: socket.socket, over: threading.Event) -> None:
        if scheme == "http" or behave is silent:
            behave(connection, over)
            return
        with authority.server.wrap_socket(connection, server_side=True) as wrapped:
            behave(wrapped, over)

    with raw_server(server) as port:
        channel = build("webhook", f"{scheme}://{LOOPBACK}:{port}/", deadline_s=DEADLINE_S)
        begun = monotonic()
        error = failure(channel)
        took_s = monotonic() - begun
    assert (error.reason, error.is_transient) == ("timeout", True)
    assert DEADLINE_S * 0.9 <= took_s < DEADLINE_S + SLACK_OF_TIME_S


def test_an_endless_body_is_read_in_part(build: Build) -> None:
    sent = 0

    def behave(connection: socket.socket, over: threading.Event) -> None:
        nonlocal sent
        read_request(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
        connection.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 10000000000\r\n\r\n")
        while not over.is_set():
            connection.sendall(b"x" * 65536)
            sent += 65536

    with raw_server(behave) as port:
        error = failure(build("webhook", f"http://{LOOPBACK}:{port}/"))
    assert (error.reason, error.status, error.is_transient) == ("status", 500, True)
    assert len(str(error)) < 300
    assert sent < 64 * 1024 * 1024


def test_a_success_needs_no_body(build: Build) -> None:
    """The message is taken: waiting for the rest would send it twice."""

    def behave(connection: socket.socket, over: threading.Event) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
        over.wait(30)

    with raw_server(behave) as port:
        build("webhook", f"http://{LOOPBACK}:{port}/").send([TRIGGER], n_more=0, digest_key=None, now=NOW)


def half_closed(connection: socket.socket, over: threading.Event) -> None:
    """End this side and keep the other open."""
    connection.shutdown(socket.SHUT_WR)
    over.wait(30)


def reset(connection: socket.socket, _over: threading.Event) -> None:
    """End all at once."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


def not_http(connection: socket.socket, _over: threading.Event) -> None:
    """Speak something else."""
    read_request(connection)
    connection.sendall(b"220 mail.example.com ESMTP\r\n")


def cut_short(connection: socket.socket, _over: threading.Event) -> None:
    """Promise more than is sent."""
    read_request(connection)
    connection.sendall(b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")


@pytest.mark.parametrize("behave", [half_closed, reset, not_http, cut_short])
def test_a_broken_answer_is_tried_again(build: Build, behave: Any) -> None:
    with raw_server(behave) as port:
        error = failure(build("webhook", f"http://{LOOPBACK}:{port}/"))
    assert (error.reason, error.is_transient) == ("refused", True)


def test_a_refused_connection_is_tried_again(build: Build) -> None:
    error = failure(build("webhook", f"http://{LOOPBACK}:{free_port()}/"))
    assert (error.reason, error.is_transient) == ("refused", True)
    assert "Connection refused" in str(error)


def test_a_name_without_address_is_tried_again(build: Build) -> None:
    def resolve(*_arguments: Any, **_options: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    error = failure(build("webhook", "https://alerts.example.com/", resolve=resolve))
    assert (error.reason, error.is_transient) == ("dns", True)
    assert str(error) == "dns: no address for alerts.example.com: Name or service not known"


def test_asking_for_addresses_meets_the_deadline_too(build: Build) -> None:
    over = threading.Event()

    def resolve(*_arguments: Any, **_options: Any) -> Any:
        over.wait(30)
        return []

    begun = monotonic()
    error = failure(build("webhook", "https://alerts.example.com/", resolve=resolve, deadline_s=DEADLINE_S))
    over.set()
    assert (error.reason, error.is_transient) == ("dns", True)
    assert monotonic() - begun < DEADLINE_S + SLACK_OF_TIME_S


def test_tls_is_verified(build: Build, authority: Authority) -> None:
    with receiver(tls=authority.server) as server:
        url = f"https://{LOOPBACK}:{server.port}/"
        build("webhook", url).send([TRIGGER], n_more=0, digest_key=None, now=NOW)
        named = build("webhook", f"https://hooks.example.com:{server.port}/", resolve=Names([LOOPBACK]))
        named.send([TRIGGER], n_more=0, digest_key=None, now=NOW)
        assert [request.headers["host"] for request in server.seen] == [
            f"{LOOPBACK}:{server.port}",
            f"hooks.example.com:{server.port}",
        ]
        server.seen.clear()
        stranger = failure(build("webhook", url, environment={"SSL_CERT_FILE": ""}))
        mismatch = failure(build("webhook", f"https://alerts.example.com:{server.port}/", resolve=Names([LOOPBACK])))
        assert not server.seen
    assert (stranger.reason, stranger.is_transient) == ("tls", True)
    assert "certificate" in str(stranger)
    assert (mismatch.reason, mismatch.is_transient) == ("tls", True)
    assert "Hostname mismatch" in str(mismatch)


def test_no_tls_where_tls_is_meant(build: Build) -> None:
    with receiver() as server:
        error = failure(build("webhook", f"https://{LOOPBACK}:{server.port}/"))
        assert not server.seen
    assert (error.reason, error.is_transient) == ("tls", True)


def test_proxies_of_the_environment_are_not_used(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiver() as proxy, receiver() as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{LOOPBACK}:{proxy.port}")
        build("webhook", f"http://{LOOPBACK}:{server.port}/").send([TRIGGER], n_more=0, digest_key=None, now=NOW)
        assert (len(proxy.seen), len(server.seen)) == (0, 1)


@pytest.mark.parametrize(
    ("reply", "is_transient", "wait_s"),
    [
        (Reply(500), True, None),
        (Reply(502), True, None),
        (Reply(503, headers={"Retry-After": "5"}), True, 5.0),
        (Reply(503, headers={"Retry-After": "1000000000"}), True, 900.0),
        (Reply(503, headers={"Retry-After": "1e9"}), True, None),
        (Reply(503, headers={"Retry-After": "-5"}), True, None),
        (Reply(503, headers={"Retry-After": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}), True, 90.0),
        (Reply(503, headers={"Retry-After": format_datetime(NOW - timedelta(days=1), usegmt=True)}), True, 0.0),
        (Reply(503, headers={"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}), True, 900.0),
        (Reply(503, headers={"Retry-After": "soon"}), True, None),
        (Reply(429, headers={"Retry-After": "30"}), True, 30.0),
        (Reply(408), True, None),
        (Reply(400, headers={"Retry-After": "30"}), False, None),
        (Reply(401), False, None),
        (Reply(404), False, None),
        (Reply(410), False, None),
        (Reply(413), False, None),
    ],
)
def test_what_a_status_means(build: Build, reply: Reply, is_transient: bool, wait_s: float | None) -> None:
    with receiver(reply) as server:
        error = failure(build("slack", f"http://{LOOPBACK}:{server.port}/"))
        assert len(server.seen) == 1, "no retry of its own"
    assert (error.reason, error.status) == ("status", reply.status)
    assert error.is_transient is is_transient
    assert error.retry_after_s == wait_s


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_a_success_is_one(build: Build, status: int) -> None:
    with receiver(Reply(status, b"")) as server:
        assert (
            build("slack", f"http://{LOOPBACK}:{server.port}/").send([TRIGGER], n_more=0, digest_key=None, now=NOW)
            is None
        )


def test_three_times_500_then_200(build: Build) -> None:
    with receiver(Reply(500), Reply(500), Reply(500), Reply(200)) as server:
        channel = build("slack", f"http://{LOOPBACK}:{server.port}/")
        for _ in range(3):
            assert failure(channel).is_transient
        channel.send([TRIGGER], n_more=0, digest_key=None, now=NOW)
        assert len({request.body for request in server.seen}) == 1


def test_what_the_other_side_says_is_quoted_short_and_inert(build: Build) -> None:
    with receiver(Reply(400, b"invalid_blocks\x1b[2J\r\n\xe2\x80\xae" + b"x" * 5000)) as server:
        text = str(failure(build("slack", f"http://{LOOPBACK}:{server.port}/")))
    assert text.startswith(
        "status: 127.0.0.1 answered 400, it does not take this form of message (invalid_blocks\\x1b[2J"
    )
    assert len(text.partition("(")[2]) <= 201
    assert text.isprintable()


def targets(second: str) -> dict[str, str]:
    """Where a redirect could lead."""
    return {"other host": second, "here": f"http://{LOOPBACK}/", "file": "file:///etc/passwd", "loop": "/hook"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("where", ["other host", "here", "file", "loop"])
def test_redirects_are_never_followed(build: Build, status: int, where: str) -> None:
    with receiver() as second:
        location = targets(f"http://{LOOPBACK}:{second.port}/")[where]
        with receiver(Reply(status, headers={"Location": location})) as first:
            error = failure(build("webhook", f"http://{LOOPBACK}:{first.port}/hook"))
            assert len(first.seen) == 1
        assert not second.seen
    assert (error.reason, error.is_transient, error.status) == ("redirect", False, status)
    assert "ALERT_URL" in str(error)


def test_another_channel_is_not_held_up(build: Build) -> None:
    """Attempts share nothing: one that waits for its deadline lets another one through."""
    with raw_server(silent) as port, receiver() as server:
        waiting = build("webhook", f"http://{LOOPBACK}:{port}/", deadline_s=2 * DEADLINE_S)
        thread = threading.Thread(target=failure, args=(waiting,))
        thread.start()
        build("slack", f"http://{LOOPBACK}:{server.port}/").send([TRIGGER], n_more=0, digest_key=None, now=NOW)
        assert thread.is_alive()
        thread.join(10)
        assert len(server.seen) == 1
