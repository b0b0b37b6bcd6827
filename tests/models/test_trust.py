"""Each reason not to trust a fit arises from its own fault, and from nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.curve_fit import CurveFit
from models.service_time import ServiceTime
from models.trust import PRODUCTION, doubts

SOUND = CurveFit(
    estimator="busy_periods",
    family="service_time",
    reference_input_tokens=8192,
    law=ServiceTime(0.01, 1e-4, 1e-9, 0),
    tps0=9_000.0,
    a=0.3,
    a_low=0.28,
    a_high=0.32,
    n_minutes=PRODUCTION.min_minutes,
    n_requests=PRODUCTION.min_requests,
    x_low=0.2,
    x_high=0.9,
    residual_scale=0.05,
)


def reasons(**changes):
    judged = {"half_difference": 0.02, "kept_share": 0.95, "load_difference": 0.0, "saving_interval": 0.02} | {
        "unbounded_overhead_s": 0.04,
        "service_s": 0.5,
    }
    judged |= {name: changes.pop(name) for name in judged.keys() & changes.keys()}
    return doubts(replace(SOUND, **changes), **judged, limits=PRODUCTION)


def test_a_sound_fit_has_no_doubts():
    assert reasons() == ()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"n_minutes": PRODUCTION.min_minutes - 1}, "too_few"),
        ({"n_requests": PRODUCTION.min_requests - 1}, "too_few"),
        ({"x_low": 0.75}, "narrow_hit_range"),
        ({"x_low": None, "x_high": None}, "narrow_hit_range"),
        ({"residual_scale": 0.3}, "poor_fit"),
        ({"residual_scale": float("inf")}, "poor_fit"),
        ({"law": ServiceTime(0.01, 0, 1e-9, 0)}, "poor_fit"),
        ({"a": 1.0}, "poor_fit"),
        ({"kept_share": 0.4}, "poor_fit"),
        ({"unbounded_overhead_s": -0.21}, "poor_fit"),
        ({"unbounded_overhead_s": 1.1}, "poor_fit"),
        ({"unbounded_overhead_s": float("nan")}, "poor_fit"),
        ({"half_difference": 0.11}, "unstable"),
        ({"half_difference": float("nan")}, "unstable"),
        ({"load_difference": 0.21}, "unstable"),
        ({"load_difference": float("nan")}, "unstable"),
        ({"saving_interval": 0.11}, "unstable"),
        ({"saving_interval": float("nan")}, "unstable"),
        ({"a_low": 0.2, "a_high": 0.46}, "unstable"),
        ({"a_low": None, "a_high": None}, "unstable"),
    ],
    ids=str,
)
def test_each_fault_gives_its_own_reason(fault, reason):
    assert reasons(**fault) == (reason,)


def test_an_overhead_below_zero_is_judged_beside_the_mean_request():
    assert reasons(unbounded_overhead_s=-0.25, service_s=3.0) == ()
    assert reasons(unbounded_overhead_s=-0.35, service_s=3.0) == ("poor_fit",)


def test_a_caller_can_add_a_doubt_once():
    doubted = SOUND.doubted("low_coverage").doubted("low_coverage", "too_few")
    assert (doubted.trustworthy, doubted.reasons) == (False, ("low_coverage", "too_few"))
    assert SOUND.doubted().trustworthy


def test_a_fit_with_reasons_cannot_call_itself_trustworthy():
    with pytest.raises(ValueError, match="exactly one must hold"):
        replace(SOUND, reasons=("too_few",))
