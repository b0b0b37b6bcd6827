"""The bathtub of one traffic mix: its revenue index over the hit rate, its floor and its exit, without a grid.

Belongs here: what follows from the law when the hit rate of a given traffic moves. Does not belong here: the straight
line's closed forms (`valley`); money (`operating_point`).

The hit rate moves along one path through the traffic as it is (`shift_misses_to_hits`): downwards every request keeps
the share t of its hits, upwards the share m of its misses. On either side earnings are linear in the share and busy
time is quadratic, so the index is

    R(s) = (e0 + e1*s) * w / (b0 + b1*s + b2*s²)        b2 <= 0, w = busy time without a cache / earnings without one

    hits kept, s = t:    b = f*n + c*ΣL + q*ΣL²/2, -(c-k)ΣP, -q*ΣP²/2     e from no cache to what is earned now
    misses kept, s = m:  b = f*n + k*ΣL, (c-k)ΣM + q*ΣML, -q*ΣM²/2        e from a full cache to what is earned now

The sign of dR/ds is that of a polynomial which rises in s wherever something is earned: each side has one minimum at
most, and floor and exit are roots of quadratics. Where the two sides meet the index may have a kink.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.domain import Array, require, require_price_ratio
from models.service_time import ServiceTime, TrafficMoments, busy_without_cache_s_draws, shift_misses_to_hits
from models.valley import Valley

ROUNDING = 1e-12
"""A depth below this is arithmetic, not a valley."""


@dataclass(frozen=True, slots=True)
class Earnings:
    """What a traffic earns, in any unit, >= 0: all of it computed, as it is, and all of it cached.

    Sums of money where its requests were sold at several prices; at one price all that matters is their ratio.
    """

    without_cache: float
    now: float
    all_cached: float

    @classmethod
    def at_ratio(cls, moments: TrafficMoments, price_ratio: float) -> Earnings:
        """In units of the price of a computed token."""
        require_price_ratio(price_ratio)
        total = moments.input_tokens
        return cls(total, moments.miss_tokens + price_ratio * moments.cached_tokens, price_ratio * total)


@dataclass(frozen=True, slots=True, eq=False)
class MixValleys:
    """The valley of one traffic under many laws, shape (n_laws,) each; NaN where there is none.

    floor_hit_rate: lowest point, in (0, 1]; 1 where the index falls all the way. exit_hit_rate: the first hit rate
    above it with an index of 1; NaN too where even a full hit earns less than no cache does (`never_recovers`).
    floor_depth: 1 - index at the floor.
    """

    floor_hit_rate: Array
    exit_hit_rate: Array
    floor_depth: Array

    @property
    def never_recovers(self) -> Array:
        """1.0 where there is a valley without an exit, else 0.0."""
        return np.asarray(~np.isnan(self.floor_hit_rate) & np.isnan(self.exit_hit_rate), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One side of the path, for shares 0 <= s <= 1: coefficients of the index, shape (n_laws,) or numbers."""

    e0: float
    e1: float
    b0: Array
    b1: Array
    b2: Array
    w: Array

    def index(self, share: Array) -> Array:
        """R(share), shape of the broadcast; its limit where neither earnings nor busy time are left."""
        earned = self.e0 + self.e1 * share
        busy = self.b0 + self.b1 * share + self.b2 * share * share
        with _ignoring_poles():
            ratio = np.where((busy == 0) & (earned == 0), self.e1 / self.b1, earned / busy)
        return np.asarray(ratio * self.w)

    def lowest(self) -> Array:
        """The share with the least index, in [0, 1]."""
        start = self.e1 * self.b0 - self.e0 * self.b1
        bend = self.e0 * -self.b2
        with _ignoring_poles():
            turn = -start / (bend + np.sqrt(np.maximum(bend * bend + self.e1 * self.b2 * start, 0.0)))
        falls_on = bend * bend + self.e1 * self.b2 * start < 0
        return np.where(start >= 0, 0.0, np.where(falls_on | ~(turn < 1), 1.0, turn))

    def excess_s(self) -> tuple[Array, Array]:
        """Busy time minus that which the earnings pay for at an index of 1, as g0, g1 of g0 + g1*s + b2*s²."""
        return self.b0 - self.e0 * self.w, self.b1 - self.e1 * self.w


def valleys_of_mix(coefficients: Array, moments: TrafficMoments, sold: float | Earnings) -> MixValleys:
    """Floor, exit and depth of the traffic's own bathtub under many laws.

    coefficients: shape (n_laws, 4), columns f, c, q, k, none all zero. sold: the price ratio, in [0, 1], or what the
    traffic earns where it has several. Raises ValueError for empty traffic and for ratios outside [0, 1].
    """
    below, above = _sides(coefficients, moments, sold)
    kept_hits, kept_misses = below.lowest(), above.lowest()
    low, high = below.index(kept_hits), above.index(kept_misses)
    x = moments.cached_tokens / moments.input_tokens
    is_below = low < high
    floor_index = np.where(is_below, low, high)
    floor = np.where(is_below, kept_hits * x, 1 - kept_misses * (1 - x))
    # Under a law that makes the traffic as it is pay, a valley below it ends below it.
    pays_here = above.index(np.ones(len(coefficients))) >= 1
    leaves = np.where(is_below & pays_here, _exit_below(below) * x, 1 - _exit_above(above) * (1 - x))
    is_valley = 1 - floor_index > ROUNDING
    return MixValleys(
        floor_hit_rate=np.where(is_valley, floor, np.nan),
        exit_hit_rate=np.where(is_valley, leaves, np.nan),
        floor_depth=np.where(is_valley, 1 - floor_index, np.nan),
    )


def valley_of_mix(law: ServiceTime, moments: TrafficMoments, sold: float | Earnings) -> Valley | None:
    """The same under one law; None where no hit rate earns less than no cache does."""
    found = valleys_of_mix(law.as_array()[np.newaxis], moments, sold)
    floor, leaves, depth = (float(one[0]) for one in (found.floor_hit_rate, found.exit_hit_rate, found.floor_depth))
    return None if np.isnan(floor) else Valley(floor, None if np.isnan(leaves) else leaves, depth)


def trace(coefficients: Array, moments: TrafficMoments, sold: float | Earnings, hit_rates: Array) -> Array:
    """The index of this traffic at other hit rates, shape (n_laws, 4) and (n,) -> (n_laws, n).

    0 <= hit rate <= 1. Raises ValueError as `valleys_of_mix` does.
    """
    require((hit_rates >= 0) & (hit_rates <= 1), "hit rate", hit_rates, rule="0 <= x <= 1")
    below, above = _sides(coefficients[:, np.newaxis, :], moments, sold)
    x = moments.cached_tokens / moments.input_tokens
    kept_hits = hit_rates / x if x > 0 else np.zeros_like(hit_rates)
    kept_misses = (1 - hit_rates) / (1 - x) if x < 1 else np.zeros_like(hit_rates)
    return np.where(hit_rates < x, below.index(kept_hits), above.index(kept_misses))


def move_to_hit_rate(moments: TrafficMoments, x: float) -> TrafficMoments:
    """This traffic at another token-weighted hit rate 0 <= x <= 1, along the path of the bathtub."""
    require(0 <= x <= 1, "hit rate", x, rule="0 <= x <= 1")
    now = moments.cached_tokens / moments.input_tokens
    if x == now:
        return moments
    return shift_misses_to_hits(moments, (x - now) / (1 - now) if x > now else (x - now) / now)


def _sides(coefficients: Array, moments: TrafficMoments, sold: float | Earnings) -> tuple[_Side, _Side]:
    require(moments.input_tokens > 0, "input_tokens", moments.input_tokens, rule="> 0; empty traffic has no index")
    earned = sold if isinstance(sold, Earnings) else Earnings.at_ratio(moments, sold)
    require(earned.without_cache > 0, "earnings without a cache", earned.without_cache, rule="> 0")
    f, c, q, k = np.moveaxis(coefficients, -1, 0)
    without = busy_without_cache_s_draws(coefficients, moments)
    below = _Side(
        e0=earned.without_cache,
        e1=earned.now - earned.without_cache,
        b0=without,
        b1=-(c - k) * moments.cached_tokens,
        b2=-q * moments.sum_cached_sq / 2,
        w=without / earned.without_cache,
    )
    above = _Side(
        e0=earned.all_cached,
        e1=earned.now - earned.all_cached,
        b0=f * moments.n_requests + k * moments.input_tokens,
        b1=(c - k) * moments.miss_tokens + q * (moments.sum_miss_sq + moments.sum_miss_cached),
        b2=-q * moments.sum_miss_sq / 2,
        w=without / earned.without_cache,
    )
    return below, above


def _exit_below(side: _Side) -> Array:
    """Share of hits kept at which the index is back at 1; its other root is at no hits, exactly."""
    _, rises = side.excess_s()
    with _ignoring_poles():
        return np.asarray(rises / -side.b2)


def _exit_above(side: _Side) -> Array:
    """Share of misses kept at which the index is back at 1, the smaller root; NaN where no hit rate reaches it."""
    full, rises = side.excess_s()
    with _ignoring_poles():
        root = -2 * full / (rises + np.sqrt(rises * rises + 4 * -side.b2 * full))
    return np.where((rises > 0) & (side.index(np.zeros_like(full)) >= 1), root, np.nan)


def _ignoring_poles() -> np.errstate:
    """A law may cost nothing, or as good as nothing: what is divided by that lies outside of every share."""
    return np.errstate(divide="ignore", invalid="ignore", over="ignore")
