"""A6: what is secret is in nothing that anybody can see, whatever goes wrong."""

from __future__ import annotations

import base64
import html
import logging
import socket
import threading
import traceback
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from pipelines.delivery.channel import Channel, DeliveryError
from pipelines.delivery.channels import build_channels
from pipelines.delivery.settings import ChannelSettings
from pipelines.errors import UsageError
from tests.delivery.conftest import CANARY, Authority, Build
from tests.delivery.loopback import LOOPBACK, Reply, free_port, raw_server, receiver
from tests.delivery.notices import NOW, TRIGGER
from tests.delivery.resolving import Names

PATH = f"/services/T0CANARY00/B0CANARY00/{CANARY}?token={CANARY}"
SECRETS = {"SECRET": CANARY, "TOKEN": CANARY, "ROUTING_KEY": CANARY}
MORE: dict[str, dict[str, Any]] = {
    "slack": {},
    "webhook": {"secret_env": "SECRET"},
    "alertmanager": {"token_env": "TOKEN"},
    "pagerduty": {},
}
ECHO = " ".join(
    [
        CANARY,
        CANARY.upper(),
        PATH,
        PATH.replace("/", "\\/"),
        html.escape(PATH),
        quote(PATH, safe=""),
        base64.b64encode(CANARY.encode()).decode(),
    ]
).encode()


def visible(channel: Channel, error: BaseException) -> str:
    """All that an error and a channel show of themselves, and what they hold on to."""
    chain = traceback.TracebackException.from_exception(error, capture_locals=False)
    return "\n".join(
        [str(error), repr(error), "".join(chain.format()), repr(channel), str(vars(channel)), str(vars(error))]
    )


@pytest.fixture(autouse=True)
def nothing_else_shown(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Neither output nor any logger shows it."""
    caplog.set_level(logging.DEBUG)
    yield
    out, err = capfd.readouterr()
    for text in (out, err, caplog.text):
        assert CANARY not in text


def failing(channel: Channel) -> str:
    """Send one alert, which fails; return all that is visible of that."""
    with pytest.raises(DeliveryError) as caught:
        channel.send([TRIGGER], n_more=0, digest_key=None, now=NOW)
    return visible(channel, caught.value)


def secrets_in(text: str) -> list[str]:
    """The secrets that are in a text, be it eight characters of one."""
    encoded = [base64.b64encode(secret.encode()).decode() for secret in (CANARY, f"\0{CANARY}\0{CANARY}")]
    parts = [secret[i : i + 8] for secret in (CANARY, *encoded) for i in range(len(secret.rstrip("=")) - 7)]
    return [part for part in ("T0CANARY00", "B0CANARY00", *parts) if part.lower() in text.lower()]


@pytest.mark.parametrize("kind", MORE)
@pytest.mark.parametrize("status", [301, 400, 401, 404, 429, 500])
def test_not_in_what_a_status_tells(build: Build, kind: str, status: int) -> None:
    headers = {"Location": f"https://hooks.example.com{PATH}", "Retry-After": CANARY}
    with receiver(Reply(status, ECHO, headers)) as server:
        url = f"http://{LOOPBACK}:{server.port}{PATH}"
        assert not secrets_in(failing(build(kind, url, environment=SECRETS, **MORE[kind])))
        assert len(server.seen) == 1


def echo(connection: socket.socket, _over: threading.Event) -> None:
    """Say what was asked, as if it were an answer."""
    connection.sendall(connection.recv(65536))


def cut(connection: socket.socket, _over: threading.Event) -> None:
    """End in the middle of headers that quote."""
    connection.recv(65536)
    connection.sendall(f"HTTP/1.1 500 {PATH}\r\n{CANARY}: {PATH}\r\n{CANARY}\r\nContent-Length: {CANARY}\r\n".encode())


def silent(_connection: socket.socket, over: threading.Event) -> None:
    """Say nothing."""
    over.wait(30)


@pytest.mark.parametrize("kind", MORE)
@pytest.mark.parametrize("behave", [echo, cut, silent])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_not_in_what_a_broken_answer_tells(build: Build, kind: str, behave: Any, scheme: str) -> None:
    with raw_server(behave) as port:
        channel = build(
            kind,
            f"{scheme}://{LOOPBACK}:{port}{PATH}",
            environment=SECRETS,
            deadline_s=0.1 if behave is silent else 5.0,
            **MORE[kind],
        )
        assert not secrets_in(failing(channel))


@pytest.mark.parametrize("kind", MORE)
def test_not_in_what_no_connection_tells(build: Build, kind: str, authority: Authority) -> None:
    options = {"environment": SECRETS, **MORE[kind]}
    assert not secrets_in(failing(build(kind, f"http://{LOOPBACK}:{free_port()}{PATH}", **options)))

    def resolve(*_arguments: Any, **_options: Any) -> Any:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    url = f"https://hooks.example.com{PATH}"
    assert not secrets_in(failing(build(kind, url, resolve=resolve, **options)))
    assert not secrets_in(failing(build(kind, url, resolve=Names(["10.0.0.1"]), **options)))
    with receiver(tls=authority.other) as server:
        assert not secrets_in(failing(build(kind, f"https://{LOOPBACK}:{server.port}{PATH}", **options)))
        assert not server.seen


SAID = b" ".join([CANARY.encode(), quote(CANARY).encode(), base64.b64encode(CANARY.encode()), CANARY.upper().encode()])


def greets(*lines: bytes) -> Any:
    """A mail server of these replies, one to each line that comes."""

    def behave(connection: socket.socket, _over: threading.Event) -> None:
        for line in lines:
            connection.sendall(line + b"\r\n")
            if not connection.recv(65536):
                return

    return behave


LOGIN = f"{quote(CANARY)}:{quote(CANARY)}"
PLAIN = base64.b64encode(f"\0{CANARY}\0{CANARY}".encode())


@pytest.mark.parametrize(
    "replies",
    [
        [b"554 " + SAID],
        [b"220 hi", b"500 " + SAID, b"500 " + SAID],
        [b"220 hi", b"250-hi\r\n250 AUTH PLAIN", b"535 " + PLAIN + b" " + SAID, b"535 no"],
        [b"220 hi", b"250-hi\r\n250 AUTH PLAIN", b"454 " + PLAIN, b"454 no"],
        [b"220 hi", b"250-hi\r\n250 AUTH LOGIN", b"334 VXNlcm5hbWU6", b"334 UGFzc3dvcmQ6", b"535 " + SAID],
        [b"220 hi", b"250-hi\r\n250 AUTH CRAM-MD5", b"334 !not base64 " + SAID],
        [b"220 hi", b"250-hi\r\n250 AUTH PLAIN", b"235 ok", b"550 " + SAID],
        [b"220 hi", b"250 hi"],
        [SAID],
    ],
)
def test_not_in_what_a_mail_server_tells(build: Build, replies: list[bytes]) -> None:
    with raw_server(greets(*replies)) as port:
        text = failing(build("email", f"smtp://{LOGIN}@{LOOPBACK}:{port}"))
    assert not secrets_in(text)


PROBLEMS = {
    "unset": None,
    "empty": "",
    "space before": f" https://hooks.example.com/{CANARY}",
    "line break after": f"https://hooks.example.com/{CANARY}\n",
    "space": f"https://hooks.example.com/ {CANARY}",
    "no URL": CANARY,
    "half a bracket": f"https://[{CANARY}",
    "a port of letters": f"https://hooks.example.com:{CANARY}/",
    "a user": f"https://{CANARY}@hooks.example.com/",
    "a scheme": f"{CANARY}://hooks.example.com/",
    "a fragment": f"https://hooks.example.com/#{CANARY}",
    "a letter": f"https://hooks.example.com/{CANARY}é",
    "a surrogate": f"https://hooks.example.com/{CANARY}\udc80",
    "something after a bracket": f"https://[::1]{CANARY}/",
}


@pytest.mark.parametrize("value", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("kind", ["slack", "email"])
def test_a_variable_is_refused_by_its_name_alone(kind: str, value: str | None, authority: Authority) -> None:
    needs = {"sender": "a@example.com", "recipients": ("b@example.com",)} if kind == "email" else {}
    entry = ChannelSettings.model_validate({"kind": kind, "name": "night shift", "url_env": "OPS_URL", **needs})
    environment = {"SSL_CERT_FILE": str(authority.bundle), "OTHER": CANARY}
    environment |= {} if value is None else {"OPS_URL": value}
    with pytest.raises(UsageError) as caught:
        build_channels([entry], environment)
    text = str(caught.value)
    assert text.startswith("[[alerts]] 'night shift': the variable OPS_URL (url_env) ")
    assert ": " in text.partition("(url_env)")[2], "a remedy"
    assert CANARY not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)


@pytest.mark.parametrize("key", ["secret_env", "token_env", "key_env"])
@pytest.mark.parametrize("value", [None, "", f"{CANARY}\n", f"{CANARY}\r\nX-Header: 1", f"{CANARY}é"])
def test_so_are_keys_and_tokens(key: str, value: str | None, authority: Authority) -> None:
    kind = {"secret_env": "webhook", "token_env": "alertmanager", "key_env": "pagerduty"}[key]
    entry = ChannelSettings.model_validate({"kind": kind, "url_env": "OPS_URL", key: "OPS_KEY"})
    environment = {"OPS_URL": "https://example.com/", "SSL_CERT_FILE": str(authority.bundle)}
    environment |= {} if value is None else {"OPS_KEY": value}
    with pytest.raises(UsageError, match=rf"the variable OPS_KEY \({key}\)") as caught:
        build_channels([entry], environment)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_a_bundle_that_cannot_be_read_is_refused(tmp_path: Any) -> None:
    entry = ChannelSettings.model_validate({"kind": "slack", "url_env": "OPS_URL"})
    (tmp_path / "empty.pem").write_text("no certificate")
    for path in (tmp_path / "missing.pem", tmp_path / "empty.pem", tmp_path):
        with pytest.raises(UsageError, match="SSL_CERT_FILE"):
            build_channels([entry], {"OPS_URL": "https://example.com/", "SSL_CERT_FILE": str(path)})
