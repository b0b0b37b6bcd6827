"""The chunk size of engines that cannot pack several requests into one step, and what their small last chunks cost.

    t(M, P) = f*ceil(M/C) + c*M + q*M*(P + M/2) + k*P        f is paid by step, not by request

Belongs here: finding C among the usual ones or staying silent; hit rates at which a small tail chunk is left.
Does not belong here: singular points themselves (`sweep`).

Chunked prefill computes C tokens a step. An engine that packs fills what a prompt's last chunk leaves with the next
prompt; one that does not pays a whole step for it: the dips of a sweep lie where M mod C is small. A packing engine
pays the same while nothing waits to be packed, so rows of single requests look alike; those of several tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.busy_periods import MIN_ROWS
from models.cross_validation import left_out_losses
from models.domain import Array, Numbers, require
from models.least_squares import OUTLIER_MADS, gram_sums, inliers, resample_blocks, solve_non_negative
from models.regression_rows import BusyRows, RegressionRows, regression_rows
from models.service_time import ServiceTime

CHUNK_TOKENS = (1024, 2048, 4096, 8192, 16384, 32768)
"""Candidates: defaults of vLLM (2048, 8192, 16384 by device) and SGLang (2048 to 32768 by memory), and between."""
# A left-out error must drop by this share of itself to name a chunk size: see the tests of silence.
MIN_DROP = 0.03
# Share of the savable steps that an engine may seem to save, in 95 of 100 resamplings of the data, and not pack.
# Simulated days of 3,000 requests, load .05 to .9, C of 2048, 8192 and 16384: 15 engines that do not pack .01 to .25,
# 14 that pack .62 to 1. Where prompts are short and steps take 90 ms, hardly two ever wait at once: packs, and .12.
MAX_PACKING = 0.22
# Fewer savable steps than this agree with anything: 17 and 29 of a day of an engine that packs said .00 and .16.
MIN_SAVABLE_STEPS = 30
N_DRAWS = 200
# Of a sweep's few points, chance alone explains more.
MIN_SWEEP_DROP = 0.25
# Ten points without any chunks named one in a tenth of 300 simulated sweeps; nineteen in one.
MIN_POINTS = 15
# A last chunk of an eighth runs at .5 to .85 of a full one's throughput, of a sixteenth at .3 to .6 (published kernel
# measurements of four models at 32K tokens of context, C = 8192).
SMALL_TAIL = 1 / 8


@dataclass(frozen=True, slots=True)
class ChunkFit:
    """What the chunk sizes explain. chunk_tokens: the one found, None = silence; law: then with f [s] per step.

    error_without: root mean square relative error on data left out, f by request. errors: the same by chunk size, in
    the order of CHUNK_TOKENS. packing: of the steps that packing could save, the share that is saved, high end of its
    interval; tail_s_per_day: busy seconds a day that full steps alone would save, more than any engine can of requests
    that do not wait at once. Both None where a sweep was asked, whose requests come one by one.
    """

    chunk_tokens: int | None
    error_without: float
    errors: tuple[float, ...]
    law: ServiceTime | None = None
    packing: float | None = None
    tail_s_per_day: float | None = None


def chunk_steps(miss_tokens: Array) -> NDArray[np.int64]:
    """Steps a request takes at each of CHUNK_TOKENS: max(1, ceil(M/C)), shape (n,) -> (n, 6).

    One at least: a whole hit still computes its last block. Summed over the requests of a busy row these are the
    columns steps_1024 ... steps_32768 that `find_chunk_in_rows` needs; ceil does not add, so rows cannot give them.
    """
    miss = np.asarray(miss_tokens)
    require(miss >= 0, "miss_tokens", miss, rule=">= 0")
    return np.asarray(np.maximum(1, -(-miss[..., np.newaxis] // np.array(CHUNK_TOKENS))), dtype=np.int64)


def find_chunk_in_rows(rows: BusyRows, steps: NDArray[np.int64], *, seed: int = 0) -> ChunkFit | None:
    """The chunk size of an engine that does not pack, by leaving out one hour after the other.

    steps: Σ max(1, ceil(M/C)) over each row's requests, shape (n, 6) in the order of CHUNK_TOKENS. None with fewer than
    ten usable rows. Rows that are outliers whatever the chunk size count for none. Silent, too, on an engine that
    packs, and where no rows of several requests tell whether it does: there is then nothing that packing would save.
    """
    shape = (len(rows.busy_s), len(CHUNK_TOKENS))
    require(np.shape(steps) == shape, "steps of shape", str(np.shape(steps)), rule=f"one row each, {shape}")
    usable = regression_rows(rows)
    if len(usable.busy_s) < MIN_ROWS:
        return None
    by_chunk = np.asarray(steps, dtype=np.float64)[usable.index]
    requests, others = usable.features[:, 0], usable.features[:, 1:]
    candidates = [usable.weighted(np.column_stack([first, others])) for first in (requests, *by_chunk.T)]
    found = _compare(candidates, usable.block, min_drop=MIN_DROP)
    if found.chunk_tokens is None or found.law is None:
        return found
    taken = by_chunk[:, CHUNK_TOKENS.index(found.chunk_tokens)]
    packing = _packing(usable, taken, found.chunk_tokens, seed)
    if packing > MAX_PACKING:
        return replace(found, chunk_tokens=None, law=None, packing=packing)
    lost_s = tail_s(found.law.f, float(taken.sum()), float(others[:, 0].sum()), found.chunk_tokens)
    days = max(1.0, float(np.ptp(np.asarray(rows.hour_index)[usable.index]) + 1) / 24)
    return replace(found, packing=packing, tail_s_per_day=lost_s / days)


def find_chunk_in_points(miss_tokens: Array, cached_tokens: Array, prefill_s: Array) -> ChunkFit | None:
    """The chunk size that a sweep shows, by leaving out one point after the other.

    Medians of M [tokens], P [tokens] and seconds > 0, shape (n,) each. None with fewer than 15 points.
    """
    if len(prefill_s) < MIN_POINTS:
        return None
    features = np.stack([miss_tokens, miss_tokens * (cached_tokens + miss_tokens / 2), cached_tokens], axis=1)
    firsts = (np.ones(len(prefill_s)), *chunk_steps(miss_tokens).T)
    candidates = [np.column_stack([first, features, prefill_s]) / prefill_s[:, np.newaxis] for first in firsts]
    return _compare(candidates, np.arange(len(prefill_s)), min_drop=MIN_SWEEP_DROP)


def tail_s(step_s: float, steps: float, miss_tokens: float, chunk_tokens: int) -> float:
    """Busy seconds that full chunks would save: f * (Σ ceil(M/C) - ΣM/C); sums over any requests, which add.

    step_s: f per step [s]. An engine that packs perfectly takes ΣM/C steps.
    """
    return step_s * (steps - miss_tokens / chunk_tokens)


def singular_hit_rates(input_tokens: float, chunk_tokens: int) -> Array:
    """Hit rates just below which a small last chunk is left: 1 - j*C/L for j = 1, 2 ..., ascending, above 0."""
    require(input_tokens > 0, "input_tokens", input_tokens, rule="> 0 tokens")
    require(chunk_tokens > 0, "chunk_tokens", chunk_tokens, rule="> 0 tokens")
    whole = np.arange(int(input_tokens // chunk_tokens), 0, -1)
    x = 1 - whole * chunk_tokens / input_tokens
    return np.asarray(x[x > 0])


def leaves_small_tail(miss_tokens: Numbers, chunk_tokens: int) -> NDArray[np.bool_]:
    """Whether M tokens leave a last chunk of at most an eighth after at least one full one."""
    miss = np.asarray(miss_tokens, dtype=np.float64)
    tail = miss % chunk_tokens
    return np.asarray((miss > chunk_tokens) & (tail > 0) & (tail <= SMALL_TAIL * chunk_tokens))


def _packing(usable: RegressionRows, steps: Array, chunk_tokens: int, seed: int) -> float:
    """High end of the interval of the share of savable steps that rows of several requests save; 1 where few tell.

    The steps of a row lie between Σ ceil(M/C), unpacked, and what is left when all share: of the two coefficients, the
    second's share. Whoever finds the engine idle begins alone, taken to be of the row's mean length: the others can
    share only what comes after.
    """
    packed = np.minimum(steps, _steps_shared(usable, chunk_tokens))
    both = usable.weighted(np.column_stack([steps, packed, usable.features[:, 1:]]))
    kept = _explained_by_packing(np.delete(both, 1, axis=1), saved=both[:, 0] - both[:, 1])
    if (steps - packed)[kept].sum() < MIN_SAVABLE_STEPS:
        return 1.0
    gram = gram_sums(both[kept], usable.block[kept])
    unpacked_s, packed_s = solve_non_negative(resample_blocks(gram, n_draws=N_DRAWS, seed=seed))[:, :2].T
    total_s = unpacked_s + packed_s
    share = np.divide(packed_s, total_s, out=np.ones(len(total_s)), where=total_s > 0)
    return float(np.percentile(share, 95))


def _steps_shared(usable: RegressionRows, chunk_tokens: int) -> Array:
    """Steps of each row, shape (n,), if the first request of a busy period is computed alone and all others share."""
    requests, miss = usable.features[:, 0], usable.features[:, 1]
    begins = np.minimum(usable.features[:, 4], 1)
    alone = miss / np.maximum(requests, 1)
    others = np.maximum(miss - begins * alone, 0)
    return begins * np.maximum(1, np.ceil(alone / chunk_tokens)) + np.maximum(
        requests > begins, np.ceil(others / chunk_tokens)
    )


def _explained_by_packing(unpacked: Array, *, saved: Array) -> NDArray[np.bool_]:
    """Rows that are no outliers, or only because they are faster by no more than the steps that packing could save.

    Those are what is looked for: a robust fit of steps that were never saved would drop them. unpacked: weighted rows
    (n, p + 1), steps first; saved: savable steps at the same weight, shape (n,).
    """
    kept = inliers(unpacked)
    coefficients = solve_non_negative(unpacked[kept].T @ unpacked[kept])
    residual = unpacked[:, -1] - unpacked[:, :-1] @ coefficients
    limit = OUTLIER_MADS * float(np.median(np.abs(residual[kept])))
    return np.asarray((residual <= limit) & (residual >= -limit - coefficients[0] * saved))


def _compare(candidates: list[Array], block: NDArray[np.int64], *, min_drop: float) -> ChunkFit:
    """The first candidate is without a chunk size; the others are in the order of CHUNK_TOKENS."""
    kept = np.any([inliers(rows) for rows in candidates], axis=0)
    grams = np.stack([gram_sums(rows[kept], block[kept]) for rows in candidates])
    squared = left_out_losses(grams).sum(axis=1) / grams[0, :, -1, -1].sum()
    errors = np.sqrt(squared).tolist()
    chunk = _clearly_best(errors[0], errors[1:], min_drop)
    law = None
    if chunk is not None:
        coefficients = solve_non_negative(grams[1 + CHUNK_TOKENS.index(chunk)].sum(axis=0))
        law = ServiceTime(*coefficients[:4].tolist())
    return ChunkFit(chunk, errors[0], tuple(errors[1:]), law)


def _clearly_best(without: float, errors: list[float], min_drop: float) -> int | None:
    """The chunk size of least error, if it lies clearly below the error without one and below all others'.

    A smooth cost that the law misses favours every chunk size of a kind: neighbours then do about as well. A sweep too
    coarse for a small chunk size confuses it with a large one.
    """
    best = int(np.argmin(errors))
    rivals = [without, *errors[:best], *errors[best + 1 :]]
    return CHUNK_TOKENS[best] if errors[best] < (1 - min_drop) * min(rivals) else None
