"""`[[alerts]]`, `[[silences]]` and `[alerting]`: who is told, who is not, and when.

Belongs here: keys, bounds and what each kind of channel takes. Does not belong here: secrets, which come from the
environment when something is sent (`channels`).
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from pipelines.alerts.kinds import KINDS
from pipelines.errors import UsageError
from pipelines.prices.globs import matches
from pipelines.section import NonEmpty, Section, nearest

Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=256)]
Address = Annotated[str, Field(pattern=r"^[^@\s<>,\"]+@[^@\s<>,\"]+$", max_length=254)]

_OF_KIND: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "slack": (frozenset({"url_env"}), frozenset()),
    "webhook": (frozenset({"url_env"}), frozenset({"secret_env"})),
    "alertmanager": (frozenset({"url_env"}), frozenset({"token_env"})),
    "pagerduty": (frozenset({"key_env"}), frozenset({"url_env"})),
    "email": (frozenset({"url_env", "sender", "recipients"}), frozenset()),
}
"""By kind: the keys it needs, and those it may have."""
_OWN_KEYS = ("url_env", "secret_env", "token_env", "key_env", "sender", "recipients")


class ChannelSettings(Section):
    """One channel. URLs, tokens and keys are named by the variable of the environment that holds them."""

    kind: Literal["slack", "webhook", "alertmanager", "pagerduty", "email"]
    name: NonEmpty | None = None
    """What it is called in `valleywatch alerts` and the tables; unset: its kind."""
    url_env: Variable | None = None
    secret_env: Variable | None = None
    """Key of the HMAC that signs what a webhook is sent."""
    token_env: Variable | None = None
    """Bearer token."""
    key_env: Variable | None = None
    """Routing key of a PagerDuty integration."""
    sender: Address | None = None
    recipients: tuple[Address, ...] = ()
    deployments: tuple[NonEmpty, ...] = ("*",)
    """Globs; an alert of the whole warehouse goes to every channel."""
    events: tuple[NonEmpty, ...] = ()
    """Kinds of alerts it takes, by what begins them; empty: all. What follows goes wherever the beginning went."""
    allow: tuple[NonEmpty, ...] = ()
    """Networks or addresses that it may reach although they are private, and without TLS."""

    @property
    def label(self) -> str:
        """The channel's name, or its kind."""
        return self.name or self.kind

    @model_validator(mode="after")
    def _keys_of_kind(self) -> Self:
        needs, may = _OF_KIND[self.kind]
        given = {key for key in _OWN_KEYS if getattr(self, key)}
        if missing := sorted(needs - given):
            raise ValueError(f"a channel of kind {self.kind!r} needs {', '.join(missing)}")
        if beyond := sorted(given - needs - may):
            raise ValueError(f"a channel of kind {self.kind!r} takes no {', '.join(beyond)}: remove it")
        return self

    @model_validator(mode="after")
    def _known_events(self) -> Self:
        beginnings = [kind for kind, action in KINDS.items() if action == "trigger"]
        for event in self.events:
            if event not in beginnings:
                raise ValueError(
                    f"events: {event!r} begins no alert{nearest(event, beginnings)}; known are {', '.join(beginnings)}"
                )
        return self

    @model_validator(mode="after")
    def _networks(self) -> Self:
        for network in self.allow:
            try:
                ipaddress.ip_network(network)
            except ValueError as error:
                raise ValueError(f"allow: {error}; write an address or a network such as 10.0.0.0/8") from None
        return self


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("needs an offset, such as 2026-12-01T22:00:00Z")
    return moment.astimezone(UTC)


Moment = Annotated[datetime, AfterValidator(_in_utc)]


class SilenceSettings(Section):
    """Maintenance: alerts of these deployments wait from one moment until another."""

    deployment: NonEmpty
    """Glob."""
    starts_at: Moment
    ends_at: Moment
    """Exclusive."""
    reason: NonEmpty

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.ends_at <= self.starts_at:
            raise ValueError("ends_at must be later than starts_at")
        return self

    def covers(self, deployment: str | None, moment: datetime) -> bool:
        """Say whether it holds at that moment; alerts of the whole warehouse are silenced by `*` alone."""
        is_meant = self.deployment == "*" if deployment is None else matches(self.deployment, deployment)
        return is_meant and self.starts_at <= moment < self.ends_at


class AlertingSettings(Section):
    """What all channels have in common."""

    max_alert_age_hours: Annotated[int, Field(ge=1, le=720)] = 48
    """An alert about an hour further back is never sent: a backfill pages nobody."""
    stale_after_hours: Annotated[int, Field(ge=1, le=720)] = 30
    """Hours without a request after which a deployment that served some is called stale."""
    patience_s: Annotated[int, Field(ge=0, le=600)] = 60
    """What a job spends on channels that do not take a message at once; later rounds see to the rest."""
    digest_over: Annotated[int, Field(ge=1, le=100)] = 5
    """More alerts than these due for one channel at a time are told in one message."""


def require_names(channels: Iterable[ChannelSettings]) -> None:
    """Raise UsageError where two channels have one name: deliveries are kept by it."""
    for label, times in Counter(channel.label for channel in channels).items():
        if times > 1:
            raise UsageError(f"{times} [[alerts]] are called {label!r}: give each a `name` of its own")
