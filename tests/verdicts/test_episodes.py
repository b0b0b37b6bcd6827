"""What hours add up to: episodes of any sequence of hours, whole, resumed, doubted and priced anew."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.alerts.episodes import Episode, Hour, episodes_of, replay
from pipelines.alerts.state import Observation
from pipelines.settings import PolicySettings
from tests.verdicts.sequences import hours, policies, seen_by

POLICY = PolicySettings()


def hour(
    at: int, p: float | None, index: float | None = None, lost: float | None = None, currency: str = "USD"
) -> Hour:
    return Hour(at, Observation(p, True, None), index, lost, currency)


def found_in(sequence: list[Hour], policy: PolicySettings = POLICY) -> list[Episode]:
    return episodes_of(sequence, replay(sequence, policy))


IN_AND_OUT = [
    hour(0, 1.0, 0.90, 7.0),
    hour(1, 1.0, 0.80, 10.0),  # entered
    hour(2, None, 0.10, 900.0),  # held: a handful of requests
    hour(5, 0.7, 0.99, 1.0),
    hour(6, 0.0, 1.20, -3.0),
    hour(7, None),  # held: no curve
    hour(8, 0.0, 1.10, -2.0),
    hour(9, 0.0, 1.30, -4.0),  # left
]


def test_an_episode_adds_up_its_evaluated_hours_from_entering_to_leaving() -> None:
    assert found_in(IN_AND_OUT) == [
        Episode(
            entered_hour_index=1,
            left_hour_index=9,
            n_hours=6,
            n_held_hours=2,
            peak_depth=pytest.approx(0.2),
            deepest_hour_index=1,
            lost_total=pytest.approx(10 + 1 - 3 - 2),
            currency="USD",
        )
    ]


def test_an_episode_that_goes_on_has_not_been_left() -> None:
    (episode,) = found_in(IN_AND_OUT[:-1])
    assert episode.left_hour_index is None
    assert episode.lost_total == pytest.approx(6)


def test_an_amount_in_two_currencies_is_not_known() -> None:
    changed = [*IN_AND_OUT[:3], hour(5, 0.7, 0.99, 1.0, "EUR"), *IN_AND_OUT[4:]]
    (episode,) = found_in(changed)
    assert episode.lost_total is None
    assert episode.currency is None
    assert episode.peak_depth == pytest.approx(0.2)


def test_the_currency_of_an_hour_that_is_not_counted_does_not_matter() -> None:
    (episode,) = found_in([*IN_AND_OUT[:2], hour(2, None, 0.1, 900.0, "EUR"), *IN_AND_OUT[3:]])
    assert (episode.lost_total, episode.currency) == (pytest.approx(6), "USD")


def test_the_policy_it_was_entered_by_decides_when_not_what_it_adds_up() -> None:
    (early,) = found_in(IN_AND_OUT, PolicySettings(enter_hours=1))
    assert early.entered_hour_index == 0
    assert early.lost_total == pytest.approx(7 + 6)


@given(hours, policies)
def test_no_episode_is_shorter_than_policy_allows_nor_nearer_to_the_last(
    sequence: list[Hour], policy: PolicySettings
) -> None:
    evaluated = [one.hour_index for one in seen_by(sequence, policy)]
    episodes = found_in(sequence, policy)

    def n_evaluated(first: int, last: int) -> int:
        return sum(first < at <= last for at in evaluated)

    for episode in episodes:
        if episode.left_hour_index is not None:
            assert n_evaluated(episode.entered_hour_index, episode.left_hour_index) >= policy.leave_hours
    for before, after in pairwise(episodes):
        assert before.left_hour_index is not None
        assert n_evaluated(before.left_hour_index, after.entered_hour_index) >= policy.enter_hours


@given(hours, policies, st.integers(0, 40))
def test_a_history_resumed_at_any_hour_is_the_whole_one(sequence: list[Hour], policy: PolicySettings, cut: int) -> None:
    whole = replay(sequence, policy)
    early = replay(sequence[:cut], policy)
    resumed = early + replay(sequence[cut:], policy, early[-1] if early else None)
    assert resumed == whole
    assert episodes_of(sequence, resumed) == found_in(sequence, policy)


@given(hours, policies)
def test_episodes_hold_each_hour_inside_once_and_no_other(sequence: list[Hour], policy: PolicySettings) -> None:
    standings = replay(sequence, policy)
    inside = [one for one, standing in zip(sequence, standings, strict=True) if standing.is_in_valley]
    episodes = episodes_of(sequence, standings)
    held_by = [sum(episode.shares(one.hour_index, one.hour_index) for episode in episodes) for one in sequence]
    assert held_by == [int(standing.is_in_valley) for standing in standings]
    assert sum(episode.n_hours for episode in episodes) == len(inside)
    assert sum(episode.n_hours - episode.n_held_hours for episode in episodes) == len(seen_by(inside, policy))


@given(hours, policies)
def test_hours_that_are_not_evaluated_change_neither_depth_nor_loss(
    sequence: list[Hour], policy: PolicySettings
) -> None:
    def told(episodes: list[Episode]) -> list[tuple[object, ...]]:
        return [
            (one.entered_hour_index, one.left_hour_index, one.peak_depth, one.lost_total, one.currency)
            for one in episodes
        ]

    assert told(found_in(seen_by(sequence, policy), policy)) == told(found_in(sequence, policy))


@given(hours, policies)
def test_the_peak_is_at_least_as_deep_as_every_evaluated_hour(sequence: list[Hour], policy: PolicySettings) -> None:
    for episode in found_in(sequence, policy):
        depths = [
            1 - one.revenue_index
            for one in seen_by(sequence, policy)
            if episode.shares(one.hour_index, one.hour_index) and one.revenue_index is not None
        ]
        assert episode.peak_depth == max(depths)
