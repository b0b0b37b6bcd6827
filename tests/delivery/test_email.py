"""E-mail through a real SMTP server on this machine: TLS, login, threads, refusals."""

from __future__ import annotations

import email
import email.policy
import threading
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from html.parser import HTMLParser
from time import monotonic
from typing import Any

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from pipelines.delivery.channel import Channel, DeliveryError
from pipelines.delivery.channels.email import email_message
from pipelines.delivery.notice import Notice
from tests.delivery import golden
from tests.delivery.conftest import CANARY, DEADLINE_S, Authority, Build
from tests.delivery.loopback import LOOPBACK, raw_server
from tests.delivery.mailbox import Mailbox, mail_server, text_of
from tests.delivery.notices import NOW, RESOLVED, TRIGGER, WORSE, many
from tests.report.test_hostile_names import HOSTILE

SENDER = "valleywatch@example.com"


def login(_server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
    """Know one user."""
    known = isinstance(data, LoginPassword) and (data.login, data.password) == (b"user@example.com", CANARY.encode())
    return AuthResult(success=known, handled=False, message=None if known else "535 5.7.8 no")


def send(channel: Channel, *notices: Notice) -> str | None:
    """Send alerts in one message."""
    return channel.send(notices or [TRIGGER], n_more=0, digest_key=None, now=NOW)


def failure(channel: Channel) -> DeliveryError:
    """Send one alert; return how that failed."""
    with pytest.raises(DeliveryError) as caught:
        send(channel)
    return caught.value


USER = f"user%40example.com:{CANARY}"


def test_starttls_and_login(build: Build, authority: Authority) -> None:
    mailbox = Mailbox()
    secure = {"tls_context": authority.server, "require_starttls": True, "authenticator": login, "auth_required": True}
    with mail_server(mailbox, **secure) as port:
        send(build("email", f"smtp://{USER}@{LOOPBACK}:{port}"))
        wrong = failure(build("email", f"smtp://user:{CANARY}@{LOOPBACK}:{port}"))
        none = failure(build("email", f"smtp://{LOOPBACK}:{port}"))
    assert mailbox.was_tls == [True]
    assert (wrong.reason, wrong.is_transient, wrong.status) == ("smtp", False, 535)
    assert "ALERT_URL" in str(wrong)
    assert CANARY not in str(wrong)
    assert (none.reason, none.is_transient, none.status) == ("smtp", False, 530)


def test_tls_from_the_beginning(build: Build, authority: Authority) -> None:
    mailbox = Mailbox()
    with mail_server(mailbox, ssl_context=authority.server, authenticator=login, auth_require_tls=False) as port:
        send(build("email", f"smtps://{USER}@{LOOPBACK}:{port}"))
        send(build("email", f"smtps://{LOOPBACK}:{port}"))
    assert len(mailbox.messages) == 2


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_a_certificate_of_another_name_gets_no_login(build: Build, authority: Authority, scheme: str) -> None:
    mailbox = Mailbox()
    seen: list[Any] = []

    def ask(*arguments: Any) -> AuthResult:
        seen.append(arguments)
        return AuthResult(success=True)

    how: dict[str, Any] = {"tls_context": authority.other} if scheme == "smtp" else {"ssl_context": authority.other}
    with mail_server(mailbox, authenticator=ask, auth_require_tls=False, **how) as port:
        error = failure(build("email", f"{scheme}://{USER}@{LOOPBACK}:{port}"))
    assert (error.reason, error.is_transient) == ("tls", True)
    assert not seen
    assert not mailbox.envelopes


def test_without_starttls_only_where_the_address_is_listed(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    mailbox = Mailbox()
    with mail_server(mailbox) as port:
        send(build("email", f"smtp://{LOOPBACK}:{port}"))
        assert mailbox.was_tls == [False]
        # Loopback stands for an address at large here: it may be connected to, and is not listed.
        monkeypatch.setattr("pipelines.delivery.channels.addresses.is_public", lambda _address: True)
        error = failure(build("email", f"smtp://{USER}@{LOOPBACK}:{port}", allow=()))
        assert len(mailbox.envelopes) == 1
    assert (error.reason, error.is_transient) == ("tls", False)
    assert "STARTTLS" in str(error)


def test_an_alert_is_one_thread(build: Build) -> None:
    mailbox = Mailbox()
    with mail_server(mailbox) as port:
        channel = build("email", f"smtp://{LOOPBACK}:{port}")
        later = replace(WORSE, level=2, at=WORSE.at + timedelta(hours=2))
        for notice in (TRIGGER, WORSE, later, RESOLVED, TRIGGER):
            send(channel, notice)
    first, worse, worse_again, over, again = mailbox.messages
    assert again["Message-ID"] == first["Message-ID"]
    assert first["In-Reply-To"] is None
    for reply in (worse, worse_again, over):
        assert reply["In-Reply-To"] == first["Message-ID"]
        assert reply["References"] == first["Message-ID"]
    assert len({message["Message-ID"] for message in mailbox.messages}) == 4
    assert first["Message-ID"].endswith("@example.com>")
    assert {message["Auto-Submitted"] for message in mailbox.messages} == {"auto-generated"}
    assert [message["Subject"].split(":")[0] for message in (first, worse, over)] == [
        "[valleywatch] 🔴 ALERT",
        "[valleywatch] 🟠 WORSE",
        "[valleywatch] 🟢 OVER",
    ]
    assert first["From"].addresses[0].addr_spec == SENDER


def test_the_text_is_as_documented(request: pytest.FixtureRequest) -> None:
    message = email_message([TRIGGER], 0, None, NOW, SENDER, ["oncall@example.com"])
    headers = "".join(f"{name}: {message[name]}\n" for name in ("From", "To", "Subject"))
    golden.require("email.txt", f"{headers}\n{text_of(message)}", request.config)
    digest = email_message(many(3), 9, "d" * 64, NOW, SENDER, ["oncall@example.com"])
    assert digest["Subject"] == "[valleywatch] 🔴 12 alerts at once"
    assert "and 9 more" in text_of(digest)
    assert all(notice.headline in text_of(digest) for notice in many(3))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(attrs)))


def tags(text: str) -> list[tuple[str, tuple[tuple[str, str | None], ...]]]:
    """The elements of a page with their attributes."""
    reader = _Tags()
    reader.feed(text)
    return reader.tags


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_no_name_is_a_header_or_an_element(name: str) -> None:
    def message_of(text: str) -> EmailMessage:
        notice = replace(
            TRIGGER, deployment=text, headline=f"{text} is in the valley", sentences=(f"About {text}.",) * 3
        )
        message = email_message([notice], 0, None, NOW, SENDER, ["oncall@example.com"])
        return email.message_from_bytes(message.as_bytes(), policy=email.policy.default)  # type: ignore[return-value]

    message, plain = message_of(name), message_of("glm")
    assert message.keys() == plain.keys()
    assert [part.get_content_type() for part in message.walk()] == [part.get_content_type() for part in plain.walk()]
    assert tags(text_of(message, "html")) == tags(text_of(plain, "html"))
    assert str(message["Subject"]).isprintable()


TWO = ("a@example.com", "b@example.com")


@pytest.mark.parametrize(
    ("refuse", "is_transient"),
    [
        ({TWO[0]: "550 no such user", TWO[1]: "550 no such user"}, False),
        ({TWO[0]: "550 no such user", TWO[1]: "450 grey"}, True),
        ({TWO[0]: "451 later", TWO[1]: "452 later"}, True),
    ],
)
def test_all_recipients_refused(build: Build, refuse: dict[str, str], is_transient: bool) -> None:
    with mail_server(Mailbox(refuse)) as port:
        error = failure(build("email", f"smtp://{LOOPBACK}:{port}", recipients=TWO))
    assert (error.reason, error.is_transient) == ("smtp", is_transient)
    assert "all 2 recipients" in str(error)


def test_some_recipients_refused(build: Build) -> None:
    mailbox = Mailbox({TWO[1]: "550 no such user"})
    with mail_server(mailbox) as port:
        said = send(build("email", f"smtp://{LOOPBACK}:{port}", recipients=TWO))
    assert said == "1 of 2 recipients were refused"
    assert [envelope.rcpt_tos for envelope in mailbox.envelopes] == [[TWO[0]]]


@pytest.mark.parametrize(("reply", "is_transient"), [("451 later", True), ("552 too much", False), ("554 spam", False)])
def test_a_message_refused(build: Build, reply: str, is_transient: bool) -> None:
    with mail_server(Mailbox(data=reply)) as port:
        error = failure(build("email", f"smtp://{LOOPBACK}:{port}"))
    assert (error.reason, error.is_transient, error.status) == ("smtp", is_transient, int(reply[:3]))
    assert reply[4:] in str(error)


def silent(_connection: Any, over: threading.Event) -> None:
    """Say nothing."""
    over.wait(30)


def slow(connection: Any, over: threading.Event) -> None:
    """Greet for ever, a byte at a time."""
    while not over.wait(0.03):
        connection.sendall(b"2")


def endless(connection: Any, over: threading.Event) -> None:
    """Greet for ever, a line at a time."""
    while not over.wait(0.002):
        connection.sendall(b"220-hello\r\n")


@pytest.mark.parametrize("behave", [silent, slow, endless])
@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_a_session_ends_at_its_deadline(build: Build, behave: Any, scheme: str, authority: Authority) -> None:
    def server(connection: Any, over: threading.Event) -> None:
        if scheme == "smtp" or behave is silent:
            behave(connection, over)
            return
        with authority.server.wrap_socket(connection, server_side=True) as wrapped:
            behave(wrapped, over)

    with raw_server(server) as port:
        channel = build("email", f"{scheme}://{LOOPBACK}:{port}", deadline_s=DEADLINE_S)
        begun = monotonic()
        error = failure(channel)
        assert monotonic() - begun < DEADLINE_S + 1.5
    assert (error.reason, error.is_transient) == ("timeout", True)


def test_a_reply_without_end_is_read_in_part(build: Build) -> None:
    sent = 0

    def behave(connection: Any, over: threading.Event) -> None:
        nonlocal sent
        while not over.is_set():
            connection.sendall(b"220-hello\r\n" * 1000)
            sent += 11_000

    with raw_server(behave) as port:
        error = failure(build("email", f"smtp://{LOOPBACK}:{port}"))
    assert (error.reason, error.is_transient) == ("smtp", True)
    assert sent < 16 * 1024 * 1024


def test_a_message_has_seven_bits_and_short_lines() -> None:
    notice = replace(TRIGGER, headline="é🔥" * 300, sentences=("é🔥" * 900,))
    for line in email_message([notice], 0, None, NOW, SENDER, ["oncall@example.com"]).as_bytes().split(b"\r\n"):
        assert line.isascii()
        assert len(line) <= 998


def test_what_is_no_mail_server_is_told(build: Build) -> None:
    def web(connection: Any, _over: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.recv(100)

    with raw_server(web) as port:
        error = failure(build("email", f"smtp://{LOOPBACK}:{port}"))
    assert (error.reason, error.is_transient) == ("smtp", True)


def test_a_goodbye_that_fails_does_not_send_it_twice(build: Build) -> None:
    """The server has the message: an error now would have it tried again."""
    replies = [b"220 hi", b"250 hi", b"250 ok", b"250 ok", b"354 go on", b"250 taken"]

    def behave(connection: Any, over: threading.Event) -> None:
        for reply in replies[:-1]:
            connection.sendall(reply + b"\r\n")
            connection.recv(65536)
        connection.sendall(replies[-1] + b"\r\n")
        over.wait(30)

    with raw_server(behave) as port:
        send(build("email", f"smtp://{LOOPBACK}:{port}", deadline_s=DEADLINE_S))
