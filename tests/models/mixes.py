"""Traffic mixes and laws for tests of money: requests as (computed, cached) pairs, and what they cost one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from models.service_time import ServiceTime, TrafficMoments
from tests.models.simulate import Request, moments, service_s

LAW = ServiceTime(f=0.02, c=4e-5, q=2.0e-9, k=2e-6)
MIX = [(20_000, 5_000), (3_000, 60_000), (500, 30_000), (40_000, 0), (9_000, 12_000)] * 20
"""Hits lie on the longest prompts, where they save the most."""
EVEN = [(20_000, 30_000), (8_000, 40_000), (40_000, 20_000), (1_000, 9_000), (6_000, 6_000)] * 20
"""Hits lie on prompts of every length."""

pairs = st.lists(st.tuples(st.integers(1, 100_000), st.integers(0, 100_000)), min_size=1, max_size=12)
laws = st.builds(ServiceTime, f=st.floats(0, 0.2), c=st.floats(1e-6, 1e-4), q=st.floats(0, 5e-9), k=st.floats(0, 5e-5))
price_ratios = st.floats(0.01, 0.99)


def traffic(sizes) -> TrafficMoments:
    return moments([Request("i", 0, 0, miss, cached) for miss, cached in sizes])


def moved(sizes, x: float) -> list[tuple[float, float]]:
    """The requests at another hit rate of the whole: every one gives up the same share of its hits or misses."""
    total, cached = sum(m + p for m, p in sizes), sum(p for _, p in sizes)
    if x * total <= cached:
        keep = x * total / cached if cached else 1.0
        return [(m + (1 - keep) * p, keep * p) for m, p in sizes]
    keep = (1 - x) * total / (total - cached)
    return [(keep * m, p + (1 - keep) * m) for m, p in sizes]


def index_by_request(law: ServiceTime, sizes, r: float) -> float:
    """The revenue index, request after request."""
    actual = sum(service_s(law, miss, cached) for miss, cached in sizes)
    without = sum(service_s(law, miss + cached, 0) for miss, cached in sizes)
    earned = sum(miss + r * cached for miss, cached in sizes)
    return earned / actual * without / sum(miss + cached for miss, cached in sizes)


def draws_around(law: ServiceTime, n: int = 40, spread: float = 0.02) -> np.ndarray:
    """Laws scattered about one, shape (n, 4)."""
    return law.as_array() * (1 + spread * np.random.default_rng(3).standard_normal((n, 4)))
