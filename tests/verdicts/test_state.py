"""The state machine: a truth table by hand (`states.txt`), and what must hold for any sequence of hours."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from pipelines.alerts.episodes import Hour, episodes_of, replay
from pipelines.alerts.state import Observation, Standing, regime_of
from pipelines.settings import PolicySettings
from tests.verdicts.sequences import counts, hours, policies, seen_by

TABLE = (Path(__file__).parent / "states.txt").read_text()
STATES = {"U": "unknown", "I": "in_valley", "E": "escaped", "N": "no_valley"}
REGIMES = {"c": "capacity_limited", "d": "demand_limited"}


def rows() -> list[Any]:
    """The rows of the table as (policy, hours, what follows), each named after its section."""
    found, section = [], ""
    for line in TABLE.splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line and not line.startswith("#"):
            name, policy, seen, expected = (cell.strip() for cell in line.split("|"))
            found.append(pytest.param(policy, seen.split(), expected.split(), id=f"{section}: {name}"))
    return found


def policy_of(text: str) -> PolicySettings:
    """The default policy with these changes, as a configuration file has them."""
    read = {"enter_hours": int, "leave_hours": int, "capacity": str}
    pairs = (pair.split("=") for pair in text.split())
    return PolicySettings(**{key: read.get(key, float)(value) for key, value in pairs})


def hour_of(position: int, token: str) -> Hour:
    """One hour of the table."""
    p, flags = re.fullmatch(r"(-|[0-9.]+)([fcd]*)", token).groups()
    regime = next((REGIMES[flag] for flag in flags if flag in REGIMES), None)
    seen = Observation(None if p == "-" else float(p), "f" not in flags, regime)
    return Hour(position, seen, revenue_index=None if p == "-" else 1.5 - float(p), lost=1.0, currency="USD")


def shown(standing: Standing, was_in_valley: bool) -> str:
    """A standing as the table writes it."""
    letter = next(letter for letter, state in STATES.items() if state == standing.state)
    moved = "" if standing.is_in_valley is was_in_valley else ">" if standing.is_in_valley else "<"
    return f"{'~' if standing.is_held else moved}{letter}{standing.enter_streak}/{standing.leave_streak}"


@pytest.mark.parametrize(("policy", "seen", "expected"), rows())
def test_truth_table(policy: str, seen: list[str], expected: list[str]) -> None:
    known = [hour_of(position, token) for position, token in enumerate(seen) if token != "_"]
    standings = replay(known, policy_of(policy))
    inside = [False, *(standing.is_in_valley for standing in standings)]
    found = ["_"] * len(seen)
    for hour, standing, was_in_valley in zip(known, standings, inside, strict=False):
        found[hour.hour_index] = shown(standing, was_in_valley)
    assert found == expected
    entered = [position for position, token in enumerate(expected) if token[0] == ">"]
    left = [position for position, token in enumerate(expected) if token[0] == "<"]
    episodes = episodes_of(known, standings)
    assert [episode.entered_hour_index for episode in episodes] == entered
    assert [episode.left_hour_index for episode in episodes] == left + [None] * (len(entered) - len(left))


def test_the_table_is_worth_its_name() -> None:
    assert len(rows()) >= 60
    assert len({row.id for row in rows()}) == len(rows())


@pytest.mark.parametrize(
    ("busy_share", "regime"),
    [(None, None), (0.0, "demand_limited"), (0.6999, "demand_limited"), (0.7, "capacity_limited"), (1.1, REGIMES["c"])],
)
def test_what_limits_an_hour(busy_share: float | None, regime: str | None) -> None:
    assert regime_of(busy_share, PolicySettings()) == regime


@given(hours, policies)
def test_holding_changes_nothing_but_the_word_held(sequence: list[Hour], policy: PolicySettings) -> None:
    found = [Standing(), *replay(sequence, policy)]
    for (before, after), hour in zip(pairwise(found), sequence, strict=True):
        assert after.is_held is not counts(hour, policy)
        if after.is_held:
            held = (after.state, after.is_in_valley, after.enter_streak, after.leave_streak)
            assert held == (before.state, before.is_in_valley, before.enter_streak, before.leave_streak)


@given(hours, policies)
def test_held_hours_could_as_well_not_be_there(sequence: list[Hour], policy: PolicySettings) -> None:
    with_held = [standing for standing in replay(sequence, policy) if not standing.is_held]
    assert with_held == replay(seen_by(sequence, policy), policy)


@given(hours, policies)
def test_entering_and_leaving_take_their_runs_of_evaluated_hours(sequence: list[Hour], policy: PolicySettings) -> None:
    evaluated = [hour.seen for hour in seen_by(sequence, policy)]
    found = [Standing(), *replay(seen_by(sequence, policy), policy)]
    for position, (before, after) in enumerate(pairwise(found), 1):
        if after.is_in_valley and not before.is_in_valley:
            run = evaluated[position - policy.enter_hours : position]
            assert len(run) == policy.enter_hours
            assert all(seen.p_in_valley >= policy.enter_probability for seen in run)
        if before.is_in_valley and not after.is_in_valley:
            run = evaluated[position - policy.leave_hours : position]
            assert len(run) == policy.leave_hours
            assert all(seen.p_in_valley <= policy.leave_probability for seen in run)


@given(hours, policies)
def test_the_state_and_the_flag_never_disagree(sequence: list[Hour], policy: PolicySettings) -> None:
    for standing in replay(sequence, policy):
        assert standing.is_in_valley is (standing.state == "in_valley")
        assert standing.state in STATES.values()
