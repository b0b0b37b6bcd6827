"""One deployment's traffic under its curve and its prices: what it earns, loses, and would earn elsewhere.

Belongs here: money and the index of one traffic mix, with intervals; the slope of the mix and what it is made of.
Does not belong here: which change is worth making (`levers`); where prices come from.

Money is of the period the traffic was summed over, in the unit of the price. What something earns or loses is always
said of the same busy seconds: freed ones are filled with more of the same traffic, since the instances cost as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from models.bathtub import valley_of_mix, valleys_of_mix
from models.curve_fit import Target
from models.domain import Array, require, require_price_ratio
from models.service_time import (
    ServiceTime,
    TrafficMoments,
    busy_s,
    busy_s_draws,
    busy_without_cache_s,
    marginal_index_draws,
    revenue_index_draws,
)
from models.uncertainty import OWN_ERROR, index_interval, widened
from models.valley import Valley, break_even_slope

TOKENS_PER_PRICE = 1e6
"""Prices are per million tokens."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and the bounds of its 90 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MixSlope:
    """The slope of the mix at its own hit rate, and its parts; slope = fixed_cost + attention + kv_load.

    The secant between no hits and the traffic as it is: tps_miss = tps0*(1 - slope*x) holds at x exactly, so the
    article's closed forms for one hit rate (index, a_be, r_be) hold for the mix with this slope. It reaches 1 where
    loading a token costs what computing it does. With sums over requests

        slope = [ f*n + q*(ΣL² - ΣP²/x)/2 + k*ΣL ] / busy time

    attention is negative where hits fall on prompts that are long for the mix: what they save is worth more than their
    share of the tokens.
    """

    fixed_cost: float
    attention: float
    kv_load: float

    @property
    def slope(self) -> float:
        """The sum of the parts."""
        return self.fixed_cost + self.attention + self.kv_load


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """A traffic mix, the law it is served under, and its prices.

    draws: bootstrap laws, shape (n_draws, 4), columns f, c, q, k; may be empty. price_ratio: in [0, 1].
    input_per_mtok: price of a million computed tokens, > 0. target: the time the curve was fitted on, for its error.
    """

    law: ServiceTime
    draws: Array
    moments: TrafficMoments
    price_ratio: float
    input_per_mtok: float
    target: Target = "busy_s"

    def __post_init__(self) -> None:
        require_price_ratio(self.price_ratio)
        price = self.input_per_mtok
        require(isfinite(price) and price > 0, "input_per_mtok", price, rule="finite and > 0")
        require(self.moments.input_tokens > 0, "input_tokens", self.moments.input_tokens, rule="> 0")
        require(busy_s(self.law, self.moments) > 0, "busy time", 0.0, rule="the law gives this traffic a busy time > 0")

    @property
    def hit_rate(self) -> float:
        """Σ cached / Σ input tokens."""
        return self.moments.cached_tokens / self.moments.input_tokens

    @property
    def laws(self) -> Array:
        """The law, then its draws: shape (1 + n_draws, 4)."""
        return np.vstack([self.law.as_array(), self.draws.reshape(-1, 4)])

    @property
    def revenue(self) -> float:
        """What the prompts of this traffic are sold for."""
        sold = self.moments.miss_tokens + self.price_ratio * self.moments.cached_tokens
        return self.input_per_mtok * sold / TOKENS_PER_PRICE

    @property
    def index(self) -> Estimate:
        """The exact revenue index of the mix."""
        value, *draws = revenue_index_draws(self.laws, self.moments, self.price_ratio)
        return Estimate(float(value), *index_interval(float(value), np.array(draws), self.target))

    @property
    def lost(self) -> Estimate:
        """What the same busy seconds would have earned more without a cache; negative: the hits earn."""
        index, revenue = self.index, self.revenue
        return Estimate(*(revenue / value - revenue for value in (index.value, index.high, index.low)))

    @property
    def valley(self) -> Valley | None:
        """The valley of this very traffic; None where no hit rate earns less than no cache."""
        return valley_of_mix(self.law, self.moments, self.price_ratio)

    @property
    def p_no_exit(self) -> float:
        """Probability that this traffic has a valley which no hit rate leads out of: the share of the draws."""
        draws = self.laws[1:] if len(self.draws) else self.laws
        return float(valleys_of_mix(draws, self.moments, self.price_ratio).never_recovers.mean())

    @property
    def marginal_point(self) -> Estimate:
        """What one more point of hit rate (.01) earns in the same busy seconds, at first order; negative: it loses."""
        slopes = marginal_index_draws(self.laws, self.moments, self.price_ratio)
        index = revenue_index_draws(self.laws, self.moments, self.price_ratio)
        value, *draws = 0.01 * self.revenue * slopes / index
        # The law's own relative error scales what a hit saves as it scales the index.
        return _estimate(float(value), np.array(draws), OWN_ERROR[self.target].index * 0.01 * self.revenue)

    @property
    def mix_slope(self) -> MixSlope | None:
        """The slope of the mix and its parts; None without hits, where a secant has no length."""
        old, law = self.moments, self.law
        if old.cached_tokens == 0:
            return None
        busy = busy_s(law, old)
        attention = law.q * (old.sum_input_sq - old.sum_cached_sq / self.hit_rate) / 2
        return MixSlope(law.f * old.n_requests / busy, attention / busy, law.k * old.input_tokens / busy)

    @property
    def break_even_price_ratio(self) -> float | None:
        """The price ratio at which the hits of this mix neither earn nor lose; None without hits.

        (ΣL * busy / busy without a cache - ΣM) / ΣP: the closed form of `valley` at the slope of the mix, and also
        where that is 1 or more. Above 1 no discount at all is small enough; below 0 the hits earn at every price.
        """
        old = self.moments
        if old.cached_tokens == 0:
            return None
        paid = old.input_tokens * busy_s(self.law, old) / busy_without_cache_s(self.law, old)
        return (paid - old.miss_tokens) / old.cached_tokens

    @property
    def break_even_slope(self) -> float | None:
        """The slope of the mix at which its hits neither earn nor lose; None without misses."""
        return None if self.hit_rate >= 1 else break_even_slope(self.hit_rate, self.price_ratio)


def gain(before: OperatingPoint, after: OperatingPoint) -> Estimate:
    """What the busy seconds of `before` would earn more as `after`, draw by draw; both have the same number of draws.

    Certain, and so without an interval, where only prices differ.
    """
    times = busy_s_draws(before.laws, before.moments) / busy_s_draws(after.laws, after.moments)
    if after.moments is before.moments and after.law is before.law:
        times = np.ones_like(times)
    return gain_of_busy_ratio(before, times, after.revenue)


def gain_of_busy_ratio(before: OperatingPoint, times: Array, revenue: float) -> Estimate:
    """The same where the busy time falls to 1/times of itself under each law, shape (1 + n_draws,), law first."""
    value, *draws = times * revenue - before.revenue
    sd = 0.0 if (times == 1).all() else OWN_ERROR[before.target].index * abs(float(times[0]) * revenue)
    return _estimate(float(value), np.array(draws), sd)


def _estimate(value: float, draws: Array, sd: float) -> Estimate:
    return Estimate(value, *widened(value, draws, sd))
