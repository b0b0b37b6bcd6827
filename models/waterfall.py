"""Why what a busy hour earns changed from one period to another, in parts that add up.

Belongs here: the factors, what each means, and their shares of the change. Does not belong here: reading periods.

Revenue of a busy hour is what the prompts of a period were sold for over the hours its instances were busy:

    3600 * n*L*(p_miss*(1-x) + p_hit*x) / busy time
    busy time = residual * [ n*(f + c*L*(1-x) + q*L2*(1-y)/2 + k*L*x) + overhead*periods ]

    price     p_miss, p_hit: what a computed and a cached token were sold for
    volume    n requests and the busy periods they came in: denser traffic pays a busy period's overhead less often
    lengths   L, L2: mean input tokens of a request and mean of their square
    hit_rate  x, y: share of cached tokens, and ΣP²/ΣL², which says whether hits lie on long prompts
    curve     f, c, q, k and the overhead of a busy period [s]
    residual  measured busy time over what the curve says: what the curve does not explain

A factor's part is its Shapley value: the mean, over all orders in which the factors could have changed one after the
other, of the change that it makes in its turn. It depends on no order, and the parts add up to the whole change.
Source: L. S. Shapley, A value for n-person games, 1953.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, isfinite
from typing import Literal, TypeAlias, get_args

import numpy as np

from models.domain import Array, require
from models.service_time import ServiceTime, TrafficMoments, busy_s

Factor: TypeAlias = Literal["price", "volume", "lengths", "hit_rate", "curve", "residual"]
FACTORS: tuple[Factor, ...] = get_args(Factor)


@dataclass(frozen=True, slots=True)
class Period:
    """What a period's traffic was, cost and was sold for.

    input_per_mtok, cached_per_mtok: mean prices of the computed and of the cached tokens. overhead_s: per busy period.
    n_periods: busy periods that began. measured_busy_s: None where no instance is logged; there is then no residual.
    """

    moments: TrafficMoments
    input_per_mtok: float
    cached_per_mtok: float
    law: ServiceTime
    overhead_s: float = 0.0
    n_periods: float = 0.0
    measured_busy_s: float | None = None

    def __post_init__(self) -> None:
        require(self.moments.n_requests > 0, "requests", self.moments.n_requests, rule="> 0")
        require(self.moments.input_tokens > 0, "input_tokens", self.moments.input_tokens, rule="> 0")
        require(self.modelled_busy_s > 0, "modelled busy time", self.modelled_busy_s, rule="> 0 s")
        if self.measured_busy_s is not None:
            require(self.measured_busy_s > 0, "measured busy time", self.measured_busy_s, rule="> 0 s")

    @property
    def modelled_busy_s(self) -> float:
        """Busy time that the curve gives this traffic [s]."""
        return busy_s(self.law, self.moments) + self.overhead_s * self.n_periods

    @property
    def revenue(self) -> float:
        """What the prompts were sold for."""
        of = self.moments
        return (self.input_per_mtok * of.miss_tokens + self.cached_per_mtok * of.cached_tokens) / 1e6

    @property
    def revenue_per_busy_hour(self) -> float:
        """Revenue over measured busy hours; over modelled ones where none were measured."""
        return 3600 * self.revenue / (self.measured_busy_s or self.modelled_busy_s)


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Revenue of a busy hour, before and after, and the part of each factor; the parts add up to the difference."""

    before: float
    after: float
    parts: Mapping[Factor, float]


def explain(before: Period, after: Period) -> Waterfall:
    """Why a busy hour of `after` earns another amount than one of `before`; both are in one currency."""
    if before.measured_busy_s is None or after.measured_busy_s is None:
        # A residual of one period alone would be a change that nobody measured.
        before, after = _as_modelled(before), _as_modelled(after)

    def earned(changed: frozenset[Factor]) -> float:
        return _revenue_per_busy_hour({factor: after if factor in changed else before for factor in FACTORS})

    return Waterfall(before.revenue_per_busy_hour, after.revenue_per_busy_hour, shapley(FACTORS, earned))


def shapley(factors: tuple[Factor, ...], value: Callable[[frozenset[Factor]], float]) -> dict[Factor, float]:
    """Each factor's share of value(all) - value(none): its mean marginal change over all orders of the factors."""
    n = len(factors)
    values = {
        frozenset(chosen): value(frozenset(chosen)) for size in range(n + 1) for chosen in combinations(factors, size)
    }
    return {
        factor: sum(
            (values[chosen | {factor}] - worth) / (n * comb(n - 1, len(chosen)))
            for chosen, worth in values.items()
            if factor not in chosen
        )
        for factor in factors
    }


def pooled_law(laws: Array, traffic: list[TrafficMoments]) -> ServiceTime:
    """The one law that gives the pooled traffic the same busy time, feature by feature.

    laws: shape (n, 4), columns f, c, q, k; traffic: n groups, each served under its law. A coefficient is the mean of
    the laws' weighted by what it is multiplied with; the plain mean where there was nothing to multiply.
    """
    require(len(laws) == len(traffic) > 0, "laws", len(laws), rule="as many as groups of traffic, one at least")
    if (laws == laws[0]).all():
        return ServiceTime(*laws[0].tolist())
    weights = np.array([
        (one.n_requests, one.miss_tokens, one.sum_miss_cached + one.sum_miss_sq / 2, one.cached_tokens)
        for one in traffic
    ])  # fmt: skip
    weights = np.where(weights.sum(axis=0) > 0, weights, 1.0)
    return ServiceTime(*((laws * weights).sum(axis=0) / weights.sum(axis=0)).tolist())


def _as_modelled(period: Period) -> Period:
    return replace(period, overhead_s=0.0, n_periods=0.0, measured_busy_s=None)


def _revenue_per_busy_hour(of: Mapping[Factor, Period]) -> float:
    """The formula of the module, each factor taken from its own period."""
    price, law, overhead = of["price"], of["curve"].law, of["curve"].overhead_s
    n, n_periods = of["volume"].moments.n_requests, of["volume"].n_periods
    lengths, hits, rest = of["lengths"].moments, of["hit_rate"].moments, of["residual"]
    mean, mean_sq = lengths.input_tokens / lengths.n_requests, lengths.sum_input_sq / lengths.n_requests
    x, y = hits.cached_tokens / hits.input_tokens, hits.sum_cached_sq / hits.sum_input_sq
    sold = n * mean * (price.input_per_mtok * (1 - x) + price.cached_per_mtok * x) / 1e6
    served_s = n * (law.f + law.c * mean * (1 - x) + law.q * mean_sq * (1 - y) / 2 + law.k * mean * x)
    residual = 1.0 if rest.measured_busy_s is None else rest.measured_busy_s / rest.modelled_busy_s
    earned = 3600 * sold / (residual * (served_s + overhead * n_periods))
    require(isfinite(earned), "revenue per busy hour", earned, rule="finite: some mixture of the periods costs no time")
    return earned
