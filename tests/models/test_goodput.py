"""An objective asks for something."""

from __future__ import annotations

import pytest

from models.goodput import Objective


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Objective(), "one time at least"),
        (lambda: Objective(ttft_s=0.0), "ttft_s 0.0"),
        (lambda: Objective(tpot_s=float("inf")), "tpot_s inf"),
    ],
)
def test_an_objective_that_says_nothing_is_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
