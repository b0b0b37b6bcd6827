"""What gets a deployment out of the valley, each lever with what it is worth, the most valuable first.

Belongs here: where each lever would have to be set, and the money of setting it. Does not belong here: what setting it
costs, words.

Every lever is pulled alone. Below an index of 1 its target is where the hits break even; where it cannot reach that,
the best it can do. At or above 1 only repairs are listed, at their best: an upper bound of what is still to be had.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Literal, TypeAlias

import numpy as np

from models.bathtub import ROUNDING, move_to_hit_rate
from models.domain import require
from models.operating_point import Estimate, OperatingPoint, gain, gain_of_busy_ratio
from models.service_time import busy_s, busy_s_draws, busy_without_cache_s, busy_without_cache_s_draws
from models.valley import Valley

LeverName: TypeAlias = Literal["reach_exit", "lower_a", "reprice", "cut_fixed_cost", "cut_kv_load", "pack_tail_chunks"]
COLUMN = {"f": 0, "c": 1, "q": 2, "k": 3}
PRICE_LADDER = (0.02, 0.05, 0.10, 0.20, 0.25, 0.50)
"""Price ratios that list prices cluster at, 2026-11: .02 to .5, most at .1 and .25."""


@dataclass(frozen=True, slots=True)
class Lever:
    """One thing that can be changed.

    now, target: hit rate, slope of the mix, f [s], k [s/token], price ratio or f [s] again (pack_tail_chunks).
    breaks_even: whether the target alone brings the index to 1 at least. index: at the target. gain: of the same busy
    seconds, in the money of the operating point.
    """

    name: LeverName
    now: float
    target: float
    breaks_even: bool
    index: Estimate
    gain: Estimate


@dataclass(frozen=True, slots=True)
class Rung:
    """The same traffic at another price ratio; revenue: of the same busy seconds."""

    price_ratio: float
    index: Estimate
    valley: Valley | None
    revenue: float


def levers(point: OperatingPoint, *, chunk_fill: float | None = None) -> tuple[Lever, ...]:
    """The levers of an operating point, ranked by gain; of equal gains, the least relative change first.

    chunk_fill: how full the chunks of an engine that does not pack are, ΣM / (C * Σceil(M/C)), in (0, 1]; None where no
    chunk size is known. Packing brings f to f * chunk_fill at best: chunks fill only while requests wait.
    """
    found = [_cut(point, "cut_fixed_cost", "f"), _cut(point, "cut_kv_load", "k")]
    if point.index.value < 1:
        found += [_reach_exit(point), _lower_a(point), _reprice(point)]
    if chunk_fill is not None:
        require(0 < chunk_fill <= 1, "chunk_fill", chunk_fill, rule="0 < chunk_fill <= 1")
        found.append(_with_coefficient(point, "pack_tail_chunks", "f", point.law.f * chunk_fill))
    scale = point.revenue or 1.0

    def rank(lever: Lever) -> tuple[float, float]:
        change = abs(lever.target / lever.now - 1) if lever.now else inf
        return -round(lever.gain.value / scale, 9), change

    return tuple(sorted((lever for lever in found if lever is not None), key=rank))


def price_ladder(point: OperatingPoint, ratios: tuple[float, ...] = PRICE_LADDER) -> tuple[Rung, ...]:
    """The same traffic at each of these price ratios, ascending, the input price kept."""
    rungs = (replace(point, price_ratio=ratio) for ratio in sorted(ratios))
    return tuple(Rung(rung.price_ratio, rung.index, rung.valley, rung.revenue) for rung in rungs)


def with_coefficient(point: OperatingPoint, name: str, value: float) -> OperatingPoint:
    """The same traffic where f, q or k has this very value, under the law and each of its draws."""
    draws = point.draws.copy()
    draws[:, COLUMN[name]] = value
    return replace(point, law=replace(point.law, **{name: value}), draws=draws)


def break_even_coefficient(point: OperatingPoint, name: str) -> float | None:
    """The value of f or k at which the hits break even, other coefficients kept; below 0: none does. None without hits.

    Both busy times are linear in a coefficient v: e * (B0 + v*w0) = B + v*w at an index of 1, with e what a token sells
    for on average over the price of a computed one.
    """
    without = with_coefficient(point, name, 0.0)
    one = np.zeros(4)
    one[COLUMN[name]] = 1.0
    slope = busy_s_draws(one, point.moments)
    sold = 1 - (1 - point.price_ratio) * point.hit_rate
    rises = float(slope - sold * busy_without_cache_s_draws(one, point.moments))
    if rises <= 0:
        return None
    return (sold * busy_without_cache_s(without.law, point.moments) - busy_s(without.law, point.moments)) / rises


def _reach_exit(point: OperatingPoint) -> Lever | None:
    valley = point.valley
    if valley is None or valley.exit_hit_rate is None:
        return None
    after = replace(point, moments=move_to_hit_rate(point.moments, valley.exit_hit_rate))
    return Lever("reach_exit", point.hit_rate, valley.exit_hit_rate, True, after.index, gain(point, after))


def _lower_a(point: OperatingPoint) -> Lever | None:
    """The slope falls at the same throughput without a cache, so busy time becomes B0*(1-x) / (1 - a_be*x)."""
    slope, target, x = point.mix_slope, point.break_even_slope, point.hit_rate
    if slope is None or target is None:
        return None
    busy, without = busy_s_draws(point.laws, point.moments), busy_without_cache_s_draws(point.laws, point.moments)
    gained = gain_of_busy_ratio(point, busy * (1 - target * x) / (without * (1 - x)), point.revenue)
    return Lever("lower_a", slope.slope, target, True, Estimate(1.0, 1.0, 1.0), gained)


def _reprice(point: OperatingPoint) -> Lever | None:
    target = point.break_even_price_ratio
    if target is None or not point.price_ratio < target <= 1:
        return None
    after = replace(point, price_ratio=target)
    return Lever("reprice", point.price_ratio, target, True, after.index, gain(point, after))


def _cut(point: OperatingPoint, name: LeverName, coefficient: str) -> Lever | None:
    """Cut a cost to where the hits break even; to nothing where that is not enough, or where they earn already."""
    if getattr(point.law, coefficient) == 0:
        return None
    enough = break_even_coefficient(point, coefficient) if point.index.value < 1 else None
    return _with_coefficient(point, name, coefficient, max(enough or 0.0, 0.0))


def _with_coefficient(point: OperatingPoint, name: LeverName, coefficient: str, target: float) -> Lever | None:
    now: float = getattr(point.law, coefficient)
    after = with_coefficient(point, coefficient, target)
    if now == 0 or busy_s(after.law, after.moments) <= 0:
        return None
    index, gained = after.index, gain(point, after)
    if target == 0:
        # Whatever the cost really is, not having it loses nothing.
        gained = replace(gained, low=max(gained.low, 0.0))
    return Lever(name, now, target, index.value >= 1 - ROUNDING, index, gained)
