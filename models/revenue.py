"""What a group of requests earns at prices that may differ within it, and its revenue index.

Belongs here: the index and its slope from sums of money, where hours or lengths of several prices meet in one group.
Does not belong here: which price a request has (`pipelines.prices`); busy time (`service_time`); one ratio for all
(`service_time.revenue_index`, which these formulas give when every request has the same prices).

With prices p of a computed and h of a cached token, M computed and P cached tokens of a request:

    index = (Σp*M + Σh*P) / Σp*(M + P) * busy without cache / busy

so the four sums of money below say all that prices can say; busy time needs the tokens alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.bathtub import Earnings
from models.domain import Array, require, require_price_ratio
from models.service_time import ServiceTime, TrafficMoments, busy_s, saved_s_per_hit_draws, time_ratio_draws


@dataclass(frozen=True, slots=True)
class Revenue:
    """Sums of money over a group of requests, any one currency, all finite and >= 0; groups add by field.

    miss: Σp*M, what the computed tokens earn. cached: Σh*P, what the cached ones earn. cached_at_miss_price: Σp*P, what
    these would earn had they been computed. miss_at_cached_price: Σh*M, what those would earn had they been cached.
    """

    miss: float
    cached: float
    cached_at_miss_price: float
    miss_at_cached_price: float

    @classmethod
    def at_prices(cls, miss_tokens: float, cached_tokens: float, miss_price: float, cached_price: float) -> Revenue:
        """Return the revenue of tokens that all have the same two prices, money per token."""
        require_price_ratio(cached_price / miss_price)
        return cls(
            miss_price * miss_tokens, cached_price * cached_tokens,
            miss_price * cached_tokens, cached_price * miss_tokens,
        )  # fmt: skip

    @classmethod
    def at_ratio(cls, moments: TrafficMoments, price_ratio: float) -> Revenue:
        """Return the revenue of this traffic in units of the price of a computed token."""
        return cls.at_prices(moments.miss_tokens, moments.cached_tokens, 1.0, price_ratio)

    def __add__(self, other: Revenue) -> Revenue:
        """Return the revenue of both groups; it is for the caller to know that they are of one currency."""
        return Revenue(
            self.miss + other.miss,
            self.cached + other.cached,
            self.cached_at_miss_price + other.cached_at_miss_price,
            self.miss_at_cached_price + other.miss_at_cached_price,
        )

    @property
    def earned(self) -> float:
        """Money earned."""
        return self.miss + self.cached

    @property
    def without_cache(self) -> float:
        """Money the same requests would earn if every token were computed."""
        return self.miss + self.cached_at_miss_price

    @property
    def price_ratio(self) -> float:
        """The revenue-weighted price ratio Σh*P / Σp*P, in [0, 1]; without a hit Σh*M / Σp*M, that of the first ones.

        With it the sums of money behave like one price: earned = Σp*M + r * Σp*P.
        """
        require(self.without_cache > 0, "revenue without cache", self.without_cache, rule="> 0; empty traffic has none")
        if self.cached_at_miss_price > 0:
            return self.cached / self.cached_at_miss_price
        return self.miss_at_cached_price / self.miss

    @property
    def earnings(self) -> Earnings:
        """What the bathtub of this traffic takes: money without a cache, now, and with every token cached."""
        return Earnings(self.without_cache, self.earned, self.cached + self.miss_at_cached_price)


def revenue_index(law: ServiceTime, moments: TrafficMoments, revenue: Revenue) -> float:
    """Revenue per busy second over that of the same traffic without a cache; below 1 the cache loses money.

    Raises ValueError for empty traffic and for a law under which the traffic takes no time.
    """
    index = float(revenue_index_draws(law.as_array()[np.newaxis], moments, revenue)[0])
    require(np.isfinite(index), "revenue index", index, rule="the law gives this traffic a positive busy time")
    return index


def revenue_index_draws(coefficients: Array, moments: TrafficMoments, revenue: Revenue) -> Array:
    """The index of the same traffic and prices under many laws (n_draws, 4); NaN where a law gives no busy time."""
    require(revenue.without_cache > 0, "revenue without cache", revenue.without_cache, rule="> 0")
    return revenue.earned / revenue.without_cache * time_ratio_draws(coefficients, moments)


def marginal_index(law: ServiceTime, moments: TrafficMoments, revenue: Revenue) -> float:
    """d revenue_index / d hit_rate at the operating point; negative = descending: one more hit loses money.

    The extra hits come from every request's misses in proportion, so each gives up the discount of the misses' own
    prices; where there are no misses, that of the first hits lost.
    """
    if moments.miss_tokens > 0:
        discount = (revenue.miss - revenue.miss_at_cached_price) / moments.miss_tokens
    else:
        discount = (revenue.cached_at_miss_price - revenue.cached) / moments.cached_tokens
    coefficients = law.as_array()[np.newaxis]
    time_ratio = float(time_ratio_draws(coefficients, moments)[0])
    saved_s = float(saved_s_per_hit_draws(coefficients, moments)[0])
    gained = revenue_index(law, moments, revenue) * moments.input_tokens * saved_s / busy_s(law, moments)
    return gained - discount * moments.input_tokens / revenue.without_cache * time_ratio
