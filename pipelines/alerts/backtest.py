"""What another policy would have made of hours that are published already: pure.

Belongs here: the figures that two policies are compared by. Does not belong here: the state machine and episodes
(`state`, `episodes`: the daily job's own), which policies can be tried (`trial_policy`), reading, printing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import fsum

from pipelines.alerts.episodes import Episode, Hour, episodes_of, replay
from pipelines.alerts.state import Observation, regime_of
from pipelines.settings import PolicySettings

FLAP_HOURS = 24
"""An episode that begins within so many hours of the deployment's leaving the one before is a flap."""
MORE_LIKELY_THAN_NOT = 0.5


@dataclass(frozen=True, slots=True)
class Published:
    """A published hour, before any policy; n_rated: its requests with reported cached tokens."""

    hour: Hour
    busy_share: float | None
    n_rated: int

    @property
    def is_likely(self) -> bool:
        """Say whether the estimate alone, whatever a policy makes of it, puts the hour into the valley."""
        p = self.hour.seen.p_in_valley
        return p is not None and p > MORE_LIKELY_THAN_NOT

    def under(self, policy: PolicySettings) -> Hour:
        """Return the hour as the policy sees it."""
        seen = self.hour.seen
        p = seen.p_in_valley if self.n_rated >= policy.min_requests else None
        return replace(self.hour, seen=Observation(p, seen.has_valley, regime_of(self.busy_share, policy)))


@dataclass(frozen=True, slots=True)
class Span:
    """Hours that count, both inclusive, as indices since the epoch."""

    first_hour: int
    last_hour: int

    def __contains__(self, hour_index: int) -> bool:
        """Say whether the hour counts."""
        return self.first_hour <= hour_index <= self.last_hour

    def meets(self, episode: Episode) -> bool:
        """Say whether an hour of the episode counts."""
        return episode.shares(self.first_hour, self.last_hour)


@dataclass(frozen=True, slots=True)
class Run:
    """A maximal run of likely hours of a deployment; hours that cannot tell neither extend nor end it."""

    first_hour: int
    last_hour: int


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one policy; docs/episodes.md says how each is meant.

    delays: hours from the first likely hour to entering, one an episode entered. covered: by currency, what those
    likely hours cost that fell into episodes.
    """

    n_episodes: int
    n_missed_runs: int
    n_flaps: int
    n_hours: int
    n_held_hours: int
    delays: tuple[int, ...]
    covered: dict[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one policy makes of a deployment: the episodes with an hour that counts, and the figures."""

    episodes: tuple[Episode, ...]
    score: Score


@dataclass(frozen=True, slots=True)
class Likely:
    """What the estimate says without any policy: hours and runs in the valley, and by currency what they cost."""

    n_hours: int
    n_runs: int
    lost: dict[str, float]


def likely(published: Sequence[Published], span: Span) -> Likely:
    """Return what the estimate says of the hours in `span`."""
    counted = [one for one in published if one.is_likely and one.hour.hour_index in span]
    return Likely(len(counted), len(_runs(published, span)), _lost(counted))


def outcome(published: Sequence[Published], policy: PolicySettings, span: Span) -> Outcome:
    """Return what the policy makes of a deployment. States come from the whole history, only `span` is counted."""
    hours = [one.under(policy) for one in published]
    standings = replay(hours, policy)
    episodes = episodes_of(hours, standings)
    inside = [
        (one, standing)
        for one, standing in zip(published, standings, strict=True)
        if standing.is_in_valley and one.hour.hour_index in span
    ]
    runs = _runs(published, span)
    counted = Score(
        n_episodes=sum(map(span.meets, episodes)),
        n_missed_runs=sum(not any(one.shares(run.first_hour, run.last_hour) for one in episodes) for run in runs),
        n_flaps=sum(entered in span for entered in _flaps(episodes)),
        n_hours=len(inside),
        n_held_hours=sum(standing.is_held for _, standing in inside),
        delays=tuple(delay for entered, delay in _delays(episodes, runs) if entered in span),
        covered=_lost(one for one, _ in inside if one.is_likely),
    )
    return Outcome(tuple(filter(span.meets, episodes)), counted)


def summed_likely(parts: Iterable[Likely]) -> Likely:
    """Return several deployments as one."""
    of = list(parts)
    return Likely(sum(one.n_hours for one in of), sum(one.n_runs for one in of), _added(one.lost for one in of))


def summed_scores(parts: Iterable[Score]) -> Score:
    """Return the figures of several deployments as one."""
    of = list(parts)
    return Score(
        n_episodes=sum(one.n_episodes for one in of),
        n_missed_runs=sum(one.n_missed_runs for one in of),
        n_flaps=sum(one.n_flaps for one in of),
        n_hours=sum(one.n_hours for one in of),
        n_held_hours=sum(one.n_held_hours for one in of),
        delays=tuple(sorted(delay for one in of for delay in one.delays)),
        covered=_added(one.covered for one in of),
    )


def beside(present: Sequence[Episode], tried: Sequence[Episode]) -> list[tuple[Episode | None, Episode | None]]:
    """Return the episodes of two policies over one history in order, those that share hours on one line."""
    left, right = list(present), list(tried)
    lines: list[tuple[Episode | None, Episode | None]] = []
    while left and right:
        if left[0].is_over(right[0].entered_hour_index):
            lines.append((left.pop(0), None))
        elif right[0].is_over(left[0].entered_hour_index):
            lines.append((None, right.pop(0)))
        else:
            lines.append((left.pop(0), right.pop(0)))
    return [*lines, *((one, None) for one in left), *((None, one) for one in right)]


def _runs(published: Iterable[Published], span: Span) -> list[Run]:
    """Return the runs of likely hours that have an hour in `span`, whole."""
    runs: list[Run] = []
    is_open = False
    for one in published:
        if one.hour.seen.p_in_valley is None:
            continue
        if one.is_likely:
            first_hour = runs.pop().first_hour if is_open else one.hour.hour_index
            runs.append(Run(first_hour, one.hour.hour_index))
        is_open = one.is_likely
    return [run for run in runs if run.first_hour <= span.last_hour and run.last_hour >= span.first_hour]


def _delays(episodes: Sequence[Episode], runs: Sequence[Run]) -> list[tuple[int, int]]:
    """Return (hour of entering, hours since its run of likely hours began): entering takes a likely hour."""
    return [
        (episode.entered_hour_index, episode.entered_hour_index - run.first_hour)
        for run in runs
        for episode in episodes
        if run.first_hour <= episode.entered_hour_index <= run.last_hour
    ]


def _flaps(episodes: Sequence[Episode]) -> list[int]:
    """Return the hours of entering again within FLAP_HOURS of leaving."""
    return [
        after.entered_hour_index
        for before, after in pairwise(episodes)
        if before.left_hour_index is not None and after.entered_hour_index - before.left_hour_index <= FLAP_HOURS
    ]


def _lost(hours: Iterable[Published]) -> dict[str, float]:
    return _added(
        {one.hour.currency: one.hour.lost} for one in hours if one.hour.currency and one.hour.lost is not None
    )


def _added(amounts: Iterable[dict[str, float]]) -> dict[str, float]:
    """Return amounts by currency, added up by currency."""
    by_currency: dict[str, list[float]] = {}
    for amount in amounts:
        for currency, value in amount.items():
            by_currency.setdefault(currency, []).append(value)
    return {currency: fsum(values) for currency, values in sorted(by_currency.items())}
