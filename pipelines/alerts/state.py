"""The state of a deployment from hour to hour: pure, (standing, observation, policy) → standing.

Belongs here: hysteresis and holding. Does not belong here: where observations come from or what is told to whom.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.settings import PolicySettings


@dataclass(frozen=True, slots=True)
class Observation:
    """What one hour says. `p_in_valley` is None when the hour cannot tell; `has_valley` is of the day's curve."""

    p_in_valley: float | None
    has_valley: bool
    regime: str | None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a deployment stands after an hour; streaks count consecutive evaluated hours that speak for a change."""

    state: str = "unknown"
    is_in_valley: bool = False
    is_held: bool = False
    enter_streak: int = 0
    leave_streak: int = 0


def regime_of(busy_share: float | None, policy: PolicySettings) -> str | None:
    """Return what limits an hour whose instances were busy for `busy_share` of the wall time; None: not known."""
    if busy_share is None:
        return None
    return "capacity_limited" if busy_share >= policy.capacity_limited_busy_share else "demand_limited"


def advance(before: Standing, seen: Observation, policy: PolicySettings) -> Standing:
    """Return the standing after one more hour.

    An hour that cannot tell, and in a fixed fleet an hour that is not limited by capacity, holds everything as it was.
    Otherwise `enter_hours` consecutive hours with p_in_valley >= enter_probability enter the valley, `leave_hours`
    consecutive ones with p_in_valley <= leave_probability leave it. A deployment of which nothing is decided yet stays
    unknown while its hours speak for the valley: one hour is no verdict, in either direction.
    """
    binds = policy.capacity == "elastic" or seen.regime == "capacity_limited"
    if seen.p_in_valley is None or not binds:
        return Standing(before.state, before.is_in_valley, True, before.enter_streak, before.leave_streak)
    enter = before.enter_streak + 1 if seen.p_in_valley >= policy.enter_probability else 0
    leave = before.leave_streak + 1 if seen.p_in_valley <= policy.leave_probability else 0
    is_in_valley = leave < policy.leave_hours if before.is_in_valley else enter >= policy.enter_hours
    if is_in_valley:
        state = "in_valley"
    elif before.state == "unknown" and seen.p_in_valley > policy.leave_probability:
        state = "unknown"
    else:
        state = "escaped" if seen.has_valley else "no_valley"
    return Standing(state, is_in_valley, False, enter, leave)
