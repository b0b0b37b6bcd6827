"""Judging a day: states hour by hour, episodes, and the alerts they call for, all in one commit.

Belongs here: what is written when a verdict changes. Does not belong here: how it is decided (`state.py`) or sent
(`pipelines.delivery`, which reads `alert_outbox`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

import polars as pl

from pipelines.alerts.episodes import Episode, Hour, episodes_of, replay
from pipelines.alerts.outbox import write_alerts
from pipelines.alerts.state import Observation, Standing
from pipelines.faults import reach
from pipelines.judged_day import observe_day
from pipelines.prices.memory import compare_with_published, replace_price_book
from pipelines.settings import PolicySettings, Settings
from pipelines.times import HOURS_PER_DAY
from pipelines.warehouse import Writer

HOURS_AT_ONCE = 50_000
"""Hours that are in memory while states are carried on: it must not grow with deployments times history."""


def judge_day(writer: Writer, day_index: int, settings: Settings, now: datetime) -> dict[str, int]:
    """Replace the day's verdicts and all that follows from them; return counts of hours, episodes and new alerts.

    States are carried on to the newest hour, so a day that is judged again corrects the days after it.
    """
    with writer.transaction():
        n_hours = observe_day(writer, day_index, settings, now)
        replace_price_book(writer, settings.book)
        _advance(writer, day_index * HOURS_PER_DAY, settings.policy)
        episodes = writer.rows("valley/episodes")
        n_alerts = write_alerts(writer, day_index, episodes, now)
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


def _advance(writer: Writer, first_hour: int, policy: PolicySettings) -> None:
    """Replace the standings from an hour on and the episodes that these hours are part of."""
    standing_before = writer.rows("valley/standing_before", hour_index=first_hour)
    before = {row["deployment"]: _standing(row) for row in standing_before}
    episodes: list[dict[str, Any]] = []
    for names in _batches(writer, first_hour):
        standings: list[dict[str, Any]] = []
        rows = writer.rows("valley/hours_to_judge", hour_index=first_hour, **names)
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
    known = [row | {"notified_us": notified.get(row["dedup_key"])} for row in episodes]
    writer.insert_frame("mart.valley_episodes", pl.DataFrame(known, infer_schema_length=None))


def _batches(writer: Writer, first_hour: int) -> Iterator[dict[str, str]]:
    """Yield ranges of deployment names, each with about HOURS_AT_ONCE hours to judge."""
    names: list[str] = []
    n_hours = 0
    for row in writer.rows("valley/hours_by_deployment", hour_index=first_hour):
        names.append(row["deployment"])
        n_hours += row["n_hours"]
        if n_hours >= HOURS_AT_ONCE:
            yield {"first_deployment": names[0], "last_deployment": names[-1]}
            names, n_hours = [], 0
    if names:
        yield {"first_deployment": names[0], "last_deployment": names[-1]}


def _standing(row: dict[str, Any]) -> Standing:
    return Standing(**{field.name: row[field.name] for field in fields(Standing)})


def _hour(row: dict[str, Any]) -> Hour:
    seen = Observation(row["p_in_valley"], row["has_valley"], row["regime"])
    return Hour(row["hour_index"], seen, row["revenue_index"], row["lost_per_hour"], row["currency"])


def _episode_row(deployment: str, episode: Episode, policy: PolicySettings) -> dict[str, Any]:
    key = episode_key(deployment, policy.version, episode.entered_hour_index)
    return {"deployment": deployment, **asdict(episode), "policy_version": policy.version, "dedup_key": key}
