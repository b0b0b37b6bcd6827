"""The published history of states: episodes, and the hours that another policy can decide on.

Belongs here: reading them from the snapshot. Does not belong here: deciding (`state`), comparing (`backtest`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from pipelines.alerts.backtest import Published
from pipelines.alerts.episodes import Episode, Hour
from pipelines.alerts.state import Observation
from pipelines.warehouse import Reader


@dataclass(frozen=True, slots=True)
class PublishedEpisode:
    """An episode of the published snapshot, and what names it."""

    deployment: str
    episode: Episode
    policy_version: int
    dedup_key: str


def published_episodes(reader: Reader) -> list[PublishedEpisode]:
    """Return all episodes by deployment, in order."""
    return [
        PublishedEpisode(
            deployment=row["deployment"],
            episode=Episode(**{field.name: row[field.name] for field in fields(Episode)}),
            policy_version=row["policy_version"],
            dedup_key=row["dedup_key"],
        )
        for row in reader.rows("report/episodes")
    ]


def published_hours(reader: Reader, deployment: str) -> list[Published]:
    """Return every judged hour of a deployment, in order; its regime is left to the policy."""
    return [
        Published(
            hour=Hour(
                hour_index=row["hour_index"],
                seen=Observation(row["p_in_valley"], row["has_valley"], regime=None),
                revenue_index=row["revenue_index"],
                lost=row["lost_per_hour"],
                currency=row["currency"],
            ),
            busy_share=row["busy_share"],
            n_rated=row["n_rated"],
        )
        for row in reader.rows("report/judged_hours", deployment=deployment)
    ]
