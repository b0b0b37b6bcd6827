"""Which of several models predicts what it has not seen.

Belongs here: losses of left-out blocks from Gram sums, and the rule by which a simpler model is kept.
Does not belong here: what the models are (`families`, `chunks`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.domain import Array
from models.least_squares import solve_non_negative


def left_out_losses(gram: Array) -> Array:
    """Squared residual of each block under the fit to all others: (..., blocks, p+1, p+1) -> (..., blocks).

    With z = (features, target) and v = (-coefficients, 1), the residuals of a block sum to vᵀ(ZᵀWZ)v: nothing but the
    sums is needed.
    """
    return losses(gram, solve_non_negative(gram.sum(axis=-3, keepdims=True) - gram))


def losses(gram: Array, coefficients: Array) -> Array:
    """Squared residual of sums (..., p+1, p+1) under coefficients (..., p): (...)."""
    direction = np.concatenate([-coefficients, np.ones((*coefficients.shape[:-1], 1))], axis=-1)
    # Rounding can take a perfect fit below zero.
    return np.asarray(np.maximum(np.einsum("...i,...ij,...j->...", direction, gram, direction), 0.0))


def simplest_as_good(loss: Array, n_parameters: Sequence[int], *, tolerance: float = 0.0) -> int:
    """Index of the model with the fewest parameters that predicts as well as the best; of equals, the better one.

    loss: left-out loss, shape (models, blocks). As well: the mean of loss - best loss is within one standard error of
    itself, or the root mean loss within `tolerance` of the best. Source: the one-standard-error rule of Breiman et al.,
    Classification and Regression Trees (1984), on paired differences, since the blocks are the same.
    """
    mean = loss.mean(axis=1)
    excess = loss - loss[np.argmin(mean)]
    # One block has no standard error: then only the tolerance forgives.
    n_blocks = loss.shape[1]
    error = excess.std(axis=1, ddof=1) / np.sqrt(n_blocks) if n_blocks > 1 else np.zeros(len(mean))
    as_good = (excess.mean(axis=1) <= error) | (np.sqrt(mean) <= np.sqrt(mean.min()) + tolerance)
    return min(np.flatnonzero(as_good).tolist(), key=lambda model: (n_parameters[model], mean[model]))
