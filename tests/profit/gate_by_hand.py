"""The gate request by request, to hold the statement that sorts them against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.goodput import Objective

Array = NDArray[np.float64]


def revenue_in_time(
    revenue: Array, objective: Objective, *, ttft_s: Array, e2e_s: Array, output_tokens: Array
) -> tuple[float, float, float]:
    """Revenue in time, late and unknown: one time missed is late, one not known leaves it unknown, never in time.

    Every array of shape (n,), NaN = not known. A single output token has no time per token: it is in time by that.
    """
    later = output_tokens - 1
    tpot_s = np.where(
        later == 0, 0.0, np.divide(e2e_s - ttft_s, later, out=np.full(later.shape, np.nan), where=later > 0)
    )
    asked = [
        (limit, times)
        for limit, times in ((objective.ttft_s, ttft_s), (objective.tpot_s, tpot_s), (objective.e2e_s, e2e_s))
        if limit is not None
    ]
    late = np.any([times > limit for limit, times in asked], axis=0)
    unknown = np.any([np.isnan(times) for _, times in asked], axis=0) & ~late
    return float(revenue[~late & ~unknown].sum()), float(revenue[late].sum()), float(revenue[unknown].sum())
