"""What the operator of one deployment should measure: its newest curve, traffic and price, put before `models.plan`.

Belongs here: reading the snapshot, naming what it lacks. Does not belong here: choosing points (`models/plan.py`),
words (`plan_result`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from models.design import benchmark_sizes
from models.knowledge import learned, of_curve, of_nothing
from models.length_sweep import MAX_POINTS
from models.plan import MeasurementPlan, plan_measurements
from pipelines import reason_codes
from pipelines.display import shown
from pipelines.errors import UsageError
from pipelines.overview import overviews
from pipelines.priced_traffic import last_24_hours
from pipelines.warehouse import Reader

DEFAULT_PRICE_RATIO = 0.1
FEWEST_REQUESTS, MOST_REQUESTS = 5, 50
"""Per point; their median is the point."""
USUAL_NOISE = 0.02
"""Relative standard deviation that a point should have: a trusted curve tells how many requests that takes."""
LEAST_NOISE = 0.01
"""What the service-time law itself is off by (curves of simulated engines within 1.3 %): no repeating removes it."""
LENGTH_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Of the tokens by the length of their prompt."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan and what it rests on.

    hit_rate: of its last 24 hours of traffic. price_basis: given, own or default. reasons: why the curve is not
    trusted. benchmark_residual: relative; None where nothing was measured.
    """

    deployment: str
    price_ratio: float
    price_basis: str
    hit_rate: float
    chunk_tokens: int | None
    reasons: tuple[str, ...]
    plan: MeasurementPlan
    requests_per_point: int
    benchmark_points: int
    benchmark_residual: float | None


def plan_for(
    reader: Reader, deployment: str, *, price_ratio: float | None = None, benchmark: pl.DataFrame | None = None
) -> Planned:
    """Plan for a deployment of the snapshot; benchmark: hit_rate, input_tokens and busy_s of what is measured already.

    Raises UsageError for a deployment that the snapshot does not know, or that reports no cached tokens.
    """
    last_24_hours(reader, deployment)  # refuses names of no deployment
    (seen,) = overviews(reader, deployment)
    if seen.moments is None:
        raise UsageError(
            f"--plan {shown(deployment)}: no request of its last 24 hours of traffic reports cached tokens, so there "
            "is no hit rate to plan for; `valleywatch formats` says how to switch them on"
        )
    ratio, basis = _price_ratio(seen.verdict.price_ratio, price_ratio)
    curve = seen.curve
    trusted = curve if curve and curve["trustworthy"] else None
    n_requests, noise = _requests_and_noise(trusted["residual_scale"] if trusted else None)
    # A curve that must not be trusted tells nothing.
    knowledge = of_nothing()
    if trusted and seen.law:
        length, target = trusted["reference_input_tokens"], trusted["target"]
        knowledge = of_curve(seen.law, seen.draws, moments=seen.moments, reference_input_tokens=length, target=target)
    points, residual = 0, None
    if benchmark is not None:
        sizes, seconds = _points(benchmark)
        points = len(sizes)
        knowledge, residual = learned(knowledge, sizes, seconds, noise=noise)
    chunk_tokens = curve["chunk_tokens"] if curve else None
    lengths = _lengths(reader.rows("report/recent_lengths", deployment=deployment))
    return Planned(
        deployment=deployment,
        price_ratio=ratio,
        price_basis=basis,
        hit_rate=seen.moments.cached_tokens / seen.moments.input_tokens,
        chunk_tokens=chunk_tokens,
        reasons=_reasons(curve),
        plan=plan_measurements(knowledge, seen.moments, ratio, benchmark_sizes(lengths, chunk_tokens), noise=noise),
        requests_per_point=n_requests,
        benchmark_points=points,
        benchmark_residual=residual,
    )


def _price_ratio(own: float | None, given: float | None) -> tuple[float, str]:
    """Return the ratio and where it is from: given, that of the traffic as `status` has it, or the default."""
    if given is not None:
        return given, "given"
    return (DEFAULT_PRICE_RATIO, "default") if own is None else (own, "own")


def _requests_and_noise(residual_scale: float | None) -> tuple[int, float]:
    """Return the requests a point needs and its noise, from the scatter of the rows of a trusted curve."""
    if residual_scale is None:
        return FEWEST_REQUESTS, USUAL_NOISE
    n_requests = min(max(math.ceil((residual_scale / USUAL_NOISE) ** 2), FEWEST_REQUESTS), MOST_REQUESTS)
    return n_requests, max(LEAST_NOISE, residual_scale / n_requests**0.5)


def _reasons(curve: dict[str, Any] | None) -> tuple[str, ...]:
    if curve is None:
        return ("no_curve",)
    return () if curve["trustworthy"] else reason_codes.listed(curve["reasons"])


def _points(benchmark: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return input and cached tokens of every size that was measured, (n, 2), and its median seconds (n,)."""
    sizes = (
        benchmark.with_columns(cached_tokens=(pl.col("hit_rate") * pl.col("input_tokens")).round())
        .group_by("input_tokens", "cached_tokens", maintain_order=True)
        .agg(pl.col("busy_s").median())
        .filter(pl.col("busy_s") > 0)
    )
    if not 0 < sizes.height <= MAX_POINTS:
        raise UsageError(
            f"{sizes.height} different prompt sizes with a time above 0: a benchmark has 1 to {MAX_POINTS}, more look "
            "like traffic; give the log of the planned requests alone"
        )
    return sizes.select("input_tokens", "cached_tokens").to_numpy(), sizes["busy_s"].to_numpy()


def _lengths(bins: Sequence[dict[str, Any]]) -> list[float]:
    """Return the prompt lengths at which these shares of the tokens lie in shorter prompts."""
    shares = np.cumsum([row["input_tokens"] for row in bins]) / sum(row["input_tokens"] for row in bins)
    means = [row["input_tokens"] / row["n_requests"] for row in bins]
    return sorted({means[int(np.searchsorted(shares, quantile))] for quantile in LENGTH_QUANTILES})
