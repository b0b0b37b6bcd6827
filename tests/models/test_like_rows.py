"""Like is compared with like: how much faster, whatever else each side serves."""

from __future__ import annotations

import numpy as np
import pytest

from models.like_rows import MIN_ROWS, like_for_like

RNG = np.random.default_rng(1)


def rows(miss, cached, n_requests=1, begins=1):
    """Features of so many rows, their arrays broadcast."""
    n, m, p, b = np.broadcast_arrays(n_requests, miss, cached, begins)
    return np.column_stack([n, m, m * (p + m / 2), p, b]).astype(float)


def test_what_both_sides_serve_is_compared_and_nothing_else():
    # Late: a tenth faster at what both serve, and much that only it serves, ten times slower than any law says.
    shared, alien = rows(RNG.uniform(1_000, 2_000, 400), 500), rows(np.full(900, 60_000), 0)
    features = np.concatenate([shared, alien])
    work_s = 0.1 + 1e-4 * features[:, 1]
    is_late = np.arange(len(features)) >= 200
    busy_s = work_s / np.where(is_late, 1.1, 1.0)
    busy_s[400:] *= 10
    overall, thirds = like_for_like(features, busy_s, work_s, is_late=is_late)
    assert overall == pytest.approx(0.1)
    assert thirds == pytest.approx(0.1)


def test_thirds_go_by_hit_rate():
    cached = np.tile([0, 3_000, 60_000], 200)
    features, is_late = rows(2_000, cached), np.arange(600) >= 300
    work_s = np.full(600, 1.0)
    busy_s = np.where(is_late & (cached == 60_000), 0.5, 1.0)
    overall, thirds = like_for_like(features, busy_s, work_s, is_late=is_late)
    assert thirds == pytest.approx([0.0, 0.0, 1.0])
    assert overall == pytest.approx(3 / 2.5 - 1)


def test_lone_requests_speak_first():
    # Under load, steps are shared and cost half: no faster engine.
    lone, crowded = rows(np.full(300, 1_000), 0), rows(np.full(300, 8_000), 0, n_requests=8)
    features, is_late = np.concatenate([lone, crowded]), np.tile([False, True], 300)
    work_s = features[:, 1] * 1e-4
    busy_s = np.where(is_late & (features[:, 0] > 1), work_s / 2, work_s)
    overall, _ = like_for_like(features, busy_s, work_s, is_late=is_late)
    assert overall == pytest.approx(0.0)
    overall, _ = like_for_like(features[300:], busy_s[300:], work_s[300:], is_late=is_late[300:])
    assert overall == pytest.approx(1.0)


@pytest.mark.parametrize(("n_early", "n_late"), [(0, 0), (MIN_ROWS - 1, 900), (900, MIN_ROWS - 1)])
def test_too_few_of_a_kind_are_not_compared(n_early, n_late):
    features = rows(np.full(n_early + n_late, 1_000), 0)
    one = np.ones(n_early + n_late)
    assert like_for_like(features, one, one, is_late=np.arange(len(one)) >= n_early) is None


def test_a_few_rows_in_common_stand_for_nothing_else():
    features = np.concatenate(
        [rows(np.full(100, 1_000), 0), rows(np.full(2_000, 30_000), np.repeat([0, 30_000], 1_000))]
    )
    is_late = np.concatenate([np.arange(100) % 2 == 1, np.repeat([False, True], 1_000)])
    one = np.ones(len(features))
    assert like_for_like(features, one, one, is_late=is_late) is None
