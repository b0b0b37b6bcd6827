"""What is said of each deployment as a whole: its last 24 hours of traffic on its newest curve, from where the
engine or the model changed.

Belongs here: the verdict that `status`, the report and messages share, and the bathtub of this traffic. Does not belong
here: the hourly verdicts (`verdicts`), words (`words`), drawing.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import revenue, service_time
from models.bathtub import trace, valley_of_mix
from models.curve_fit import Target
from models.profit import BeyondInput
from models.uncertainty import index_interval
from pipelines import reason_codes, words
from pipelines.times import to_hour
from pipelines.verdict import Verdict
from pipelines.verdicts import moments_of, revenue_of
from pipelines.warehouse import Reader

HELD = "held"
NEVER_HOLDS = frozenset({"no_exit"})
"""Reasons that say something of the verdict, not why an hour allowed none."""
BATHTUB_GRID = np.round(np.arange(0.0, 1.0, 0.005), 3)
"""Hit rates at which the bathtub is drawn; floor and exit are exact."""


@dataclass(frozen=True, slots=True)
class Bathtub:
    """Revenue index of one traffic at other hit rates, reached by moving the same share of every request's tokens.

    hit_rate, index, low, high: shape (n,); the bounds are of a 90 % interval.
    """

    hit_rate: NDArray[np.float64]
    index: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Overview:
    """One deployment: the verdict, its newest curve (a row of `throughput_curve`), the law, the bathtub, the hours.

    moments: of its last 24 hours of traffic; None where these report no cached tokens.
    """

    deployment: str
    verdict: Verdict
    moments: service_time.TrafficMoments | None
    curve: dict[str, Any] | None
    law: service_time.ServiceTime | None
    draws: NDArray[np.float64]
    bathtub: Bathtub | None
    hours: list[dict[str, Any]]


def overviews(reader: Reader, deployment: str | None = None) -> list[Overview]:
    """Return every deployment of the snapshot, by name, or the one of this name: none where it is not known."""
    curves = {row["deployment"]: row for row in reader.rows("report/newest_curves")}
    hours: dict[str, list[dict[str, Any]]] = {}
    for row in reader.rows("report/recent_hours"):
        hours.setdefault(row["deployment"], []).append(row)
    draws: dict[str, list[tuple[float, ...]]] = {}
    for row in reader.rows("report/newest_draws"):
        draws.setdefault(row["deployment"], []).append((row["f"], row["c"], row["q"], row["k"]))
    return [
        _overview(
            traffic,
            curves.get(traffic["deployment"]),
            np.array(draws.get(traffic["deployment"], []), dtype=np.float64).reshape(-1, 4),
            hours.get(traffic["deployment"], []),
        )
        for traffic in reader.rows("report/recent_traffic")
        if deployment in (None, traffic["deployment"])
    ]


def _overview(
    traffic: dict[str, Any],
    curve: dict[str, Any] | None,
    draws: NDArray[np.float64],
    hours: list[dict[str, Any]],
) -> Overview:
    law = None
    if curve is not None and curve["trustworthy"]:
        law = service_time.ServiceTime(curve["f"], curve["c"], curve["q"], curve["k"])
    on_curve = _on_curve(traffic, hours)
    sold = _sold(traffic, on_curve) if on_curve else None
    ratio = None if sold is None else sold.price_ratio
    counted = (sold, law, draws)
    if on_curve and on_curve[-1]["revenue_scope"] == "full":
        counted = _full_scope(traffic, on_curve, law, draws)
    sold, counted_law, counted_draws = counted
    bathtub = None
    if curve is not None and counted_law is not None and sold is not None:
        bathtub = trace_bathtub(counted_law, counted_draws, moments_of(traffic), sold, curve["target"])
    verdict = _verdict(traffic, hours, curve, counted_law, counted_draws, sold, ratio, bathtub)
    moments = moments_of(traffic) if traffic["reported_input_tokens"] else None
    return Overview(traffic["deployment"], verdict, moments, curve, law, draws, bathtub, hours)


def _on_curve(traffic: dict[str, Any], hours: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the hours that the traffic's sums are of; those before were another engine's or model's."""
    return [hour for hour in hours if hour["hour_index"] >= traffic["first_hour"]]


def _newest_sale(hours: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the newest hour with tokens that are known, the newest of all where there is none: its prices are told."""
    return next((hour for hour in reversed(hours) if hour["hit_rate"] is not None), hours[-1])


def _sold(traffic: dict[str, Any], hours: list[dict[str, Any]]) -> revenue.Revenue | None:
    """Return what the traffic earned, hour by hour at its own prices.

    Where an hour has no price, or another currency, no sum is known: all is taken at the newest hour's price ratio.
    """
    last = _newest_sale(hours)
    if not traffic["reported_input_tokens"] or last["price_ratio"] is None:
        return None
    hours = [hour for hour in hours if hour["hit_rate"] is not None]
    is_known = all(hour["currency"] == last["currency"] for hour in hours)
    is_one_price = last["n_prices"] == 1 and all(
        hour[name] == last[name] for hour in hours for name in ("input_per_mtok", "cached_per_mtok")
    )
    if is_one_price or not is_known:
        return revenue.Revenue.at_ratio(moments_of(traffic), last["price_ratio"])
    return revenue_of(hours)


def _full_scope(
    traffic: dict[str, Any],
    hours: list[dict[str, Any]],
    law: service_time.ServiceTime | None,
    draws: NDArray[np.float64],
) -> tuple[revenue.Revenue | None, service_time.ServiceTime | None, NDArray[np.float64]]:
    """Return revenue and law with what the full scope adds; no revenue where an hour's is not known in one currency."""
    selling = [hour for hour in hours if hour["hit_rate"] is not None]
    is_known = all(hour["output_revenue"] is not None for hour in selling)
    if law is None or not selling or not is_known or len({hour["currency"] for hour in selling}) > 1:
        return None, law, draws
    beyond = BeyondInput(
        *(math.fsum(hour[name] or 0.0 for hour in selling) for name in BeyondInput.__dataclass_fields__)
    )
    moments = moments_of(traffic)
    both = service_time.ServiceTime(*beyond.coefficients(law.as_array(), moments))
    return beyond.revenue(revenue_of(selling)), both, beyond.coefficients(draws, moments)


def trace_bathtub(
    law: service_time.ServiceTime,
    draws: NDArray[np.float64],
    moments: service_time.TrafficMoments,
    sold: revenue.Revenue,
    target: Target,
) -> Bathtub:
    """Return the bathtub of this very traffic: exact on its second moments, not a curve at its mean."""
    index, *drawn = trace(np.vstack([law.as_array(), draws]), moments, sold.earnings, BATHTUB_GRID)
    scatter = np.reshape(drawn, (-1, len(index))).T
    bounds = np.array([index_interval(*there, target) for there in zip(index, scatter, strict=True)])
    return Bathtub(BATHTUB_GRID, index, bounds[:, 0], bounds[:, 1])


def _verdict(
    traffic: dict[str, Any],
    hours: list[dict[str, Any]],
    curve: dict[str, Any] | None,
    law: service_time.ServiceTime | None,
    draws: NDArray[np.float64],
    sold: revenue.Revenue | None,
    price_ratio: float | None,
    bathtub: Bathtub | None,
) -> Verdict:
    last = hours[-1] if hours else {}
    sale = _newest_sale(hours) if hours else {}
    codes = list(reason_codes.listed(last.get("reasons") or ""))
    is_decided = last.get("state") not in (None, "unknown")
    if last.get("is_held") and is_decided:
        codes = [code if code in NEVER_HOLDS else f"{HELD}:{code}" for code in codes]
        codes = codes if words.is_held(codes) else [HELD, *codes]
    known: dict[str, Any] = {
        "state": last.get("state"),
        "hit_rate": traffic["cached_tokens"] / traffic["reported_input_tokens"]
        if traffic["reported_input_tokens"]
        else None,
        "mean_request_hit_rate": traffic["mean_request_hit_rate"],
        "busy_hit_rate": traffic["busy_hit_rate"],
        "coverage": traffic["n_reported"] / traffic["n_requests"] if traffic["n_requests"] else None,
        "n_requests": traffic["n_requests"],
        "n_failed": traffic["n_failed"],
        "reasons": tuple(codes),
        "last_hour": to_hour(traffic["last_hour"]),
    }
    known |= {name: last.get(name) for name in ("regime", "busy_share")}
    known |= {
        name: sale.get(name) for name in ("price_ratio", "input_per_mtok", "cached_per_mtok", "n_prices", "currency")
    }
    # What hours cost was published with each; a curve of today that is not trusted does not take it back.
    if any(hour["lost_per_hour"] is not None for hour in hours):
        known |= _lost(hours, sale["currency"])
    if curve is not None:
        known |= {"estimator": curve["estimator"], "target": curve["target"], "chunk_tokens": curve["chunk_tokens"]}
        known["tail_chunk_s_per_day"] = curve["tail_chunk_s_per_day"]
    if curve is not None and law is not None and sold is not None and bathtub is not None:
        known["price_ratio"] = price_ratio
        known |= _worth(law, draws, moments_of(traffic), sold, curve["target"])
        valley = valley_of_mix(law, moments_of(traffic), sold.earnings)
        known |= asdict(valley) if valley is not None else {}
        known["tail_chunk_lost_per_day"] = _tail_lost(curve, law, moments_of(traffic), _on_curve(traffic, hours))
        known["lever"] = _lever(known, law, moments_of(traffic), sold)
    return Verdict(**known)


def _lost(hours: list[dict[str, Any]], currency: str | None) -> dict[str, Any]:
    """Return what the hours lost in one currency and how many of them say; nothing known is None, never 0."""
    lost = [hour["lost_per_hour"] for hour in hours if hour["currency"] == currency]
    said = [amount for amount in lost if amount is not None]
    return {"lost_24h": math.fsum(said) if said else None, "lost_hours": len(said), "traffic_hours": len(hours)}


def _tail_lost(
    curve: dict[str, Any],
    law: service_time.ServiceTime,
    moments: service_time.TrafficMoments,
    hours: list[dict[str, Any]],
) -> float | None:
    """Return what the busy seconds of small last chunks would earn in a day, each what one of this traffic does."""
    earned = _earned(moments, hours)
    if curve["tail_chunk_s_per_day"] is None or earned is None:
        return None
    return float(curve["tail_chunk_s_per_day"] * earned / service_time.busy_s(law, moments))


def _earned(moments: service_time.TrafficMoments, hours: list[dict[str, Any]]) -> float | None:
    """Return the money of the traffic, all at the newest hour's prices where an hour's is not known.

    None where that hour has several.
    """
    last = _newest_sale(hours)
    selling = [hour for hour in hours if hour["hit_rate"] is not None]
    if all(hour["currency"] == last["currency"] for hour in selling):
        return revenue_of(selling).earned
    if last["input_per_mtok"] is None:
        return None
    return float(moments.miss_tokens * last["input_per_mtok"] + moments.cached_tokens * last["cached_per_mtok"]) / 1e6


def _worth(
    law: service_time.ServiceTime,
    draws: NDArray[np.float64],
    moments: service_time.TrafficMoments,
    sold: revenue.Revenue,
    target: Target,
) -> dict[str, Any]:
    index = revenue.revenue_index(law, moments, sold)
    low, high = index_interval(index, revenue.revenue_index_draws(draws, moments, sold), target)
    slope = revenue.marginal_index(law, moments, sold)
    return {
        "revenue_index": index,
        "index_low": low,
        "index_high": high,
        "side": "descending" if slope < 0 else "ascending",
    }


def _lever(
    known: dict[str, Any], law: service_time.ServiceTime, moments: service_time.TrafficMoments, sold: revenue.Revenue
) -> str | None:
    """Say what would bring the index back to 1: a hit rate, or a price; None where it is there already."""
    if known["revenue_index"] >= 1 or moments.cached_tokens == 0:
        return None
    busy_share_left = service_time.busy_s(law, moments) / service_time.busy_without_cache_s(law, moments)
    # Cached tokens have to bring in what is missing; where output is counted, it is part of what is there.
    missing = sold.without_cache * busy_share_left - sold.earned
    break_even = known["price_ratio"] + missing / sold.cached_at_miss_price
    price = f"sell cached tokens at {break_even:.1%} of a computed one instead of {known['price_ratio']:.1%}"
    if known["exit_hit_rate"] is None:
        return price
    return f"raise the hit rate to {known['exit_hit_rate']:.1%}, or {price}"
