"""
What the product says about a deployment, in sentences: the report, the command line and the alerts all speak from here.

Belongs here: states, sides, regimes, levers and reason codes as plain words; the verdict as sentences.
Does not belong here: arithmetic on the model, markup, how a number looks (`display`).
"""

from collections.abc import Iterable, Sequence

from pipelines.display import index, interval, known, money, share, shown
from pipelines.times import hour_text
from pipelines.verdict import Verdict

_STATES = {
    "in_valley": "in the valley",
    "escaped": "escaped",
    "no_valley": "no valley",
    "unknown": "cannot tell",
}
_SIDES = {"descending": "loses money", "ascending": "earns money"}
_REGIMES = {
    "capacity_limited": "Capacity limits it: freed compute can be sold.",
    "demand_limited": "Demand limits it: freed compute is worth money only where the fleet can shrink.",
}
_ASPECTS = {
    "level": "much the same at all hit rates",
    "slope": "at high hit rates and not at low ones",
    "level and slope": "at some hit rates more than at others",
}
_LEVERS = {
    "reach_exit": "raise the hit rate past the valley's exit",
    "lower_a": "lower the slope of the throughput curve",
    "reprice": "raise the price of a cached token to the break-even ratio",
    "cut_fixed_cost": "cut the fixed cost of a request",
    "cut_kv_load": "load cached keys and values faster",
    "pack_tail_chunks": "pack the small last chunks of prompts together",
}
_REASONS = {
    "too_few": "there are too few requests or minutes to measure from",
    "narrow_hit_range": "the hit rate varied too little to show how throughput depends on it",
    "poor_fit": "the throughput curve describes the measurements poorly",
    "unstable": "the two halves of the data give different curves",
    "never_idle": "requests hardly ever met an idle engine, so its speed cannot be told from the queue",
    "before_change": "the curve is of the engine or model that came after",
    "low_coverage": "too few requests report their cached tokens",
    "no_timing": "its log names no instance or no time to first token",
    "low_traffic": "there is too little traffic",
    "at_bound": "a coefficient of the curve came out at a meaningless bound",
    "no_price": "no price is configured for its traffic",
    "partly_priced": "a price is configured for only a part of its traffic",
    "mixed_currencies": "its traffic was sold in several currencies within the hour",
    "no_output_price": "its rows of prices say nothing of output tokens (0 where they are not sold)",
    "output_not_reported": "too few requests report their output tokens",
    "cache_writes_not_reported": "cache writes are sold, and too few requests report them",
    "sales_not_reported": "no request reports all the tokens that it was sold",
    "no_cost": "no cost of an instance hour is configured for it",
    "instances_not_known": "the log names no instances, and no row of costs says how many run",
    "instances_without_cost": "more instances run than its rows of costs are for",
    "costs_in_several_currencies": "its rows of costs are in several currencies",
    "cost_in_other_currency": "its costs are in another currency than its prices",
    "no_curve": "no throughput curve has been measured for it yet",
    "no_traffic": "no request of it reports its cached tokens in that time",
    "several_currencies": "its prices of that time are in several currencies",
    "prices_crossed": "its prices changed so that no one price ratio stands for them",
    "no_exit": "no hit rate earns back what the cached tokens' discount costs, so the valley has no exit",
    "undecided": "too few hours have been evaluated to decide",
    "stale": "no new data has arrived",
    "held": "the evidence allows no new decision, so the last decided state is kept",
    "not_reported": "the log does not report cached tokens",
    "all_failed": "every request failed",
    "all_left_out": "there were only warm-ups, health checks, response-cache answers or requests without a time",
}
_HELD = "held"
_FALLBACKS = {
    "ttft_s": "Its curve is the lower envelope of times to first token, less certain than one of busy periods.",
    "e2e_s": "Its curve is the lower envelope of times from end to end, far less certain than one of busy periods.",
}


def state_words(state: str | None) -> str:
    """Name a state; one this version does not know is shown as it is."""
    return _STATES["unknown"] if state is None else _STATES.get(state, shown(state))


def side_words(side: str | None) -> str:
    """Say what one more hit does; a side this version does not know is shown as it is."""
    return "not known" if side is None else _SIDES.get(side, shown(side))


def listed(names: Sequence[str]) -> str:
    """Join names from a log; empty where there are none."""
    return " and ".join(filter(None, (", ".join(map(shown, names[:-1])), *map(shown, names[-1:]))))


def engine_changed(hour_index: int, size: float, aspect: str) -> str:
    """Say since when an engine is another one, and how much more or less it computes."""
    amount = f"{share(abs(size))} {'more' if size > 0 else 'fewer'} tokens in a busy second"
    return (
        f"since {hour_text(hour_index)} its engine computes up to {amount}, {_ASPECTS.get(aspect, shown(aspect))}: the "
        "curve rests on the hours from then on"
    )


def regime_sentence(regime: str | None, busy_share: float | None) -> str:
    """Say what limits the deployment, and how busy it was."""
    what = "What limits it is not known." if regime is None else _REGIMES.get(regime, f"Regime: {shown(regime)}.")
    return f"Busy {share(busy_share)} of the time. {what}" if known(busy_share) else f"Busy share not known. {what}"


def lever_words(lever: str | None) -> str:
    """Say which lever gets it out: a known code in words, anything else as it was written."""
    return "not known" if lever is None else _LEVERS.get(lever, shown(lever, 300))


def reason_sentence(code: str) -> str:
    """
    Turn a reason code into a clause that can follow "because": no capital letter, no full stop.

    ``held:poor_fit`` and ``held_poor_fit`` (why a state was kept) give both clauses. Unknown codes are shown as they
    are.
    """
    if code in _REASONS:
        return _REASONS[code]
    if code.startswith((f"{_HELD}:", f"{_HELD}_")):
        return f"{_REASONS[_HELD]} ({reason_sentence(code[len(_HELD) + 1 :])})"
    return shown(code)


def because(codes: Sequence[str]) -> str:
    """Join the reasons, each once, in their order; say so where none was recorded."""
    held = dict.fromkeys(code for code in codes if is_held([code]))
    clauses = [reason_sentence(code) for code in dict.fromkeys(codes) if code not in held]
    if held:
        why = "; ".join(reason_sentence(code[len(_HELD) + 1 :]) for code in held if code != _HELD)
        clauses.insert(0, f"{_REASONS[_HELD]} ({why})" if why else _REASONS[_HELD])
    return "because " + "; and ".join(clauses) if clauses else "and no reason was recorded"


def is_held(reasons: Iterable[str]) -> bool:
    """Tell whether the state was kept from earlier hours rather than decided from this data."""
    return any(code == _HELD or code.startswith((f"{_HELD}:", f"{_HELD}_")) for code in reasons)


def held_reasons(reasons: Iterable[str]) -> list[str]:
    """Return those of the reasons for which the state was kept."""
    return [code for code in reasons if is_held([code])]


def difference(revenue_index: float) -> str:
    """Say a revenue index as a difference: ``8.8 % less than without a cache``, ``as much as without a cache``."""
    amount = f"{abs(revenue_index - 1) * 100:.1f} %"
    if amount == "0.0 %":
        return "as much as without a cache"
    return f"{amount} {'less' if revenue_index < 1 else 'more'} than without a cache"


def verdict_headline(verdict: Verdict) -> str:
    """Say the verdict in one short sentence: the big words of the report and the subject of an alert."""
    if verdict.state is None or verdict.state == "unknown":
        return f"Cannot tell, {because(verdict.reasons)}."
    words = state_words(verdict.state)
    if verdict.state in _STATES:
        words = words[0].upper() + words[1:]
    return f"{words}, as last decided." if is_held(verdict.reasons) else f"{words}."


def verdict_details(verdict: Verdict) -> tuple[str, ...]:
    """Say what stands behind the headline, a sentence each: only what is known is said."""
    if verdict.state is None or verdict.state == "unknown":
        return (f"The hit rate was {share(verdict.hit_rate)}.",) if known(verdict.hit_rate) else ()
    said = [_earning_sentence(verdict)]
    if verdict.side is not None and verdict.state != "no_valley":
        said.append(f"One more hit {side_words(verdict.side)}.")
    if verdict.lost_24h is not None and known(verdict.lost_24h) and verdict.lost_24h > 0:
        hours = (
            f"{verdict.lost_hours} of its last {verdict.traffic_hours} hours of traffic; of the others it is not known"
        )
        when = hours if verdict.lost_in_part else "its last 24 hours"
        said.append(f"That cost about {money(verdict.lost_24h, verdict.currency)} in {when}.")
    said.append(_shape_sentence(verdict))
    if verdict.estimator == "envelope":
        said.append(_FALLBACKS.get(verdict.target or "", ""))
    if is_held(verdict.reasons):
        said.append(f"The state is not new, {because(held_reasons(verdict.reasons))}.")
    elif cautions := [code for code in verdict.reasons if code != "no_exit"]:
        said.append(f"Bear in mind: {'; '.join(reason_sentence(code) for code in cautions)}.")
    return tuple(sentence for sentence in said if sentence)


def _earning_sentence(verdict: Verdict) -> str:
    value, low, high = verdict.revenue_index, verdict.index_low, verdict.index_high
    where = f"At a hit rate of {share(verdict.hit_rate)}" if known(verdict.hit_rate) else "At an unknown hit rate"
    if value is None or not known(value):
        return f"{where}, what a busy second earns is not known."
    said = f"{where}, a busy second earns {difference(value)} (index {index(value)}, interval {interval(low, high)})"
    if low is not None and high is not None and known(low) and known(high) and low < 1 < high:
        return f"{said}; the interval leaves open whether that is a loss or a gain."
    return f"{said}."


def _shape_sentence(verdict: Verdict) -> str:
    if verdict.state == "no_valley":
        return "At these prices the throughput curve has no valley."
    if not known(verdict.floor_hit_rate):
        return ""
    depth = verdict.floor_depth
    deep = "" if depth is None or not known(depth) else f", {share(depth)} below no cache"
    ends = "where it ends is not known"
    if known(verdict.exit_hit_rate):
        ends = f"it ends at {share(verdict.exit_hit_rate)}"
    elif "no_exit" in verdict.reasons:
        ends = "it never ends: no hit rate earns the discount back"
    return f"The valley is deepest at a hit rate of {share(verdict.floor_hit_rate)}{deep}; {ends}."
