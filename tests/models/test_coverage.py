"""Nine in ten 90 % intervals hold the truth, over random services; where too little is seen, a fit is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.trust import PRODUCTION
from tests.models.coverage import QUANTITIES, TARGETS, coverage, fit, judge, study
from tests.models.random_services import draw

# Constants of `uncertainty` were chosen on services 0 to 299; these are others.
NUMBERS = range(1_000, 1_300)
NARROW = ((0.4, 0.55), (0.8, 0.97), (0.0, 0.15))


@pytest.fixture(scope="module")
def whole():
    return study(NUMBERS)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("target", TARGETS)
def test_intervals_of_300_services_hold_nine_truths_in_ten(whole, target, quantity):
    held, _, _ = whole
    # Measured: .89 to .95. An envelope, being the fallback, may be wider than it need be.
    assert 0.85 <= coverage(held[target], quantity) <= (0.95 if target == "busy_s" else 1.0)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_most_services_are_trusted_and_no_trusted_curve_is_far_off(whole):
    held, trusted, _ = whole
    assert [len(trusted[target]) >= least for target, least in zip(TARGETS, (250, 130, 140), strict=True)] == [True] * 3
    # Measured: .043, .061 and .067.
    for target, within in zip(TARGETS, (0.05, 0.08, 0.08), strict=True):
        assert max(abs(one.value / one.truth - 1) for one in held[target] if one.quantity == "index") < within


def test_intervals_of_a_few_services_hold_most_truths():
    held, trusted, _ = study(range(1_300, 1_312), ("busy_s",))
    assert len(trusted["busy_s"]) >= 8
    assert all(coverage(held["busy_s"], quantity) >= 0.7 for quantity in QUANTITIES)


def test_a_curve_that_tells_an_index_to_no_better_than_a_tenth_is_refused():
    """Its slope is as well known as that of others which are trusted; its index is 24 % off."""
    service = draw(1131)
    found = fit(service, "busy_s")
    assert found.reasons == ("unstable",)
    assert found.a_high - found.a_low < PRODUCTION.max_slope_interval


@pytest.mark.parametrize("hit_rates", NARROW)
@pytest.mark.parametrize("target", ["busy_s", "ttft_s"])
def test_hit_rates_closer_together_than_the_bound_are_refused(hit_rates, target):
    assert hit_rates[1] - hit_rates[0] < PRODUCTION.min_hit_range
    for number in range(2_000, 2_003):
        service = replace(draw(number), hit_rates=hit_rates, n_requests=1_500)
        assert "narrow_hit_range" in fit(service, target).reasons


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("hit_rates", NARROW)
def test_every_service_below_the_bound_is_refused(hit_rates):
    services = (replace(draw(number), hit_rates=hit_rates) for number in range(2_000, 2_100))
    assert all("narrow_hit_range" in fit(service, "busy_s").reasons for service in services)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_services_seen_at_high_hit_rates_only_have_intervals_that_say_so():
    seen = []
    for number in range(3_000, 3_060):
        service = replace(draw(number), hit_rates=(0.6, 0.99))
        found = fit(service, "busy_s")
        seen += judge(service, found) if found.trustworthy else []
    # The no-cache case is far from what was seen. Measured: .83 to .9; without widening, .65.
    assert all(coverage(seen, quantity) >= 0.78 for quantity in ("index", "tps0", "a"))


def test_less_seen_of_low_hit_rates_is_a_wider_interval():
    def width(low: float) -> float:
        found = fit(replace(draw(2_004), hit_rates=(low, 0.98), n_requests=3_000), "busy_s")
        return (found.tps0_high - found.tps0_low) / found.tps0

    assert width(0.65) > 2 * width(0.1)
