"""An authority of the tests' own, and channels that reach loopback only."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme

from pipelines.delivery.channel import Channel
from pipelines.delivery.channels import build_channels
from pipelines.delivery.settings import ChannelSettings
from tests.delivery.alertmanager import Alertmanager, running
from tests.delivery.loopback import LOOPBACK

DEADLINE_S = 0.3
CANARY = "canary-5ecret-T0ken"
Build = Callable[..., Channel]


@dataclass(frozen=True)
class Authority:
    """Signs certificates for servers on this machine."""

    bundle: Path
    server: ssl.SSLContext
    """Of `hooks.example.com` and 127.0.0.1."""
    other: ssl.SSLContext
    """Of another name."""


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that nobody but `SSL_CERT_FILE` trusts."""
    found = trustme.CA()
    bundle = tmp_path_factory.mktemp("authority") / "bundle.pem"
    found.cert_pem.write_to_path(str(bundle))
    contexts = []
    for names in (("hooks.example.com", LOOPBACK), ("other.example",)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found.issue_cert(*names).configure_cert(context)
        contexts.append(context)
    return Authority(bundle, *contexts)


@pytest.fixture(scope="session")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alertmanager]:
    """The real Alertmanager of this session."""
    with running(tmp_path_factory.mktemp("alertmanager")) as found:
        yield found


@pytest.fixture(scope="session")
def build(authority: Authority) -> Build:
    """Build one channel: settings as keywords, `value` what its variable holds, `allow` loopback unless told."""

    def make(
        kind: str, value: str, *, deadline_s: float = 5.0, environment: Any = (), resolve: Any = None, **settings: Any
    ) -> Channel:
        names = {"url_env": "ALERT_URL"} if kind != "pagerduty" or value else {}
        more = {
            "email": {"sender": "valleywatch@example.com", "recipients": ("oncall@example.com",)},
            "pagerduty": {"key_env": "ROUTING_KEY"},
        }.get(kind, {})
        entry = ChannelSettings.model_validate({"kind": kind, "allow": (LOOPBACK,), **names, **more, **settings})
        values = {
            "ALERT_URL": value,
            "ROUTING_KEY": CANARY,
            "SSL_CERT_FILE": str(authority.bundle),
            **dict(environment),
        }
        [channel] = build_channels([entry], values, deadline_s=deadline_s, resolve=resolve or socket.getaddrinfo)
        return channel

    return make
