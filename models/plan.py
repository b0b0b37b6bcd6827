"""Which few benchmark points would tell the most about a verdict that is not certain.

Belongs here: what to know better, whether a measurement would help, and the points that help most.
Does not belong here: what is known already (`knowledge`); the sizes that can be asked and the arithmetic of designs
(`design`); fitting what was measured (`length_sweep`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.bathtub import valleys_of_mix
from models.design import Design, with_level
from models.domain import Array, require
from models.knowledge import Knowledge, of_nothing
from models.sensitivity import exit_gradient, log_index_gradient
from models.service_time import TrafficMoments, revenue_index_draws

Quantity: TypeAlias = Literal["exit_hit_rate", "revenue_index"]
Outcome: TypeAlias = Literal["measure", "suffices", "no_valley"]

# `valleywatch fit` compares two halves of a benchmark, each of which must show four coefficients.
N_POINTS = 8
ENOUGH = 0.01
"""Half of a 90 % interval, in hit rate or index, that is narrow enough."""
CERTAIN = 0.99
"""Share of what the truth may be that has no valley, from which there is none."""
N_SAMPLES = 1000
# Of them, laws that expected widths are averaged over: gradients differ where the truth may lie far off.
N_AVERAGED = 128


@dataclass(frozen=True, slots=True)
class PlannedPoint:
    """One benchmark point: requests of so many tokens of which so many are cached.

    half_width: half of the 90 % interval to be expected once this point and those before it are measured.
    """

    input_tokens: int
    cached_tokens: int
    half_width: float

    @property
    def hit_rate(self) -> float:
        """Cached share of the input."""
        return self.cached_tokens / self.input_tokens


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """quantity: what is to be known better: the exit, or the index of the traffic as it is where there is no exit.

    value: its estimate; None where no curve gives one. half_width: half of its 90 % interval now; without a curve, the
    mean over the engines that it may be. p_no_valley: share of what the truth may be that has no valley. points: in the
    order in which they tell most. enough_after: how many make the interval narrow enough; None if all do not.
    alone_half_width: of all points and nothing that was known before; infinite where they do not tell.
    """

    outcome: Outcome
    quantity: Quantity
    value: float | None
    half_width: float
    p_no_valley: float
    noise: float
    points: tuple[PlannedPoint, ...] = ()
    enough_after: int | None = None
    alone_half_width: float | None = None


def plan_measurements(
    knowledge: Knowledge,
    moments: TrafficMoments,
    price_ratio: float,
    sizes: NDArray[np.int64],
    *,
    noise: float,
    seed: int = 0,
) -> MeasurementPlan:
    """Plan up to eight points out of `sizes`, input and cached tokens, shape (n, 2), for this traffic at this price.

    noise: relative standard deviation of a point's time, > 0. What the deployment's curve says is enough where the 90 %
    interval of the exit is within .01 either way, or that of the index leaves 1 out.
    """
    require(noise > 0, "noise", noise, rule="> 0, relative")
    possible = _possible_laws(knowledge, seed)
    quantity, laws, gradient = _quantity(knowledge, moments, price_ratio, possible[:N_AVERAGED])
    design = Design.of(laws, gradient, knowledge.covariance, sizes, noise)
    plan = MeasurementPlan(
        outcome="measure",
        quantity=quantity,
        value=_value(quantity, moments, price_ratio, knowledge.laws) if knowledge.is_measured else None,
        half_width=design.half_width([]),
        p_no_valley=float(np.isnan(valleys_of_mix(possible, moments, price_ratio).floor_hit_rate).mean()),
        noise=noise,
    )
    if plan.p_no_valley >= CERTAIN:
        return replace(plan, outcome="no_valley")
    if plan.value is not None and _is_enough(quantity, plan.value, plan.half_width):
        return replace(plan, outcome="suffices")
    chosen = _chosen(design, knowledge)
    widths = [design.half_width(chosen[: n + 1]) for n in range(len(chosen))]
    return replace(
        plan,
        points=tuple(
            PlannedPoint(int(sizes[at, 0]), int(sizes[at, 1]), width) for at, width in zip(chosen, widths, strict=True)
        ),
        enough_after=_enough_after(widths),
        alone_half_width=design.half_width_alone(chosen),
    )


def _chosen(design: Design, knowledge: Knowledge) -> list[int]:
    """As few as narrow the interval enough beside what is known; then those that narrow it most without it."""
    few = design.best(N_POINTS)
    enough = _enough_after([design.half_width(few[: n + 1]) for n in range(len(few))])
    if not knowledge.is_measured or enough is None:
        return few
    return replace(design, covariance=with_level(of_nothing(knowledge.laws[0, 1]).covariance)).best(
        N_POINTS, given=few[:enough]
    )


def _enough_after(half_widths: list[float]) -> int | None:
    return next((n + 1 for n, width in enumerate(half_widths) if width <= ENOUGH), None)


def _possible_laws(knowledge: Knowledge, seed: int) -> Array:
    """Laws that may be true, (m, 4): those of a curve scattered as its covariance says, itself the first."""
    if not knowledge.is_measured:
        return knowledge.laws
    drawn = np.random.default_rng(seed).standard_normal((N_SAMPLES, 4)) @ knowledge.root.T
    laws = np.vstack([knowledge.laws, np.maximum(knowledge.laws + drawn, 0.0)])
    return laws[laws[:, :3].any(axis=1)]


def _quantity(
    knowledge: Knowledge, moments: TrafficMoments, price_ratio: float, laws: Array
) -> tuple[Quantity, Array, Array]:
    """What to know, the laws (m, 4) under which it is something to know, and its gradient (m, 4) there.

    It is the exit where the curve has one; without a curve, where at least half of the possible laws have one.
    """
    found = valleys_of_mix(laws, moments, price_ratio).exit_hit_rate
    has_exit = np.isfinite(found)
    if has_exit[0] if knowledge.is_measured else 2 * has_exit.sum() >= len(laws):
        laws = laws[has_exit]
        return "exit_hit_rate", laws, exit_gradient(laws, moments, price_ratio, found[has_exit])
    index = revenue_index_draws(laws, moments, price_ratio)[:, np.newaxis]
    return "revenue_index", laws, index * log_index_gradient(laws, moments)


def _value(quantity: Quantity, moments: TrafficMoments, price_ratio: float, laws: Array) -> float:
    if quantity == "exit_hit_rate":
        return float(valleys_of_mix(laws, moments, price_ratio).exit_hit_rate[0])
    return float(revenue_index_draws(laws, moments, price_ratio)[0])


def _is_enough(quantity: Quantity, value: float, half_width: float) -> bool:
    return half_width <= ENOUGH or (quantity == "revenue_index" and abs(value - 1) > half_width)
