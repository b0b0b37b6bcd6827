"""Refuses numbers outside the domain of a formula.

Belongs here: the checks that several formulas share, and their wording.
Does not belong here: doubts about data, which are values (`trust`), not errors.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Numbers = TypeVar("Numbers", float, NDArray[np.float64])


def require(is_inside: object, name: str, value: object, *, rule: str) -> None:
    """Raise ValueError naming the first value for which `is_inside` (bool or array of bool) is false."""
    inside = np.atleast_1d(np.asarray(is_inside, dtype=bool))
    if not inside.all():
        values = np.broadcast_to(np.atleast_1d(np.asarray(value)), inside.shape)
        raise ValueError(f"{name} {values[~inside][0]} is outside its domain: {rule}")


def require_hit_rate(x: float | Array, *, name: str = "hit rate") -> None:
    """Require 0 <= x < 1: at x = 1 nothing is computed and the throughputs are 0/0."""
    require((np.asarray(x) >= 0) & (np.asarray(x) < 1), name, x, rule="0 <= x < 1")


def require_price_ratio(r: float) -> None:
    """Require 0 <= r <= 1: a cached token is never dearer than a computed one."""
    require(0 <= r <= 1, "price ratio", r, rule="0 <= r <= 1 (price of a cached token / price of a miss token)")
