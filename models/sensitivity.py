"""How the index of a traffic, and the exit of its bathtub, move with the law: what an error of the law does to either.

Belongs here: their gradients. Does not belong here: the index (`service_time`) and the exit (`bathtub`) themselves;
choosing what to measure (`plan`).

At the exit, what is earned pays for the busy time there and no more:

    h(x) · (f, c, q, k) = (1 - (1-r)*x) * busy(no cache) - busy(x) = 0

Since h does not depend on the law, an error e of the law moves the exit by -(h · e) / (h' · (f, c, q, k)).
"""

from __future__ import annotations

import numpy as np

from models.bathtub import move_to_hit_rate
from models.domain import Array
from models.service_time import TrafficMoments, busy_s_draws, busy_without_cache_s_draws

# Busy time is quadratic in the hit rate on either side of the traffic's own: differences over any step are exact.
STEP = 1e-4
# What f, c, q and k are multiplied by in a time that is linear in them: the times of these laws.
UNIT_LAWS = np.eye(4)


def log_index_gradient(laws: Array, moments: TrafficMoments) -> Array:
    """d log index / d (f, c, q, k) under each law, (m, 4) -> (m, 4): the same at all prices."""
    busy, without = busy_s_draws(UNIT_LAWS, moments), busy_without_cache_s_draws(UNIT_LAWS, moments)
    return np.asarray(without / (laws @ without)[:, np.newaxis] - busy / (laws @ busy)[:, np.newaxis])


def exit_gradient(laws: Array, moments: TrafficMoments, price_ratio: float, exit_hit_rates: Array) -> Array:
    """d exit / d (f, c, q, k) of laws (m, 4) that have these exits (m,) at this price ratio: shape (m, 4)."""
    without = busy_without_cache_s_draws(UNIT_LAWS, moments)

    def margin(x: float) -> Array:
        return (1 - (1 - price_ratio) * x) * without - busy_s_draws(UNIT_LAWS, move_to_hit_rate(moments, x))

    def one(law: Array, x: float) -> Array:
        low, high = max(x - STEP, 0.0), min(x + STEP, 1.0)
        return -margin(x) / ((margin(high) - margin(low)) @ law / (high - low))

    return np.stack([one(law, x) for law, x in zip(laws, exit_hit_rates.tolist(), strict=True)])
