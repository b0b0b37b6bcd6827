"""Log lines of a queue with a known service-time law: enough for a trustworthy curve, few enough for a quick test."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from models.service_time import ServiceTime
from tests.models.simulate import service_s

GENTLE = ServiceTime(f=0.02, c=8e-5, q=1.0e-9, k=2e-7)
STEEP = ServiceTime(f=0.02, c=4e-5, q=4.0e-9, k=2e-5)
"""Loading a cached token costs half of computing one: hits lose money at a tenth of the price."""


def busy_hours(
    *,
    n_hours: int,
    per_hour: int,
    reported: float = 1.0,
    hit_rates: tuple[float, float] = (0.0, 0.95),
    law_of_a_valley: bool = False,
    upgraded_at: int | None = None,
    upgraded_to: ServiceTime = STEEP,
    seed: int = 7,
) -> list[dict[str, Any]]:
    """Return the fields of lines from 2026-11-28T00Z on, one instance, first come first served.

    upgraded_at: hours from there, from which on the law is `upgraded_to`.
    """
    dice, law = random.Random(seed), STEEP if law_of_a_valley else GENTLE
    midnight = datetime(2026, 11, 28, tzinfo=UTC)
    rows, free_s = [], 0.0
    for number in range(n_hours * per_hour):
        at_s = (number + 0.5) * 3600 / per_hour
        length = int(dice.uniform(5_000, 40_000))
        cached = int(length * dice.uniform(*hit_rates))
        if upgraded_at is not None and at_s >= upgraded_at * 3600:
            law = upgraded_to
        free_s = max(at_s, free_s) + service_s(law, length - cached, cached)
        rows.append({
            "number": number,
            "timestamp": f"{midnight + timedelta(seconds=at_s):%Y-%m-%dT%H:%M:%S.%fZ}",
            "input_tokens": length,
            "cached_tokens": cached if dice.random() < reported else None,
            "ttft_ms": round((free_s - at_s) * 1000, 3),
        })  # fmt: skip
    return rows
