"""A stretch of one deployment's published traffic with its curve and its prices: what the money is computed from.

Belongs here: reading it from the snapshot, and saying why it cannot be had. Does not belong here: formulas (`models`),
how it is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import fsum
from typing import Any

import numpy as np

from models.operating_point import OperatingPoint
from models.revenue import Revenue
from models.service_time import ServiceTime, TrafficMoments
from models.waterfall import Period, pooled_law
from pipelines import reason_codes
from pipelines.display import shown
from pipelines.errors import CannotTellError, UsageError
from pipelines.section import nearest
from pipelines.times import HOURS_PER_DAY, US_PER_HOUR, hour_text
from pipelines.verdicts import moments_of, revenue_of
from pipelines.warehouse import Reader
from pipelines.words import because

TOKENS_PER_MTOK = 1e6
UNPRICED = ("no_price", "partly_priced", "mixed_currencies")
"""Reasons of an hour without a price."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Hours of one deployment, both inclusive, as indices since the epoch."""

    deployment: str
    first_hour: int
    last_hour: int

    def __str__(self) -> str:
        """Name it for people."""
        return f"{shown(self.deployment)}, {hour_text(self.first_hour)} to {hour_text(self.last_hour + 1)}"

    @property
    def hours(self) -> dict[str, Any]:
        """As statements bind it."""
        return {"deployment": self.deployment, "first_hour": self.first_hour, "last_hour": self.last_hour}

    @property
    def days(self) -> dict[str, Any]:
        """The UTC days it touches, as statements bind them."""
        return {
            "deployment": self.deployment,
            "first_day": self.first_hour // HOURS_PER_DAY,
            "last_day": self.last_hour // HOURS_PER_DAY,
        }

    def cannot_tell(self, *reasons: str) -> CannotTellError:
        """Say why nothing is known of it."""
        return CannotTellError(str(self), reasons, because(reasons))


@dataclass(frozen=True, slots=True)
class PricedTraffic:
    """The hours of a stretch that have a price, in one currency.

    input_per_mtok, cached_per_mtok: mean price of the computed and of the cached tokens, so that they give the exact
    revenue also where there were several in the stretch. n_unpriced_hours: hours with traffic left out for want of one.
    n_hours_before_change: hours left out because another engine or model served than that of the curve.
    """

    stretch: Stretch
    hours: tuple[dict[str, Any], ...]
    moments: TrafficMoments
    revenue: Revenue
    is_one_price: bool
    input_per_mtok: float
    cached_per_mtok: float
    currency: str
    n_unpriced_hours: int
    n_hours_before_change: int


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """Priced traffic under its curve.

    chunk_fill: as `models.levers` takes it. measured: the hit rates between which 90 % of the curve's measurements lie.
    """

    traffic: PricedTraffic
    point: OperatingPoint
    chunk_fill: float | None
    measured: tuple[float, float]


def last_24_hours(reader: Reader, deployment: str) -> Stretch:
    """Return the stretch that `status` speaks of: up to the newest hour with traffic."""
    known = {row["deployment"]: row["last_hour"] for row in reader.rows("report/known_deployments")}
    if deployment not in known:
        names = ", ".join(shown(name) for name in list(known)[:10]) or "none yet: see `valleywatch run`"
        raise UsageError(
            f"no deployment {deployment!r} has traffic in the published snapshot{nearest(deployment, known)}; "
            f"it knows {names}{' and others' if len(known) > 10 else ''}"
        )
    return Stretch(deployment, known[deployment] - HOURS_PER_DAY + 1, known[deployment])


def priced_traffic(reader: Reader, stretch: Stretch, curve_day: int | None = None) -> PricedTraffic:
    """Return the traffic of a stretch with its prices; raise CannotTellError where it has none, or two currencies.

    curve_day: the day whose curve it is put under; None: that of each hour's own day. What another engine or model
    served is no traffic of that curve.
    """
    seen = reader.rows("report/priced_hours", **stretch.hours, curve_day=curve_day)
    rows = [row for row in seen if not row["is_before_change"]]
    priced = [row for row in rows if row["price_hash"] is not None]
    if not rows:
        raise stretch.cannot_tell("before_change" if seen else "no_traffic")
    if not priced:
        raise stretch.cannot_tell(*_unpriced_reasons(rows))
    currencies = sorted({row["currency"] for row in priced})
    if len(currencies) > 1:
        raise stretch.cannot_tell("several_currencies")
    moments, sold = summed(moments_of(row) for row in priced), revenue_of(priced)
    one_price = _single_price(priced)
    input_per_mtok, cached_per_mtok = one_price or _mean_prices(moments, sold)
    return PricedTraffic(
        stretch=stretch,
        hours=tuple(priced),
        moments=moments,
        revenue=sold,
        is_one_price=one_price is not None,
        input_per_mtok=input_per_mtok,
        cached_per_mtok=cached_per_mtok,
        currency=currencies[0],
        n_unpriced_hours=len(rows) - len(priced),
        n_hours_before_change=len(seen) - len(rows),
    )


def situation(reader: Reader, stretch: Stretch) -> Situation:
    """Return a stretch under the curve of its last day; raise CannotTellError where that must not be trusted."""
    day = stretch.last_hour // HOURS_PER_DAY
    traffic = priced_traffic(reader, stretch, curve_day=day)
    curves = reader.rows("report/curves_of_days", deployment=stretch.deployment, first_day=day, last_day=day)
    curve = curves[0] if curves else {}
    law = _trusted_law(stretch, curve)
    draws = [
        (row["f"], row["c"], row["q"], row["k"])
        for row in reader.rows("report/draws_of_day", deployment=stretch.deployment, day_index=day)
    ]
    input_per_mtok, price_ratio = _one_price(traffic)
    point = OperatingPoint(
        law=law,
        draws=np.array(draws, dtype=np.float64).reshape(-1, 4),
        moments=traffic.moments,
        price_ratio=price_ratio,
        input_per_mtok=input_per_mtok,
        target=curve["target"],
    )
    fill = None if curve["chunk_tokens"] is None else _chunk_fill(reader, stretch, curve["chunk_tokens"])
    return Situation(traffic, point, fill, (curve["x_low"], curve["x_high"]))


def period(reader: Reader, traffic: PricedTraffic) -> Period:
    """Return the traffic under its days' own curves, with its measured busy time where instances are logged."""
    stretch = traffic.stretch
    curves = {row["day_index"]: row for row in reader.rows("report/curves_of_days", **stretch.days)}
    by_day: dict[int, list[dict[str, Any]]] = {}
    for row in traffic.hours:
        by_day.setdefault(row["hour_index"] // HOURS_PER_DAY, []).append(row)
    laws = np.array([_trusted_law(stretch, curves.get(day, {})).as_array() for day in by_day])
    priced = {row["hour_index"] for row in traffic.hours}
    busy = [row for row in reader.rows("report/busy_hours", **stretch.hours) if row["hour_index"] in priced]
    began = [(curves[row["hour_index"] // HOURS_PER_DAY]["overhead_s"] or 0.0, row["n_periods"]) for row in busy]
    return Period(
        moments=traffic.moments,
        input_per_mtok=traffic.input_per_mtok,
        cached_per_mtok=traffic.cached_per_mtok,
        law=pooled_law(laws, [summed(moments_of(row) for row in rows) for rows in by_day.values()]),
        overhead_s=_mean(began),
        n_periods=fsum(count for _, count in began),
        measured_busy_s=fsum(row["busy_us"] for row in busy) / 1e6 or None,
    )


def summed(groups: Iterable[TrafficMoments]) -> TrafficMoments:
    """Return groups of traffic as one: they add by field."""
    all_of = list(groups)
    return TrafficMoments(*(fsum(getattr(one, field.name) for one in all_of) for field in fields(TrafficMoments)))


def _one_price(traffic: PricedTraffic) -> tuple[float, float]:
    """Return the one input price and price ratio at which the stretch earns what it did, with its hits and without.

    They are the prices themselves where these did not change. Raises CannotTellError where no ratio in [0, 1] does it.
    """
    sums, sold = traffic.moments, traffic.revenue
    if traffic.is_one_price:
        return traffic.input_per_mtok, traffic.cached_per_mtok / traffic.input_per_mtok
    price = TOKENS_PER_MTOK * sold.without_cache / sums.input_tokens
    ratio = traffic.cached_per_mtok / price
    if sums.cached_tokens:
        ratio = (TOKENS_PER_MTOK * sold.earned / price - sums.miss_tokens) / sums.cached_tokens
    if not 0 <= ratio <= 1:
        raise traffic.stretch.cannot_tell("prices_crossed")
    return price, ratio


def _unpriced_reasons(hours: list[dict[str, Any]]) -> list[str]:
    """Return why none of the hours has a price, as `valley_status` says it."""
    told = {code for row in hours for code in (row["reasons"] or "").split(",")}
    return [code for code in UNPRICED if code in told] or ["no_price"]


def _single_price(hours: list[dict[str, Any]]) -> tuple[float, float] | None:
    """Return input and cached price where all of the hours have the same."""
    found = {(row["input_per_mtok"], row["cached_per_mtok"]) for row in hours}
    prices = found.pop()
    return None if found or prices[0] is None else prices


def _mean_prices(moments: TrafficMoments, sold: Revenue) -> tuple[float, float]:
    """Return the mean price of computed and of cached tokens; of those that there are none of, of what the others would
    have been sold at as such.
    """
    computed = sold.miss / moments.miss_tokens if moments.miss_tokens else sold.without_cache / moments.input_tokens
    cached = (
        sold.cached / moments.cached_tokens
        if moments.cached_tokens
        else (sold.miss_at_cached_price / moments.miss_tokens)
    )
    return TOKENS_PER_MTOK * computed, TOKENS_PER_MTOK * cached


def _mean(weighted: list[tuple[float, float]]) -> float:
    """Return the mean of (value, weight); the value itself where there is but one, 0 without weights."""
    values, total = {value for value, _ in weighted}, fsum(weight for _, weight in weighted)
    if len(values) == 1:
        return float(values.pop())
    return fsum(value * weight for value, weight in weighted) / total if total else 0.0


def _chunk_fill(reader: Reader, stretch: Stretch, chunk_tokens: int) -> float | None:
    """Return how full the chunks of the stretch's requests are, in (0, 1]; None where nothing was computed."""
    (sums,) = reader.rows(
        "report/chunk_steps",
        deployment=stretch.deployment,
        from_us=stretch.first_hour * US_PER_HOUR,
        to_us=(stretch.last_hour + 1) * US_PER_HOUR,
        chunk_tokens=chunk_tokens,
    )
    return sums["miss_tokens"] / (chunk_tokens * sums["steps"]) if sums["miss_tokens"] else None


def _trusted_law(stretch: Stretch, curve: dict[str, Any]) -> ServiceTime:
    if not curve:
        raise stretch.cannot_tell("no_curve")
    if not curve["trustworthy"]:
        raise stretch.cannot_tell(*reason_codes.listed(curve["reasons"]))
    return ServiceTime(curve["f"], curve["c"], curve["q"], curve["k"])
