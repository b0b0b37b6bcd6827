"""Busy rows as a regression needs them: the sound ones, their features, weights and blocks of time.

Belongs here: what is common to the questions that are asked of the same rows (`busy_periods`, `families`, `chunks`).
Does not belong here: the answers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from models.domain import Array, require
from models.least_squares import time_blocks


@dataclass(frozen=True, slots=True, eq=False)
class BusyRows:
    """One row per busy period and minute; every array of shape (n,).

    hour_index: hours since any fixed moment, rows in time order within an hour. busy_s: [s], > 0. n_requests: completed
    prefills. miss_tokens: ΣM. attention_tokens2: Σ(M*P + M²/2) [tokens²]. cached_tokens: ΣP.
    period_begins: number of busy periods that begin in the row.
    """

    hour_index: NDArray[np.int64]
    busy_s: Array
    n_requests: Array
    miss_tokens: Array
    attention_tokens2: Array
    cached_tokens: Array
    period_begins: Array

    def __post_init__(self) -> None:
        shapes = {field.name: np.shape(getattr(self, field.name)) for field in fields(self)}
        require(len(set(shapes.values())) == 1, "columns of shape", shapes, rule="all of one shape (n,)")


@dataclass(frozen=True, slots=True, eq=False)
class RegressionRows:
    """Rows that say something, by time. index: their places among the rows given, shape (n,).

    hour: ascending, shape (n,). features: n_requests, ΣM,
    Σ(M*P + M²/2), ΣP and period_begins, shape (n, 5). busy_s: [s], shape (n,).
    """

    index: NDArray[np.int64]
    hour: NDArray[np.int64]
    features: Array
    busy_s: Array

    @property
    def block(self) -> NDArray[np.int64]:
        """Block of time of each row, shape (n,), as `least_squares.time_blocks` gives it."""
        return time_blocks(self.hour)

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
    return RegressionRows(index, hour[index], features[index], busy_s[index])
