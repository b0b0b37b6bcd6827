"""Revenue at several prices: the sums behave like the requests they are sums of."""

from __future__ import annotations

import numpy as np
import pytest

from models import revenue, service_time
from models.bathtub import trace
from models.revenue import Revenue
from models.service_time import ServiceTime, TrafficMoments

LAW = ServiceTime(f=0.01, c=2.3e-5, q=9e-10, k=3e-6)
N = 400


class Requests:
    """Drawn requests, each with prices of its own; the index from first principles."""

    def __init__(self, seed: int, *, hit_rates: tuple[float, float] = (0.0, 0.95)) -> None:
        dice = np.random.default_rng(seed)
        self.length = dice.integers(500, 60_000, N).astype(np.float64)
        self.cached = np.floor(self.length * dice.uniform(*hit_rates, N))
        self.miss_price = dice.choice([0.14, 0.3, 2.5], N)
        self.cached_price = self.miss_price * dice.choice([0.02, 0.1, 0.25], N)

    def moments(self, cached: np.ndarray) -> TrafficMoments:
        miss = self.length - cached
        return TrafficMoments(
            N,
            self.length.sum(),
            cached.sum(),
            miss.sum(),
            (miss * cached).sum(),
            (miss**2).sum(),
            (self.length**2).sum(),
        )

    def revenue(self, cached: np.ndarray) -> Revenue:
        parts = [
            Revenue.at_prices(length - hit, hit, p, h)
            for length, hit, p, h in zip(self.length, cached, self.miss_price, self.cached_price, strict=True)
        ]
        return sum(parts[1:], parts[0])

    def index(self, cached: np.ndarray) -> float:
        miss = self.length - cached
        busy = LAW.f + LAW.c * miss + LAW.q * miss * (cached + miss / 2) + LAW.k * cached
        cold = LAW.f + LAW.c * self.length + LAW.q * self.length**2 / 2
        earned = (self.miss_price * miss + self.cached_price * cached).sum() / busy.sum()
        return float(earned / ((self.miss_price * self.length).sum() / cold.sum()))

    def moved(self, share: float) -> np.ndarray:
        return self.cached + share * (self.length - self.cached) if share >= 0 else self.cached * (1 + share)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [-1.0, -0.4, 0.0, 0.3, 1.0])
def test_the_index_of_mixed_prices_is_that_of_its_requests_also_where_hits_are_moved(seed: int, share: float) -> None:
    requests = Requests(seed)
    there = requests.moved(share)
    moments, sold = requests.moments(there), requests.revenue(there)
    assert revenue.revenue_index(LAW, moments, sold) == pytest.approx(requests.index(there), rel=1e-12)
    before = requests.moments(requests.cached), requests.revenue(requests.cached).earnings
    x = np.array([there.sum() / requests.length.sum()])
    assert trace(LAW.as_array()[np.newaxis], *before, x)[0, 0] == pytest.approx(requests.index(there), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hit_rates", [(0.0, 0.95), (1.0, 1.0)], ids=["mixed", "nothing but hits"])
def test_the_slope_is_that_of_moving_a_few_more_misses(seed: int, hit_rates: tuple[float, float]) -> None:
    requests = Requests(seed, hit_rates=hit_rates)
    moments, sold = requests.moments(requests.cached), requests.revenue(requests.cached)
    step = 1e-6 if moments.miss_tokens else -1e-6
    there = requests.moved(step)
    rise = (requests.index(there) - requests.index(requests.cached)) / (
        (there - requests.cached).sum() / moments.input_tokens
    )
    assert revenue.marginal_index(LAW, moments, sold) == pytest.approx(rise, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("price_ratio", [0.0, 0.02, 0.25, 1.0])
def test_one_ratio_gives_the_index_and_slope_of_one_ratio(price_ratio: float) -> None:
    requests = Requests(1)
    moments = requests.moments(requests.cached)
    sold = Revenue.at_ratio(moments, price_ratio)
    assert sold.price_ratio == pytest.approx(price_ratio, rel=1e-12)
    assert revenue.revenue_index(LAW, moments, sold) == pytest.approx(
        service_time.revenue_index(LAW, moments, price_ratio), rel=1e-12
    )
    (slope,) = service_time.marginal_index_draws(LAW.as_array()[np.newaxis], moments, price_ratio)
    assert revenue.marginal_index(LAW, moments, sold) == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_weighted_ratio_lies_between_those_it_is_made_of(seed: int) -> None:
    requests = Requests(seed)
    assert 0.02 < requests.revenue(requests.cached).price_ratio < 0.25


def test_the_weighted_ratio_is_a_ratio_where_that_of_the_sums_of_tokens_would_be_negative() -> None:
    """All misses are sold cheap, all hits dear: with one price per token no ratio in [0, 1] gives this revenue."""
    sold = Revenue.at_prices(1000, 0, 1.0, 0.1) + Revenue.at_prices(0, 1000, 2.0, 0.2)
    assert sold.price_ratio == pytest.approx(0.1)
    assert (sold.earned, sold.without_cache) == (1200, 3000)
    assert sold.earned == pytest.approx(sold.miss + sold.price_ratio * sold.cached_at_miss_price)


def test_before_the_first_hit_the_ratio_is_that_of_the_first_ones() -> None:
    assert (Revenue.at_prices(100, 0, 1.0, 0.1) + Revenue.at_prices(100, 0, 3.0, 0.9)).price_ratio == pytest.approx(
        0.25
    )


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda: Revenue.at_prices(1, 1, 1.0, 1.1), "price ratio"),
        (lambda: Revenue(0, 0, 0, 0).price_ratio, "empty traffic"),
        (lambda: revenue.revenue_index(ServiceTime(0, 0, 0, 0), Requests(1).moments(Requests(1).cached),
                                       Requests(1).revenue(Requests(1).cached)), "positive busy time"),
    ],
)  # fmt: skip
def test_numbers_outside_the_domain_are_refused(call: object, rule: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=rule):
        call()
