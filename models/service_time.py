"""The service-time law, and the exact revenue index of a mixture of requests.

    t(M, P) = f + c*M + q*M*(P + M/2) + k*P        busy seconds for M computed tokens after a cached prefix of P

Belongs here: everything that follows from the law and from the sums of a group of requests.
Does not belong here: estimating the law (`busy_periods`); closed forms of the straight line (`valley`).

The law is linear in its features, so group sums give group totals exactly; the curve at the mean length and hit rate
may even have the wrong sign: on a public trace (Mooncake conversation, r = .10) it says .976, the exact index 1.0145.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from models.domain import Array, Numbers, require, require_hit_rate, require_price_ratio

# 0, .05 ... x_max: the grid of the published sweeps; a fixed grid makes the line a function of the law alone.
GRID_POINTS = 19


@dataclass(frozen=True, slots=True)
class ServiceTime:
    """Coefficients of the law, all finite and >= 0.

    f: fixed cost of a request [s]. c: per computed token, the linear layers [s/token]. q: per computed token x
    context token, attention [s/token²]. k: per cached token, loading its keys and values [s/token].
    """

    f: float
    c: float
    q: float
    k: float

    def __post_init__(self) -> None:
        for name in ("f", "c", "q", "k"):
            value = getattr(self, name)
            require(isfinite(value) and value >= 0, f"coefficient {name}", value, rule="finite and >= 0")

    def as_array(self) -> Array:
        """f, c, q, k: shape (4,)."""
        return np.array([self.f, self.c, self.q, self.k])


@dataclass(frozen=True, slots=True)
class TrafficMoments:
    """Sums over a group of requests, M computed and P cached of L = M + P input tokens each; groups add by field."""

    n_requests: float
    input_tokens: float
    cached_tokens: float
    miss_tokens: float
    sum_miss_cached: float
    sum_miss_sq: float
    sum_input_sq: float

    @property
    def sum_cached_sq(self) -> float:
        """ΣP² = ΣL² - 2ΣMP - ΣM² [tokens²]."""
        return self.sum_input_sq - 2 * self.sum_miss_cached - self.sum_miss_sq


@dataclass(frozen=True, slots=True)
class StraightLine:
    """The secant tps0 * (1 - a*x) of a curve; worst_relative_residual = max |line/curve - 1| on the grid."""

    tps0: float
    a: float
    worst_relative_residual: float


def busy_s(law: ServiceTime, moments: TrafficMoments) -> float:
    """Busy seconds of this traffic: f*n + c*ΣM + q*(ΣMP + ΣM²/2) + k*ΣP."""
    return float(busy_s_draws(law.as_array(), moments))


def busy_s_draws(coefficients: Array, moments: TrafficMoments) -> Array:
    """`busy_s` under many laws: shape (..., 4), columns f, c, q, k -> (...)."""
    seconds: Array = coefficients @ _features(moments)
    return seconds


def busy_without_cache_s(law: ServiceTime, moments: TrafficMoments) -> float:
    """Busy seconds of the same requests if every token were computed: f*n + c*ΣL + q*ΣL²/2."""
    return float(busy_without_cache_s_draws(law.as_array(), moments))


def busy_without_cache_s_draws(coefficients: Array, moments: TrafficMoments) -> Array:
    """`busy_without_cache_s` under many laws: shape (..., 4), columns f, c, q, k -> (...)."""
    seconds: Array = coefficients @ _features_without_cache(moments)
    return seconds


def revenue_index(law: ServiceTime, moments: TrafficMoments, price_ratio: float) -> float:
    """Revenue per busy second over that of the same traffic without a cache; below 1 the cache loses money.

    Raises ValueError for empty traffic and for a law under which the traffic takes no time.
    """
    index = float(revenue_index_draws(law.as_array()[np.newaxis], moments, price_ratio)[0])
    require(isfinite(index), "revenue index", index, rule="the law gives this traffic a positive busy time")
    return index


def revenue_index_draws(coefficients: Array, moments: TrafficMoments, price_ratio: float) -> Array:
    """The index of the same traffic under many laws; NaN where a law gives it no busy time.

    coefficients: shape (n_draws, 4), columns f, c, q, k. Returns shape (n_draws,).
    """
    require_price_ratio(price_ratio)
    time_ratio = time_ratio_draws(coefficients, moments)
    return (moments.miss_tokens + price_ratio * moments.cached_tokens) / moments.input_tokens * time_ratio


def time_ratio_draws(coefficients: Array, moments: TrafficMoments) -> Array:
    """Busy seconds without a cache over those of this traffic, under many laws; NaN where a law gives no busy time.

    coefficients: shape (n_draws, 4), columns f, c, q, k. Returns shape (n_draws,). The part of the index that prices
    have no say in.
    """
    _require_traffic(moments)
    busy, without = busy_s_draws(coefficients, moments), busy_without_cache_s_draws(coefficients, moments)
    ratio: Array = np.divide(without, busy, out=np.full(len(busy), np.nan), where=busy > 0)
    return ratio


def shift_misses_to_hits(moments: TrafficMoments, share: float) -> TrafficMoments:
    """Move a share of every request's misses into hits; a negative share moves that share of its hits back.

    Exact on the sums: with M' = (1-s)M and P' = P + sM (or P' = (1-u)P, M' = M + uP) only second moments occur.
    share: in [-1, 1]; 1 makes everything a hit, -1 everything a miss.
    """
    require(-1 <= share <= 1, "share", share, rule="-1 <= share <= 1")
    keep = 1 - abs(share)
    old = moments
    if share >= 0:
        miss, cached = keep * old.miss_tokens, old.cached_tokens + share * old.miss_tokens
        miss_cached = keep * (old.sum_miss_cached + share * old.sum_miss_sq)
        miss_sq = keep**2 * old.sum_miss_sq
    else:
        miss, cached = old.miss_tokens - share * old.cached_tokens, keep * old.cached_tokens
        miss_cached = keep * (old.sum_miss_cached - share * old.sum_cached_sq)
        miss_sq = old.sum_miss_sq - 2 * share * old.sum_miss_cached + share**2 * old.sum_cached_sq
    return TrafficMoments(
        n_requests=old.n_requests,
        input_tokens=old.input_tokens,
        cached_tokens=cached,
        miss_tokens=miss,
        sum_miss_cached=miss_cached,
        sum_miss_sq=miss_sq,
        sum_input_sq=old.sum_input_sq,
    )


def marginal_index_draws(coefficients: Array, moments: TrafficMoments, price_ratio: float) -> Array:
    """d index / d hit_rate at the operating point under many laws; negative = descending: one more hit loses money.

    The extra hits come from every request's misses in proportion (`shift_misses_to_hits`). Shape (n_draws, 4) ->
    (n_draws,); NaN where a law gives no busy time.
    """
    index = revenue_index_draws(coefficients, moments, price_ratio)
    busy, without = busy_s_draws(coefficients, moments), busy_without_cache_s_draws(coefficients, moments)
    saved_s = saved_s_per_hit_draws(coefficients, moments)
    gained = index * moments.input_tokens * saved_s - (1 - price_ratio) * without
    slope: Array = np.divide(gained, busy, out=np.full(len(busy), np.nan), where=busy > 0)
    return slope


def saved_s_per_hit_draws(coefficients: Array, moments: TrafficMoments) -> Array:
    """Busy seconds that one more hit saves: c - k + q * context; negative where loading costs more than computing.

    context: the cached prefix a computed token sees on average, ΣMP/ΣM; where there are no misses, that of the first
    hit lost, ΣP²/ΣP. Shape (n_draws, 4) -> (n_draws,).
    """
    if moments.miss_tokens > 0:
        context = moments.sum_miss_cached / moments.miss_tokens
    else:
        context = moments.sum_cached_sq / moments.cached_tokens
    _, c, q, k = coefficients.T
    saved_s: Array = c - k + q * context
    return saved_s


def tps_miss(law: ServiceTime, x: Numbers, input_tokens: float) -> Numbers:
    """Computed tokens per busy second of requests of one length at hit rate x: M / t(M, P), 0 <= x < 1."""
    require_hit_rate(x)
    require(isfinite(input_tokens) and input_tokens > 0, "input_tokens", input_tokens, rule="> 0 tokens")
    per_token_s = law.f / input_tokens + law.c * (1 - x) + law.q * input_tokens * (1 - x * x) / 2 + law.k * x
    require(np.asarray(per_token_s) > 0, "service time", per_token_s, rule="> 0 s; a law of zeros has no throughput")
    return (1 - x) / per_token_s


def straight_line(law: ServiceTime, input_tokens: float, x_max: float = 0.9) -> StraightLine:
    """The article's line through the law's curve at one length: least squares on a fixed grid of 0 <= x <= x_max."""
    x = _grid(x_max)
    curve = tps_miss(law, x, input_tokens)
    tps0, a = straight_line_draws(law.as_array()[np.newaxis], input_tokens, x_max)
    line = tps0 * (1 - a * x)
    return StraightLine(float(tps0[0]), float(a[0]), float(np.abs(line / curve - 1).max()))


def straight_line_draws(coefficients: Array, input_tokens: float, x_max: float = 0.9) -> tuple[Array, Array]:
    """tps0 [tokens/s] and a of many laws (shape (n_draws, 4), none of them all zero), each of shape (n_draws,)."""
    x = _grid(x_max)
    per_token = np.stack([np.full_like(x, 1 / input_tokens), 1 - x, input_tokens * (1 - x * x) / 2, x])
    curves = (1 - x) / (coefficients @ per_token)
    intercept, slope = np.linalg.lstsq(np.stack([np.ones_like(x), x], axis=1), curves.T, rcond=None)[0]
    return intercept, -slope / intercept


def _grid(x_max: float) -> Array:
    require(0 < x_max < 1, "x_max", x_max, rule="0 < x_max < 1")
    return np.linspace(0.0, x_max, GRID_POINTS)


def _features(moments: TrafficMoments) -> Array:
    attention = moments.sum_miss_cached + moments.sum_miss_sq / 2
    return np.array([moments.n_requests, moments.miss_tokens, attention, moments.cached_tokens], dtype=np.float64)


def _features_without_cache(moments: TrafficMoments) -> Array:
    return np.array([moments.n_requests, moments.input_tokens, moments.sum_input_sq / 2, 0.0], dtype=np.float64)


def _require_traffic(moments: TrafficMoments) -> None:
    require(moments.input_tokens > 0, "input_tokens", moments.input_tokens, rule="> 0; empty traffic has no index")
