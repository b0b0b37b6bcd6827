"""The state machine: a truth table by hand, and what must hold for any sequence of hours."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.alerts.state import Observation, Standing, advance
from pipelines.settings import PolicySettings

POLICY = PolicySettings()
FIXED = PolicySettings(capacity="fixed")


def seen(p: float | None, *, has_valley: bool = True, regime: str | None = None) -> Observation:
    return Observation(p, has_valley, regime)


IN, OUT, HALF, MUTE = seen(1.0), seen(0.0), seen(0.8), seen(None)
FLAT = seen(0.0, has_valley=False)


def states(hours: list[Observation], policy: PolicySettings = POLICY) -> list[Standing]:
    standings, standing = [], Standing()
    for hour in hours:
        standing = advance(standing, hour, policy)
        standings.append(standing)
    return standings


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        pytest.param([], [], id="nothing is known of no hours"),
        pytest.param([OUT], ["escaped"], id="one hour outside decides that it is outside"),
        pytest.param([FLAT], ["no_valley"], id="a curve without a valley says so"),
        pytest.param([IN], ["unknown"], id="one hour inside decides nothing"),
        pytest.param([HALF, HALF], ["unknown", "unknown"], id="doubtful hours decide nothing at first"),
        pytest.param([IN, IN], ["unknown", "in_valley"], id="two hours in a row enter"),
        pytest.param([OUT, IN, IN], ["escaped", "escaped", "in_valley"], id="the first hour inside does not enter"),
        pytest.param([OUT, IN, HALF, IN], ["escaped"] * 4, id="a doubtful hour ends the run of entering"),
        pytest.param([IN, OUT, IN, OUT], ["unknown", "escaped", "escaped", "escaped"], id="flapping enters never"),
        pytest.param(
            [IN, IN, OUT, OUT, OUT], ["unknown", *["in_valley"] * 3, "escaped"], id="three hours in a row leave"
        ),
        pytest.param(
            [IN, IN, OUT, OUT, HALF, OUT, OUT, OUT],
            ["unknown", *["in_valley"] * 6, "escaped"],
            id="a doubtful hour ends the run of leaving",
        ),
        pytest.param([IN, IN, HALF, HALF, HALF, HALF], ["unknown", *["in_valley"] * 5], id="doubt keeps it inside"),
        pytest.param([IN, MUTE, MUTE, IN], ["unknown", "unknown", "unknown", "in_valley"], id="silence does not reset"),
        pytest.param([IN, IN, *[MUTE] * 50], ["unknown", *["in_valley"] * 51], id="silence never leaves"),
        pytest.param([MUTE, MUTE], ["unknown", "unknown"], id="silence decides nothing"),
        pytest.param(
            [IN, IN, FLAT, FLAT, FLAT], ["unknown", *["in_valley"] * 3, "no_valley"], id="the valley itself can vanish"
        ),
    ],
)
def test_truth_table(hours: list[Observation], expected: list[str]) -> None:
    assert [standing.state for standing in states(hours)] == expected


@pytest.mark.parametrize(
    ("p", "enters"), [(0.95, True), (0.9499, False)], ids=["at the threshold", "just below the threshold"]
)
def test_the_threshold_to_enter_belongs_to_the_valley(p: float, enters: bool) -> None:
    assert states([seen(p), seen(p)])[-1].is_in_valley is enters


@pytest.mark.parametrize(
    ("p", "leaves"), [(0.5, True), (0.5001, False)], ids=["at the threshold", "just above the threshold"]
)
def test_the_threshold_to_leave_belongs_to_the_outside(p: float, leaves: bool) -> None:
    assert states([IN, IN, seen(p), seen(p), seen(p)])[-1].is_in_valley is not leaves


def test_in_a_fixed_fleet_only_hours_limited_by_capacity_count() -> None:
    idle, full = seen(1.0, regime="demand_limited"), seen(1.0, regime="capacity_limited")
    found = states([idle, idle, full, idle, seen(1.0), full], FIXED)
    assert [standing.state for standing in found] == ["unknown"] * 5 + ["in_valley"]
    assert [standing.is_held for standing in found] == [True, True, False, True, True, False]


def test_in_an_elastic_fleet_every_regime_counts() -> None:
    assert states([seen(1.0, regime="demand_limited")] * 2)[-1].is_in_valley


hours = st.builds(
    Observation,
    st.none() | st.floats(0, 1),
    st.booleans(),
    st.sampled_from([None, "demand_limited", "capacity_limited"]),
)
policies = st.builds(
    PolicySettings,
    capacity=st.sampled_from(["elastic", "fixed"]),
    enter_hours=st.integers(1, 5),
    leave_hours=st.integers(1, 5),
)


def counts(hour: Observation, policy: PolicySettings) -> bool:
    return hour.p_in_valley is not None and (policy.capacity == "elastic" or hour.regime == "capacity_limited")


@given(st.lists(hours, max_size=40), policies)
def test_holding_changes_nothing_but_the_word_held(sequence: list[Observation], policy: PolicySettings) -> None:
    found = [Standing(), *states(sequence, policy)]
    for (before, after), hour in zip(pairwise(found), sequence, strict=True):
        assert after.is_held is not counts(hour, policy)
        if after.is_held:
            held = (after.state, after.is_in_valley, after.enter_streak, after.leave_streak)
            assert held == (before.state, before.is_in_valley, before.enter_streak, before.leave_streak)


@given(st.lists(hours, max_size=40), policies)
def test_held_hours_could_as_well_not_be_there(sequence: list[Observation], policy: PolicySettings) -> None:
    evaluated = [hour for hour in sequence if counts(hour, policy)]
    with_held = [standing for standing in states(sequence, policy) if not standing.is_held]
    assert with_held == states(evaluated, policy)


@given(st.lists(hours, max_size=40), policies)
def test_entering_and_leaving_take_their_runs_of_evaluated_hours(
    sequence: list[Observation], policy: PolicySettings
) -> None:
    evaluated = [hour for hour in sequence if counts(hour, policy)]
    found = [Standing(), *states(evaluated, policy)]
    for position, (before, after) in enumerate(pairwise(found), 1):
        if after.is_in_valley and not before.is_in_valley:
            run = evaluated[position - policy.enter_hours : position]
            assert len(run) == policy.enter_hours
            assert all(hour.p_in_valley >= policy.enter_probability for hour in run)
        if before.is_in_valley and not after.is_in_valley:
            run = evaluated[position - policy.leave_hours : position]
            assert len(run) == policy.leave_hours
            assert all(hour.p_in_valley <= policy.leave_probability for hour in run)


@given(st.lists(hours, max_size=40), policies)
def test_the_state_and_the_flag_never_disagree(sequence: list[Observation], policy: PolicySettings) -> None:
    for standing in states(sequence, policy):
        assert standing.is_in_valley is (standing.state == "in_valley")
        assert standing.state in ("in_valley", "escaped", "no_valley", "unknown")
