"""From hours to episodes: pure, the one place that the daily job and back-tests share.

Belongs here: running the state machine over a deployment's hours, and what an episode adds up. Does not belong here:
the machine itself (`state`), reading or writing, what is told to whom (`record`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import fsum

from pipelines.alerts.state import Observation, Standing, advance
from pipelines.settings import PolicySettings


@dataclass(frozen=True, slots=True)
class Hour:
    """What is known of one hour of a deployment; `lost` in `currency`, negative where the cache earns."""

    hour_index: int
    seen: Observation
    revenue_index: float | None
    lost: float | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class Episode:
    """A maximal run of hours that policy holds a deployment in the valley; the hour it is left in is not part of it.

    n_hours: hours with traffic; n_held_hours: those of them that were not evaluated. Depth and loss are of the
    evaluated hours alone: what the others cost is not known. lost_total and currency are None where prices changed
    currency. deepest_hour_index: the first evaluated hour of that depth.
    """

    entered_hour_index: int
    left_hour_index: int | None
    n_hours: int
    n_held_hours: int
    peak_depth: float
    deepest_hour_index: int
    lost_total: float | None
    currency: str | None

    def is_over(self, hour_index: int) -> bool:
        """Say whether the deployment had left by that hour."""
        return self.left_hour_index is not None and self.left_hour_index <= hour_index

    def shares(self, first_hour: int, last_hour: int) -> bool:
        """Say whether one of these hours, both inclusive, is part of it."""
        return self.entered_hour_index <= last_hour and not self.is_over(first_hour)


def replay(hours: Iterable[Hour], policy: PolicySettings, before: Standing | None = None) -> list[Standing]:
    """Return the standing after each hour, the hours in order, from the standing before the first of them."""
    start = Standing() if before is None else before
    standings = accumulate((hour.seen for hour in hours), lambda was, seen: advance(was, seen, policy), initial=start)
    return list(standings)[1:]


def episodes_of(hours: Sequence[Hour], standings: Sequence[Standing]) -> list[Episode]:
    """Return the episodes of one deployment's hours, in order; an hour without traffic does not end one, leaving does.

    Before the first hour the deployment is taken to be outside.
    """
    found: list[Episode] = []
    inside: list[tuple[Hour, Standing]] = []
    for hour, standing in zip(hours, standings, strict=True):
        if standing.is_in_valley:
            inside.append((hour, standing))
        elif inside:
            found.append(_episode(inside, hour.hour_index))
            inside = []
    return [*found, _episode(inside, None)] if inside else found


def _episode(inside: list[tuple[Hour, Standing]], left_hour_index: int | None) -> Episode:
    evaluated = [hour for hour, standing in inside if not standing.is_held]
    currencies = {hour.currency for hour in evaluated}
    one = len(currencies) == 1
    depth, earliest = max(
        (1 - hour.revenue_index, -hour.hour_index) for hour in evaluated if hour.revenue_index is not None
    )
    return Episode(
        entered_hour_index=inside[0][0].hour_index,
        left_hour_index=left_hour_index,
        n_hours=len(inside),
        n_held_hours=len(inside) - len(evaluated),
        peak_depth=depth,
        deepest_hour_index=-earliest,
        lost_total=fsum(hour.lost for hour in evaluated if hour.lost is not None) if one else None,
        currency=currencies.pop() if one else None,
    )
