"""A first-come-first-served engine that prefills in steps of at most C tokens, packing several requests or not.

Unpacked, a step computes tokens of one request only, and its fixed cost falls to that request's last chunk too, however
small. Packed, what the first request leaves of a step is filled with those waiting behind it.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from models.chunks import CHUNK_TOKENS, chunk_steps
from models.regression_rows import BusyRows
from models.service_time import ServiceTime
from tests.models.simulate import Request, busy_rows


def serve_in_chunks(
    law: ServiceTime,
    chunk_tokens: int,
    *,
    packed: bool,
    load: float,
    n_requests: int,
    seed: int,
    noise: float = 0.03,
    typical_tokens: float = 10.0,
    overhead_s: float = 0.04,
) -> list[Request]:
    """Poisson arrivals of mixed lengths and hit rates; law.f is the fixed cost of a step."""
    dice = random.Random(seed)
    sizes = []
    for _ in range(n_requests):
        length = int(dice.lognormvariate(typical_tokens, 0.8)) + 200
        sizes.append((length, int(length * dice.choice([0, dice.random(), dice.uniform(0.7, 0.99)]))))
    mean_s = sum(
        law.f * -(-(length - cached) // chunk_tokens) + step_s(law, length - cached, cached) - law.f + law.k * cached
        for length, cached in sizes
    ) / len(sizes)
    clock, arrivals = 0.0, []
    for _ in sizes:
        clock += dice.expovariate(load / mean_s)
        arrivals.append(clock)
    first_tokens = [0.0] * n_requests
    computed = [cached for _, cached in sizes]
    now, head = 0.0, 0
    while head < n_requests:
        now = max(now, arrivals[head])
        budget, member, seconds, done = chunk_tokens, head, law.f, []
        while budget > 0 and member < n_requests and arrivals[member] <= now:
            length, cached = sizes[member]
            taken = min(budget, length - computed[member])
            seconds += step_s(law, taken, computed[member]) - law.f + law.k * cached * (computed[member] == cached)
            computed[member] += taken
            budget -= taken
            if computed[member] == length:
                done.append(member)
            if not packed:
                break
            member += 1
        now += seconds * dice.lognormvariate(0, noise)
        for finished in done:
            first_tokens[finished] = now + overhead_s
        head += len(done)
    return [
        Request("i0", arrival, first_token, length - cached, cached)
        for arrival, first_token, (length, cached) in zip(arrivals, first_tokens, sizes, strict=True)
    ]


def step_s(law: ServiceTime, tokens: int, context: int) -> float:
    """Seconds of a step that computes so many tokens after a context, loading apart."""
    return law.f + law.c * tokens + law.q * tokens * (context + tokens / 2)


def rows_and_steps(requests: list[Request]) -> tuple[BusyRows, np.ndarray]:
    """Busy rows and the steps of each at every candidate; rows depend on times alone: steps can stand for tokens."""
    steps = chunk_steps(np.array([request.miss_tokens for request in requests])).tolist()
    columns = [
        busy_rows([replace(r, miss_tokens=own[i]) for r, own in zip(requests, steps, strict=True)]).miss_tokens
        for i in range(len(CHUNK_TOKENS))
    ]
    return busy_rows(requests), np.stack(columns, axis=1).astype(np.int64)
