"""The gauges of deployments: what `status` says of each, and of its newest judged hour.

Belongs here: their names, what they mean and where each value comes from. Does not belong here: gauges of the job
(`job`), text (`exposition`). Names are those of the vocabulary: a rate, ratio, index or probability is dimensionless
and says so by its name. What is not known has no series: a 0 would be a value, and NaN one that no rule compares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric

from pipelines.display import known
from pipelines.overview import overviews
from pipelines.times import to_hour
from pipelines.verdict import Verdict
from pipelines.warehouse import Reader

STATES = ("in_valley", "escaped", "no_valley", "unknown")


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is published of one deployment.

    judged: its row of `metrics/newest_judged`, empty where no hour is judged; entered_hour: the hour its open episode
    began in.
    """

    name: str
    verdict: Verdict
    judged: dict[str, Any]
    entered_hour: int | None


@dataclass(frozen=True, slots=True)
class Gauge:
    """One value a deployment; None where it is not known."""

    name: str
    meaning: str
    value: Callable[[Deployment], float | None]
    has_currency: bool = False

    def family(self, deployments: Sequence[Deployment]) -> Metric:
        """Return the gauge of those of which it is known."""
        labels = ("deployment", "currency") if self.has_currency else ("deployment",)
        family = GaugeMetricFamily(f"valleywatch_{self.name}", self.meaning, labels=labels)
        for of in deployments:
            value = self.value(of)
            currency = of.judged.get("currency") if self.name == "lost_per_hour" else of.verdict.currency
            if value is not None and known(value) and (currency or not self.has_currency):
                family.add_metric([of.name, currency or ""][: len(labels)], value)
        return family


def _hour_s(hour_index: int | None) -> float | None:
    return None if hour_index is None else to_hour(hour_index).timestamp()


GAUGES = (
    Gauge("hit_rate", "Cached over all prompt tokens of the last 24 hours of traffic.", lambda of: of.verdict.hit_rate),
    Gauge(
        "revenue_index",
        "Revenue per busy second of the last 24 hours of traffic over that of the same traffic without a cache.",
        lambda of: of.verdict.revenue_index,
    ),
    Gauge("revenue_index_low", "Lower end of the 90 % interval of revenue_index.", lambda of: of.verdict.index_low),
    Gauge("revenue_index_high", "Upper end of the 90 % interval of revenue_index.", lambda of: of.verdict.index_high),
    Gauge(
        "p_in_valley",
        "Probability that the newest judged hour earned less than without a cache.",
        lambda of: of.judged.get("p_in_valley"),
    ),
    Gauge(
        "is_held",
        "1 where the newest judged hour allowed no verdict and kept the state before it, else 0.",
        lambda of: of.judged.get("is_held"),
    ),
    Gauge(
        "in_valley_since_timestamp_seconds",
        "Hour in which a deployment that is in the valley entered it.",
        lambda of: _hour_s(of.entered_hour),
    ),
    Gauge(
        "lost_per_hour",
        "What the cache hits of the newest judged hour cost, negative where they earned.",
        lambda of: of.judged.get("lost_per_hour"),
        has_currency=True,
    ),
    Gauge(
        "lost_24h",
        "What the cache hits of the last 24 hours of traffic cost, negative where they earned.",
        lambda of: of.verdict.lost_24h,
        has_currency=True,
    ),
    Gauge(
        "coverage",
        "Share of the requests of the last 24 hours of traffic that report cached tokens.",
        lambda of: of.verdict.coverage,
    ),
    Gauge("price_ratio", "Price of a cached over that of a computed prompt token.", lambda of: of.verdict.price_ratio),
    Gauge("floor_hit_rate", "Hit rate at which this traffic earns least.", lambda of: of.verdict.floor_hit_rate),
    Gauge(
        "exit_hit_rate",
        "Hit rate from which this traffic earns as much as without a cache.",
        lambda of: of.verdict.exit_hit_rate,
    ),
    Gauge(
        "newest_hour_timestamp_seconds",
        "Newest hour with a request.",
        lambda of: None if of.verdict.last_hour is None else of.verdict.last_hour.timestamp(),
    ),
    Gauge(
        "newest_judged_hour_timestamp_seconds",
        "Newest hour with a verdict.",
        lambda of: _hour_s(of.judged.get("hour_index")),
    ),
)


def published_deployments(reader: Reader) -> list[Deployment]:
    """Return every deployment of the snapshot, those in the valley first, then by traffic: the last are cut."""
    judged = {row["deployment"]: row for row in reader.rows("metrics/newest_judged")}
    entered = {row["deployment"]: row["entered_hour_index"] for row in reader.rows("metrics/open_episodes")}
    found = [
        Deployment(seen.deployment, seen.verdict, judged.get(seen.deployment, {}), entered.get(seen.deployment))
        for seen in overviews(reader)
    ]
    return sorted(found, key=lambda of: (of.judged.get("state") != "in_valley", -(of.verdict.n_requests or 0), of.name))


def deployment_families(deployments: Sequence[Deployment]) -> list[Metric]:
    """Return all gauges of these deployments."""
    state = GaugeMetricFamily(
        "valleywatch_state",
        "1 for the state of the newest judged hour, 0 for the other states.",
        labels=("deployment", "state"),
    )
    for of in deployments:
        for name in STATES:
            state.add_metric([of.name, name], of.judged.get("state", "unknown") == name)
    return [state, *(gauge.family(deployments) for gauge in GAUGES)]
