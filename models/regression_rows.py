"""Busy rows as a regression needs them: the sound ones, their features, weights and blocks of time.

Belongs here: what is common to the questions that are asked of the same rows (`families`, `chunks`).
Does not belong here: the answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.busy_periods import FINE_BLOCKS, MIN_HOURS, BusyRows
from models.domain import Array


@dataclass(frozen=True, slots=True, eq=False)
class RegressionRows:
    """Rows that say something, by time. index: their places among the rows given, shape (n,).

    block: ascending hour of each, or one of 24 stretches where hours are few, shape (n,). features: n_requests, ΣM,
    Σ(M*P + M²/2), ΣP and period_begins, shape (n, 5). busy_s: [s], shape (n,).
    """

    index: NDArray[np.int64]
    block: NDArray[np.int64]
    features: Array
    busy_s: Array

    def weighted(self, features: Array) -> Array:
        """(features, busy_s) of each row at weight 1/busy_s: features (n, p) -> (n, p + 1)."""
        return np.column_stack([features, self.busy_s]) / np.sqrt(self.busy_s)[:, np.newaxis]


def regression_rows(rows: BusyRows) -> RegressionRows:
    """The rows with positive busy time, some input tokens, and no negative or non-finite number."""
    columns = (rows.n_requests, rows.miss_tokens, rows.attention_tokens2, rows.cached_tokens, rows.period_begins)
    features = np.column_stack(columns).astype(np.float64)
    busy_s = np.asarray(rows.busy_s, dtype=np.float64)
    hour = np.asarray(rows.hour_index, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        sound = np.isfinite(features).all(axis=1) & (features >= 0).all(axis=1) & np.isfinite(busy_s) & (busy_s > 0)
        sound &= features[:, 1] + features[:, 3] > 0
    index = np.flatnonzero(sound)[np.argsort(hour[sound], kind="stable")]
    return RegressionRows(index, _blocks(hour[index]), features[index], busy_s[index])


def _blocks(hour: NDArray[np.int64]) -> NDArray[np.int64]:
    if len(np.unique(hour)) >= MIN_HOURS:
        return hour
    return np.arange(len(hour)) * FINE_BLOCKS // max(1, len(hour))
