"""The valley of the straight line `tps_miss(x) = tps0 * (1 - a * x)`, in closed form.

Belongs here: formulas of hit rate x, relative slope a and price ratio r; exact, without data.
Does not belong here: curves that bend and traffic that mixes lengths (`service_time`); fitting.

Domain, everywhere: hit rate 0 <= x < 1; slope a < 1, zero and negative included, since a measured slope may be
slightly negative and then simply has no valley; price ratio 0 <= r <= 1. Anything else raises ValueError.
Source: calculus on `revenue_index`; the tests check each formula on a fine grid that knows none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, isfinite, sin, sqrt

import numpy as np

from models.domain import Numbers, require, require_hit_rate, require_price_ratio


@dataclass(frozen=True, slots=True)
class Valley:
    """Hit rates between 0 and `exit_hit_rate`, where every busy second earns less than without a cache.

    floor_hit_rate: the hit rate that earns least, in (0, 1]. On a straight line 1 only for free cached tokens (r = 0).
    exit_hit_rate: the hit rate from which the cache pays again; None when it never does (on a straight line: r = 0).
    floor_depth: share of the revenue without a cache that is lost at the floor, in (0, 1).
    """

    floor_hit_rate: float
    exit_hit_rate: float | None
    floor_depth: float


def tps_miss(x: Numbers, tps0: float, a: float) -> Numbers:
    """Computed tokens per busy second: tps0 * (1 - a*x), for 0 <= x <= 1."""
    require((np.asarray(x) >= 0) & (np.asarray(x) <= 1), "hit rate", x, rule="0 <= x <= 1")
    _require_slope(a)
    require(isfinite(tps0) and tps0 > 0, "tps0", tps0, rule="tps0 > 0 tokens/s")
    return tps0 * (1 - a * x)


def tps_hit(x: Numbers, tps0: float, a: float) -> Numbers:
    """Cached tokens per busy second: x/(1-x) * tps_miss(x). Rises with x for every a < 1."""
    require_hit_rate(x)
    return x / (1 - x) * tps_miss(x, tps0, a)


def revenue_index(x: Numbers, a: float, r: float) -> Numbers:
    """Revenue per busy second over that without a cache: (1 - a*x) * (1 - (1-r)*x) / (1 - x)."""
    require_hit_rate(x)
    _require_slope(a)
    require_price_ratio(r)
    return (1 - a * x) * (1 - (1 - r) * x) / (1 - x)


def floor_hit_rate(a: float, r: float) -> float | None:
    """Hit rate that earns least: 1 - sqrt((1-a)*r / (a*(1-r))); None when a <= r."""
    return 1 - sqrt((1 - a) * r / (a * (1 - r))) if _has_valley(a, r) else None


def exit_hit_rate(a: float, r: float) -> float | None:
    """Hit rate at which the index is back at 1: (a - r) / (a*(1-r)); None when a <= r, or never back: r = 0."""
    return (a - r) / (a * (1 - r)) if _has_valley(a, r) and r > 0 else None


def floor_index(a: float, r: float) -> float | None:
    """Revenue index at the floor: (sqrt((1-a)*(1-r)) + sqrt(a*r))^2; None when a <= r."""
    return (sqrt((1 - a) * (1 - r)) + sqrt(a * r)) ** 2 if _has_valley(a, r) else None


def locate_valley(a: float, r: float) -> Valley | None:
    """Where revenue falls below that without a cache; None when it never does (a <= r).

    The depth is 1 - floor_index, written sin²(asin√a - asin√r): exact also where a is barely above r.
    """
    floor = floor_hit_rate(a, r)
    if floor is None:
        return None
    depth = sin(asin(sqrt(a)) - asin(sqrt(r))) ** 2
    return Valley(floor_hit_rate=floor, exit_hit_rate=exit_hit_rate(a, r), floor_depth=depth)


def break_even_slope(x: Numbers, r: float) -> Numbers:
    """The slope at which hit rate x would just break even: r / (1 - (1-r)*x)."""
    require_hit_rate(x)
    require_price_ratio(r)
    return r / (1 - (1 - r) * x)


def break_even_price_ratio(x: Numbers, a: float) -> Numbers:
    """The price ratio at which hit rate x would just break even: a*(1-x) / (1 - a*x)."""
    require_hit_rate(x)
    _require_slope(a)
    return a * (1 - x) / (1 - a * x)


def neutral_price_ratio(x1: float, x2: float, tps0: float, a: float) -> float:
    """The price ratio at which moving from x1 to x2 earns the same: lost miss over gained hit throughput.

    Raises ValueError when x1 = x2: every price ratio is then neutral.
    """
    require(x1 != x2, "move to hit rate", x2, rule="the two hit rates differ")
    return measured_neutral_price_ratio(
        (tps_miss(x1, tps0, a), tps_hit(x1, tps0, a)), (tps_miss(x2, tps0, a), tps_hit(x2, tps0, a))
    )


def measured_neutral_price_ratio(before: tuple[float, float], after: tuple[float, float]) -> float:
    """The price ratio at which a measured move earns the same: computed tokens lost over cached tokens gained.

    before, after: (tps_miss, tps_hit) [tokens/s] of the two measurements. Below it the move with more hits loses money;
    negative: it gained both kinds and earns at every price. Raises ValueError where tps_hit did not change.
    """
    gained = after[1] - before[1]
    require(gained != 0, "change of tps_hit", gained, rule="other than 0 tokens/s")
    return (before[0] - after[0]) / gained


def _has_valley(a: float, r: float) -> bool:
    _require_slope(a)
    require_price_ratio(r)
    return a > r


def _require_slope(a: float) -> None:
    require(np.isfinite(a) & (np.asarray(a) < 1), "slope a", a, rule="a < 1, or throughput would vanish before x = 1")
