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
from models.operating_point import OperatingPoint
from models.service_time import busy_s, busy_without_cache_s

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


def full_index(
    point: OperatingPoint, *, output_revenue: float, cache_write_revenue: float = 0.0, decode_s: float = 0.0
) -> float:
    """The revenue index in the full scope: output is sold and decoded with and without a cache, writes only with one.

        (prompt + output + write revenue) / (busy + decode time)
        over (prompt revenue without a cache + output revenue) / (busy time without a cache + decode time)

    decode_s: seconds the same instances decode beside prefilling; 0 where they do not, or other machines decode.
    """
    for name, value in (("output_revenue", output_revenue), ("cache_write_revenue", cache_write_revenue)):
        require(isfinite(value) and value >= 0, name, value, rule="finite and >= 0")
    require(isfinite(decode_s) and decode_s >= 0, "decode_s", decode_s, rule="finite and >= 0 s")
    without = point.input_per_mtok * point.moments.input_tokens / TOKENS_PER_PRICE + output_revenue
    earned = point.revenue + output_revenue + cache_write_revenue
    busy = busy_s(point.law, point.moments) + decode_s
    return earned / busy * (busy_without_cache_s(point.law, point.moments) + decode_s) / without
