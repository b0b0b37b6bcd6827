"""Left-out losses against refitting by hand, and the rule that keeps the simpler model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from models.cross_validation import left_out_losses, simplest_as_good
from models.least_squares import gram_sums


def test_left_out_losses_are_those_of_fits_that_have_not_seen_the_block():
    dice = np.random.default_rng(0)
    features, block = dice.uniform(0, 1, (60, 3)), np.repeat(np.arange(6), 10)
    target = features @ [1, 2, 0.5] + dice.normal(0, 0.3, 60)
    found = left_out_losses(gram_sums(np.column_stack([features, target]), block))
    for left_out in range(6):
        seen = block != left_out
        coefficients = nnls(features[seen], target[seen])[0]
        expected = ((target[~seen] - features[~seen] @ coefficients) ** 2).sum()
        assert found[left_out] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("loss", "n_parameters", "kept"),
    [
        ([[4, 4, 4, 4], [1, 1, 1, 1]], (2, 3), 1),
        ([[1, 3, 1, 3], [2, 1, 2, 1]], (2, 3), 0),
        ([[1, 1, 1, 1], [2, 2, 2, 2]], (3, 2), 0),
        ([[1.1, 1.1, 1.1, 1.1], [1, 1, 1, 1]], (2, 2), 1),
        ([[2, 2, 2, 2], [2, 2, 2, 2], [2, 2, 2, 2]], (4, 2, 3), 1),
        ([[1.0], [1.1]], (3, 2), 0),
    ],
    ids=["clearly better", "within an error", "simple but worse", "of equals the better", "all alike", "one block"],
)
def test_the_simplest_model_that_is_as_good_is_kept(loss, n_parameters, kept):
    assert simplest_as_good(np.array(loss, dtype=float), n_parameters) == kept


def test_a_tolerance_forgives_what_does_not_matter():
    loss = np.array([[1.0] * 4, [1.1] * 4])
    assert simplest_as_good(loss, (3, 2), tolerance=0.1) == 1
