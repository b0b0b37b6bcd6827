"""A measurement plan as the fields and the sentences that `valleywatch fit --plan` prints.

Belongs here: what is said of a plan, and how to carry it out. Does not belong here: making it (`planning`).
"""

from __future__ import annotations

import math
from typing import Any

from models.chunks import CHUNK_TOKENS
from models.knowledge import PLAUSIBLE_STEPS
from models.plan import CERTAIN
from pipelines.display import shown
from pipelines.planning import DEFAULT_PRICE_RATIO, Planned
from pipelines.words import because

_PRICE = {
    "given": "as given",
    "own": "its own",
    "default": f"no price is configured for its newest traffic: the default {DEFAULT_PRICE_RATIO:g} stands in",
}
_QUANTITIES = {"exit_hit_rate": "exit hit rate", "revenue_index": "revenue index"}


def plan_fields(planned: Planned) -> dict[str, Any]:
    """Return what is known, what to measure and what will be known then."""
    plan = planned.plan
    return {
        "deployment": planned.deployment,
        "hit_rate": planned.hit_rate,
        "price_ratio": planned.price_ratio,
        "price_ratio_from": planned.price_basis,
        "outcome": plan.outcome,
        "quantity": plan.quantity,
        "value": plan.value,
        "half_width": plan.half_width,
        **_bounds(planned, plan.half_width),
        "p_no_valley": plan.p_no_valley,
        "curve_trustworthy": not planned.reasons,
        "reasons": list(planned.reasons),
        "benchmark_points": planned.benchmark_points,
        "benchmark_residual": planned.benchmark_residual,
        "noise": plan.noise,
        "requests_per_point": planned.requests_per_point,
        "chunk_tokens": planned.chunk_tokens,
        "points": [
            {
                "input_tokens": point.input_tokens,
                "cached_tokens": point.cached_tokens,
                "miss_tokens": point.input_tokens - point.cached_tokens,
                "hit_rate": point.hit_rate,
                "half_width": point.half_width,
                **_bounds(planned, point.half_width),
            }
            for point in plan.points
        ],
        "enough_after": plan.enough_after,
        "alone_half_width": plan.alone_half_width,
        "how": _how(planned.requests_per_point) if plan.points else [],
    }


def plan_sentences(planned: Planned) -> list[str]:
    """Say it in lines."""
    found = plan_fields(planned)
    price = f"price ratio {planned.price_ratio:g} ({_PRICE[planned.price_basis]})"
    said = [f"{shown(planned.deployment)} at hit rate {found['hit_rate']:.3f}, {price}", f"known     {_known(found)}"]
    if planned.benchmark_residual is not None:
        said.append(f"benchmark {_fitted(found)}")
    if not planned.plan.points:
        return said
    said.append(f"measure   input tokens  cached tokens  hit rate  {_QUANTITIES[found['quantity']]} then, 90 %")
    for point in found["points"]:
        size = f"{point['input_tokens']:>22}  {point['cached_tokens']:>13}  {point['hit_rate']:>8.3f}"
        said.append(f"{size}  {_interval(point)}")
    said += [f"enough    {_enough(found)}", f"assumed   {_assumed(found)}"]
    return said + [f"{'' if number else 'how':<10}{number + 1}. {line}" for number, line in enumerate(found["how"])]


def _bounds(planned: Planned, half_width: float) -> dict[str, float | None]:
    """Return the interval about what is known; None where nothing is. An exit is a hit rate."""
    value = planned.plan.value
    if value is None:
        return {"low": None, "high": None}
    most = 1.0 if planned.plan.quantity == "exit_hit_rate" else math.inf
    return {"low": max(0.0, value - half_width), "high": min(most, value + half_width)}


def _known(found: dict[str, Any]) -> str:
    quantity = _QUANTITIES[found["quantity"]]
    if found["outcome"] == "no_valley":
        return f"no valley at this price, with probability {CERTAIN:g} or more: no measurement would change that"
    if found["value"] is None:
        without = (
            f"{found['p_no_valley']:.0%} of {PLAUSIBLE_STEPS**3} plausible engines have no valley with this traffic"
        )
        return f"no curve to rely on, {because(found['reasons'])}; {without}, the {quantity} is {_interval(found)}"
    exit_words = "; no hit rate is an exit" if found["quantity"] == "revenue_index" else ""
    end = "well enough: nothing needs to be measured" if found["outcome"] == "suffices" else "a benchmark can narrow it"
    return f"{quantity} {found['value']:.3f} (90 % {_interval(found)}){exit_words}; {end}"


def _fitted(found: dict[str, Any]) -> str:
    off = f"off by {found['benchmark_residual']:.1%} from the law that best agrees with all that is known"
    return f"of {found['benchmark_points']} points, {off}; {found['noise']:.1%} is expected"


def _enough(found: dict[str, Any]) -> str:
    n_points, after, alone = len(found["points"]), found["enough_after"], found["alone_half_width"]
    said = f"not even after all {n_points}: measure them, then plan again"
    if after is not None:
        said = f"after the first {after}" if after < n_points else f"after all {n_points}"
    # Without a curve nothing but the points tells in any case.
    check = found["value"] is not None and math.isfinite(alone)
    return f"{said}; all {n_points} tell within ±{alone:.3f} without the curve, which checks it" if check else said


def _assumed(found: dict[str, Any]) -> str:
    chunks = found["chunk_tokens"] or f"{CHUNK_TOKENS[0]} to {CHUNK_TOKENS[-1]}"
    noise = f"a point, the median of {found['requests_per_point']} requests, is off by {found['noise']:.1%}"
    return f"{noise}; none leaves a small last chunk of {chunks} tokens"


def _how(n_requests: int) -> list[str]:
    ask = f"then send {n_requests} prompts of its input tokens that begin with them and each end in another text"
    feed = "`valleywatch fit SWEEP_FILE --plan DEPLOYMENT`"
    return [
        "for each point, send its cached tokens once as a prompt of their own, so that the prefix cache holds them",
        f"{ask}, for 1 output token, back to back with nothing else on the engine",
        "log these in any format of `valleywatch formats`, with the cached tokens that the engine reports",
        f"{feed} adds that log to what is known and plans on; `valleywatch fit SWEEP_FILE` fits it alone",
    ]


def _interval(bounds: dict[str, Any]) -> str:
    if bounds["low"] is None:
        return f"known within ±{bounds['half_width']:.3f}"
    return f"{bounds['low']:.3f} to {bounds['high']:.3f}"
