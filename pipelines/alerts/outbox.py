"""The alerts that episodes call for, recorded once each in `alert_outbox`.

Belongs here: which alerts there are, when they are due, and their words. Does not belong here: what episodes are
(`episodes`), sending (no version of this package does).
"""

from __future__ import annotations

from datetime import datetime
from math import inf
from typing import Any

from pipelines.times import HOURS_PER_DAY, hour_text, to_us
from pipelines.warehouse import Writer


def write_alerts(writer: Writer, day_index: int, episodes: list[dict[str, Any]], now: datetime) -> int:
    """Record each episode's entry and exit once, whatever is judged again; retract the entry of an episode that late
    data, other prices or another policy have undone, so that no pager stays open for it.

    What rests on later days that are about to be judged again waits until they are: halfway through, old and new
    verdicts meet in episodes that never were.
    """
    recorded = writer.rows("valley/written_alerts")
    written = {(row["dedup_key"], row["kind"]) for row in recorded}
    standing = {episode["dedup_key"] for episode in episodes}
    entered = {(episode["deployment"], episode["entered_hour_index"]) for episode in episodes}
    called_for = [
        _alert(row, "retracted", row["hour_index"], _retraction(row, entered))
        for row in recorded
        if row["kind"] == "entry" and row["dedup_key"] not in standing
    ]
    for episode in episodes:
        for kind, hour in (("entry", episode["entered_hour_index"]), ("exit", episode["left_hour_index"])):
            if hour is not None:
                called_for.append(_alert(episode, kind, hour, _message(episode, kind)))
    waiting = [row["day_index"] for row in writer.rows("valley/days_to_judge", day_index=day_index)]
    settled_hours = min(waiting) * HOURS_PER_DAY if waiting else inf
    alerts = [
        alert | {"written_us": to_us(now)}
        for alert in called_for
        if (alert["dedup_key"], alert["kind"]) not in written and alert["hour_index"] < settled_hours
    ]
    writer.insert_rows("ops.alert_outbox", alerts)
    return len(alerts)


def _alert(of: dict[str, Any], kind: str, hour_index: int, message: str) -> dict[str, Any]:
    return {
        "dedup_key": of["dedup_key"], "kind": kind, "deployment": of["deployment"], "hour_index": hour_index,
        "message": message, "level": 0, "depth": of.get("peak_depth"),
    }  # fmt: skip


def _retraction(row: dict[str, Any], entered: set[tuple[str, int]]) -> str:
    name, when = ascii(row["deployment"])[1:-1], hour_text(row["hour_index"])
    if (row["deployment"], row["hour_index"]) in entered:
        return f"{name} is in the valley since {when} under another version of the policy: see that episode"
    return f"{name} was not in the valley at {when} after all: later data, prices or policy changed the verdict"


def _message(episode: dict[str, Any], kind: str) -> str:
    name = ascii(episode["deployment"])[1:-1]
    if kind == "exit":
        return f"{name} left the valley at {hour_text(episode['left_hour_index'])}"
    return (
        f"{name} entered the valley at {hour_text(episode['entered_hour_index'])}: cache hits cost it up to "
        f"{episode['peak_depth']:.1%} of its revenue per busy second so far"
    )
