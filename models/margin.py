"""How much better than no cache a traffic earns at other hit rates: linear in the law, so its error is, too.

    margin(x) = (1 - (1-r)*x) * busy(no cache) - busy(x) = h(x) · (f, c, q, k)        > 0: the cache pays

Belongs here: h(x) of a traffic, the exit where the margin is back at 0, and how both move with the law.
Does not belong here: the line's closed forms (`valley`); choosing what to measure (`plan`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.domain import Array, require, require_price_ratio
from models.service_time import ServiceTime, TrafficMoments, busy_s, busy_without_cache_s, shift_misses_to_hits

# As far as `status` and the report draw the bathtub, whose floor and exit these are.
LAST_HIT_RATE = 0.995
GRID_POINTS = 399
STEP = 1e-4
# Relative to the revenue without a cache: what rounding leaves of an index of exactly 1.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """One traffic at one price.

    hit_rate: shape (n,), ascending. margin, busy: h(x) and busy seconds there, to be multiplied by f, c, q, k; shape
    (n, 4) each. hit_rate_now, earned_now: of the traffic as it is; busy_now, without_cache: its features, shape (4,).
    """

    moments: TrafficMoments
    price_ratio: float
    hit_rate: Array
    margin: Array
    busy: Array
    hit_rate_now: float
    earned_now: float
    busy_now: Array
    without_cache: Array


def margins(moments: TrafficMoments, price_ratio: float) -> Margins:
    """The margins of a traffic, moved to other hit rates by `at_hit_rate`; ValueError for an empty one."""
    require_price_ratio(price_ratio)
    x = np.linspace(0.0, LAST_HIT_RATE, GRID_POINTS)
    busy = np.stack([_parts(busy_s, at_hit_rate(moments, rate)) for rate in x.tolist()])
    without = _parts(busy_without_cache_s, moments)
    now = moments.cached_tokens / moments.input_tokens
    return Margins(
        moments=moments,
        price_ratio=price_ratio,
        hit_rate=x,
        margin=np.outer(1 - (1 - price_ratio) * x, without) - busy,
        busy=busy,
        hit_rate_now=now,
        earned_now=1 - (1 - price_ratio) * now,
        busy_now=_parts(busy_s, moments),
        without_cache=without,
    )


def at_hit_rate(moments: TrafficMoments, hit_rate: float) -> TrafficMoments:
    """The same requests at another token-weighted hit rate in [0, 1], by `shift_misses_to_hits`.

    Raises ValueError for empty traffic.
    """
    require(moments.input_tokens > 0, "input_tokens", moments.input_tokens, rule="> 0; empty traffic has no hit rate")
    require(0 <= hit_rate <= 1, "hit rate", hit_rate, rule="0 <= x <= 1")
    now = moments.cached_tokens / moments.input_tokens
    rises = hit_rate >= now and now < 1
    return shift_misses_to_hits(moments, (hit_rate - now) / (1 - now) if rises else (hit_rate - now) / now)


def exits(traffic: Margins, laws: Array) -> tuple[NDArray[np.bool_], Array]:
    """Whether each law (m, 4) has a valley, and its exit hit rate, NaN where there is none: shape (m,) each."""
    margin = laws @ traffic.margin.T
    index_less_1 = margin / (laws @ traffic.busy.T)
    floor = index_less_1.argmin(axis=1)
    has_valley = index_less_1.min(axis=1) < -ROUNDING
    back = (margin >= 0) & (np.arange(len(traffic.hit_rate)) > floor[:, np.newaxis])
    at, rows = back.argmax(axis=1), np.arange(len(laws))
    before, after = margin[rows, at - 1], margin[rows, at]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = before / (before - after)
    found = traffic.hit_rate[at - 1] + share * (traffic.hit_rate[at] - traffic.hit_rate[at - 1])
    return has_valley, np.where(has_valley & back.any(axis=1), found, np.nan)


def index_now(traffic: Margins, laws: Array) -> Array:
    """Revenue index of the traffic as it is under each law: shape (m,)."""
    return traffic.earned_now * (laws @ traffic.without_cache) / (laws @ traffic.busy_now)


def index_gradient(traffic: Margins, laws: Array) -> Array:
    """d index / d (f, c, q, k) of each law: shape (m, 4)."""
    index, busy = index_now(traffic, laws)[:, np.newaxis], (laws @ traffic.busy_now)[:, np.newaxis]
    return np.asarray((traffic.earned_now * traffic.without_cache - index * traffic.busy_now) / busy)


def exit_gradient(traffic: Margins, laws: Array, exit_hit_rate: Array) -> Array:
    """d exit / d (f, c, q, k) of laws that have one, by implicit differentiation of the margin: shape (m, 4)."""
    return np.stack([_one_gradient(traffic, law, x) for law, x in zip(laws, exit_hit_rate.tolist(), strict=True)])


def _one_gradient(traffic: Margins, law: Array, x: float) -> Array:
    low, high = max(x - STEP, 0.0), min(x + STEP, 1.0)
    rise = (_margin_at(traffic, high) - _margin_at(traffic, low)) @ law / (high - low)
    return np.asarray(-_margin_at(traffic, x) / rise)


def _margin_at(traffic: Margins, x: float) -> Array:
    earned = 1 - (1 - traffic.price_ratio) * x
    return np.asarray(earned * traffic.without_cache - _parts(busy_s, at_hit_rate(traffic.moments, x)))


def _parts(seconds: Callable[[ServiceTime, TrafficMoments], float], moments: TrafficMoments) -> Array:
    """What f, c, q and k are multiplied by in a time that is linear in them: the times of the four unit laws, (4,)."""
    return np.array([seconds(ServiceTime(*unit), moments) for unit in np.eye(4).tolist()])
