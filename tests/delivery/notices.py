"""Alerts to send, as the engine makes them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pipelines.delivery.notice import Figures, Notice

NOW = datetime(2026, 11, 29, 1, 30, tzinfo=UTC)
_EARNS = "a busy second earns"
FIGURES = Figures(
    state="in_valley",
    newest_hour=datetime(2026, 11, 28, 23, tzinfo=UTC),
    hit_rate=0.624,
    revenue_index=0.938,
    index_low=0.935,
    index_high=0.941,
    p_in_valley=1.0,
    lost_per_day=38.31,
    currency="USD",
    lever="raise the hit rate to 79.5%, or sell cached tokens at 14.6% of a computed one instead of 10.0%",
    acknowledged_by=None,
)
TRIGGER = Notice(
    dedup_key=hashlib.sha256(b"glm-5-h200").hexdigest(),
    kind="entry",
    level=0,
    deployment="glm-5-h200",
    since=datetime(2026, 11, 28, 8, tzinfo=UTC),
    at=datetime(2026, 11, 28, 8, tzinfo=UTC),
    headline="glm-5-h200 entered the valley at 2026-11-28T08:00Z: cache hits cost it up to 9.3% of its revenue per "
    "busy second so far",
    sentences=(
        f"At a hit rate of 62.4 %, {_EARNS} 6.2 % less than without a cache (index 0.938, interval 0.935–0.941).",
        "One more hit loses money.",
        "That cost about 38.31 USD in its last 24 hours.",
        "The valley is deepest at a hit rate of 42.9 %, 11.1 % below no cache; it ends at 79.5 %.",
    ),
    figures=FIGURES,
    report_url="https://reports.example.com/valleywatch/d-e75f826d08f21cc8.html",
)
WORSE = replace(
    TRIGGER,
    kind="worsening",
    level=1,
    at=datetime(2026, 11, 28, 14, tzinfo=UTC),
    headline="glm-5-h200 is deeper in the valley: at 2026-11-28T14:00Z cache hits cost it up to 18.9% of its revenue "
    "per busy second, 9.3% when last told",
)
RESOLVED = replace(
    TRIGGER,
    kind="exit",
    at=datetime(2026, 11, 28, 22, tzinfo=UTC),
    headline="glm-5-h200 left the valley at 2026-11-28T22:00Z",
    sentences=(
        f"At a hit rate of 83.0 %, {_EARNS} 4.0 % more than without a cache (index 1.040, interval 1.010–1.070).",
        "One more hit earns money.",
    ),
    figures=replace(
        FIGURES, state="escaped", hit_rate=0.83, revenue_index=1.04, index_low=1.01, index_high=1.07, p_in_valley=0.0,
        lost_per_day=-21.0, lever=None,
    ),
)  # fmt: skip


def many(n: int, **changes: Any) -> list[Notice]:
    """Return that many alerts of as many deployments."""
    return [
        replace(
            TRIGGER,
            dedup_key=hashlib.sha256(str(i).encode()).hexdigest(),
            deployment=f"model-{i}",
            headline=f"model-{i} entered the valley at 2026-11-28T08:00Z",
            **changes,
        )
        for i in range(n)
    ]
