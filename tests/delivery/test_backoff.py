"""Backoff: ever longer, spread, bounded, and no attempt before the other side wants one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.delivery.attempts import BUDGET, FIRST_S, LEAST_ATTEMPTS, LONGEST_S, is_given_up, next_attempt

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def wait_s(key: str, attempts: int, retry_after_s: float | None = None) -> float:
    return (next_attempt(key, attempts, NOW, retry_after_s) - NOW).total_seconds()


@given(st.text(max_size=8), st.integers(1, 2000))
def test_waits_lie_below_a_ceiling_that_doubles(key: str, attempts: int) -> None:
    assert 0 <= wait_s(key, attempts) <= min(LONGEST_S, FIRST_S * 2.0 ** min(attempts - 1, 60))


def test_the_same_attempt_waits_the_same_and_others_spread() -> None:
    assert wait_s("a", 9) == wait_s("a", 9)
    waits = sorted(wait_s(f"key {n}", 9) for n in range(400))
    tenths = [sum(low <= wait < low + LONGEST_S / 10 for wait in waits) for low in range(0, 900, 90)]
    assert min(tenths) > 15


@pytest.mark.parametrize(("asked_s", "least_s"), [(5.0, 5.0), (1e9, LONGEST_S), (0.0, 0.0), (None, 0.0)])
def test_no_attempt_is_made_before_the_other_side_wants_it_within_reason(asked_s: float | None, least_s: float) -> None:
    assert least_s <= wait_s("a", 1, asked_s) <= max(least_s, FIRST_S)


def test_a_message_is_given_up_after_hours_and_attempts_not_after_either_alone() -> None:
    late, early = NOW + BUDGET, NOW + BUDGET - timedelta(seconds=1)
    assert is_given_up(NOW, LEAST_ATTEMPTS, late)
    assert not is_given_up(NOW, LEAST_ATTEMPTS, early)
    assert not is_given_up(NOW, LEAST_ATTEMPTS - 1, late)
