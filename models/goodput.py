"""Revenue that counts only where the service was good: requests within a stated time to first token, per token
or end to end.

Belongs here: the gate, and what stays outside it. Does not belong here: what busy time costs (`service_time`).

Without a gate, revenue per busy second pays for thrashing: an overloaded engine that answers after minutes sells as
many tokens as it ever can. In public measurements of one model on eight cards, sixteen clients at 39 % hits and 14 s to
first token "earned" 39 % more than eight at 97 % and 0.4 s. The gate needs times that were measured: it compares
periods or configurations, it cannot say how fast the same traffic would have been answered without a cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from models.domain import Array, require


@dataclass(frozen=True, slots=True)
class Objective:
    """Longest times that still earn, both inclusive; None = not asked for, one at least is.

    ttft_s: time to first token [s]. tpot_s: time per output token after the first [s]. e2e_s: end to end [s].
    """

    ttft_s: float | None = None
    tpot_s: float | None = None
    e2e_s: float | None = None

    def __post_init__(self) -> None:
        times = {"ttft_s": self.ttft_s, "tpot_s": self.tpot_s, "e2e_s": self.e2e_s}
        is_given = any(value is not None for value in times.values())
        require(is_given, "objective", "without times", rule="one time at least")
        for name, value in times.items():
            require(value is None or (isfinite(value) and value > 0), name, value, rule="finite and > 0 s")


@dataclass(frozen=True, slots=True)
class Goodput:
    """Revenue of requests within the objective, beyond it, and of which it is not known; in the unit it came in."""

    earned: float
    missed: float
    unknown: float

    @property
    def share(self) -> float | None:
        """Of the revenue that is known to be either, the share within; None where none is."""
        known = self.earned + self.missed
        return self.earned / known if known > 0 else None


def gate(revenue: Array, objective: Objective, *, ttft_s: Array, tpot_s: Array, e2e_s: Array | None = None) -> Goodput:
    """Sort revenue by whether its request met the objective.

    revenue: of each request, >= 0. ttft_s, tpot_s, e2e_s: its times [s], NaN = not known, as is an e2e_s not given; all
    of shape (n,). A request known to miss one time misses, whatever the others; a time that is asked for and not known
    leaves it unknown, never good.
    A request of a single output token has no time per token: give 0.
    """
    require(revenue >= 0, "revenue", revenue, rule=">= 0")
    is_missed = np.zeros(revenue.shape, dtype=bool)
    is_unknown = np.zeros(revenue.shape, dtype=bool)
    ends = np.full(revenue.shape, np.nan) if e2e_s is None else e2e_s
    for limit, times in ((objective.ttft_s, ttft_s), (objective.tpot_s, tpot_s), (objective.e2e_s, ends)):
        if limit is not None:
            is_missed |= times > limit
            is_unknown |= np.isnan(times)
    is_unknown &= ~is_missed
    return Goodput(
        earned=float(revenue[~is_missed & ~is_unknown].sum()),
        missed=float(revenue[is_missed].sum()),
        unknown=float(revenue[is_unknown].sum()),
    )


def tpot_s(ttft: Array, e2e: Array, output_tokens: Array) -> Array:
    """Time per output token after the first [s]: (e2e - ttft) / (output - 1); 0 for a single one, NaN if not known.

    ttft, e2e [s] and output_tokens, shape (n,), NaN = not known.
    """
    later = output_tokens - 1
    return np.where(later == 0, 0.0, np.divide(e2e - ttft, later, out=np.full(later.shape, np.nan), where=later > 0))
