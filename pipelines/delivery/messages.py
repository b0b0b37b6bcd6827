"""Which alerts share a message: pure.

Belongs here: digests and batches. Does not belong here: what a message looks like (`channels`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.delivery.due import Alert

SHOWN = 20
"""Alerts that a digest tells one by one; the others by their number."""


@dataclass(frozen=True, slots=True)
class Message:
    """The alerts it delivers, how many of them it shows, and the key it goes under where that is not an alert's own."""

    alerts: tuple[Alert, ...]
    n_shown: int
    digest_key: str | None

    @property
    def shown(self) -> tuple[Alert, ...]:
        """The alerts told one by one."""
        return self.alerts[: self.n_shown]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a channel takes messages: see `channel.Channel`; digest_over is the configuration's."""

    digest_over: int
    at_once: int
    is_for_people: bool
    closes_by_key: bool


def beginnings(alerts: Sequence[Alert], manner: Manner) -> list[Message]:
    """Return messages for alerts that begin: for people one digest where they are many, for machines full batches."""
    if manner.is_for_people and len(alerts) > manner.digest_over:
        return [Message(tuple(alerts), min(len(alerts), SHOWN), digest_key(alerts))]
    return _batches(alerts, manner.at_once)


def followings(alerts: Sequence[Alert], manner: Manner) -> list[Message]:
    """Return messages for alerts that add to others or end them.

    Those that began in a digest are told together, under the digest's key. Where messages open and close alerts by key
    the others go one by one, under their own.
    """
    own = [alert for alert in alerts if not is_in_digest(alert)]
    messages = _batches(own, manner.at_once) if manner.closes_by_key else beginnings(own, manner)
    groups: dict[str, list[Alert]] = {}
    for alert in alerts:
        if alert.opened_as is not None and is_in_digest(alert):
            groups.setdefault(alert.opened_as, []).append(alert)
    return messages + [Message(tuple(of), min(len(of), SHOWN), key) for key, of in groups.items()]


def is_in_digest(alert: Alert) -> bool:
    """Say whether the alert that this one follows was told in a digest."""
    return alert.opened_as not in (None, alert.dedup_key)


def digest_key(alerts: Sequence[Alert]) -> str:
    """Return the key of a digest: the same for the same alerts, whatever their order."""
    parts = sorted(f"{alert.dedup_key}\0{alert.kind}\0{alert.level}" for alert in alerts)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _batches(alerts: Sequence[Alert], at_once: int) -> list[Message]:
    found = []
    for start in range(0, len(alerts), at_once):
        batch = tuple(alerts[start : start + at_once])
        found.append(Message(batch, len(batch), None))
    return found
