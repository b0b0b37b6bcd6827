"""A first-come-first-served server of known service times, and its busy rows by plain Python.

The rows are computed here request by request, independently of any SQL: an instance was busy on a request's account
from the previous first token, or from the earliest start among requests not yet answered if later, to its first token.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from models.regression_rows import BusyRows
from models.service_time import ServiceTime, TrafficMoments


@dataclass(frozen=True)
class Request:
    instance: str
    start_s: float
    first_token_s: float
    miss_tokens: int
    cached_tokens: int


def service_s(law: ServiceTime, miss: float, cached: float) -> float:
    return law.f + law.c * miss + law.q * miss * (cached + miss / 2) + law.k * cached


def serve(law: ServiceTime, *, load: float, n_requests: int, seed: int, overhead_s: float = 0.04, noise: float = 0.05):
    """Poisson arrivals of requests of mixed length and hit rate at one server; overhead reaches the client only."""
    dice = random.Random(seed)
    sizes = []
    for _ in range(n_requests):
        length = int(dice.lognormvariate(10, 0.7)) + 200
        cached = int(length * dice.choice([0, dice.random(), dice.uniform(0.7, 0.999)]))
        sizes.append((length - cached, cached))
    mean_s = sum(service_s(law, *size) for size in sizes) / n_requests
    clock = free_at = 0.0
    requests = []
    for miss, cached in sizes:
        clock += dice.expovariate(load / mean_s)
        free_at = max(clock, free_at) + service_s(law, miss, cached) * dice.lognormvariate(0, noise)
        requests.append(Request("i0", clock, free_at + overhead_s, miss, cached))
    return requests


def busy_rows(requests: list[Request]) -> BusyRows:
    """One row per instance, busy period and minute of the first token."""
    rows: dict[tuple[str, int, int], list[float]] = {}
    for instance in sorted({request.instance for request in requests}):
        own = sorted((r for r in requests if r.instance == instance), key=lambda r: (r.first_token_s, r.start_s))
        earliest_start, starts = float("inf"), []
        for request in reversed(own):
            earliest_start = min(earliest_start, request.start_s)
            starts.append(earliest_start)
        period, previous = 0, float("-inf")
        for request, start in zip(own, reversed(starts), strict=True):
            begins = start > previous
            period += begins
            minute = int(request.first_token_s // 60)
            row = rows.setdefault((instance, period, minute), [minute // 60, 0, 0, 0, 0, 0, 0])
            miss, cached = request.miss_tokens, request.cached_tokens
            done = (request.first_token_s - max(previous, start), 1, miss, miss * (cached + miss / 2), cached, begins)
            for column, amount in enumerate(done, start=1):
                row[column] += amount
            previous = request.first_token_s
    return rows_from(list(rows.values()))


def rows_from(table) -> BusyRows:
    """Seven columns in the order of BusyRows."""
    columns = np.array(table, dtype=float).reshape(-1, 7).T
    return BusyRows(columns[0].astype(np.int64), *columns[1:])


def moments(requests: list[Request]) -> TrafficMoments:
    pairs = [(r.miss_tokens, r.cached_tokens) for r in requests]
    return TrafficMoments(
        n_requests=len(pairs),
        input_tokens=sum(m + p for m, p in pairs),
        cached_tokens=sum(p for _, p in pairs),
        miss_tokens=sum(m for m, _ in pairs),
        sum_miss_cached=sum(m * p for m, p in pairs),
        sum_miss_sq=sum(m * m for m, _ in pairs),
        sum_input_sq=sum((m + p) ** 2 for m, p in pairs),
    )
