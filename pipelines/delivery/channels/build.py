"""`[[alerts]]` and the environment made into channels.

Belongs here: which class a kind is, and what it is given. Does not belong here: sending.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from pipelines.delivery.channel import Channel
from pipelines.delivery.channels.addresses import Reach
from pipelines.delivery.channels.alertmanager import API_PATH, AlertmanagerChannel
from pipelines.delivery.channels.connection import DEADLINE_S, Resolve, Transport, tls_context
from pipelines.delivery.channels.email import EmailChannel
from pipelines.delivery.channels.endpoint import Endpoint, mail_endpoint, web_endpoint
from pipelines.delivery.channels.pagerduty import EVENTS_URL, PagerDutyChannel
from pipelines.delivery.channels.post import Post
from pipelines.delivery.channels.redaction import Redaction
from pipelines.delivery.channels.slack import SlackChannel
from pipelines.delivery.channels.smtp import Mail
from pipelines.delivery.channels.variables import Variables
from pipelines.delivery.channels.webhook import WebhookChannel
from pipelines.delivery.settings import ChannelSettings


def build_channels(
    settings: Sequence[ChannelSettings],
    environment: Mapping[str, str],
    *,
    deadline_s: float = DEADLINE_S,
    resolve: Resolve = socket.getaddrinfo,
) -> list[Channel]:
    """Return the channels in the order of their settings. Nothing is connected to.

    deadline_s: of each attempt to send, in total; resolve: what is asked for the addresses of a host. Raises
    UsageError naming the entry and the variable that is unset, empty or unusable, never its value.
    """
    if not settings:
        return []
    transport = Transport(tls_context(environment), deadline_s, resolve)
    return [_OF_KIND[entry.kind](_Parts(entry, Variables(entry.label, environment), transport)) for entry in settings]


@dataclass(frozen=True)
class _Parts:
    """What every kind is made of."""

    settings: ChannelSettings
    variables: Variables
    transport: Transport

    def secret(self, key: str) -> SecretStr | None:
        return self.variables.optional_secret(key, getattr(self.settings, key))

    def web(self) -> Endpoint:
        return self._reachable(web_endpoint(self.variables, "url_env", self.settings.url_env))

    def post(self, endpoint: Endpoint, *secrets: SecretStr | None) -> Post:
        reach = Reach.of(self.settings.allow)
        return Post(endpoint, reach, self.transport, Redaction([endpoint.target, *secrets]))

    def _reachable(self, endpoint: Endpoint) -> Endpoint:
        if endpoint.scheme == "http" and not self.settings.allow:
            remedy = "use https://, or list the address under `allow` where the network is trusted"
            raise self.variables.unusable(
                "url_env", endpoint.variable, "is of http://, where anyone may read along", remedy
            )
        return endpoint


def _slack(parts: _Parts) -> Channel:
    return SlackChannel(parts.settings.label, parts.post(parts.web()))


def _webhook(parts: _Parts) -> Channel:
    secret = parts.secret("secret_env")
    return WebhookChannel(parts.settings.label, parts.post(parts.web(), secret), secret)


def _alertmanager(parts: _Parts) -> Channel:
    token = parts.secret("token_env")
    return AlertmanagerChannel(parts.settings.label, parts.post(parts.web().under(API_PATH), token), token)


def _pagerduty(parts: _Parts) -> Channel:
    key = parts.variables.secret("key_env", parts.settings.key_env)
    if parts.settings.url_env is None:
        default = Variables(parts.settings.label, {"url_env": EVENTS_URL})
        endpoint = web_endpoint(default, "url_env", "url_env")
    else:
        endpoint = parts.web()
    return PagerDutyChannel(parts.settings.label, parts.post(endpoint, key), key)


def _email(parts: _Parts) -> Channel:
    endpoint = mail_endpoint(parts.variables, "url_env", parts.settings.url_env)
    user, password = endpoint.user, endpoint.password
    secrets = [user, password]
    if user is not None and password is not None:  # as AUTH PLAIN puts it, which servers quote
        secrets.append(SecretStr(f"\0{user.get_secret_value()}\0{password.get_secret_value()}"))
    mail = Mail(endpoint, Reach.of(parts.settings.allow), parts.transport, Redaction(secrets))
    sender, recipients = parts.settings.sender, parts.settings.recipients
    assert sender
    return EmailChannel(parts.settings.label, mail, sender, recipients)


_OF_KIND: Mapping[str, Callable[[_Parts], Channel]] = {
    "slack": _slack,
    "webhook": _webhook,
    "alertmanager": _alertmanager,
    "pagerduty": _pagerduty,
    "email": _email,
}
