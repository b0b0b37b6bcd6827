"""The exhaustive solver, against scipy's iterative one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from models.least_squares import gram_sums, inliers, resample_blocks, solve_non_negative


def rows(seed: int, n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 6)) * [1, 1e2, 1e8, 1e3, 1, 1] + [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("seed", range(30))
def test_coefficients_equal_those_of_scipy(seed):
    z = rows(seed)
    scale = np.linalg.norm(z[:, :5], axis=0)
    expected = nnls(z[:, :5] / scale, z[:, 5])[0] / scale
    assert solve_non_negative(z.T @ z) == pytest.approx(expected, rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("seed", range(10))
def test_a_signed_coefficient_is_that_of_two_opposite_features(seed):
    z = rows(seed)
    both = np.column_stack([z[:, :5], -z[:, 4], z[:, 5]])
    *expected, positive, negative = solve_non_negative(both.T @ both)
    found = solve_non_negative(z.T @ z, signed=(4,))
    assert found == pytest.approx([*expected, positive - negative], rel=1e-6, abs=1e-12)


def test_many_problems_at_once_equal_one_after_the_other():
    grams = np.stack([rows(seed).T @ rows(seed) for seed in range(5)])
    assert np.array_equal(solve_non_negative(grams), [solve_non_negative(gram) for gram in grams])


def test_collinear_and_absent_features_still_give_the_best_fit():
    z = rows(1)
    z[:, 1], z[:, 2] = z[:, 0], 0
    z[:, 5] = 3 * z[:, 0]
    found = solve_non_negative(z.T @ z)
    assert found[0] + found[1] == pytest.approx(3)
    assert found[2] == 0


@pytest.mark.parametrize("noise", [0.01, 3.0])
def test_draws_inside_and_at_the_bounds_are_those_of_scipy_one_by_one(noise):
    """Of 200 resamplings few touch a bound at little noise, and most at much."""
    rng = np.random.default_rng(7)
    x = rng.lognormal(0, 1, (80, 5))
    z = np.column_stack([x, x @ [1, 0.02, 1, 0, 2] + noise * rng.standard_normal(80)])
    weights = rng.poisson(1, (200, 80)) ** 0.5
    found = solve_non_negative(np.stack([(z * w[:, np.newaxis]).T @ (z * w[:, np.newaxis]) for w in weights]))
    expected = [nnls(x * w[:, np.newaxis], z[:, 5] * w)[0] for w in weights]
    assert 0 < (found == 0).any(axis=1).mean() < 1
    assert found == pytest.approx(np.array(expected), rel=1e-6, abs=1e-9)


def test_block_sums_add_up_to_the_sum_of_all_rows():
    z, block = rows(2), np.repeat([3, 5, 9], 20)
    sums = gram_sums(z, block)
    assert len(sums) == 3
    assert sums.sum(axis=0) == pytest.approx(z.T @ z)


def test_every_sample_of_equal_blocks_is_the_whole():
    gram = np.stack([np.eye(3)] * 7)
    assert resample_blocks(gram, n_draws=11, seed=0) == pytest.approx(np.stack([7 * np.eye(3)] * 11))


def test_an_exact_fit_has_no_outliers_and_a_spoilt_row_is_one():
    z = np.abs(rows(3))
    z[:, 5] = z[:, :5] @ [1, 2e-2, 3e-8, 4e-3, 5]
    assert inliers(z).all()
    z[7, 5] *= 50
    assert np.flatnonzero(~inliers(z)).tolist() == [7]


def test_rows_are_judged_among_rows_of_their_size():
    rng = np.random.default_rng(4)
    size = np.repeat([1.0, 100.0], [900, 100])
    z = np.column_stack([size, size * np.repeat([1.0, 1.3], [900, 100]) * rng.lognormal(0, 0.02, 1_000)])
    z[[5, 950], 1] *= 10
    beside_all, beside_equals = inliers(z), inliers(z, size=size)
    assert beside_all[900:].sum() == 0
    assert beside_equals[900:].sum() > 90
    assert not beside_equals[[5, 950]].any()
