"""What a channel is given: one alert in words and figures, ready to be written in the channel's own form.

Belongs here: the shape. Does not belong here: where figures come from (`details`), any channel's form (`channels`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pipelines.alerts.kinds import KINDS, Action


@dataclass(frozen=True, slots=True)
class Figures:
    """What is published of the deployment when the alert is sent; None is unknown.

    revenue_index with its 90 % interval and price_ratio are ratios, of its last 24 hours of traffic; p_in_valley is of
    its newest hour. lost_per_day is money in `currency`, negative where the cache earns.
    """

    state: str | None
    newest_hour: datetime | None
    hit_rate: float | None
    revenue_index: float | None
    index_low: float | None
    index_high: float | None
    p_in_valley: float | None
    lost_per_day: float | None
    currency: str | None
    lever: str | None
    acknowledged_by: str | None


@dataclass(frozen=True, slots=True)
class Notice:
    """One alert. Its headline is plain text of one line whose names have no character that does anything.

    at: the hour it is about; since: the hour the alert of its key began, the same for a trigger. deployment is the
    name as logged, None for an alert of the whole warehouse. sentences say what stands behind the headline, how sure it
    is and what would help, each inert as the headline is.
    """

    dedup_key: str
    kind: str
    level: int
    deployment: str | None
    since: datetime
    at: datetime
    headline: str
    sentences: tuple[str, ...]
    figures: Figures | None
    report_url: str | None

    @property
    def action(self) -> Action:
        """What it does to the alert that its key names."""
        return KINDS[self.kind]
