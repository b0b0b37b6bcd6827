"""The verdict per deployment and hour: curve × traffic × price → revenue index, its interval, the closed forms, money.

Belongs here: putting one hour's observation together. Does not belong here: formulas (`models/`), a day's hours and
storing them (`judged_day`), the state machine (`alerts/state.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from models import revenue, service_time, valley
from models.bathtub import valley_of_mix
from models.curve_fit import Target
from models.profit import BeyondInput
from models.uncertainty import index_interval, probability_below_one
from models.valley_interval import valley_interval
from pipelines import reason_codes
from pipelines.alerts.state import regime_of
from pipelines.decoding import busy_share
from pipelines.prices.hours import PricedHour
from pipelines.settings import PolicySettings

UNKNOWN_UNTIL_PRICED = (
    "price_ratio",
    "input_per_mtok",
    "cached_per_mtok",
    "n_prices",
    "miss_revenue",
    "cached_revenue",
    "cached_at_miss_price",
    "miss_at_cached_price",
    "output_revenue",
    "cache_write_revenue",
    "decode_s",
    "price_hash",
    "revenue_index",
    "index_low",
    "index_high",
    "p_in_valley",
    "floor_hit_rate",
    "exit_hit_rate",
    "floor_depth",
    "p_valley",
    "floor_low",
    "floor_high",
    "exit_low",
    "exit_high",
    "depth_low",
    "depth_high",
    "marginal_index",
    "side",
    "lost_per_hour",
    "currency",
)
"""Columns that stay NULL where there is no trustworthy curve or no price."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A day's curve of one deployment; `law` is None when there is none, `draws` has shape (n_draws, 4): f, c, q, k.

    first_hour: the first that it rests on; before, another engine or model served.
    """

    target: Target
    reference_input_tokens: float
    a: float | None
    a_low: float | None
    a_high: float | None
    law: service_time.ServiceTime | None
    draws: np.ndarray
    is_trustworthy: bool
    reasons: tuple[str, ...]
    first_hour: int = 0


def revenue_of(hours: Iterable[dict[str, Any]]) -> revenue.Revenue:
    """Return what hours of one currency earned, from their sums of money; every one of them priced."""
    names = ("miss_revenue", "cached_revenue", "cached_at_miss_price", "miss_at_cached_price")
    sums = [revenue.Revenue(*(hour[name] for name in names)) for hour in hours]
    return sum(sums[1:], sums[0])


def moments_of(traffic: dict[str, Any]) -> service_time.TrafficMoments:
    """Return the sums of a row of traffic as the model takes them."""
    return service_time.TrafficMoments(
        n_requests=traffic["n_rated"],
        input_tokens=traffic["reported_input_tokens"],
        cached_tokens=traffic["cached_tokens"],
        miss_tokens=traffic["miss_tokens"],
        sum_miss_cached=traffic["sum_miss_cached"],
        sum_miss_sq=traffic["sum_miss_sq"],
        sum_input_sq=traffic["sum_input_sq"],
    )


def observe_hour(
    traffic: dict[str, Any],
    curve: Curve | None,
    priced: PricedHour,
    beyond: BeyondInput | str | None,
    policy: PolicySettings,
) -> dict[str, Any]:
    """Return the hour's row of `valley_status`.

    beyond: what is counted beside prompts, or why it is not known; None where nothing else is.
    """
    row = _blank(traffic, policy) | priced.columns()
    reasons = _traffic_reasons(traffic, policy)
    if priced.reason is not None:
        reasons.append(priced.reason)
    if priced.revenue is not None and isinstance(beyond, str):
        reasons.append(beyond)
    if curve is None or curve.law is None or not curve.is_trustworthy:
        reasons += curve.reasons if curve and curve.reasons else ["no_curve"]
    elif traffic["hour_index"] < curve.first_hour:
        reasons.append("before_change")
    elif priced.revenue is not None and not isinstance(beyond, str):
        if beyond is not None:
            row |= asdict(beyond) | _full_scope(traffic, curve, priced.revenue, beyond)
        else:
            row |= _index(traffic, curve, priced.revenue)
            row |= closed_forms(curve.a, curve.law, curve.reference_input_tokens, row["price_ratio"])
            row |= _valley_bounds(curve, row["price_ratio"], has_exit=row["exit_hit_rate"] is not None)
        if reasons:
            row["p_in_valley"] = None
        if row["floor_hit_rate"] is not None and row["exit_hit_rate"] is None:
            reasons.append("no_exit")
    row["reasons"] = reason_codes.joined(reasons)
    return row


def _full_scope(traffic: dict[str, Any], curve: Curve, prompts: revenue.Revenue, beyond: BeyondInput) -> dict[str, Any]:
    """Return the hour's index and valley with all that is sold and decoded; these are exact on its own mix."""
    assert curve.law is not None
    moments, sold = moments_of(traffic), beyond.revenue(prompts)
    law = service_time.ServiceTime(*beyond.coefficients(curve.law.as_array(), moments))
    both = replace(curve, law=law, draws=beyond.coefficients(curve.draws, moments))
    found = valley_of_mix(law, moments, sold.earnings)
    forms = dict.fromkeys(("floor_hit_rate", "exit_hit_rate", "floor_depth")) if found is None else asdict(found)
    return _index(traffic, both, sold) | forms


def saved_busy_s(traffic: dict[str, Any], curve: Curve | None) -> float | None:
    """Return the busy seconds that computing the cached tokens would have taken; None without a trusted curve."""
    if curve is None or curve.law is None or not curve.is_trustworthy:
        return None
    if traffic["hour_index"] < curve.first_hour or not traffic["reported_input_tokens"]:
        return None
    moments = moments_of(traffic)
    return service_time.busy_without_cache_s(curve.law, moments) - service_time.busy_s(curve.law, moments)


def _blank(traffic: dict[str, Any], policy: PolicySettings) -> dict[str, Any]:
    """Return the hour's row with everything unknown but what the traffic itself says."""
    reported = traffic["reported_input_tokens"]
    busy = busy_share(traffic)
    unknown: dict[str, Any] = dict.fromkeys(UNKNOWN_UNTIL_PRICED)
    return unknown | {
        "deployment": traffic["deployment"],
        "hour_index": traffic["hour_index"],
        "hit_rate": traffic["cached_tokens"] / reported if reported else None,
        "mean_request_hit_rate": traffic["mean_request_hit_rate"],
        "busy_hit_rate": traffic["busy_hit_rate"],
        "revenue_scope": policy.revenue_scope,
        "busy_share": busy,
        "regime": regime_of(busy, policy),
        "state": "unknown",
        "is_in_valley": False,
        "is_held": True,
        "enter_streak": 0,
        "leave_streak": 0,
    }


def _traffic_reasons(traffic: dict[str, Any], policy: PolicySettings) -> list[str]:
    if traffic["n_requests"] == 0:
        return ["all_failed" if traffic["n_failed"] else "all_left_out"]
    if traffic["n_reported"] == 0:
        return ["not_reported"]
    reasons = []
    if traffic["n_rated"] < policy.min_requests:
        reasons.append("low_traffic")
    if traffic["n_reported"] < policy.min_coverage * traffic["n_requests"]:
        reasons.append("low_coverage")
    return reasons


def _index(traffic: dict[str, Any], curve: Curve, sold: revenue.Revenue) -> dict[str, Any]:
    """Return the exact index of the hour's own traffic, its interval, its slope, and what it means in money."""
    assert curve.law is not None
    moments = moments_of(traffic)
    index = revenue.revenue_index(curve.law, moments, sold)
    draws = revenue.revenue_index_draws(curve.draws, moments, sold)
    low, high = index_interval(index, draws, curve.target)
    slope = revenue.marginal_index(curve.law, moments, sold)
    return {
        "revenue_index": index,
        "index_low": low,
        "index_high": high,
        "p_in_valley": probability_below_one(index, draws, curve.target),
        "marginal_index": slope,
        "side": "descending" if slope < 0 else "ascending",
        # Without a cache the same busy seconds would have earned that much divided by the index.
        "lost_per_hour": sold.earned / index - sold.earned,
    }


def closed_forms(
    a: float | None, law: service_time.ServiceTime, input_tokens: float, price_ratio: float
) -> dict[str, Any]:
    """Return the article's floor, exit and depth; no exit where even a full hit earns less than no cache would.

    input_tokens: at which the law has the slope a. Of several prices the ratio is the revenue-weighted one: the
    straight line knows but one.
    """
    found = valley.locate_valley(a, price_ratio) if a is not None and 0 < a < 1 else None
    if found is None:
        return {"floor_hit_rate": None, "exit_hit_rate": None, "floor_depth": None}
    recovers = _full_hit_index(law, input_tokens, price_ratio) >= 1.0
    return {
        "floor_hit_rate": found.floor_hit_rate,
        "exit_hit_rate": found.exit_hit_rate if recovers else None,
        "floor_depth": found.floor_depth,
    }


def _valley_bounds(curve: Curve, price_ratio: float, *, has_exit: bool) -> dict[str, Any]:
    """Return the probability of a valley, and bounds of its floor, exit and depth; None where there may be none."""
    assert curve.a is not None
    assert curve.a_low is not None
    assert curve.a_high is not None
    known = valley_interval(curve.a, curve.a_low, curve.a_high, price_ratio)
    bounds: dict[str, Any] = {"p_valley": known.probability}
    for end, found in (("low", known.low), ("high", known.high)):
        bounds |= {
            f"floor_{end}": found.floor_hit_rate if found else None,
            f"exit_{end}": found.exit_hit_rate if found and has_exit else None,
            f"depth_{end}": found.floor_depth if found else None,
        }
    return bounds


def _full_hit_index(law: service_time.ServiceTime, input_tokens: float, price_ratio: float) -> float:
    """Return the index of requests of one length that are all cached; infinite where they cost no time at all."""
    if law.f == 0 and law.k == 0:
        return float("inf")
    full = service_time.TrafficMoments(1, input_tokens, input_tokens, 0, 0, 0, input_tokens**2)
    return service_time.revenue_index(law, full, price_ratio)
