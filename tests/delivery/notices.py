"""Alerts to send, as the engine makes them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pipelines.delivery.notice import Figures, Notice

NOW = datetime(2026, 11, 30, 1, 30, tzinfo=UTC)
FIGURES = Figures(
    state="in_valley",
    newest_hour=datetime(2026, 11, 29, 23, tzinfo=UTC),
    hit_rate=0.712,
    revenue_index=0.832,
    index_low=0.79,
    index_high=0.871,
    p_in_valley=0.991,
    lost_per_day=1234.5,
    currency="USD",
    lever="reprice",
    acknowledged_by=None,
)
TRIGGER = Notice(
    dedup_key=hashlib.sha256(b"glm-5-h200").hexdigest(),
    kind="entry",
    level=0,
    deployment="glm-5-h200",
    since=datetime(2026, 11, 29, 14, tzinfo=UTC),
    at=datetime(2026, 11, 29, 14, tzinfo=UTC),
    headline="glm-5-h200 is in the valley since 2026-11-29 14:00 UTC and loses 1,234.50 USD a day",
    sentences=(
        "At a hit rate of 71.2 %, a busy second earns 16.8 % less than without a cache (index 0.832).",
        "The best lever: raise the price of a cached token to the break-even ratio.",
        "It rests on 10 hours of traffic with a probability of 99.1 %.",
    ),
    figures=FIGURES,
    report_url="https://reports.example.com/valleywatch.html#d-1f0c",
)
WORSE = replace(
    TRIGGER,
    kind="worsening",
    level=1,
    at=datetime(2026, 11, 29, 20, tzinfo=UTC),
    headline="glm-5-h200 is twice as deep in the valley as when it entered",
)
RESOLVED = replace(
    TRIGGER,
    kind="exit",
    at=datetime(2026, 11, 29, 22, tzinfo=UTC),
    headline="glm-5-h200 has left the valley at 2026-11-29 22:00 UTC",
    figures=replace(FIGURES, state="escaped", revenue_index=1.04, index_low=1.01, index_high=1.07, lost_per_day=-210.0),
)


def many(n: int, **changes: Any) -> list[Notice]:
    """Return that many alerts of as many deployments."""
    return [
        replace(
            TRIGGER,
            dedup_key=hashlib.sha256(str(i).encode()).hexdigest(),
            deployment=f"model-{i}",
            headline=f"model-{i} is in the valley",
            **changes,
        )
        for i in range(n)
    ]
