"""How long a deployment's instances decode beside prefilling, by output token: a cost that hits do not change.

Belongs here: when logs can say it. Does not belong here: the time in flight (`sql/valley/instances.sql`), what follows
for the index (`models.profit`).

A request in flight that is neither waiting for its prefill nor in it is being decoded. At low load that time is no
cost: an engine that decodes few requests could take many more into the same steps. Where an hour is limited by capacity
it is what prefill had to leave to decoding, at most: so the day's hours that are tell seconds by token for all of its
hours, and a day without such an hour tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from typing import Any

from pipelines.prices.memory import Hour
from pipelines.prices.sales import Sale
from pipelines.settings import PolicySettings

US_PER_S = 1e6
SECONDS_PER_HOUR = 3600.0


def busy_share(traffic: dict[str, Any]) -> float | None:
    """Return the share of an hour that its instances were busy; None where the log names none."""
    if traffic["busy_us"] is None:
        return None
    return float(traffic["busy_us"] / US_PER_S / (SECONDS_PER_HOUR * traffic["n_instances"]))


def decode_s_per_token(
    traffic: Iterable[dict[str, Any]],
    seen: dict[Hour, dict[str, Any]],
    sales: dict[Hour, list[Sale]],
    policy: PolicySettings,
) -> dict[str, float]:
    """Return seconds of decoding by output token of the deployments whose day tells it."""
    found: dict[str, list[tuple[float, int]]] = {}
    for row in traffic:
        hour = (row["deployment"], row["hour_index"])
        share = busy_share(row)
        if share is None or share < policy.capacity_limited_busy_share or hour not in seen:
            continue
        if seen[hour]["n_unknown"] > (1 - policy.min_coverage) * row["n_requests"]:
            continue
        decode_s = max(seen[hour]["in_flight_us"] - row["busy_us"], 0) / US_PER_S
        tokens = sum(sale.output_tokens or 0 for sale in sales.get(hour, ()))
        found.setdefault(row["deployment"], []).append((decode_s, tokens))
    totals = {name: (fsum(s for s, _ in hours), sum(n for _, n in hours)) for name, hours in found.items()}
    return {name: seconds / tokens for name, (seconds, tokens) in totals.items() if tokens}
