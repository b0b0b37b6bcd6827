"""Whether a verdict may rest on a fitted curve, and if not, why.

Belongs here: thresholds with the evidence for each, and their application.
Does not belong here: fitting; coverage of cached_tokens (the caller adds `low_coverage` with `CurveFit.doubted`).
"""

from __future__ import annotations

from dataclasses import dataclass

from models.curve_fit import CurveFit, Reason


@dataclass(frozen=True, slots=True)
class TrustThresholds:
    """Limits a fit must respect. Measured: five simulated days of known truth and a real llama.cpp server."""

    min_minutes: int
    min_requests: int
    min_hit_range: float
    max_residual_scale: float
    max_half_difference: float
    max_slope_interval: float
    min_kept_share: float


PRODUCTION = TrustThresholds(
    min_minutes=60,
    min_requests=300,
    min_hit_range=0.2,
    max_residual_scale=0.3,
    max_half_difference=0.1,
    max_slope_interval=0.2,
    min_kept_share=0.5,
)

SWEEP = TrustThresholds(
    min_minutes=5,
    min_requests=5,
    min_hit_range=0.4,
    max_residual_scale=0.15,
    max_half_difference=0.1,
    max_slope_interval=0.2,
    min_kept_share=0.5,
)


def doubts(fit: CurveFit, *, half_difference: float, kept_share: float, limits: TrustThresholds) -> tuple[Reason, ...]:
    """Reasons not to trust a fit; none = trustworthy.

    half_difference: largest |ratio - 1| between the curves of the two halves of the data, in the observed hit range.
    kept_share: share of the rows that were usable and not dropped as outliers, in [0, 1].
    """
    found: dict[Reason, bool] = {
        "too_few": fit.n_minutes < limits.min_minutes or fit.n_requests < limits.min_requests,
        "narrow_hit_range": not _span(fit.x_low, fit.x_high) >= limits.min_hit_range,
        # c = 0 says that computing a token costs nothing; a >= 1 that throughput vanishes: neither is a curve.
        "poor_fit": not (
            (fit.law is None or fit.law.c > 0)
            and fit.a is not None
            and fit.a < 1
            and fit.residual_scale is not None
            and fit.residual_scale <= limits.max_residual_scale
            and kept_share >= limits.min_kept_share
        ),
        "unstable": not (
            half_difference <= limits.max_half_difference and _span(fit.a_low, fit.a_high) <= limits.max_slope_interval
        ),
    }
    return tuple(reason for reason, holds in found.items() if holds)


def _span(low: float | None, high: float | None) -> float:
    return float("nan") if low is None or high is None else high - low
