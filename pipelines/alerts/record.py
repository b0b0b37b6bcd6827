"""Judging a day: states hour by hour, episodes, and the alerts they call for, all in one commit.

Belongs here: what is written when a verdict changes. Does not belong here: how it is decided (`state.py`) or sent
(no version of this package sends anything yet: `alert_outbox` is the record a sender reads).
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, fields
from datetime import datetime
from itertools import groupby
from math import inf
from operator import itemgetter
from typing import Any

import polars as pl

from pipelines.alerts.episodes import Episode, Hour, episodes_of, replay
from pipelines.alerts.state import Observation, Standing
from pipelines.faults import reach
from pipelines.settings import PolicySettings, Settings
from pipelines.times import HOURS_PER_DAY, hour_text, to_us
from pipelines.verdicts import observe_day
from pipelines.warehouse import Writer


def judge_day(writer: Writer, day_index: int, settings: Settings, now: datetime) -> dict[str, int]:
    """Replace the day's verdicts and all that follows from them; return counts of hours, episodes and new alerts.

    States are carried on to the newest hour, so a day that is judged again corrects the days after it.
    """
    with writer.transaction():
        _replace_price_book(writer, settings)
        n_hours = observe_day(writer, day_index, settings)
        _advance(writer, day_index * HOURS_PER_DAY, settings.policy)
        episodes = writer.rows("valley/episodes")
        n_alerts = _write_alerts(writer, day_index, episodes, now)
        day = {"first_hour": day_index * HOURS_PER_DAY, "last_hour": day_index * HOURS_PER_DAY + HOURS_PER_DAY - 1}
        writer.run("ops/clean_hours", mart="valley_status", **day)
        writer.insert_rows("ops.unpublished_days", [{"day_index": day_index}])
        reach("verdicts_written")
    reach("verdicts_committed")
    return {"hours": n_hours, "episodes": len(episodes), "new_alerts": n_alerts}


def mark_changed_judgement(writer: Writer, settings: Settings) -> bool:
    """Mark every judged day dirty when prices or policy are not those it was judged with; say whether."""
    judgement = repr((settings.prices, settings.policy))
    fingerprint = hashlib.sha256(judgement.encode()).hexdigest()
    before = [row["fingerprint"] for row in writer.rows("ops/judged_with")]
    if before == [fingerprint]:
        return False
    with writer.transaction():
        n_days = writer.insert("ops.dirty_days", "ops/mark_judged_days_dirty")
        writer.run("ops/clear_judged_with")
        writer.insert_rows("ops.judged_with", [{"fingerprint": fingerprint}])
    return n_days > 0


def episode_key(deployment: str, policy_version: int, entered_hour_index: int) -> str:
    """Return the key that names an episode to the outside: a hash, so that no name of a log becomes part of it."""
    return hashlib.sha256(f"{deployment}\0{policy_version}\0{entered_hour_index}".encode()).hexdigest()


def _replace_price_book(writer: Writer, settings: Settings) -> None:
    columns = (
        "deployment", "effective_from", "effective_to", "input_per_mtok", "cached_per_mtok", "cache_write_per_mtok",
        "output_per_mtok", "currency",
    )  # fmt: skip
    writer.run("valley/clear_price_book")
    writer.insert_rows("mart.price_book", [{name: getattr(row, name) for name in columns} for row in settings.prices])


def _advance(writer: Writer, first_hour: int, policy: PolicySettings) -> None:
    """Replace the standings from an hour on and the episodes that these hours are part of."""
    standing_before = writer.rows("valley/standing_before", hour_index=first_hour)
    before = {row["deployment"]: _standing(row) for row in standing_before}
    standings, episodes = [], []
    rows = writer.rows("valley/hours_to_judge", hour_index=first_hour)
    for deployment, group in groupby(rows, key=itemgetter("deployment")):
        of_deployment = list(group)
        hours = [_hour(row) for row in of_deployment]
        n_settled = sum(hour.hour_index < first_hour for hour in hours)
        advanced = replay(hours[n_settled:], policy, before.get(deployment))
        standings += [
            {"deployment": deployment, "hour_index": hour.hour_index, **asdict(standing)}
            for hour, standing in zip(hours[n_settled:], advanced, strict=True)
        ]
        found = episodes_of(hours, [*map(_standing, of_deployment[:n_settled]), *advanced])
        episodes += [_episode_row(deployment, episode, policy) for episode in found]
    if standings:
        with writer.registered("standings", pl.DataFrame(standings).to_arrow()):
            writer.run("valley/set_states")
    notified = {row["dedup_key"]: row["notified_us"] for row in writer.rows("valley/episodes")}
    writer.run("valley/clear_episodes", hour_index=first_hour)
    writer.insert_rows(
        "mart.valley_episodes", [row | {"notified_us": notified.get(row["dedup_key"])} for row in episodes]
    )


def _standing(row: dict[str, Any]) -> Standing:
    return Standing(**{field.name: row[field.name] for field in fields(Standing)})


def _hour(row: dict[str, Any]) -> Hour:
    seen = Observation(row["p_in_valley"], row["has_valley"], row["regime"])
    return Hour(row["hour_index"], seen, row["revenue_index"], row["lost_per_hour"], row["currency"])


def _episode_row(deployment: str, episode: Episode, policy: PolicySettings) -> dict[str, Any]:
    key = episode_key(deployment, policy.version, episode.entered_hour_index)
    return {"deployment": deployment, **asdict(episode), "policy_version": policy.version, "dedup_key": key}


def _write_alerts(writer: Writer, day_index: int, episodes: list[dict[str, Any]], now: datetime) -> int:
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
        "message": message,
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
        f"{episode['peak_depth']:.1%} of its input revenue per busy second so far"
    )
