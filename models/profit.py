"""Profit and loss: what an hour's instances cost, and the index with output in it.

Belongs here: the cost of instances, the full scope's sums. Does not belong here: the curve (`service_time`), where
prices and counts come from. What is not known is NaN, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from models.domain import Array, require
from models.revenue import Revenue
from models.service_time import TrafficMoments

TOKENS_PER_PRICE = 1e6


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
