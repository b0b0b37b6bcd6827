"""What it takes for revenue to count: answers within a stated time to first token, per token or end to end.

Belongs here: the times that are asked for. Does not belong here: sorting requests by them (SQL), whose objective it is.

Without a gate, revenue per busy second pays for thrashing: an overloaded engine that answers after minutes sells as
many tokens as it ever can. In public measurements of one model on eight cards, sixteen clients at 39 % hits and 14 s to
first token "earned" 39 % more than eight at 97 % and 0.4 s. The gate needs times that were measured: it compares
periods or configurations, it cannot say how fast the same traffic would have been answered without a cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from models.domain import require


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
