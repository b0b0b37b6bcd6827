"""How often intervals hold the truth, and how wide they are: the study that the own errors in `uncertainty` rest on.

    python -P -m tests.models.coverage [FIRST LAST]      from the root of the repository

Belongs here: judging fits of random services. Does not belong here: drawing services (`random_services`), thresholds.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from models.busy_periods import fit_busy_periods
from models.curve_fit import CurveFit
from models.envelope import fit_envelope
from models.service_time import revenue_index, revenue_index_draws
from models.uncertainty import index_interval
from models.valley import locate_valley
from models.valley_interval import valley_interval
from tests.models.engines import busy_rows
from tests.models.random_services import Service, draw

PRICE_RATIOS = (0.25, 0.1, 0.05, 0.02)
TARGETS = ("busy_s", "ttft_s", "e2e_s")
QUANTITIES = ("index", "tps0", "a", "floor", "exit", "depth")


@dataclass(frozen=True)
class Held:
    """One interval of a trusted fit; a bound that is None reaches as far as there is anything."""

    quantity: str
    truth: float
    value: float
    low: float | None
    high: float | None

    @property
    def holds(self) -> bool:
        """Whether the truth lies in the interval."""
        return (self.low is None or self.low <= self.truth) and (self.high is None or self.truth <= self.high)


def fit(service: Service, target: str) -> CurveFit:
    """The curve of a service by the estimator that regresses this time."""
    options = {"reference_input_tokens": service.input_tokens, "seed": service.number}
    if target == "busy_s":
        return fit_busy_periods(busy_rows(service.log), **options)
    return fit_envelope(service.envelope_rows(target), target=target, **options)


def judge(service: Service, found: CurveFit) -> list[Held]:
    """Every interval of the fit beside the truth. Floor, exit and depth only at prices with a true valley."""
    true_tps0, true_a = service.line
    assert found.law is not None
    held = [
        Held("tps0", true_tps0, found.tps0, found.tps0_low, found.tps0_high),
        Held("a", true_a, found.a, found.a_low, found.a_high),
    ]
    for r in PRICE_RATIOS:
        index = revenue_index(found.law, service.moments, r)
        draws = revenue_index_draws(found.draws, service.moments, r)
        held.append(Held("index", service.index(r), index, *index_interval(index, draws, found.target)))
        valley = locate_valley(true_a, r)
        if valley is None:
            continue
        known, here = valley_interval(found.a, found.a_low, found.a_high, r), locate_valley(found.a, r)
        for name in ("floor_hit_rate", "exit_hit_rate", "floor_depth"):
            value, low, high = (getattr(end, name) if end else None for end in (here, known.low, known.high))
            if known.high is None:
                # The interval says that there is no valley; there is one.
                high = 0.0
            held.append(
                Held(name.replace("floor_depth", "depth").split("_")[0], getattr(valley, name), value, low, high)
            )
    return held


def study(numbers: Iterable[int], targets=TARGETS):
    """For each target: intervals of the trusted fits, the trusted services' numbers, and reasons of the others."""
    held = {target: [] for target in targets}
    trusted = {target: [] for target in targets}
    reasons = {target: Counter() for target in targets}
    for number in numbers:
        service = draw(number)
        for target in targets:
            found = fit(service, target)
            reasons[target].update(found.reasons)
            if found.trustworthy:
                trusted[target].append(number)
                held[target] += judge(service, found)
    return held, trusted, reasons


def coverage(held: list[Held], quantity: str) -> float:
    """Share of the intervals of a quantity that hold the truth."""
    return float(np.mean([one.holds for one in held if one.quantity == quantity]))


def main(first: int, last: int) -> None:
    """Print a table: share that holds the truth, median and largest width, median and largest error."""
    held, trusted, reasons = study(range(first, last))
    for target, every in held.items():
        print(f"{target}: {len(trusted[target])} of {last - first} trusted; {dict(reasons[target])}")
        for quantity in QUANTITIES:
            own = [one for one in every if one.quantity == quantity]
            scale = [one.truth if quantity in ("index", "tps0") else 1.0 for one in own]
            width = [(o.high - o.low) / s for o, s in zip(own, scale, strict=True) if None not in (o.high, o.low)]
            error = [abs(o.value - o.truth) / s for o, s in zip(own, scale, strict=True) if o.value is not None]
            print(
                f"  {quantity:6} {coverage(every, quantity):.3f} of {len(own):4}  width {np.median(width):.4f}"
                f" {max(width):.3f}  error {np.median(error):.4f} {max(error):.3f}"
            )


if __name__ == "__main__":
    main(*(map(int, sys.argv[1:]) if len(sys.argv) == 3 else (1_000, 1_300)))
