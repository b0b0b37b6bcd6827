"""Traffic for the engines: sessions that reuse their prefix, in five mixes and three rhythms, at any load.

Lengths and pauses are lognormal about their medians, turns geometric. Arrivals are open: an answer that comes late
does not hold back the next turn, so that a load above 1 is a load above 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.models.engines import Engine, Traffic

BLOCK_TOKENS = 16
DAY_S = 86_400.0
MAX_INPUT_TOKENS = 160_000


@dataclass(frozen=True)
class Mix:
    """A kind of conversation: tokens are medians, `turns` a mean, `reuse` the probability that a prefix is found.

    shared_tokens are the same in all sessions (a system prompt) and found by a first turn with probability `warm`.
    """

    shared_tokens: int
    opening_tokens: float
    turn_tokens: float
    turns: float
    reuse: float
    warm: float = 0.5
    output_tokens: float = 200.0
    pause_s: float = 30.0
    spread: float = 0.7


CHAT = Mix(shared_tokens=600, opening_tokens=1_500, turn_tokens=900, turns=5, reuse=0.85)
AGENTIC = Mix(shared_tokens=12_000, opening_tokens=20_000, turn_tokens=1_500, turns=16, reuse=0.92, pause_s=8)
SHORT = Mix(shared_tokens=300, opening_tokens=500, turn_tokens=250, turns=2, reuse=0.7, output_tokens=60)
DOCUMENTS = Mix(shared_tokens=0, opening_tokens=50_000, turn_tokens=300, turns=2.5, reuse=0.8, spread=0.6)
RETRIEVAL = Mix(shared_tokens=8_000, opening_tokens=10_000, turn_tokens=9_000, turns=1.8, reuse=0.7)


def offer(mix: Mix, engine: Engine, *, load: float, n_requests: int, seed: int, rhythm: str = "steady") -> Traffic:
    """At least `n_requests` requests of a mix, over as long as makes their work `load` of what the engine can do.

    rhythm: "steady"; "bursty", sessions by the dozen within seconds; "diurnal", almost none at night.
    """
    rng = np.random.default_rng(seed)
    sessions, count = [], 0
    while count < n_requests:
        sessions.append(_session(rng, mix))
        count += len(sessions[-1][0])
    total, cached, output, pause = (np.concatenate(column) for column in zip(*sessions, strict=True))
    session = np.repeat(np.arange(len(sessions)), [len(turns) for turns, *_ in sessions])
    work_s = engine.alone_s(total - cached, cached).sum()
    horizon_s = work_s / (load * engine.instances)
    opening = _openings(rng, len(sessions), horizon_s, rhythm)
    elapsed = np.cumsum(pause)
    first = np.searchsorted(session, np.arange(len(sessions)))
    # Turns after the end come at its beginning: the load has no tail.
    arrival = (opening[session] + elapsed - elapsed[first][session]) % horizon_s
    order = np.argsort(arrival, kind="stable")
    return Traffic(arrival[order], (total - cached)[order], cached[order], output[order], session[order])


def _session(rng: np.random.Generator, mix: Mix):
    """Input, cached and output tokens of each turn, and the pause before it [s]."""
    n = int(rng.geometric(1 / mix.turns))
    median = np.full(n, mix.turn_tokens)
    median[0] = mix.opening_tokens
    new = (median * rng.lognormal(0, mix.spread, n)).astype(np.int64) + 1
    output = (mix.output_tokens * rng.lognormal(0, mix.spread, n)).astype(np.int64) + 1
    total = mix.shared_tokens + np.cumsum(new) + np.cumsum(output) - output
    found = rng.random(n) < mix.reuse
    prefix = np.where(found, total - new, mix.shared_tokens)
    prefix[0] = mix.shared_tokens if rng.random() < mix.warm else 0
    pause = mix.pause_s * rng.lognormal(0, mix.spread, n)
    fits = total <= MAX_INPUT_TOKENS
    fits[0], total[0] = True, min(total[0], MAX_INPUT_TOKENS)
    return total[fits], prefix[fits] // BLOCK_TOKENS * BLOCK_TOKENS, output[fits], pause[fits]


def _openings(rng: np.random.Generator, n: int, horizon_s: float, rhythm: str) -> np.ndarray:
    """When each session begins [s]."""
    if rhythm == "bursty":
        bursts = rng.uniform(0, horizon_s, n // 12 + 1)
        return bursts[rng.integers(len(bursts), size=n)] + rng.exponential(3.0, n)
    if rhythm == "diurnal":
        days = max(1.0, round(horizon_s / DAY_S))
        phase = np.linspace(0, 1, 1_001)
        share = phase - 0.95 * np.sin(2 * np.pi * phase) / (2 * np.pi)
        return (rng.integers(days, size=n) + np.interp(rng.random(n), share, phase)) * horizon_s / days
    return rng.uniform(0, horizon_s, n)
