"""What is said of each deployment as a whole: its last 24 hours of traffic on its newest curve.

Belongs here: the verdict that `status`, the report and messages share, and the bathtub of this traffic. Does not belong
here: the hourly verdicts (`verdicts`), words (`words`), drawing.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import service_time
from models.bathtub import valley_of_mix
from models.curve_fit import Target
from models.uncertainty import index_interval
from pipelines.times import to_hour
from pipelines.verdict import Verdict
from pipelines.verdicts import moments_of
from pipelines.warehouse import Reader

HELD = "held"
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
    """One deployment: the verdict, its newest curve (a row of `throughput_curve`), the law, the bathtub, the hours."""

    deployment: str
    verdict: Verdict
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
    last = hours[-1] if hours else None
    price_ratio = last["price_ratio"] if last else None
    bathtub = None
    if curve is not None and law is not None and price_ratio is not None and traffic["reported_input_tokens"] > 0:
        bathtub = trace_bathtub(law, draws, moments_of(traffic), price_ratio, curve["target"])
    verdict = _verdict(traffic, hours, curve, law, draws, bathtub)
    return Overview(traffic["deployment"], verdict, curve, law, draws, bathtub, hours)


def trace_bathtub(
    law: service_time.ServiceTime,
    draws: NDArray[np.float64],
    moments: service_time.TrafficMoments,
    price_ratio: float,
    target: Target = "busy_s",
) -> Bathtub:
    """Return the bathtub of this very traffic: exact on its second moments, not a curve at its mean."""
    x = moments.cached_tokens / moments.input_tokens
    shares = [(to - x) / (1 - x) if to >= x and x < 1 else (to - x) / x for to in BATHTUB_GRID]
    moved = [service_time.shift_misses_to_hits(moments, share) for share in shares]
    index = np.array([service_time.revenue_index(law, there, price_ratio) for there in moved])
    bounds = np.array([
        index_interval(value, service_time.revenue_index_draws(draws, there, price_ratio), target)
        for value, there in zip(index, moved, strict=True)
    ])  # fmt: skip
    return Bathtub(BATHTUB_GRID, index, bounds[:, 0], bounds[:, 1])


def _verdict(
    traffic: dict[str, Any],
    hours: list[dict[str, Any]],
    curve: dict[str, Any] | None,
    law: service_time.ServiceTime | None,
    draws: NDArray[np.float64],
    bathtub: Bathtub | None,
) -> Verdict:
    last = hours[-1] if hours else {}
    codes = [code for code in (last.get("reasons") or "").split(",") if code]
    is_decided = last.get("state") not in (None, "unknown")
    if last.get("is_held") and is_decided:
        codes = [f"{HELD}:{code}" for code in codes] or [HELD]
    known: dict[str, Any] = {
        "state": last.get("state"),
        "hit_rate": traffic["cached_tokens"] / traffic["reported_input_tokens"]
        if traffic["reported_input_tokens"]
        else None,
        "coverage": traffic["n_reported"] / traffic["n_requests"] if traffic["n_requests"] else None,
        "n_requests": traffic["n_requests"],
        "n_failed": traffic["n_failed"],
        "reasons": tuple(codes),
        "last_hour": to_hour(traffic["last_hour"]),
    }
    known |= {
        name: last.get(name)
        for name in ("price_ratio", "input_per_mtok", "cached_per_mtok", "currency", "regime", "busy_share")
    }
    if curve is not None:
        known |= {"estimator": curve["estimator"], "target": curve["target"], "chunk_tokens": curve["chunk_tokens"]}
        known["tail_chunk_s_per_day"] = curve["tail_chunk_s_per_day"]
    if curve is not None and law is not None and bathtub is not None:
        known |= _worth(law, draws, moments_of(traffic), last["price_ratio"], curve["target"])
        valley = valley_of_mix(law, moments_of(traffic), last["price_ratio"])
        known |= asdict(valley) if valley is not None else {}
        known |= _lost(hours, last["currency"])
        known["tail_chunk_lost_per_day"] = _tail_lost(curve, law, moments_of(traffic), last)
        known["lever"] = _lever(known, law, moments_of(traffic))
    return Verdict(**known)


def _lost(hours: list[dict[str, Any]], currency: str) -> dict[str, Any]:
    """Return what the hours lost in one currency and how many of them say; nothing known is None, never 0."""
    lost = [hour["lost_per_hour"] for hour in hours if hour["currency"] == currency]
    said = [amount for amount in lost if amount is not None]
    return {"lost_24h": math.fsum(said) if said else None, "lost_hours": len(said), "traffic_hours": len(hours)}


def _tail_lost(
    curve: dict[str, Any], law: service_time.ServiceTime, moments: service_time.TrafficMoments, last: dict[str, Any]
) -> float | None:
    """Return what the busy seconds of small last chunks would earn in a day, each what one of this traffic does."""
    if curve["tail_chunk_s_per_day"] is None:
        return None
    earned = moments.miss_tokens * last["input_per_mtok"] + moments.cached_tokens * last["cached_per_mtok"]
    return float(curve["tail_chunk_s_per_day"] * earned / 1e6 / service_time.busy_s(law, moments))


def _worth(
    law: service_time.ServiceTime,
    draws: NDArray[np.float64],
    moments: service_time.TrafficMoments,
    price_ratio: float,
    target: Target,
) -> dict[str, Any]:
    index = service_time.revenue_index(law, moments, price_ratio)
    low, high = index_interval(index, service_time.revenue_index_draws(draws, moments, price_ratio), target)
    slope = service_time.marginal_index(law, moments, price_ratio)
    return {
        "revenue_index": index,
        "index_low": low,
        "index_high": high,
        "side": "descending" if slope < 0 else "ascending",
    }


def _lever(known: dict[str, Any], law: service_time.ServiceTime, moments: service_time.TrafficMoments) -> str | None:
    """Say what would bring the index back to 1: a hit rate, or a price; None where it is there already."""
    if known["revenue_index"] >= 1 or moments.cached_tokens == 0:
        return None
    busy_share_left = service_time.busy_s(law, moments) / service_time.busy_without_cache_s(law, moments)
    break_even = (moments.input_tokens * busy_share_left - moments.miss_tokens) / moments.cached_tokens
    price = f"sell cached tokens at {break_even:.1%} of a computed one instead of {known['price_ratio']:.1%}"
    if known["exit_hit_rate"] is None:
        return price
    return f"raise the hit rate to {known['exit_hit_rate']:.1%}, or {price}"
