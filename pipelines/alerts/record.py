"""Judging a day: states hour by hour, episodes, and the alerts they call for, all in one commit.

Belongs here: what is written when a verdict changes. Does not belong here: how it is decided (`state.py`) or sent
(no version of this package sends anything yet: `alert_outbox` is the record a sender reads).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from pipelines.alerts.state import Observation, Standing, advance
from pipelines.faults import reach
from pipelines.prices.memory import compare_with_published, replace_price_book
from pipelines.settings import PolicySettings, Settings
from pipelines.times import HOURS_PER_DAY, hour_text, to_us
from pipelines.verdicts import observe_day
from pipelines.warehouse import Writer


def judge_day(writer: Writer, day_index: int, settings: Settings, now: datetime) -> dict[str, int]:
    """Replace the day's verdicts and all that follows from them; return counts of hours, episodes and new alerts.

    States are carried on to the newest hour, so a day that is judged again corrects the days after it.
    """
    with writer.transaction():
        n_hours = observe_day(writer, day_index, settings, now)
        replace_price_book(writer, settings.book)
        _advance_states(writer, day_index * HOURS_PER_DAY, settings.policy)
        episodes = _replace_episodes(writer, settings.policy)
        n_alerts = _write_alerts(writer, episodes, now)
        day = {"first_hour": day_index * HOURS_PER_DAY, "last_hour": day_index * HOURS_PER_DAY + HOURS_PER_DAY - 1}
        writer.run("ops/clean_hours", mart="valley_status", **day)
        writer.insert_rows("ops.unpublished_days", [{"day_index": day_index}])
        reach("verdicts_written")
    reach("verdicts_committed")
    return {"hours": n_hours, "episodes": len(episodes), "new_alerts": n_alerts}


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed settings mean for judged days, as day indexes.

    judged_again: all of them after another policy; else those whose hours lack a price that they could have now.
    kept: those that keep prices which the rows no longer say.
    """

    policy: bool = False
    judged_again: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()


def mark_changed_judgement(writer: Writer, settings: Settings) -> Changed:
    """Mark the judged days that changed prices or policy leave behind dirty; say which, and which keep their prices.

    A later price never rewrites history: days that were published with a price keep it (`prices.memory`).
    """
    with_these = {"policy": _digest(settings.judged_by), "prices": _digest(settings.book.fingerprint)}
    before = writer.rows("ops/judged_with")
    if before == [with_these]:
        return Changed()
    is_policy = [row["policy"] for row in before] != [with_these["policy"]]
    with writer.transaction():
        judged = [row["day_index"] for row in writer.rows("valley/judged_days")]
        fillable, kept = compare_with_published(writer, settings.book)
        again = judged if is_policy else fillable
        writer.insert_rows("ops.dirty_days", [{"day_index": day_index} for day_index in again])
        if judged:
            # The rows and what is told of them are published, whether or not a day is judged.
            replace_price_book(writer, settings.book)
            writer.insert_rows("ops.unpublished_days", [{"day_index": judged[-1]}])
        writer.run("ops/clear_judged_with")
        writer.insert_rows("ops.judged_with", [with_these])
    return Changed(is_policy and bool(judged), tuple(again), tuple(kept))


def _digest(what: object) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()


def episode_key(deployment: str, policy_version: int, entered_hour_index: int) -> str:
    """Return the key that names an episode to the outside: a hash, so that no name of a log becomes part of it."""
    return hashlib.sha256(f"{deployment}\0{policy_version}\0{entered_hour_index}".encode()).hexdigest()


def _advance_states(writer: Writer, first_hour: int, policy: PolicySettings) -> None:
    before = {
        row["deployment"]: Standing(row["state"], row["is_in_valley"], False, row["enter_streak"], row["leave_streak"])
        for row in writer.rows("valley/standing_before", hour_index=first_hour)
    }
    standings = []
    for row in writer.rows("valley/observations_from", hour_index=first_hour):
        seen = Observation(row["p_in_valley"], row["has_valley"], row["regime"])
        after = advance(before.get(row["deployment"], Standing()), seen, policy)
        before[row["deployment"]] = after
        standings.append({
            "deployment": row["deployment"], "hour_index": row["hour_index"], "state": after.state,
            "is_in_valley": after.is_in_valley, "is_held": after.is_held, "enter_streak": after.enter_streak,
            "leave_streak": after.leave_streak,
        })  # fmt: skip
    if standings:
        with writer.registered("standings", pl.DataFrame(standings).to_arrow()):
            writer.run("valley/set_states")


def _replace_episodes(writer: Writer, policy: PolicySettings) -> list[dict[str, Any]]:
    notified = {row["dedup_key"]: row["notified_us"] for row in writer.rows("valley/notified")}
    episodes = []
    for row in writer.rows("valley/episodes"):
        key = episode_key(row["deployment"], policy.version, row["entered_hour_index"])
        episodes.append(row | {"dedup_key": key, "notified_us": notified.get(key)})
    writer.run("valley/clear_episodes")
    writer.insert_rows("mart.valley_episodes", episodes)
    return episodes


def _write_alerts(writer: Writer, episodes: list[dict[str, Any]], now: datetime) -> int:
    """Record each episode's entry and exit once, whatever is judged again; retract the entry of an episode that late
    data or other prices have undone, so that no pager stays open for it.
    """
    recorded = writer.rows("valley/written_alerts")
    written = {(row["dedup_key"], row["kind"]) for row in recorded}
    standing = {episode["dedup_key"] for episode in episodes}
    undone = [row for row in recorded if row["kind"] == "entry" and row["dedup_key"] not in standing]
    alerts = [
        {
            "dedup_key": row["dedup_key"], "kind": "retracted", "deployment": row["deployment"],
            "hour_index": row["hour_index"], "message": _retraction(row), "written_us": to_us(now),
        }
        for row in undone
        if (row["dedup_key"], "retracted") not in written
    ]  # fmt: skip
    for episode in episodes:
        for kind, hour in (("entry", episode["entered_hour_index"]), ("exit", episode["left_hour_index"])):
            if hour is not None and (episode["dedup_key"], kind) not in written:
                alerts.append({
                    "dedup_key": episode["dedup_key"], "kind": kind, "deployment": episode["deployment"],
                    "hour_index": hour, "message": _message(episode, kind), "written_us": to_us(now),
                })  # fmt: skip
    writer.insert_rows("ops.alert_outbox", alerts)
    return len(alerts)


def _retraction(row: dict[str, Any]) -> str:
    return (
        f"{ascii(row['deployment'])[1:-1]} was not in the valley at {hour_text(row['hour_index'])} after all: "
        "data or prices that came later changed the verdict"
    )


def _message(episode: dict[str, Any], kind: str) -> str:
    name = ascii(episode["deployment"])[1:-1]
    if kind == "exit":
        return f"{name} left the valley at {hour_text(episode['left_hour_index'])}"
    return (
        f"{name} entered the valley at {hour_text(episode['entered_hour_index'])}: cache hits cost it up to "
        f"{episode['peak_depth']:.1%} of its input revenue per busy second so far"
    )
