"""How well the valley of a measured line is known: does it exist, and between which floors, exits and depths.

Belongs here: what follows for the valley from the interval of the slope. Does not belong here: that interval
(`uncertainty`), the valley of a known slope (`valley`).

Floor, exit and depth rise with the slope and depend on nothing else but the price: their 90 % interval is that of the
slope, mapped. Where the interval reaches down to slopes without a valley, no floor is the least: the lower bound is
unknown, and the probability that there is a valley says the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import ndtr

from models.domain import require
from models.uncertainty import NORMAL_95
from models.valley import Valley, locate_valley

# A line steeper than this earns nothing before all is cached; slopes end there.
STEEPEST = 0.999


@dataclass(frozen=True, slots=True)
class ValleyInterval:
    """probability: of a valley, in [0, 1]. low, high: the valleys at both ends of the slope's interval; None = none."""

    probability: float
    low: Valley | None
    high: Valley | None


def valley_interval(a: float, a_low: float, a_high: float, r: float) -> ValleyInterval:
    """Return what the slope's 90 % interval a_low <= a <= a_high says of the valley at price ratio r.

    Each side of the slope is taken for half a normal distribution that has 5 % beyond its bound. Raises ValueError for
    bounds that do not enclose the slope, and for a price ratio outside [0, 1].
    """
    require(a_low <= a <= a_high, "slope", a, rule="within its interval")
    margin, reach = (a - r, a - a_low) if a > r else (a - r, a_high - a)
    z = margin / reach * NORMAL_95 if reach > 0 else float("inf") * margin if margin else 0.0
    return ValleyInterval(
        probability=float(ndtr(z)),
        low=locate_valley(min(a_low, STEEPEST), r),
        high=locate_valley(min(a_high, STEEPEST), r),
    )
