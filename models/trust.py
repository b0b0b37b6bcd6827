"""Whether a verdict may rest on a fitted curve, and if not, why.

Belongs here: thresholds with the evidence for each, and their application.
Does not belong here: fitting; coverage of cached_tokens (the caller adds `low_coverage` with `CurveFit.doubted`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from models.curve_fit import CurveFit, Reason


@dataclass(frozen=True, slots=True)
class TrustThresholds:
    """Limits that a fit must respect; the comments at the values give the evidence."""

    min_minutes: int
    min_requests: int
    min_hit_range: float
    max_residual_scale: float
    max_half_difference: float
    max_slope_interval: float
    min_kept_share: float
    overhead_range_s: tuple[float, float] = (-inf, inf)
    min_overhead_share: float = 0.0
    max_load_difference: float = inf
    max_saving_interval: float = inf


# Measured on five simulated days of known truth ("days"; index within 1 %, none doubted) and on six fits of three
# llama.cpp replays ("replays"), of which two are useless: 67 rows of 266 requests, and 210 rows of 420.
PRODUCTION = TrustThresholds(
    # 67 rows: halves differ by 130 %. From 358 rows on: by 8 % at most.
    min_minutes=120,
    min_requests=300,
    # The stated bound. Of services whose requests lie within .15 or .17 of hit rate, none is trusted. Of those that lie
    # between .6 and .99 more than eight in ten intervals hold the truth, wider the less is seen of low hit rates
    # (`uncertainty`). No spread of lengths is asked for: with all prompts of one length, .89 of the intervals hold the
    # index and .96 the slope. Too few hold the index where such prompts have hit rates of 0 to .95: .74 of 27 trusted.
    min_hit_range=0.2,
    # Days .01 to .09; good replays .13 to .16, two requests sharing a processor; useless ones .28 and .35.
    max_residual_scale=0.25,
    # Days up to .02; good replays .04 to .08; useless ones .18 and 1.3.
    max_half_difference=0.1,
    # Intervals that hold the truth are wider than the bootstrap's: half of 300 simulated services up to .05, nine in
    # ten up to .25. At r = .1, .2 of slope moves the exit by about .15.
    max_slope_interval=0.25,
    # An index within 10 %. Of those 300, five exceed it: their indices were up to 24 % off, those of the others 4.5 %.
    max_saving_interval=0.1,
    # The least seen is .80. With half the rows gone, the fit describes a deployment that does not exist.
    min_kept_share=0.5,
    # Networks and gateways add .01 to .3 s, and a good replay of requests that share a processor says -.12. Arrivals
    # and first tokens from clocks that disagree by 1 or 2 s gave an index up to 43 % off with no other sign of it.
    overhead_range_s=(-0.2, 1.0),
    # Requests of 3 s, a tenth of them missing from the log, say -.23 s, .07 of a request, and the index is within 1 %.
    min_overhead_share=-0.1,
    # Of 600 simulated services nearly all are below .1. Beyond .2 the index was up to 7 % off: steps that many requests
    # share when the engine is busy, and none when it is quiet.
    max_load_difference=0.2,
)

# Measured on two quiet llama.cpp sweeps, five simulated ones, and one made on a busy machine, which is useless.
SWEEP = TrustThresholds(
    # Hit rates: two for the line, the others to contradict it.
    min_minutes=5,
    min_requests=5,
    # The 5th to 95th percentile of 0 to .9 is .04 to .86; the useless sweep covers .5 to .9.
    min_hit_range=0.4,
    # Quiet .03 and .05, simulated up to .03, useless .10.
    max_residual_scale=0.08,
    max_half_difference=0.1,
    # Quiet .08 and .11 from three repeats; useless .85.
    max_slope_interval=0.2,
    min_kept_share=0.5,
)

# Measured on 13 simulated services by ttft_s and by e2e_s with 0, 10 and 20 % of noise ("services"), on three that are
# overloaded all day and on closed loops of 2, 4 and 16 requests without a pause, none of which is ever idle.
ENVELOPE = TrustThresholds(
    min_minutes=120,
    # At 300 by ttft_s, a of the fits that look stable was up to .09 off, at 1,000 .02; by e2e_s .06 at 1,000.
    min_requests=1_000,
    min_hit_range=0.2,
    # 77 of 78 fits of services up to .35; overloaded ones from 1.2, closed loops of 4 and 16 from .37 by ttft_s.
    max_residual_scale=0.36,
    # Refuses 1 of 39 fits of services by ttft_s and 10 of 39 by e2e_s, good ones among them: it is all that tells of
    # the e2e_s fits whose a is .1 to .2 off because decoding buries the prompts, and not of every one.
    max_half_difference=0.2,
    # Beyond are services whose fixed cost may be the network's: there a was up to .2 too high, where it is near 0.
    max_slope_interval=0.2,
    # Rows far below the envelope are no service times: of another unit, of a response cache, of a shifted clock.
    min_kept_share=0.97,
)


@dataclass(frozen=True, slots=True)
class Floor:
    """What tells an idle engine's envelope from a queue's.

    fixed_s: the fitted fixed cost, overhead included [s]. evenness: least share of rows near the envelope in any part
    of the (M, P) plane over their share in all of it, in [0, 1].
    """

    fixed_s: float
    evenness: float


# Fixed costs of large models are up to .11 s (published kernel measurements); services came out up to .07 s by ttft_s
# and .28 s by e2e_s, overhead included; closed loops of 2 by e2e_s from .32 s, all longer queues from .8 s.
MAX_FIXED_S = 0.3
# Services from .51 on; closed loops of 2 and 4 by ttft_s, of which that of 2 has a fixed cost of .15 s, .32 to .49;
# overloaded ones .05 to .29.
MIN_EVENNESS = 0.5


def floor_doubts(floor: Floor) -> tuple[Reason, ...]:
    """The reason never_idle where the envelope is a queue's and not an engine's; else none."""
    return () if floor.fixed_s <= MAX_FIXED_S and floor.evenness >= MIN_EVENNESS else ("never_idle",)


def doubts(
    fit: CurveFit,
    *,
    half_difference: float,
    kept_share: float,
    limits: TrustThresholds,
    load_difference: float = 0.0,
    saving_interval: float = 0.0,
    unbounded_overhead_s: float = 0.0,
    service_s: float = 0.0,
) -> tuple[Reason, ...]:
    """Reasons not to trust a fit; none = trustworthy.

    half_difference: largest |ratio - 1| between the curves of the two halves of the data, in the observed hit range.
    load_difference: the same between busy and quiet hours.
    saving_interval: width of the interval, over the value, of how much faster the traffic is than without a cache.
    kept_share: share of the rows, or of their requests if less, that were usable and no outliers, in [0, 1].
    unbounded_overhead_s: seconds per busy period that are not the engine's, were they allowed to be negative: as they
    are where first tokens are timed by a clock that is behind that of arrivals. service_s: busy seconds per request.
    """
    least_s, most_s = limits.overhead_range_s
    least_s = min(least_s, limits.min_overhead_share * service_s)
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
            and least_s <= unbounded_overhead_s <= most_s
        ),
        "unstable": not (
            half_difference <= limits.max_half_difference
            and load_difference <= limits.max_load_difference
            and saving_interval <= limits.max_saving_interval
            and _span(fit.a_low, fit.a_high) <= limits.max_slope_interval
        ),
    }
    return tuple(reason for reason, holds in found.items() if holds)


def _span(low: float | None, high: float | None) -> float:
    return float("nan") if low is None or high is None else high - low
