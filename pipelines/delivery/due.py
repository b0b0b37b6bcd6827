"""What becomes of an alert at a channel before anything is sent.

Belongs here: age, silences, what a channel wants, and that nothing ends which was never begun. Does not belong here:
sending (`rounds`), how often it is tried (`attempts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from pipelines.alerts.kinds import Action
from pipelines.delivery.settings import AlertingSettings, ChannelSettings, SilenceSettings
from pipelines.prices.globs import matches
from pipelines.times import to_hour, to_instant, to_us
from pipelines.warehouse import Reader, Writer

SEND = "send"
WAIT = "wait"
TOO_OLD = "too_old"
SILENCED = "silenced"
UNWANTED = "unwanted"
UNOPENED = "unopened"
AHEAD = timedelta(hours=1)
"""A clock may be so far behind those of the logs; what is further ahead waits until its hour has come."""


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert that a channel was not told, or not for good; times in microseconds since the epoch.

    opening_status, opened_as: what became at this channel of the alert that began it, and the key it was sent under.
    """

    dedup_key: str
    kind: str
    action: Action
    level: int
    deployment: str | None
    hour_index: int
    message: str
    since_hour_index: int
    acknowledged_by: str | None = None
    opening_status: str | None = None
    opened_as: str | None = None
    attempts: int = 0
    first_attempt_us: int | None = None
    next_attempt_us: int | None = None
    is_over: bool = False

    @property
    def identity(self) -> dict[str, Any]:
        """What names it in the tables."""
        return {"dedup_key": self.dedup_key, "kind": self.kind, "level": self.level}


def unsettled(warehouse: Reader | Writer, channel: str) -> list[Alert]:
    """Return what the channel of this name was not told, or not for good, in order."""
    names = [field.name for field in fields(Alert)]
    return [Alert(**{name: row[name] for name in names}) for row in warehouse.rows("alerts/unsettled", channel=channel)]


def fate(
    alert: Alert,
    channel: ChannelSettings,
    alerting: AlertingSettings,
    silences: Sequence[SilenceSettings],
    now: datetime,
) -> str:
    """Return SEND, WAIT, or the status that settles the alert without its being sent.

    What ends an alert, or adds to it, goes where its beginning went, whatever its age: it pages nobody, and a page that
    was opened must be closed.
    """
    if alert.action == "trigger":
        settled = _beginning(alert, channel, alerting, silences, now)
    else:
        settled = {None: WAIT, "waiting": WAIT, "sent": SEND}.get(alert.opening_status, UNOPENED)
        if alert.action == "update" and settled == SEND and _is_silent(alert, silences, now):
            settled = WAIT
    if settled == SEND and alert.next_attempt_us is not None and alert.next_attempt_us > to_us(now):
        return WAIT
    return settled


def next_moment(alerts: Iterable[Alert]) -> datetime | None:
    """Return when the first of them is to be tried again."""
    waiting = [alert.next_attempt_us for alert in alerts if alert.next_attempt_us is not None]
    return to_instant(min(waiting)) if waiting else None


def _beginning(
    alert: Alert,
    channel: ChannelSettings,
    alerting: AlertingSettings,
    silences: Sequence[SilenceSettings],
    now: datetime,
) -> str:
    if channel.events and alert.kind not in channel.events:
        return UNWANTED
    if alert.deployment is not None and not any(matches(glob, alert.deployment) for glob in channel.deployments):
        return UNWANTED
    hour = to_hour(alert.hour_index)
    if hour > now + AHEAD:
        return WAIT
    silent = [silence for silence in silences if silence.covers(alert.deployment, hour)]
    if silent and alert.is_over:
        return SILENCED
    # What was silent when it happened is as old as the end of its silence.
    moment = max([hour + timedelta(hours=1), *(silence.ends_at for silence in silent)])
    if alert.attempts == 0 and now - moment > timedelta(hours=alerting.max_alert_age_hours):
        return TOO_OLD
    return WAIT if _is_silent(alert, silences, now) else SEND


def _is_silent(alert: Alert, silences: Sequence[SilenceSettings], now: datetime) -> bool:
    return any(silence.covers(alert.deployment, now) for silence in silences)
