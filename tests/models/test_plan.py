"""Following a plan narrows the interval as it says, and more than points spread evenly; and when nothing would help."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.bathtub import valleys_of_mix
from models.chunks import CHUNK_TOKENS, leaves_small_tail
from models.design import NORMAL_95, benchmark_sizes, size_features
from models.knowledge import Knowledge, learned, of_curve, of_nothing
from models.length_sweep import fit_length_sweep
from models.plan import ENOUGH, plan_measurements
from models.sensitivity import UNIT_LAWS, exit_gradient, log_index_gradient
from models.service_time import ServiceTime, TrafficMoments, busy_s, busy_s_draws, revenue_index_draws, straight_line
from tests.models.services import moments_of

NOISE = 0.02
LENGTHS = (6_000.0, 20_000.0, 60_000.0, 120_000.0)
LAWS = {
    "dense": ServiceTime(0.012, 5e-5, 1.2e-9, 1e-7),
    "sparse": ServiceTime(0.09, 3e-5, 3e-10, 1e-7),
    "offloaded": ServiceTime(0.015, 7e-5, 1e-9, 2.5e-6),
}
PRICE_RATIO = 0.1


def traffic(*, hit_rate: float = 0.5, lengths: tuple[float, ...] = LENGTHS) -> TrafficMoments:
    """A day of these lengths at many hit rates around the one given."""
    x = np.clip(hit_rate + np.linspace(-0.4, 0.4, 9), 0, 0.99)
    length, rate = (axis.ravel() for axis in np.meshgrid(lengths, x))
    return moments_of(length - (length * rate).round(), (length * rate).round())


def exits(day: TrafficMoments, laws: np.ndarray) -> np.ndarray:
    """Exit hit rate under each law, NaN where there is none."""
    return valleys_of_mix(laws, day, PRICE_RATIO).exit_hit_rate


def seconds(law: ServiceTime, sizes: np.ndarray, dice: np.random.Generator, *, noise: float, level: float = 0.8):
    """What a benchmark measures: faster than production, each point off by its own error."""
    return level * size_features(sizes) @ law.as_array() * dice.lognormal(0, noise, len(sizes))


def known_from_curve(law: ServiceTime, day: TrafficMoments, *, seed: int = 0, spread: float = 0.03) -> Knowledge:
    """A trusted curve of this law whose draws scatter by a share of a request's time in every part."""
    unit = busy_s(law, day) / np.maximum(busy_s_draws(UNIT_LAWS, day), 1)
    draws = law.as_array() + spread * unit * np.random.default_rng(seed).standard_normal((400, 4))
    return of_curve(law, np.maximum(draws, 0), moments=day, reference_input_tokens=5e4, target="busy_s")


def sizes_of(plan) -> np.ndarray:
    return np.array([[point.input_tokens, point.cached_tokens] for point in plan.points])


def evenly_spaced(n_points: int) -> np.ndarray:
    """As many points of the middle lengths, in turn, at even steps of the hit rate."""
    lengths = np.resize([20_032, 60_032], n_points)
    return np.stack([lengths, (np.linspace(0, 0.9, n_points) * lengths).round()], axis=1).astype(np.int64)


@dataclass(frozen=True)
class Errors:
    """Exits found minus true ones, and the half-widths that were then stated."""

    off: np.ndarray
    stated: np.ndarray


def measured(before: Knowledge, truths: np.ndarray, day: TrafficMoments, sizes: np.ndarray) -> Errors:
    """Measure the sizes on engines of these laws, and learn."""
    off, stated = [], []
    dice = np.random.default_rng(5)
    for truth, true_exit in zip(truths, exits(day, truths), strict=True):
        times = seconds(ServiceTime(*truth), sizes, dice, noise=NOISE)
        after, _ = learned(before, sizes, times, noise=NOISE)
        (found,) = exits(day, after.laws)
        if np.isnan(found):  # an engine found to have no exit is as far off as can be
            off.append(1.0)
            stated.append(1.0)
            continue
        gradient = exit_gradient(after.laws, day, PRICE_RATIO, np.array([found]))[0]
        off.append(found - true_exit)
        stated.append(NORMAL_95 * np.sqrt(gradient @ after.covariance @ gradient))
    return Errors(np.array(off), np.array(stated))


def half_width(errors: Errors) -> float:
    """Half of the interval that holds 90 % of the exits found."""
    return float(np.quantile(np.abs(errors.off), 0.9))


@pytest.mark.parametrize("name", LAWS)
def test_following_the_plan_narrows_the_exit_as_predicted_and_more_than_even_points(name: str) -> None:
    """Truths scatter about the curve as the curve says; within half as much again either way is as predicted."""
    day = traffic()
    before = known_from_curve(LAWS[name], day)
    plan = plan_measurements(before, day, PRICE_RATIO, benchmark_sizes(LENGTHS, None), noise=NOISE)
    assert plan.outcome == "measure"
    assert plan.quantity == "exit_hit_rate"
    truths = before.laws + np.random.default_rng(3).standard_normal((200, 4)) @ before.root.T
    truths = truths[(truths > 0).all(axis=1)]
    truths = truths[np.isfinite(exits(day, truths))][:40]
    n_points = plan.enough_after or len(plan.points)
    followed = measured(before, truths, day, sizes_of(plan)[:n_points])
    predicted = plan.points[n_points - 1].half_width
    assert predicted < plan.half_width / 5
    assert (predicted <= ENOUGH) is (plan.enough_after is not None)
    assert predicted / 1.5 < half_width(followed) < predicted * 1.5
    assert np.median(followed.stated) == pytest.approx(predicted, rel=0.3)
    even = measured(before, truths, day, evenly_spaced(n_points))
    assert half_width(followed) < 0.8 * half_width(even)


@pytest.mark.parametrize("name", LAWS)
def test_a_plan_without_any_curve_finds_the_exit_of_each_engine(name: str) -> None:
    day = traffic()
    before = of_nothing()
    plan = plan_measurements(before, day, PRICE_RATIO, benchmark_sizes(LENGTHS, None), noise=NOISE)
    assert (plan.outcome, plan.value, len(plan.points)) == ("measure", None, 8)
    assert plan.half_width > 0.1
    truths = np.repeat(LAWS[name].as_array()[np.newaxis], 40, axis=0)
    followed = measured(before, truths, day, sizes_of(plan))
    assert half_width(followed) < min(2 * plan.points[-1].half_width, plan.half_width / 10)
    assert (np.abs(followed.off) <= followed.stated).mean() > 0.8
    even = measured(before, truths, day, evenly_spaced(8))
    assert half_width(followed) < 0.8 * half_width(even)


def test_every_further_point_narrows_and_what_was_measured_ends_the_plan() -> None:
    day, law = traffic(), LAWS["dense"]
    sizes = benchmark_sizes(LENGTHS, None)
    plan = plan_measurements(of_nothing(), day, PRICE_RATIO, sizes, noise=0.005)
    widths = [plan.half_width, *(point.half_width for point in plan.points)]
    assert widths == sorted(widths, reverse=True)
    times = seconds(law, sizes_of(plan), np.random.default_rng(1), noise=0.005)
    after, residual = learned(of_nothing(), sizes_of(plan), times, noise=0.005)
    assert residual < 0.015
    again = plan_measurements(after, day, PRICE_RATIO, sizes, noise=0.005)
    assert again.half_width < plan.points[-1].half_width
    assert (again.outcome, again.points) == ("suffices", ())
    assert again.value == pytest.approx(exits(day, law.as_array()[np.newaxis])[0], abs=2 * again.half_width)


def test_the_planned_points_tell_as_much_without_the_curve_as_they_are_said_to() -> None:
    day, law = traffic(), LAWS["dense"]
    plan = plan_measurements(known_from_curve(law, day), day, PRICE_RATIO, benchmark_sizes(LENGTHS, None), noise=NOISE)
    assert plan.enough_after < 8
    assert plan.points[-1].half_width < plan.alone_half_width < 2 * ENOUGH
    truths = np.repeat(law.as_array()[np.newaxis], 40, axis=0)
    found = half_width(measured(of_nothing(), truths, day, sizes_of(plan)))
    assert plan.alone_half_width / 1.5 < found < plan.alone_half_width * 1.5


@pytest.mark.parametrize("name", LAWS)
def test_valleywatch_fit_finds_the_law_in_the_planned_points_alone(name: str) -> None:
    day, law = traffic(), LAWS[name]
    sizes = sizes_of(plan_measurements(of_nothing(), day, PRICE_RATIO, benchmark_sizes(LENGTHS, None), noise=NOISE))
    times = seconds(law, sizes, np.random.default_rng(1), noise=0.002)
    curve = fit_length_sweep(sizes[:, 1] / sizes[:, 0], sizes[:, 0], times, n_draws=50).curve
    assert curve.family == "service_time"
    assert exits(day, curve.law.as_array()[np.newaxis]) == pytest.approx(
        exits(day, law.as_array()[np.newaxis]), abs=0.01
    )


@given(
    lengths=st.lists(st.floats(20, 300_000), min_size=1, max_size=5),
    chunk=st.one_of(st.none(), st.sampled_from([2048, 6144, 8192])),
    added=st.integers(0, 16),
)
@settings(max_examples=60)
def test_no_point_leaves_a_small_last_chunk_even_with_a_few_tokens_more(lengths, chunk, added) -> None:
    sizes = benchmark_sizes(lengths, chunk)
    miss = sizes[:, 0] - sizes[:, 1]
    assert (miss > 0).all()
    assert (sizes[:, 1] >= 0).all()
    for usual in CHUNK_TOKENS if chunk is None else (chunk,):
        few = added if min(lengths) >= 256 else 0
        assert not leaves_small_tail(miss + few, usual).any()


def test_the_points_are_about_as_long_as_asked_and_span_the_hit_rates() -> None:
    sizes = benchmark_sizes([700, 30_000], None)
    assert {length for length, _ in sizes.tolist()} == {704, 30_000}
    x = sizes[:, 1] / sizes[:, 0]
    assert x.min() == 0
    assert x.max() > 0.975
    assert np.diff(np.sort(np.unique(x.round(2)))).max() < 0.15


@pytest.mark.parametrize("hit_rate", [0.5, 0.95])
@pytest.mark.parametrize("name", LAWS)
def test_gradients_are_those_of_finite_differences(name: str, hit_rate: float) -> None:
    """With the exit above the hit rate of the traffic, and below."""
    day = traffic(hit_rate=hit_rate)
    laws = LAWS[name].as_array()[np.newaxis]
    found = exits(day, laws)
    assert (found[0] > day.cached_tokens / day.input_tokens) is np.bool_(hit_rate == 0.5)
    for part in range(4):
        unit = UNIT_LAWS[part]
        step = 1e-3 * unit * busy_s(LAWS[name], day) / busy_s_draws(unit, day)
        moved = np.stack([laws[0] - step, laws[0] + step])
        assert exit_gradient(laws, day, PRICE_RATIO, found)[0] @ step * 2 == pytest.approx(
            np.diff(exits(day, moved))[0], rel=0.001
        )
        logs = np.log(revenue_index_draws(moved, day, PRICE_RATIO))
        assert log_index_gradient(laws, day)[0] @ step * 2 == pytest.approx(np.diff(logs)[0], rel=0.001)


def test_a_slope_surely_below_the_price_ratio_has_no_valley_to_measure() -> None:
    day, price_ratio = traffic(), 0.6
    law = LAWS["dense"]
    assert straight_line(law, 5e4).a < price_ratio
    plan = plan_measurements(
        known_from_curve(law, day, spread=0.005), day, price_ratio, benchmark_sizes(LENGTHS, None), noise=NOISE
    )
    assert (plan.outcome, plan.points, plan.p_no_valley) == ("no_valley", (), 1)


def test_an_exit_that_is_known_well_enough_needs_no_measurement() -> None:
    day = traffic()
    known = known_from_curve(LAWS["dense"], day, spread=0.001)
    plan = plan_measurements(known, day, PRICE_RATIO, benchmark_sizes(LENGTHS, None), noise=NOISE)
    assert (plan.outcome, plan.points) == ("suffices", ())
    assert plan.half_width <= ENOUGH


def test_where_nothing_is_an_exit_the_index_is_measured_and_only_if_it_is_near_1() -> None:
    slow_tier, sizes = ServiceTime(0.015, 7e-5, 1e-9, 2e-5), benchmark_sizes(LENGTHS, None)
    descending = traffic()
    sure = plan_measurements(known_from_curve(slow_tier, descending, spread=0.01), descending, 0.05, sizes, noise=NOISE)
    assert (sure.quantity, sure.outcome) == ("revenue_index", "suffices")
    assert sure.value < 1 - sure.half_width
    hardly_hitting = moments_of(np.array([9_700.0] * 9), np.array([300.0] * 9))
    unsure = plan_measurements(known_from_curve(slow_tier, hardly_hitting), hardly_hitting, 0.05, sizes, noise=NOISE)
    assert (unsure.quantity, unsure.outcome) == ("revenue_index", "measure")
    assert unsure.points[-1].half_width < unsure.half_width


def test_traffic_without_hits_has_an_exit_to_plan_for() -> None:
    day = moments_of(np.array(LENGTHS), np.zeros(4))
    plan = plan_measurements(
        known_from_curve(LAWS["dense"], day), day, PRICE_RATIO, benchmark_sizes(LENGTHS, None), noise=NOISE
    )
    assert (plan.quantity, plan.outcome) == ("exit_hit_rate", "measure")


def test_the_root_of_a_covariance_is_exact_at_all_scales() -> None:
    known = known_from_curve(LAWS["dense"], traffic())
    assert known.root @ known.root.T == pytest.approx(known.covariance, rel=1e-9, abs=0)


def test_one_length_and_few_hit_rates_are_enough_for_a_plan() -> None:
    day = traffic(lengths=(8_000.0,))
    plan = plan_measurements(of_nothing(), day, PRICE_RATIO, benchmark_sizes([8_000], None), noise=NOISE)
    assert {point.input_tokens for point in plan.points} == {8_000}
    assert plan.points[-1].half_width < plan.half_width / 4
    assert len(plan_measurements(of_nothing(), day, PRICE_RATIO, np.array([[8_128, 0]]), noise=NOISE).points) == 1


def test_the_level_of_the_benchmark_does_not_matter() -> None:
    day, law = traffic(), LAWS["offloaded"]
    sizes = benchmark_sizes(LENGTHS, None)[::3]
    found = []
    for level in (0.5, 1.0, 3.0):
        times = seconds(law, sizes, np.random.default_rng(1), noise=0, level=level)
        found.append(exits(day, learned(of_nothing(), sizes, times, noise=NOISE)[0].laws)[0])
    assert found == pytest.approx([found[0]] * 3, abs=1e-4)


def test_a_benchmark_that_contradicts_the_curve_widens_what_is_known() -> None:
    day = traffic()
    known = known_from_curve(LAWS["dense"], day, spread=0.001)
    sizes = benchmark_sizes(LENGTHS, None)[::4]
    good, small = learned(known, sizes, seconds(LAWS["dense"], sizes, np.random.default_rng(1), noise=0.01), noise=0.01)
    other = seconds(LAWS["offloaded"], sizes, np.random.default_rng(1), noise=0.01)
    bad, large = learned(known, sizes, other, noise=0.01)
    assert small < 0.02
    assert large > 0.1
    assert np.trace(bad.covariance / good.covariance) > 4


@pytest.mark.parametrize("noise", [0.0, -1.0, float("nan")])
def test_a_noise_that_is_none_is_refused(noise: float) -> None:
    with pytest.raises(ValueError, match="noise"):
        plan_measurements(of_nothing(), traffic(), PRICE_RATIO, benchmark_sizes(LENGTHS, None), noise=noise)


def test_lengths_below_a_token_and_times_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="input_tokens 0"):
        benchmark_sizes([100, 0], None)
    with pytest.raises(ValueError, match=r"seconds 0\.0"):
        learned(of_nothing(), np.array([[64, 0]]), np.array([0.0]), noise=NOISE)
