"""Profit and loss: what an hour's tokens are sold for, what its instances cost, and in which hours that loses money.

Belongs here: revenue by scope, the cost of instances, margins, the index with output in it. Does not belong here: the
curve (`service_time`), where prices and counts come from.

What is not known is NaN, never 0: an hour with an unknown count has no margin in a scope that needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

import numpy as np

from models.domain import Array, require
from models.revenue import Revenue
from models.service_time import TrafficMoments

Scope: TypeAlias = Literal["input", "full"]
"""input: prompt tokens alone. full: output tokens and billed cache writes too."""
TOKENS_PER_PRICE = 1e6


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """Prices per million tokens, >= 0. output_per_mtok: None = not configured. cache_write_per_mtok: None = free."""

    input_per_mtok: float
    cached_per_mtok: float
    output_per_mtok: float | None = None
    cache_write_per_mtok: float | None = None

    def __post_init__(self) -> None:
        for name in ("input_per_mtok", "cached_per_mtok", "output_per_mtok", "cache_write_per_mtok"):
            value = getattr(self, name)
            require(value is None or (isfinite(value) and value >= 0), name, value, rule="finite and >= 0")


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Token counts of each hour, shape (n_hours,); NaN = not known."""

    miss: Array
    cached: Array
    output: Array
    cache_write: Array


@dataclass(frozen=True, slots=True)
class InstanceCost:
    """What an instance costs an hour, and how many are had at which price.

    Reserved instances (n_reserved) are paid for whether they run or not; up to n_spot of the others run at the spot
    price, the rest on demand.
    """

    on_demand_per_hour: float
    n_reserved: float = 0.0
    reserved_per_hour: float = 0.0
    n_spot: float = 0.0
    spot_per_hour: float = 0.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            require(isfinite(value) and value >= 0, name, value, rule="finite and >= 0")

    def of(self, n_instances: Array) -> Array:
        """Cost of hours with so many instances running, shape (n_hours,); NaN stays NaN."""
        known = n_instances[~np.isnan(n_instances)]
        require(known >= 0, "instances", known, rule=">= 0")
        others = np.maximum(n_instances - self.n_reserved, 0.0)
        spot = np.minimum(others, self.n_spot)
        fixed = self.n_reserved * self.reserved_per_hour
        return np.asarray(fixed + spot * self.spot_per_hour + (others - spot) * self.on_demand_per_hour)


@dataclass(frozen=True, slots=True, eq=False)
class Profit:
    """Revenue, cost and margin of each hour, shape (n_hours,), in the currency of prices and costs, which is one."""

    revenue: Array
    cost: Array

    @property
    def margin(self) -> Array:
        """Revenue minus cost."""
        return self.revenue - self.cost

    @property
    def n_loss_hours(self) -> int:
        """Hours known to cost more than they bring in."""
        return int((self.margin < 0).sum())

    @property
    def n_unknown_hours(self) -> int:
        """Hours of which that is not known."""
        return int(np.isnan(self.margin).sum())


def revenue_of(tokens: Tokens, prices: TokenPrices, scope: Scope) -> Array:
    """What each hour's tokens are sold for, shape (n_hours,). Raises ValueError: full scope without an output price."""
    revenue = prices.input_per_mtok * tokens.miss + prices.cached_per_mtok * tokens.cached
    if scope == "full":
        require(prices.output_per_mtok is not None, "output_per_mtok", None, rule="full revenue needs the output price")
        assert prices.output_per_mtok is not None
        revenue = revenue + prices.output_per_mtok * tokens.output
        if prices.cache_write_per_mtok:
            revenue = revenue + prices.cache_write_per_mtok * tokens.cache_write
    return revenue / TOKENS_PER_PRICE


def profit_of(
    tokens: Tokens, prices: TokenPrices, n_instances: Array, cost: InstanceCost, scope: Scope = "full"
) -> Profit:
    """Revenue and cost hour by hour; n_instances: running instances, shape (n_hours,)."""
    return Profit(revenue_of(tokens, prices, scope), cost.of(n_instances))


@dataclass(frozen=True, slots=True)
class BeyondInput:
    """What the full scope adds to the prompts of a group: money in their currency, seconds of the same instances.

    output_revenue: earned with and without a cache. cache_write_revenue: with one alone. decode_s: seconds the same
    instances decode beside prefilling, whatever the hits; 0 where they do not, or other machines decode. With these

        index = (prompt + output + write revenue) / (busy + decode time)
                over (prompt revenue without a cache + output revenue) / (busy time without a cache + decode time)

    is the index of prompts alone, at other sums: output sells at one price whether its prompt hits or not, writes come
    and go with the hits, and decoding is a fixed cost of the requests. So everything that follows from revenue and law
    (floor, exit, slope, levers) holds in the full scope as well.
    """

    output_revenue: float
    cache_write_revenue: float = 0.0
    decode_s: float = 0.0

    def __post_init__(self) -> None:
        for name in ("output_revenue", "cache_write_revenue", "decode_s"):
            value = getattr(self, name)
            require(isfinite(value) and value >= 0, name, value, rule="finite and >= 0")

    def revenue(self, prompts: Revenue) -> Revenue:
        """Return the sums of money of the full scope."""
        return Revenue(
            miss=prompts.miss + self.output_revenue,
            cached=prompts.cached + self.cache_write_revenue,
            cached_at_miss_price=prompts.cached_at_miss_price,
            miss_at_cached_price=prompts.miss_at_cached_price + self.output_revenue,
        )

    def coefficients(self, coefficients: Array, moments: TrafficMoments) -> Array:
        """Return laws of prefill, shape (..., 4), columns f, c, q, k, as laws of this traffic's prefill and decode."""
        require(moments.n_requests > 0, "n_requests", moments.n_requests, rule="> 0; empty traffic decodes nothing")
        both: Array = coefficients + np.array([self.decode_s / moments.n_requests, 0.0, 0.0, 0.0])
        return both
