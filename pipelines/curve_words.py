"""
What is said of any curve: its shape, its steps, the valley of a price ratio, hit rates, doubts.

Belongs here: phrases that a benchmark (`sweep_result`), a deployment (`curve_result`) and the report share. Does not
belong here: what only one of them knows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from models.families import LINE_GOOD_WITHIN
from models.valley import locate_valley
from pipelines.display import money, shown
from pipelines.words import because

FAMILIES = {"line": "straight line", "hyperbola": "hyperbola", "service_time": "service-time law"}
_TIMES = {"ttft_s": "times to first token", "e2e_s": "times from end to end"}


def valley_fields(a: float | None, price_ratio: float | None) -> dict[str, Any]:
    """Return the closed forms of the straight line; None where slope or price is not known."""
    is_known = a is not None and price_ratio is not None
    valley = locate_valley(a, price_ratio) if a is not None and price_ratio is not None and 0 < a < 1 else None
    return {
        "has_valley": valley is not None if is_known else None,
        "floor_hit_rate": valley.floor_hit_rate if valley else None,
        "floor_depth": valley.floor_depth if valley else None,
        "exit_hit_rate": valley.exit_hit_rate if valley else None,
    }


def family_words(family: str | None, errors: Mapping[str, float] | None, *, left_out: str) -> str:
    """Say which shape is kept and how far off it is; left_out: what it was tried on, `hours` or `hit rates`."""
    if family is None or not errors:
        return f"not compared: too few {left_out}"
    said = f"{FAMILIES[family]}, off by {errors[family]:.1%} at {left_out} left out"
    return said if family == "line" else f"{said}; the straight line by {errors['line']:.1%}"


def line_sentences(found: Mapping[str, Any]) -> list[str]:
    """Say intercept and slope of the straight line, in a line each."""
    return [
        f"tps0      {found['tps0']:.0f} tokens/s (90 % {found['tps0_low']:.0f} to {found['tps0_high']:.0f})",
        f"a         {slope_words(found)}",
    ]


def slope_words(found: Mapping[str, Any]) -> str:
    """Say a slope, and its interval where that is known."""
    interval = "" if found["a_low"] is None else f" (90 % {found['a_low']:.3f} to {found['a_high']:.3f})"
    return f"{found['a']:.3f}{interval}"


def estimator_words(estimator: str, target: str | None) -> str:
    """Say how a curve was measured; a way this version does not know is shown as it is."""
    if estimator == "envelope":
        return f"lower envelope of {_TIMES.get(target or '', shown(target))}"
    return "busy periods" if estimator == "busy_periods" else shown(estimator)


def line_words(good_until: float | None) -> str:
    """Say how far the straight line may stand for the curve."""
    within = f"within {LINE_GOOD_WITHIN:.0%} of the curve"
    if good_until is None:
        return "not compared with a curve"
    if good_until == 0:
        return f"not {within} even without hits"
    return f"{within} everywhere" if good_until == 1 else f"{within} up to hit rate {good_until:.3f}"


def tail_words(chunk_tokens: int, step_s: float, tail_hit_rates: Sequence[float]) -> str:
    """Say what a step is and where a prompt leaves a small one."""
    return (
        f"{chunk_tokens} tokens, {step_s * 1e3:.0f} ms a step; a small last chunk is left just below "
        f"hit rate {rates(tail_hit_rates)}"
    )


def tail_cost_words(s_per_day: float, lost_per_day: float | None, currency: str | None) -> str:
    """Say what steps that are not full cost: at most, since requests that never wait at once can share none."""
    worth = "" if lost_per_day is None else f", worth {money(lost_per_day, currency)}"
    return f"steps that are not full cost at most {s_per_day:.0f} busy seconds a day{worth}"


def priced(found: Mapping[str, Any]) -> str:
    """Say what `valley_fields` found at its price ratio."""
    ratio = f"at a price ratio of {found['price_ratio']:g}"
    if not found["has_valley"]:
        return f"none {ratio}: the slope is not above the price ratio"
    return f"{ratio}: {valley_words(found)}"


def valley_words(found: Mapping[str, Any]) -> str:
    """Say where the valley is deepest and where it ends."""
    if not found["has_valley"]:
        return "no valley"
    # Free cached tokens never earn back what they lose.
    leaves = "no exit" if found["exit_hit_rate"] is None else f"exit at {found['exit_hit_rate']:.3f}"
    return f"floor at hit rate {found['floor_hit_rate']:.3f}, {found['floor_depth']:.1%} below no cache; {leaves}"


def rates(hit_rates: Sequence[float]) -> str:
    """List hit rates."""
    return ", ".join(f"{rate:.3f}" for rate in hit_rates) or "none"


def doubt(found: Mapping[str, Any]) -> list[str]:
    """Return the warning that a curve which must not be trusted ends in."""
    return [] if found["trustworthy"] else [f"do not rely on this curve, {because(found['reasons'])}"]
