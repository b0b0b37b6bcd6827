"""From an alert to what a channel is given: its words, and the figures that are published of its deployment.

Belongs here: reading the snapshot and putting it into sentences. Does not belong here: any channel's form (`channels`),
what the figures are (`pipelines.overview`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipelines import words
from pipelines.alerts.outbox import inert
from pipelines.delivery.due import Alert
from pipelines.delivery.notice import Figures, Notice
from pipelines.overview import Overview, overviews
from pipelines.report import deployment_page
from pipelines.times import to_hour
from pipelines.warehouse import Reader

MANY = 8
"""From so many deployments on all are read at once."""
_ABOUT_A_VERDICT = ("entry", "worsening", "exit", "untrustworthy", "trustworthy")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person looks further: the report's address, or its file where it has none."""

    report_url: str | None
    report_path: Path


def notices(alerts: Iterable[Alert], known: dict[str, Overview], place: Place) -> list[Notice]:
    """Return the alerts as a channel is given them; `known` has the deployments of which something is published."""
    return [_notice(alert, known.get(alert.deployment or ""), place) for alert in alerts]


def known_of(reader: Reader, alerts: Iterable[Alert]) -> dict[str, Overview]:
    """Return what is published of the deployments of these alerts, by name."""
    wanted = {alert.deployment for alert in alerts if alert.deployment is not None}
    if len(wanted) >= MANY:
        return {seen.deployment: seen for seen in overviews(reader) if seen.deployment in wanted}
    return {seen.deployment: seen for name in sorted(wanted) for seen in overviews(reader, name)}


def _notice(alert: Alert, seen: Overview | None, place: Place) -> Notice:
    figures = None if seen is None else _figures(alert, seen)
    url = place.report_url
    if url is not None and seen is not None:
        url = deployment_page(url, seen.deployment)
    return Notice(
        dedup_key=alert.dedup_key,
        kind=alert.kind,
        level=alert.level,
        deployment=alert.deployment,
        since=to_hour(alert.since_hour_index),
        at=to_hour(alert.hour_index),
        headline=alert.message,
        sentences=tuple(_sentences(alert, seen, place)),
        figures=figures,
        report_url=url,
    )


def _figures(alert: Alert, seen: Overview) -> Figures:
    verdict = seen.verdict
    return Figures(
        state=verdict.state,
        newest_hour=verdict.last_hour,
        hit_rate=verdict.hit_rate,
        revenue_index=verdict.revenue_index,
        index_low=verdict.index_low,
        index_high=verdict.index_high,
        p_in_valley=seen.hours[-1]["p_in_valley"] if seen.hours else None,
        lost_per_day=verdict.lost_24h,
        currency=verdict.currency,
        lever=verdict.lever,
        acknowledged_by=alert.acknowledged_by,
    )


def _sentences(alert: Alert, seen: Overview | None, place: Place) -> list[str]:
    said: list[str] = []
    if seen is not None and alert.kind in _ABOUT_A_VERDICT:
        said += words.verdict_details(seen.verdict)
    elif alert.kind == "data_blocked":
        said.append("Mend the logs and run again; `valleywatch doctor` says how things stand.")
    if alert.is_over and alert.action == "trigger":
        said.append("It is over by now.")
    if alert.acknowledged_by is not None:
        said.append(f"Acknowledged by {inert(alert.acknowledged_by)}.")
    if place.report_url is None:
        said.append(f"Report: {place.report_path}")
    return said
