"""What goes wrong between an engine and its log: each fault takes a true log and returns the one that arrives.

Faults of the engine itself (hangs, restarts, instances that come and go) are told to `engines.serve`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.models.engines import Log


def join(one: Log, other: Log) -> Log:
    """Both logs in one."""
    columns = {name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in Log.__dataclass_fields__}
    return Log(**columns)


def lose_rows(log: Log, *, share: float, seed: int) -> Log:
    """Lose requests at random: a log shipper that drops lines."""
    return log.pick(np.random.default_rng(seed).random(len(log)) >= share)


def lose_the_slowest(log: Log, *, share: float) -> Log:
    """Lose those that waited longest: their clients hung up after the engine had begun, and are logged as failures."""
    waited = log.first_token_s - log.start_s
    return log.pick(waited <= np.quantile(waited, 1 - share))


def repeat_retries(log: Log, *, share: float, after_s: float, seed: int) -> Log:
    """Log some requests twice, under two identities: the second attempt joins the first one's answer."""
    rng = np.random.default_rng(seed)
    again = log.pick((rng.random(len(log)) < share) & (log.first_token_s - log.start_s > after_s))
    return join(log, replace(again, start_s=again.start_s + after_s))


def skew(log: Log, *, by_s: float, drift: float = 0.0) -> Log:
    """Take the first token from a clock that is `by_s` ahead of the one arrivals are taken from [s], more each second.

    Requests that would have been answered before they came are refused on the way in.
    """
    shifted = replace(log, first_token_s=log.first_token_s + by_s + drift * log.first_token_s)
    return shifted.pick(shifted.first_token_s > shifted.start_s)


def step_clock(log: Log, *, at_s: float, by_s: float) -> Log:
    """Set the gateway's clock by `by_s` in the middle of the day: arrivals and first tokens alike."""
    moved_s = np.where(log.start_s > at_s, by_s, 0.0)
    return replace(log, start_s=log.start_s + moved_s, first_token_s=log.first_token_s + moved_s)


def mislabel(log: Log, *, instance: int, as_instance: int) -> Log:
    """Two instances under one name."""
    return replace(log, instance=np.where(log.instance == instance, as_instance, log.instance))
