"""What every estimator of a throughput curve returns: numbers, their uncertainty, and whether to believe them.

Belongs here: the result type. Does not belong here: how it is computed (`busy_periods`, `envelope`, `sweep`) and judged
(`trust`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from models.domain import Array
from models.service_time import ServiceTime

Estimator: TypeAlias = Literal["busy_periods", "envelope", "sweep"]
Family: TypeAlias = Literal["service_time", "hyperbola", "line"]
Target: TypeAlias = Literal["busy_s", "ttft_s", "e2e_s"]
Reason: TypeAlias = Literal["too_few", "narrow_hit_range", "poor_fit", "unstable", "never_idle", "low_coverage"]


@dataclass(frozen=True, slots=True, eq=False)
class CurveFit:
    """A throughput curve of one deployment. None = not estimated; never a made-up number.

    law: the service-time law, for family "service_time". overhead_s: seconds per busy period (busy_periods) or request
    (envelope) that are not the engine's. target: the time that was regressed.
    tps0 [tokens/s], a: the line tps0 * (1 - a*x) at `reference_input_tokens` for x <= .9; *_low, *_high: 90 % interval.
    n_minutes: rows used, each at most a minute of one busy period (busy_periods), minutes with a request (envelope), or
    hit rates used (sweep).
    n_requests: requests in them. x_low, x_high: 5th and 95th percentile of the rows' token-weighted hit rate.
    residual_scale: typical |measured/fitted - 1| of all rows, dropped ones included (1.48 x median); of an envelope,
    the noise of the rows below it.
    reasons: why not trustworthy. draws: bootstrap laws, shape (n_draws, 4), columns f, c, q, k.
    """

    estimator: Estimator
    family: Family
    reference_input_tokens: float
    law: ServiceTime | None = None
    overhead_s: float | None = None
    tps0: float | None = None
    a: float | None = None
    tps0_low: float | None = None
    tps0_high: float | None = None
    a_low: float | None = None
    a_high: float | None = None
    n_minutes: int = 0
    n_requests: int = 0
    x_low: float | None = None
    x_high: float | None = None
    residual_scale: float | None = None
    trustworthy: bool = True
    reasons: tuple[Reason, ...] = ()
    draws: Array | None = None
    target: Target = "busy_s"

    def __post_init__(self) -> None:
        if self.trustworthy != (self.reasons == ()):
            raise ValueError(f"trustworthy is {self.trustworthy} with reasons {self.reasons}: exactly one must hold")

    def doubted(self, *reasons: Reason) -> CurveFit:
        """The same fit with further reasons not to trust it; without any, the fit itself."""
        every = tuple(dict.fromkeys(self.reasons + reasons))
        return replace(self, reasons=every, trustworthy=not every)
