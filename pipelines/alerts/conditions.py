"""Alerts of conditions: a deployment without data, a day that was stopped, a verdict that lost its curve.

Belongs here: which conditions hold, by what is committed and by the clock, and the alerts that begin and end them. Does
not belong here: episodes (`outbox`), sending (`pipelines.delivery`).

A condition is looked for anew each time and compared with what was told; so nothing is lost with a process that dies.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipelines import reason_codes, words
from pipelines.alerts.outbox import alert_row, inert, record
from pipelines.delivery.settings import AlertingSettings
from pipelines.times import HOURS_PER_DAY, US_PER_HOUR, day_text, hour_text, to_us
from pipelines.warehouse import Reader, Writer

_ENDED_BY = {"stale": "resumed", "data_blocked": "unblocked", "untrustworthy": "trustworthy"}


@dataclass(frozen=True, slots=True)
class Condition:
    """What holds now; begun: the day or hour, since the epoch, that names it; hour_index: the hour it is about."""

    kind: str
    deployment: str | None
    begun: int
    hour_index: int
    message: str

    @property
    def dedup_key(self) -> str:
        """Return the key that names it to the outside: a hash, so that no name of a log becomes part of it."""
        return hashlib.sha256(f"{self.kind}\0{self.deployment or ''}\0{self.begun}".encode()).hexdigest()


def write_conditions(writer: Writer, alerting: AlertingSettings, now: datetime) -> int:
    """Record what began and what ended since the last look; return how many alerts that is."""
    with writer.transaction():
        called_for = called_for_now(writer, alerting, now)
        return record(writer, writer.rows("valley/written_alerts"), called_for, now)


def called_for_now(warehouse: Reader | Writer, alerting: AlertingSettings, now: datetime) -> list[dict[str, Any]]:
    """Return the alerts of what holds, recorded before or not, and of what holds no more."""
    holding = [*_stale(warehouse, alerting, now), *_blocked(warehouse), *_untrustworthy(warehouse)]
    keys = {condition.dedup_key for condition in holding}
    newest = {row["deployment"]: row["newest_hour_index"] for row in warehouse.rows("alerts/newest_hours")}
    called_for = [alert_row(of.kind, of.dedup_key, of.deployment, of.hour_index, of.message) for of in holding]
    for row in warehouse.rows("alerts/open_conditions"):
        if row["dedup_key"] not in keys:
            kind, name = _ENDED_BY[row["kind"]], row["deployment"]
            # The hour of an end is the newest there is: that of its beginning would be too old to be told.
            hour_index = max(row["hour_index"], newest.get(name, row["hour_index"]))
            said = _end_words(row["kind"], name, row["hour_index"], hour_index)
            called_for.append(alert_row(kind, row["dedup_key"], name, hour_index, said))
    return called_for


def _stale(warehouse: Reader | Writer, alerting: AlertingSettings, now: datetime) -> list[Condition]:
    now_hour = to_us(now) // US_PER_HOUR
    return [
        Condition(
            "stale",
            row["deployment"],
            row["newest_hour_index"],
            row["newest_hour_index"] + alerting.stale_after_hours,
            f"{inert(row['deployment'])} has sent no data since {hour_text(row['newest_hour_index'])}: its state is "
            "held as it was; see whether it serves, and whether its logs arrive",
        )
        for row in warehouse.rows("alerts/newest_hours")
        if now_hour - row["newest_hour_index"] > alerting.stale_after_hours
    ]


def _blocked(warehouse: Reader | Writer) -> list[Condition]:
    return [
        Condition(
            "data_blocked",
            None,
            row["day_index"],
            row["day_index"] * HOURS_PER_DAY,
            f"the data of {day_text(row['day_index'])} broke its contract, and what was published before stays: "
            f"{inert(row['first_breach'])}{_more(row['n_breaches'] - 1)}; see the view check_findings",
        )
        for row in warehouse.rows("alerts/blocked_days")
    ]


def _untrustworthy(warehouse: Reader | Writer) -> list[Condition]:
    return [
        Condition(
            "untrustworthy",
            row["deployment"],
            row["first_day_index"],
            row["first_day_index"] * HOURS_PER_DAY,
            f"{inert(row['deployment'])} is held in the valley, but since {day_text(row['first_day_index'])} its "
            f"throughput curve cannot be trusted, {words.because(reason_codes.listed(row['reasons']))}",
        )
        for row in warehouse.rows("alerts/unjudgeable")
    ]


def _more(n_others: int) -> str:
    return f" and {n_others} more" if n_others else ""


def _end_words(kind: str, deployment: str | None, began: int, ended: int) -> str:
    if kind == "data_blocked":
        return f"the data of {day_text(began // HOURS_PER_DAY)} keeps its contract now"
    name = inert(deployment or "")
    if kind == "stale":
        return f"{name} sends data again, the newest of {hour_text(ended)}"
    return f"{name} has a throughput curve to trust again, or is in the valley no more"
