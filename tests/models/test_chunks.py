"""Chunk sizes: named on engines that do not pack, silence on all others."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from models.chunks import (
    CHUNK_TOKENS,
    chunk_steps,
    find_chunk_in_points,
    find_chunk_in_rows,
    leaves_small_tail,
    singular_hit_rates,
    tail_s,
)
from models.service_time import ServiceTime
from tests.models.chunked_engine import rows_and_steps, serve_in_chunks
from tests.models.deployments import SPARSE, UNPACKED, Day
from tests.models.engines import busy_rows
from tests.models.simulate import rows_from, serve
from tests.models.test_recorded_logs import read_fleet
from tests.models.workloads import AGENTIC, RETRIEVAL

LAW = ServiceTime(f=0.05, c=3e-5, q=6e-10, k=2e-7)
CHUNKS = [2048, 4096, 8192, 16384]


@pytest.mark.parametrize("load", [0.1, 0.9], ids="load {}".format)
@pytest.mark.parametrize("chunk_tokens", CHUNKS)
def test_the_chunk_size_of_an_engine_that_does_not_pack_is_recovered(chunk_tokens, load):
    requests = serve_in_chunks(LAW, chunk_tokens, packed=False, load=load, n_requests=3_000, seed=chunk_tokens)
    found = find_chunk_in_rows(*rows_and_steps(requests))
    assert found.chunk_tokens == chunk_tokens
    assert found.law.f == pytest.approx(LAW.f, rel=0.1)
    steps = chunk_steps(np.array([r.miss_tokens for r in requests]))[:, CHUNK_TOKENS.index(chunk_tokens)].sum()
    lost_s = LAW.f * (steps - sum(r.miss_tokens for r in requests) / chunk_tokens)
    days = max(1.0, np.ceil(requests[-1].first_token_s / 3600) / 24)
    assert found.tail_s_per_day == pytest.approx(lost_s / days, rel=0.15)


def engine(seed: int):
    """A smooth engine or one that packs, of any usual coefficients and load: rows and steps."""
    dice = random.Random(seed)
    law = ServiceTime(
        f=dice.choice([0, 0.01, 0.02, 0.05, 0.1]),
        c=dice.uniform(1.5e-5, 1e-4),
        q=dice.uniform(1e-10, 2e-9),
        k=dice.choice([0, 2e-7, 4e-6]),
    )
    how = {"load": dice.choice([0.1, 0.3, 0.7, 1.1]), "n_requests": 1_500, "seed": seed}
    if seed % 2:
        return rows_and_steps(serve(law, **how))
    return rows_and_steps(serve_in_chunks(law, dice.choice(CHUNKS), packed=True, **how))


def named(seeds) -> dict[int, int]:
    found = {seed: find_chunk_in_rows(*engine(seed)).chunk_tokens for seed in seeds}
    return {seed: chunk for seed, chunk in found.items() if chunk is not None}


def test_smooth_and_packing_engines_meet_silence():
    # Seed 10 saves few of the savable steps: it shows only in rows so fast that a robust fit drops them.
    assert named([*range(8), 10]) == {}


@pytest.mark.slow
def test_fifty_smooth_and_packing_engines_meet_silence():
    assert named(range(50)) == {}


@pytest.mark.parametrize(
    ("day", "chunk_tokens"),
    [
        (Day(UNPACKED, AGENTIC, 0.6, "diurnal", 3_000), 4096),
        (Day(UNPACKED, RETRIEVAL, 0.2, "bursty", 3_000), 4096),
        # Steps of 90 ms, in which hardly two requests ever wait at once: whoever begins a busy period begins alone.
        (Day(SPARSE, AGENTIC, 0.2, "bursty", 3_000), None),
        (Day(SPARSE, AGENTIC, 0.05, "steady", 3_000), None),
        (Day(SPARSE, RETRIEVAL, 0.05, "steady", 3_000), None),
    ],
    ids=["unpacked", "unpacked, light", "packs", "packs, light", "packs, long prompts"],
)
def test_steps_that_nobody_else_could_share_are_not_held_against_an_engine_that_packs(day, chunk_tokens):
    log = day.run.log
    steps = np.stack([busy_rows(replace(log, miss_tokens=own)).miss_tokens for own in chunk_steps(log.miss_tokens).T])
    assert find_chunk_in_rows(busy_rows(log), steps.T.astype(np.int64)).chunk_tokens == chunk_tokens


def test_a_step_too_cheap_to_matter_is_not_named():
    cheap = ServiceTime(f=0.012, c=LAW.c, q=LAW.q, k=LAW.k)
    requests = serve_in_chunks(cheap, 8192, packed=False, load=0.3, n_requests=3_000, seed=1, noise=0.05)
    found = find_chunk_in_rows(*rows_and_steps(requests))
    assert found.errors[CHUNK_TOKENS.index(8192)] < found.error_without
    assert found.chunk_tokens is None


def test_single_requests_do_not_tell_packing_from_not():
    # Far apart, nothing waits to be packed: the steps are whole on either engine, and nothing is lost by not packing.
    requests = serve_in_chunks(LAW, 8192, packed=False, load=0.001, n_requests=1_500, seed=1)
    rows, steps = rows_and_steps(requests)
    alone = rows.n_requests == 1
    rows = rows_from(np.stack([getattr(rows, name)[alone] for name in rows.__slots__], axis=1))
    found = find_chunk_in_rows(rows, steps[alone])
    assert (found.chunk_tokens, found.tail_s_per_day) == (None, None)
    assert found.packing == 1
    assert found.errors[CHUNK_TOKENS.index(8192)] == min(found.errors)


def test_a_fleets_engine_that_does_not_pack_is_found_among_others(fleet):
    truth = json.loads((fleet / "truth.json").read_text())
    found = {
        name: find_chunk_in_rows(*rows_and_steps(list(read_fleet(fleet, name)))).chunk_tokens
        for name in ("unpacked", "coder-valley")
    }
    assert found == {"unpacked": truth["unpacked"]["engine"]["chunk"], "coder-valley": None}


def sweep(chunk_tokens: int | None, *, length: int = 32_768, noise: float = 0.005, seed: int = 0, law=LAW):
    cached = np.round(np.arange(0, 0.96, 0.05) * length)
    miss = length - cached
    steps = np.ceil(miss / chunk_tokens) if chunk_tokens else 1
    seconds = law.f * steps + law.c * miss + law.q * miss * (cached + miss / 2) + law.k * cached
    return miss, cached, seconds * np.random.default_rng(seed).lognormal(0, noise, len(miss))


@pytest.mark.parametrize("chunk_tokens", CHUNKS)
def test_a_sweep_shows_the_chunk_size(chunk_tokens):
    found = find_chunk_in_points(*sweep(chunk_tokens))
    assert found.chunk_tokens == chunk_tokens
    assert found.law.f == pytest.approx(LAW.f, rel=0.1)
    assert (found.packing, found.tail_s_per_day) == (None, None)


def test_smooth_sweeps_meet_silence():
    found = [
        find_chunk_in_points(*sweep(None, noise=noise, length=length, seed=seed)).chunk_tokens
        for seed in range(10)
        for noise in (0.005, 0.03)
        for length in (8_192, 65_536)
    ]
    assert set(found) == {None}


def test_a_sweep_too_coarse_for_a_small_chunk_size_names_no_large_one():
    # 3,277 tokens from one hit rate to the next: C = 1024 looks like C = 16384.
    found = {find_chunk_in_points(*sweep(1024, length=65_536, seed=seed)).chunk_tokens for seed in range(20)}
    assert found <= {1024, None}


def test_too_few_points_or_rows_are_not_asked():
    assert find_chunk_in_points(*(column[:14] for column in sweep(2048))) is None
    assert find_chunk_in_rows(rows_from(np.ones((9, 7))), np.ones((9, 6), dtype=np.int64)) is None


def test_steps_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"steps of shape \(9, 5\)"):
        find_chunk_in_rows(rows_from(np.ones((9, 7))), np.ones((9, 5), dtype=np.int64))


def test_steps_are_counted_by_request_and_a_whole_hit_takes_one():
    assert chunk_steps(np.array([0, 1, 1024, 1025, 40_000])).tolist() == [
        [1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 1],
        [2, 1, 1, 1, 1, 1],
        [40, 20, 10, 5, 3, 2],
    ]


def test_full_chunks_lose_nothing():
    assert tail_s(0.05, 7, 7 * 8192, 8192) == 0
    assert tail_s(0.05, 2, 8192 + 1, 8192) == pytest.approx(0.05, rel=1e-3)


def test_dips_lie_where_the_published_fine_scan_has_them():
    # Qwen3-32B on 4 H200, L = 65536, C = 8192: local minima at 12, 24-25, 37, 49-50, 62, 74-75 and 87 %.
    assert singular_hit_rates(65_536, 8192) == pytest.approx([0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875])
    assert singular_hit_rates(10_000, 4096) == pytest.approx([1 - 0.8192, 1 - 0.4096])
    assert len(singular_hit_rates(4096, 8192)) == 0


def test_a_small_tail_follows_at_least_one_whole_chunk():
    miss = np.array([100, 8192, 8193, 8192 + 1024, 8192 + 1025, 16_384 + 3])
    assert leaves_small_tail(miss, 8192).tolist() == [False, False, True, True, False, True]
