"""Cost of instances and the full scope's index: sums by hand, and NaN where something is not known."""

from __future__ import annotations

import numpy as np
import pytest

from models.bathtub import trace
from models.profit import BeyondInput, InstanceCost
from models.revenue import Revenue, marginal_index, revenue_index
from models.service_time import ServiceTime, shift_misses_to_hits
from tests.models.mixes import EVEN, LAW, index_by_request, traffic
from tests.models.simulate import service_s

NAN = np.nan
COST = InstanceCost(on_demand_per_hour=6.0, n_reserved=2, reserved_per_hour=3.0, n_spot=1, spot_per_hour=2.0)


def test_reserved_instances_are_paid_for_idle_and_the_dearest_come_last() -> None:
    assert COST.of(np.array([0.0, 1.0, 2.0, 3.0, 3.5, 5.0, NAN])) == pytest.approx(
        [6.0, 6.0, 6.0, 8.0, 11.0, 20.0, NAN], nan_ok=True
    )


MOMENTS = traffic(EVEN)


def prompts(r: float = 0.05) -> Revenue:
    return Revenue.at_prices(MOMENTS.miss_tokens, MOMENTS.cached_tokens, 1.4e-6, r * 1.4e-6)


def full_index(beyond: BeyondInput, r: float = 0.05) -> float:
    law = ServiceTime(*beyond.coefficients(LAW.as_array(), MOMENTS))
    return revenue_index(law, MOMENTS, beyond.revenue(prompts(r)))


def test_without_output_the_full_index_is_the_index() -> None:
    assert full_index(BeyondInput(0.0)) == pytest.approx(index_by_request(LAW, EVEN, 0.05), rel=1e-9)


def test_the_full_index_counts_output_and_decoding_on_both_sides_and_writes_on_one() -> None:
    busy, without = (sum(service_s(LAW, m + z, p - z) for m, p, z in rows) for rows in (
        [(m, p, 0) for m, p in EVEN], [(m, p, p) for m, p in EVEN]
    ))  # fmt: skip
    cold = 1.4 * sum(m + p for m, p in EVEN) / 1e6
    expected = (prompts().earned + 3.0 + 0.5) / (busy + 40.0) / ((cold + 3.0) / (without + 40.0))
    assert full_index(BeyondInput(3.0, 0.5, 40.0)) == pytest.approx(expected, rel=1e-9)


def test_much_decoding_leaves_the_hits_nothing_to_free() -> None:
    sold = prompts(0.1).earned / prompts(0.1).without_cache
    assert full_index(BeyondInput(0.0, decode_s=1e9), r=0.1) == pytest.approx(sold, rel=1e-4)


def test_slope_and_bathtub_of_the_full_scope_are_those_of_moved_traffic() -> None:
    beyond = BeyondInput(3.0, decode_s=40.0)
    coefficients, sold = beyond.coefficients(LAW.as_array(), MOMENTS), beyond.revenue(prompts())
    x = MOMENTS.cached_tokens / MOMENTS.input_tokens

    def moved(share: float) -> float:
        there = shift_misses_to_hits(MOMENTS, share)
        at_prices = Revenue.at_prices(there.miss_tokens, there.cached_tokens, 1.4e-6, 0.07e-6)
        return revenue_index(ServiceTime(*coefficients), there, beyond.revenue(at_prices))

    step = 1e-5
    slope = (moved(step) - moved(-0.0)) / (step * (1 - x))
    assert marginal_index(ServiceTime(*coefficients), MOMENTS, sold) == pytest.approx(slope, rel=1e-3)
    assert trace(coefficients[np.newaxis], MOMENTS, sold.earnings, np.array([x + 0.25 * (1 - x), 0.5 * x])) == (
        pytest.approx(np.array([[moved(0.25), moved(-0.5)]]), rel=1e-9)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: InstanceCost(6.0, n_spot=-1), "n_spot -1"),
        (lambda: COST.of(np.array([-1.0])), "instances -1.0"),
        (lambda: BeyondInput(-1.0), "output_revenue -1.0"),
        (lambda: BeyondInput(1.0, decode_s=NAN), "decode_s nan"),
    ],
)
def test_a_number_outside_the_domain_is_refused_with_value_and_rule(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
