"""The gate: what counts as earned, what as missed, and what nobody can say."""

from __future__ import annotations

import numpy as np
import pytest

from models.goodput import Goodput, Objective, gate, tpot_s

NAN = np.nan
REVENUE = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
TTFT = np.array([0.5, 2.0, 2.1, NAN, 0.5])
TPOT = np.array([0.01, NAN, NAN, 0.2, 0.2])
E2E = np.array([5.0, 4.0, 5.1, NAN, 9.0])


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        (Objective(ttft_s=2.0), Goodput(earned=19.0, missed=4.0, unknown=8.0)),
        (Objective(tpot_s=0.1), Goodput(earned=1.0, missed=24.0, unknown=6.0)),
        (Objective(ttft_s=2.0, tpot_s=0.1), Goodput(earned=1.0, missed=28.0, unknown=2.0)),
        (Objective(e2e_s=5.0), Goodput(earned=3.0, missed=20.0, unknown=8.0)),
    ],
    ids=["first token", "output", "both", "the end"],
)
def test_a_request_earns_only_where_it_is_known_to_be_in_time(objective: Objective, expected: Goodput) -> None:
    found = gate(REVENUE, objective, ttft_s=TTFT, tpot_s=TPOT, e2e_s=E2E)
    assert found == expected
    assert found.earned + found.missed + found.unknown == REVENUE.sum()
    assert found.share == expected.earned / (expected.earned + expected.missed)


def test_where_no_time_is_known_there_is_no_share() -> None:
    found = gate(REVENUE, Objective(ttft_s=1.0), ttft_s=np.full(5, NAN), tpot_s=TPOT)
    assert (found.earned, found.unknown, found.share) == (0.0, 31.0, None)


@pytest.mark.parametrize("tighter", [0.4, 1.0, 1.9])
def test_a_tighter_objective_never_earns_more(tighter: float) -> None:
    wide = gate(REVENUE, Objective(ttft_s=2.0), ttft_s=TTFT, tpot_s=TPOT)
    tight = gate(REVENUE, Objective(ttft_s=tighter), ttft_s=TTFT, tpot_s=TPOT)
    assert tight.earned <= wide.earned
    assert tight.unknown == wide.unknown


def test_time_per_output_token_is_of_the_tokens_after_the_first() -> None:
    found = tpot_s(np.array([1.0, 1.0, NAN, 1.0]), np.array([3.0, 1.0, 3.0, 2.0]), np.array([101.0, 1.0, 101.0, NAN]))
    assert found == pytest.approx([0.02, 0.0, NAN, NAN], nan_ok=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Objective(), "one time at least"),
        (lambda: Objective(ttft_s=0.0), "ttft_s 0.0"),
        (lambda: Objective(tpot_s=float("inf")), "tpot_s inf"),
        (lambda: gate(-REVENUE, Objective(1.0), ttft_s=TTFT, tpot_s=TPOT), "revenue -1.0"),
    ],
)
def test_an_objective_that_says_nothing_is_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
