"""Optimal design of a benchmark: sizes that can be asked, and how well a quantity is known after some of them.

Belongs here: candidates, the variance that is left after a set of points, choosing the set. Does not belong here: what
the quantity is (`plan`).

A point's seconds are linear in f, c, q, k and measured with a relative error: what is known after it follows from what
was known before, whatever its result (c-optimal design). A benchmark runs on a machine that does nothing else, 5 to
24 % faster than in production where both were measured: only the ratios between its points count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.chunks import CHUNK_TOKENS, leaves_small_tail
from models.domain import Array, require

HIT_RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# Caches match whole blocks of up to 64 tokens, usually 16, and chat templates add fewer tokens than that. Prompts
# shorter than 16 of the one are asked in the other, or they would have no hit rates.
BLOCK_TOKENS = (64, 16, 1)
MIN_BLOCKS = 16
NORMAL_95 = 1.6448536269514722
# Variance of the benchmark's relative level against production's: so large that only ratios count.
LEVEL_VARIANCE = 100.0
# Variance of a share of which nothing is known: no prediction is worse.
UNKNOWN_VARIANCE = 1 / 12
MAX_PASSES = 5


def benchmark_sizes(lengths: Sequence[float], chunk_tokens: int | None) -> NDArray[np.int64]:
    """Input and cached tokens of requests about as long as `lengths` [tokens], hit rates 0 to .99: shape (n, 2).

    Whole blocks of 64 tokens, of fewer where prompts are short, and no singular points: neither the computed tokens nor
    a block more leave a small last chunk of chunk_tokens; of any usual chunk size where None.
    """
    require(np.asarray(lengths) > 0, "input_tokens", np.asarray(lengths), rule="> 0 tokens")
    block = next((block for block in BLOCK_TOKENS if min(lengths) >= MIN_BLOCKS * block), BLOCK_TOKENS[-1])
    regular = np.arange(1.0, max(lengths) // block + 3) * block
    for chunk in CHUNK_TOKENS if chunk_tokens is None else (chunk_tokens,):
        regular = regular[~leaves_small_tail(regular, chunk) & ~leaves_small_tail(regular + block, chunk)]
    sizes = set()
    for wanted in lengths:
        length = _nearest(regular, wanted)
        for hit_rate in HIT_RATES:
            sizes.add((length, length - _nearest(regular, (1 - hit_rate) * length)))
    return np.array(sorted(sizes), dtype=np.int64)


def size_features(sizes: NDArray[np.int64]) -> Array:
    """What f, c, q and k are multiplied by in one request of input and cached tokens (n, 2): shape (n, 4)."""
    length, cached = np.asarray(sizes, dtype=np.float64).T
    miss = length - cached
    return np.stack([np.ones_like(miss), miss, miss * (cached + miss / 2), cached], axis=1)


def _nearest(ascending: Array, wanted: float) -> int:
    return int(ascending[np.abs(ascending - wanted).argmin()])


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """rows: relative change of each candidate's seconds with f, c, q, k and level, under each law, shape (n, m, 5).

    gradient: of the quantity, (m, 5). covariance: of f, c, q, k and level before, (5, 5). noise: relative.
    """

    rows: Array
    gradient: Array
    covariance: Array
    noise: float

    @classmethod
    def of(cls, laws: Array, gradient: Array, covariance: Array, sizes: NDArray[np.int64], noise: float) -> Design:
        """Of laws (m, 4) that may be true, the quantity's gradient there (m, 4) and sizes (n, 2)."""
        features = size_features(sizes)
        rows = features[:, np.newaxis, :] / (features @ laws.T)[..., np.newaxis]
        return cls(
            np.concatenate([rows, np.ones((*rows.shape[:2], 1))], axis=2),
            np.column_stack([gradient, np.zeros(len(gradient))]),
            with_level(covariance),
            noise,
        )

    def half_width(self, chosen: Sequence[int]) -> float:
        """Half of the expected 90 % interval of the quantity after these candidates, mean over the laws."""
        known = self._after(chosen)
        return NORMAL_95 * float(_deviation(np.einsum("mi,mij,mj->m", self.gradient, known, self.gradient)).mean())

    def half_width_alone(self, chosen: Sequence[int]) -> float:
        """The same without anything that was known before; infinite where these candidates do not tell."""
        rows = np.swapaxes(self.rows[list(chosen), :, :4], 0, 1)
        norm = np.linalg.norm(rows, axis=1, keepdims=True)
        norm = np.where(norm > 0, norm, 1.0)
        inverse = np.linalg.pinv(rows / norm, rcond=1e-9)
        gradient = self.gradient[:, np.newaxis, :4] / norm
        weights = gradient @ inverse
        told = np.isclose(weights @ (rows / norm), gradient, rtol=1e-3, atol=1e-6 * np.abs(gradient).max()).all()
        return NORMAL_95 * self.noise * float(np.linalg.norm(weights, axis=2).mean()) if told else float("inf")

    def best(self, n_points: int, *, given: Sequence[int] = ()) -> list[int]:
        """The given candidates and more, up to n_points: added one by one, then exchanged until nothing improves.

        What is added comes in the order in which it tells most.
        """
        chosen = self._added(list(given), n_points)
        for _ in range(MAX_PASSES):
            before = list(chosen)
            for place in range(len(given), len(chosen)):
                chosen[place] = self._next(chosen[:place] + chosen[place + 1 :])[0]
            if chosen == before:
                break
        return self._added(list(given), len(chosen), among=chosen)

    def _added(self, chosen: list[int], n_points: int, among: Sequence[int] | None = None) -> list[int]:
        n_points = min(n_points, len(self.rows))
        if not chosen and n_points > 1:
            chosen = self._first_two(among)
        while len(chosen) < n_points:
            chosen.append(self._next(chosen, among)[0])
        return chosen

    def _first_two(self, among: Sequence[int] | None = None) -> list[int]:
        """The best pair: a point alone sets the level and tells nothing else."""
        firsts = range(len(self.rows)) if among is None else among
        pairs = [(first, *self._next([first], among)) for first in firsts]
        first, second, _ = min(pairs, key=lambda pair: pair[2])
        return [first, second]

    def _next(self, chosen: Sequence[int], among: Sequence[int] | None = None) -> tuple[int, float]:
        """The candidate that narrows the most after these, and the mean deviation that it leaves."""
        known = self._after(chosen)
        moved = np.einsum("mij,nmj->nmi", known, self.rows)
        seen = self.noise**2 + (moved * self.rows).sum(axis=2)
        before = np.einsum("mi,mij,mj->m", self.gradient, known, self.gradient)
        left = before - (moved * self.gradient).sum(axis=2) ** 2 / seen
        deviation = _deviation(left).mean(axis=1)
        barred = np.ones(len(self.rows), dtype=bool)
        barred[list(range(len(self.rows)) if among is None else among)] = False
        barred[list(chosen)] = True
        deviation[barred] = np.inf
        return int(deviation.argmin()), float(deviation.min())

    def _after(self, chosen: Sequence[int]) -> Array:
        """Covariance after these candidates under each law, (m, 5, 5)."""
        known = np.broadcast_to(self.covariance, (len(self.gradient), 5, 5))
        for rows in self.rows[list(chosen)]:
            moved = np.einsum("mij,mj->mi", known, rows)
            seen = self.noise**2 + (moved * rows).sum(axis=1)
            known = known - moved[:, :, np.newaxis] * moved[:, np.newaxis, :] / seen[:, np.newaxis, np.newaxis]
        return np.asarray(known)


def with_level(covariance: Array) -> Array:
    """Covariance of f, c, q, k (4, 4) and of the benchmark's relative level, (5, 5)."""
    widened = np.zeros((5, 5))
    widened[:4, :4], widened[4, 4] = covariance, LEVEL_VARIANCE
    return widened


def _deviation(variance: Array) -> Array:
    """Standard deviations of quantities that are known to be shares, whatever else is known."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(1 / (1 / np.maximum(variance, 0.0) + 1 / UNKNOWN_VARIANCE)))
