"""What a deployment would earn if its price, its curve or its hit rate were another.

Belongs here: one change to an operating point, and what it then looks like. Does not belong here: which change to make
(`levers`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from models import valley
from models.bathtub import move_to_hit_rate
from models.domain import require
from models.levers import with_coefficient
from models.operating_point import Estimate, OperatingPoint, gain, gain_of_busy_ratio
from models.service_time import busy_s, busy_s_draws, busy_without_cache_s_draws
from models.valley import Valley

Side: TypeAlias = Literal["descending", "ascending"]


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be another; None = as it is.

    price_ratio: [0, 1], the input price kept. hit_rate: of the same requests, [0, 1]. slope: of the mix, < 1, as a
    straight line with the same throughput without a cache. fixed_cost: f [s]. attention: q [s/token²]. kv_load:
    k [s/token]. A slope is a whole curve: it excludes the three coefficients.
    """

    price_ratio: float | None = None
    slope: float | None = None
    hit_rate: float | None = None
    fixed_cost: float | None = None
    attention: float | None = None
    kv_load: float | None = None

    def __post_init__(self) -> None:
        coefficients = (self.fixed_cost, self.attention, self.kv_load)
        both = self.slope is not None and any(value is not None for value in coefficients)
        require(not both, "slope", self.slope, rule="a slope stands for the whole curve: give it or f, q and k")


@dataclass(frozen=True, slots=True)
class Outlook:
    """An operating point in the terms of a verdict; money is of the busy seconds it is compared over.

    slope: of the mix; None without hits. index: where a slope was given, exact, so without an interval. valley: None
    where there is none. side: what one more hit does.
    """

    hit_rate: float
    price_ratio: float
    slope: float | None
    index: Estimate
    valley: Valley | None
    side: Side
    revenue: float
    lost: Estimate


def outlook(point: OperatingPoint) -> Outlook:
    """The point as it is."""
    return _outlook(point, 1.0)


def what_if(point: OperatingPoint, change: Change) -> tuple[Outlook, Estimate]:
    """The point after the change, in the busy seconds of before, and what those then earn more.

    Raises ValueError, naming value and rule, for a change outside its domain.
    """
    after = point
    if change.price_ratio is not None:
        after = replace(after, price_ratio=change.price_ratio)
    if change.hit_rate is not None:
        after = replace(after, moments=move_to_hit_rate(after.moments, change.hit_rate))
    if change.slope is not None:
        return _on_a_line(point, after, change.slope)
    for name, value in (("f", change.fixed_cost), ("q", change.attention), ("k", change.kv_load)):
        if value is not None:
            after = with_coefficient(after, name, value)
    times = busy_s(point.law, point.moments) / busy_s(after.law, after.moments)
    return _outlook(after, times), gain(point, after)


def _outlook(point: OperatingPoint, times: float) -> Outlook:
    """times: how often this traffic is served in the busy seconds it is compared over."""
    slope, lost = point.mix_slope, point.lost
    return Outlook(
        hit_rate=point.hit_rate,
        price_ratio=point.price_ratio,
        slope=None if slope is None else slope.slope,
        index=point.index,
        valley=point.valley,
        side="descending" if point.marginal_point.value < 0 else "ascending",
        revenue=times * point.revenue,
        lost=Estimate(*(times * value for value in (lost.value, lost.low, lost.high))),
    )


def _on_a_line(before: OperatingPoint, moved: OperatingPoint, slope: float) -> tuple[Outlook, Estimate]:
    """The moved point on tps0*(1 - slope*x), with tps0 of the mix; busy time is then B0*(1-x) / (1 - slope*x)."""
    x, r = moved.hit_rate, moved.price_ratio
    index = float(valley.revenue_index(x, slope, r))
    found = valley.locate_valley(slope, r)
    busy = busy_without_cache_s_draws(before.laws, before.moments) * (1 - x) / (1 - slope * x)
    ratios = busy_s_draws(before.laws, before.moments) / busy
    revenue = float(ratios[0]) * moved.revenue
    lost = revenue / index - revenue
    after = Outlook(
        hit_rate=x,
        price_ratio=r,
        slope=slope,
        index=Estimate(index, index, index),
        valley=found,
        side="descending" if found is not None and x < found.floor_hit_rate else "ascending",
        revenue=revenue,
        lost=Estimate(lost, lost, lost),
    )
    return after, gain_of_busy_ratio(before, ratios, moved.revenue)
