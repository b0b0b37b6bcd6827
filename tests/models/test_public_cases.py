"""Published measurements in which more cache hits earned less, computed again from their own tables.

All are single runs of other people, closed loops with prefill and decode mixed: they show a sign, they are no fits.
"""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from models import bathtub, service_time, valley
from tests.models.mixes import traffic
from tests.shared_data import shared

HOUR = 3600.0
ATOM_LENGTH, ATOM_OUTPUT = 32_768, 512
ATOM = ((0.2075, 13_441), (0.6098, 7_959))
"""ROCm/ATOM#2291, GLM-5.3-MXFP4 on four MI355X, off and on: hit rate, computed tokens/s."""
SGLANG = ((0.6765, 31_900), (0.9378, 47_500))
"""sgl-project/sglang#31230, TP4, 48 clients: hit rate, input tokens/s of a card."""
INFERENCEX = ((0.07, 2989), (0.12, 3385), (0.29, 3817), (0.62, 5577), (0.64, 3797), (0.95, 19_465))
"""SemiAnalysisAI/InferenceX#2268, GLM-5.2-NVFP4 on eight B300: hit rate, input tokens/s of a card, by concurrency."""


def throughputs(hit_rate: float, tps_miss: float) -> tuple[float, float]:
    return tps_miss, tps_miss * hit_rate / (1 - hit_rate)


def sold(hit_rate: float, tps: float, r: float) -> float:
    """Input revenue a second, in tokens at the full price."""
    return tps * ((1 - hit_rate) + r * hit_rate)


def test_atoms_hits_earn_only_where_a_cached_token_costs_three_fifths_of_a_computed_one() -> None:
    off, on = (throughputs(*case) for case in ATOM)
    assert valley.measured_neutral_price_ratio(off, on) == pytest.approx(0.61, abs=0.005)


def test_atoms_revenue_falls_by_a_quarter_with_its_output_counted_too() -> None:
    hours = np.array([throughputs(*case) for case in ATOM]) * HOUR
    prompts = hours @ (1.40, 0.26) / 1e6
    full = prompts + hours.sum(axis=1) / ATOM_LENGTH * ATOM_OUTPUT * 4.40 / 1e6
    assert full == pytest.approx([75.2, 56.8], abs=0.1)
    assert full[1] / full[0] - 1 == pytest.approx(-0.24, abs=0.005)
    assert prompts[1] / prompts[0] - 1 == pytest.approx(-0.27, abs=0.005)


@pytest.mark.parametrize(("r", "change"), [(0.25, -0.10), (0.10, -0.41), (0.05, -0.54)])
def test_sglangs_faster_pair_earns_less_at_every_price_ratio_sold(r: float, change: float) -> None:
    before, after = (sold(*case, r) for case in SGLANG)
    # Throughputs are published to a hundred tokens.
    assert after / before - 1 == pytest.approx(change, abs=0.01)
    assert SGLANG[1][1] > SGLANG[0][1]


def test_sglangs_second_pair_has_the_signs_of_one_gain_in_throughput() -> None:
    """84 to 94.7 % hits at 32 clients: -5, -27 and -40 % follow from one and the same gain."""
    gains = [
        (1 + change) * sold(0.84, 1, r) / sold(0.947, 1, r) for r, change in ((0.25, -0.05), (0.1, -0.27), (0.05, -0.4))
    ]
    assert gains == pytest.approx([gains[0]] * 3, rel=0.01)
    assert gains[0] > 1


def test_inferencex_measured_a_bathtub() -> None:
    earned = [sold(*case, 0.10) for case in INFERENCEX]
    assert earned == pytest.approx([2801, 3019, 2821, 2465, 1610, 2822], abs=1)
    assert min(earned) == earned[4]
    assert earned[-1] > earned[0]
    assert sold(*INFERENCEX[-1], 0.02) < sold(*INFERENCEX[0], 0.02)


MOONCAKE_LAW = service_time.ServiceTime(f=0.010, c=2.297e-5, q=8.926e-10, k=0)


@pytest.fixture(scope="module")
def mooncake() -> list[tuple[int, int]]:
    """(computed, cached) tokens of the conversation trace under a prefix cache that never forgets."""
    seen: set[int] = set()
    sizes = []
    with gzip.open(shared("data/mooncake/conversation_trace.jsonl.gz"), "rt") as lines:
        for request in map(json.loads, lines):
            blocks = request["hash_ids"]
            known = next((at for at, block in enumerate(blocks) if block not in seen), len(blocks))
            seen.update(blocks)
            cached = min(512 * known, request["input_length"])
            sizes.append((request["input_length"] - cached, cached))
    return sizes


@pytest.mark.parametrize(
    ("r", "exact", "at_the_mean"),
    [(0.25, 1.1001, 1.0583), (0.10, 1.0145, 0.9759), (0.05, 0.9859, 0.9485), (0.02, 0.9688, 0.9320)],
)
def test_mooncakes_exact_index_is_not_the_curve_at_its_mean(
    mooncake, r: float, exact: float, at_the_mean: float
) -> None:
    sums = traffic(mooncake)
    n = sums.n_requests
    mean = traffic([(sums.miss_tokens / n, sums.cached_tokens / n)])
    assert service_time.revenue_index(MOONCAKE_LAW, sums, r) == pytest.approx(exact, abs=5e-5)
    assert service_time.revenue_index(MOONCAKE_LAW, mean, r) == pytest.approx(at_the_mean, abs=1e-4)


def test_mooncakes_bathtub_is_that_of_its_requests(mooncake) -> None:
    sums = traffic(mooncake)
    found = bathtub.valley_of_mix(MOONCAKE_LAW, sums, 0.05)
    floor = bathtub.move_to_hit_rate(sums, found.floor_hit_rate)
    assert service_time.revenue_index(MOONCAKE_LAW, floor, 0.05) == pytest.approx(1 - found.floor_depth, rel=1e-9)
    grid = bathtub.trace(MOONCAKE_LAW.as_array()[np.newaxis], sums, 0.05, np.linspace(0, 0.999, 1000))[0]
    assert grid.min() == pytest.approx(1 - found.floor_depth, abs=1e-5)
    leaves = bathtub.move_to_hit_rate(sums, found.exit_hit_rate)
    assert service_time.revenue_index(MOONCAKE_LAW, leaves, 0.05) == pytest.approx(1, rel=1e-9)
