"""Another policy on the same hours: the figures two policies are compared by, by hand and for any history."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.alerts.backtest import (
    Published,
    Span,
    beside,
    likely,
    outcome,
    summed_likely,
    summed_scores,
)
from pipelines.alerts.episodes import Episode, Hour
from pipelines.alerts.state import Observation
from pipelines.alerts.trial_policy import tried_policy
from pipelines.errors import UsageError
from pipelines.settings import PolicySettings
from tests.verdicts.sequences import hours

PRESENT = PolicySettings()
EVER = Span(0, 10**9)


def published(at: int, p: float | None, lost: float = 1.0, **changes: object) -> Published:
    hour = Hour(at, Observation(p, True, None), None if p is None else 1.5 - p, None if p is None else lost, "USD")
    return Published(hour, **{"busy_share": 0.5, "n_rated": 100} | changes)


def history(text: str) -> list[Published]:
    """One hour a token, from hour 0 on: a probability, `-` cannot tell, `_` had no traffic."""
    tokens = text.split()
    return [published(at, None if token == "-" else float(token)) for at, token in enumerate(tokens) if token != "_"]


def test_entering_is_as_late_as_the_hours_since_its_run_of_likely_hours_began() -> None:
    # Likely from hour 2 on, sure from 5 on; the hour that cannot tell does not end the run.
    found = outcome(history("0 0 .6 - .6 1 1 1"), PRESENT, EVER)
    assert [one.entered_hour_index for one in found.episodes] == [6]
    assert found.score.delays == (4,)


def test_hours_without_traffic_are_part_of_the_delay() -> None:
    assert outcome(history("0 1 _ _ 1"), PRESENT, EVER).score.delays == (3,)


@pytest.mark.parametrize(("apart", "n_flaps"), [(24, 1), (25, 0)])
def test_a_flap_is_an_episode_within_a_day_of_the_last_ones_end(apart: int, n_flaps: int) -> None:
    # Left in hour 4; entered again `apart` hours later.
    found = outcome(history("1 1 0 0 0 " + "0 " * (apart - 2) + "1 1"), PRESENT, EVER)
    first, second = found.episodes
    assert second.entered_hour_index - first.left_hour_index == apart
    assert found.score.n_flaps == n_flaps


def test_a_run_that_no_episode_shares_an_hour_with_is_missed() -> None:
    seen = history("0 1 0 1 1 0 0 0 .7 .7 0")
    found = outcome(seen, PRESENT, EVER).score
    assert likely(seen, EVER).n_runs == 3
    assert found.n_missed_runs == 2


def test_a_run_during_an_episode_is_not_missed() -> None:
    assert outcome(history("1 1 0 1 0"), PRESENT, EVER).score.n_missed_runs == 0


def test_what_is_covered_is_the_loss_of_likely_hours_in_episodes_held_ones_included() -> None:
    seen = [
        published(0, 1.0, 5.0),
        published(1, 1.0, 7.0),  # entered
        published(2, 1.0, 11.0, n_rated=40),  # held where 50 requests are wanted
        published(3, 0.3, -2.0),  # not likely: no loss to cover
        published(4, None),
    ]
    assert likely(seen, EVER).lost == {"USD": 23.0}
    assert outcome(seen, PRESENT, EVER).score.covered == {"USD": 18.0}
    stricter = outcome(seen, tried_policy(PRESENT, ["min_requests=50"]), EVER)
    assert stricter.score.covered == {"USD": 18.0}
    assert (stricter.score.n_hours, stricter.score.n_held_hours) == (4, 2)
    assert stricter.episodes[0].lost_total == 5.0


def test_the_busy_share_of_a_fixed_fleet_is_compared_with_the_tried_threshold() -> None:
    seen = [published(at, 1.0, busy_share=0.5) for at in range(4)]
    assert outcome(seen, tried_policy(PRESENT, ["capacity=fixed"]), EVER).episodes == ()
    tried = tried_policy(PRESENT, ["capacity=fixed", "capacity_limited_busy_share=0.5"])
    assert [one.entered_hour_index for one in outcome(seen, tried, EVER).episodes] == [1]


def test_states_come_from_the_whole_history_and_only_the_span_counts() -> None:
    seen = history("1 1 1 1 0 0 0 0")
    found = outcome(seen, PRESENT, Span(3, 4))
    assert found.episodes == (Episode(1, 6, 5, 0, 0.5, 1, 5.0, "USD"),)
    assert (found.score.n_episodes, found.score.n_hours, found.score.delays) == (1, 2, ())
    assert likely(seen, Span(3, 4)).lost == {"USD": 1.0}
    assert outcome(seen, PRESENT, Span(6, 7)).score.n_episodes == 0


def test_episodes_that_share_hours_stand_beside_each_other() -> None:
    a, b, c, d = (
        Episode(entered, left, 1, 0, 0.1, entered, 1.0, "USD")
        for entered, left in ((1, 5), (4, 9), (9, 12), (20, None))
    )
    assert beside([a, c, d], [b, d]) == [(a, b), (c, None), (d, d)]
    assert beside([a], [c]) == [(a, None), (None, c)]
    assert beside([], [a, c]) == [(None, a), (None, c)]


@given(hours, st.integers(0, 120), st.sampled_from([[], ["enter_hours=1"], ["leave_hours=1", "enter_hours=1"]]))
def test_the_figures_of_two_spans_add_up(sequence: list[Hour], cut: int, changes: list[str]) -> None:
    seen = [Published(hour, None, 100) for hour in sequence]
    policy = tried_policy(PRESENT, changes)
    parts = (Span(0, cut - 1), Span(cut, EVER.last_hour))
    whole, added = outcome(seen, policy, EVER).score, summed_scores(outcome(seen, policy, of).score for of in parts)
    for name in ("n_flaps", "n_hours", "n_held_hours"):
        assert getattr(added, name) == getattr(whole, name)
    assert added.delays == tuple(sorted(whole.delays))
    assert added.covered == pytest.approx(whole.covered)
    estimated, in_parts = likely(seen, EVER), summed_likely(likely(seen, of) for of in parts)
    assert in_parts.n_hours == estimated.n_hours
    assert in_parts.lost == pytest.approx(estimated.lost)


@given(hours)
def test_every_episode_entered_has_a_delay_and_shares_a_run(sequence: list[Hour]) -> None:
    found = outcome([Published(hour, None, 100) for hour in sequence], PRESENT, EVER)
    assert len(found.score.delays) == len(found.episodes)
    assert all(delay >= 1 for delay in found.score.delays)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["entre_hours=3"], "entre_hours: no key of [policy] (did you mean 'enter_hours'?)"),
        (["enter_hours"], "'enter_hours' is no KEY=VALUE, such as enter_hours=3"),
        (["enter_hours=3", "enter_hours=4"], "enter_hours is given twice"),
        (["version=2"], "version cannot be tried: it is part of the episodes' keys and decides nothing"),
        (["window_days=3"], "window_days cannot be tried: it decides what curves are fitted on, and a back-test fits"),
        (["min_coverage=0.5"], "min_coverage cannot be tried: it decides which curves are trusted"),
        (["revenue_scope=full"], "revenue_scope cannot be tried: it decides what the index counts"),
        (["min_requests=29"], "min_requests=29 cannot be tried: hours below the present 30 were published without"),
        (["enter_probability=1.5"], "enter_probability: Input should be less than 1, not 1.5"),
        (["enter_probability=nan"], "enter_probability: Input should be"),
        (["enter_hours=x"], "enter_hours: Input should be a valid integer, not 'x'"),
        (["enter_hours=2.5"], "enter_hours: Input should be a valid integer, not 2.5"),
        (["enter_hours="], "enter_hours: Input should be a valid integer, not ''"),
        (["capacity=fixd"], "capacity: Input should be 'elastic' or 'fixed', not 'fixd'"),
        (["leave_hours=0", "enter_hours=0"], "leave_hours: Input should be greater than or equal to 1, not 0"),
    ],
)
def test_a_policy_that_cannot_be_tried_is_refused_with_the_reason(changes: list[str], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        tried_policy(PRESENT, changes)
    assert said in str(refused.value)


def test_in_the_full_scope_what_limits_an_hour_is_part_of_the_index() -> None:
    full = PolicySettings(revenue_scope="full")
    assert tried_policy(full, ["enter_hours=3"]).enter_hours == 3
    with pytest.raises(UsageError, match='cannot be tried with revenue_scope = "full"'):
        tried_policy(full, ["capacity_limited_busy_share=0.5"])


@pytest.mark.parametrize("change", ["capacity=fixed", 'capacity="fixed"', " capacity = fixed "])
def test_values_are_read_as_in_the_configuration_quotes_optional(change: str) -> None:
    assert tried_policy(PRESENT, [change]) == PolicySettings(capacity="fixed")
