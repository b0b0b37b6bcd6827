"""The alerts that episodes call for, recorded once each in `alert_outbox`.

Belongs here: which alerts episodes call for, when they are due, and their headlines. Does not belong here: what
episodes are (`episodes`), alerts of another kind (`conditions`), sending (`pipelines.delivery`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from math import inf
from typing import Any

import polars as pl

from pipelines.alerts.kinds import KINDS
from pipelines.times import HOURS_PER_DAY, hour_text, to_us
from pipelines.warehouse import Writer

DEEPER_BY = 2.0
"""An episode has worsened when it is so many times as deep as it was when last told."""
DEEPER_AT_LEAST = 0.01
"""And by so much of the revenue: twice next to nothing is no news."""

_COLUMNS = {
    "dedup_key": pl.String, "kind": pl.String, "action": pl.String, "level": pl.Int64, "deployment": pl.String,
    "hour_index": pl.Int64, "depth": pl.Float64, "message": pl.String, "written_us": pl.Int64,
}  # fmt: skip


def write_alerts(writer: Writer, day_index: int, episodes: list[dict[str, Any]], now: datetime) -> int:
    """Record each episode's entry and exit once, whatever is judged again, and each doubling of its depth; retract the
    entry of an episode that late data, other prices or another policy have undone, so that no pager stays open for it.

    What rests on later days that are about to be judged again waits until they are: halfway through, old and new
    verdicts meet in episodes that never were.
    """
    recorded = writer.rows("valley/written_alerts")
    standing = {episode["dedup_key"] for episode in episodes}
    entered = {(episode["deployment"], episode["entered_hour_index"]) for episode in episodes}
    called_for = [
        alert_row("retracted", row["dedup_key"], row["deployment"], row["hour_index"], _retraction(row, entered))
        for row in recorded
        if row["kind"] == "entry" and row["dedup_key"] not in standing
    ]
    called_for += _of_episodes(recorded, episodes)
    waiting = [row["day_index"] for row in writer.rows("valley/days_to_judge", day_index=day_index)]
    settled_hours = min(waiting) * HOURS_PER_DAY if waiting else inf
    return record(writer, recorded, [alert for alert in called_for if alert["hour_index"] < settled_hours], now)


def record(writer: Writer, recorded: Iterable[dict[str, Any]], called_for: list[dict[str, Any]], now: datetime) -> int:
    """Append the alerts that are not among the recorded ones; return how many they are."""
    alerts = [alert | {"written_us": to_us(now)} for alert in unrecorded(recorded, called_for)]
    if alerts:
        writer.insert_frame("ops.alert_outbox", pl.DataFrame(alerts, schema=_COLUMNS))
    return len(alerts)


def unrecorded(recorded: Iterable[dict[str, Any]], called_for: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the alerts that are not among the recorded ones."""
    written = {_identity(row) for row in recorded}
    return [alert for alert in called_for if _identity(alert) not in written]


def alert_row(
    kind: str,
    dedup_key: str,
    deployment: str | None,
    hour_index: int,
    message: str,
    *,
    level: int = 0,
    depth: float | None = None,
) -> dict[str, Any]:
    """Return an alert as the outbox has it, but for when it was written."""
    return {
        "dedup_key": dedup_key, "kind": kind, "action": KINDS[kind], "level": level, "deployment": deployment,
        "hour_index": hour_index, "depth": depth, "message": message,
    }  # fmt: skip


def inert(name: str) -> str:
    """Return a name of a log with nothing in it but printable ASCII."""
    return ascii(name)[1:-1]


def _identity(alert: dict[str, Any]) -> tuple[str, str, int]:
    return alert["dedup_key"], alert["kind"], alert["level"]


def _of_episodes(recorded: list[dict[str, Any]], episodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    told: dict[str, list[dict[str, Any]]] = {}
    for row in recorded:
        told.setdefault(row["dedup_key"], []).append(row)
    found = []
    for of in episodes:
        key, deployment, depth = of["dedup_key"], of["deployment"], of["peak_depth"]
        found.append(alert_row("entry", key, deployment, of["entered_hour_index"], _entry(of), depth=depth))
        before = told.get(key, [])
        depths = [row["depth"] for row in before if row["depth"] is not None]
        is_closed = any(row["action"] == "resolve" for row in before)
        if depths and not is_closed and depth >= max(DEEPER_BY * max(depths), max(depths) + DEEPER_AT_LEAST):
            said = f"{inert(deployment)} is deeper in the valley: at {hour_text(of['deepest_hour_index'])} "
            said += f"{_cost(depth)}, {max(depths):.1%} when last told"
            level = sum(row["kind"] == "worsening" for row in before) + 1
            found.append(
                alert_row("worsening", key, deployment, of["deepest_hour_index"], said, level=level, depth=depth)
            )
        if of["left_hour_index"] is not None:
            said = f"{inert(deployment)} left the valley at {hour_text(of['left_hour_index'])}"
            found.append(alert_row("exit", key, deployment, of["left_hour_index"], said, depth=depth))
    return found


def _entry(of: dict[str, Any]) -> str:
    when = hour_text(of["entered_hour_index"])
    return f"{inert(of['deployment'])} entered the valley at {when}: {_cost(of['peak_depth'])} so far"


def _cost(depth: float) -> str:
    return f"cache hits cost it up to {depth:.1%} of its revenue per busy second"


def _retraction(row: dict[str, Any], entered: set[tuple[str, int]]) -> str:
    name, when = inert(row["deployment"]), hour_text(row["hour_index"])
    if (row["deployment"], row["hour_index"]) in entered:
        return f"{name} is in the valley since {when} under another version of the policy: see that episode"
    return f"{name} was not in the valley at {when} after all: later data, prices or policy changed the verdict"
