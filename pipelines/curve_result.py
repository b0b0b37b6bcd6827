"""
A deployment's newest curve as the fields and the sentences that `valleywatch fit DEPLOYMENT` prints.

Belongs here: reading it from the published snapshot, and what is said of it. Does not belong here: fitting (`curves`),
the verdict on its traffic (`overview`), phrases that a benchmark shares (`curve_words`).
"""

from typing import Any

from models.chunks import CHUNK_TOKENS
from pipelines import reason_codes
from pipelines.curve_words import (
    doubt,
    family_words,
    line_sentences,
    line_words,
    priced,
    slope_words,
    tail_cost_words,
    tail_words,
)
from pipelines.display import shown
from pipelines.overview import Overview, overviews
from pipelines.times import to_day
from pipelines.verdicts import closed_forms
from pipelines.warehouse import Reader
from pipelines.words import because

_CURVE = (
    *("estimator", "target", "family", "tps0", "tps0_low", "tps0_high", "a", "a_low", "a_high", "f", "c", "q", "k"),
    *("overhead_s", "line_good_until_hit_rate", "chunk_tokens", "step_s", "tail_chunk_s_per_day", "tail_hit_rates"),
    *("n_minutes", "n_requests", "x_low", "x_high", "residual_scale"),
)
"""Columns of `throughput_curve` that are handed on by their names."""
_NO_CURVE: dict[str, Any] = dict.fromkeys((*_CURVE, "reference_input_tokens"))
_NO_CURVE |= {"trustworthy": False, "reasons": "no_curve"}
_OTHER = ("estimator", "target", "a", "a_low", "a_high")


def curve_fields(reader: Reader, deployment: str, price_ratio: float | None) -> dict[str, Any] | None:
    """
    Return what is known of the deployment's newest curve, numbers as in the views; None for an unknown deployment.

    price_ratio: that of its traffic, as `status` has it, where None; floor and exit stay None where neither is known.
    """
    seen = next(iter(overviews(reader, deployment)), None)
    if seen is None:
        return None
    curve = seen.curve or _NO_CURVE
    families = _of(reader.rows("report/newest_families"), deployment)
    ratio = seen.verdict.price_ratio if price_ratio is None else price_ratio
    return {
        "deployment": deployment,
        "day_utc": to_day(curve["day_index"]) if seen.curve else None,
        "input_tokens": curve["reference_input_tokens"],
        **{name: curve[name] for name in _CURVE},
        "family_errors": {row["family"]: row["error"] for row in families} or None,
        "chunk_searched": bool(families),
        "tail_chunk_lost_per_day": seen.verdict.tail_chunk_lost_per_day,
        "currency": seen.verdict.currency,
        "lengths": _of(reader.rows("report/newest_lengths"), deployment),
        "others": [
            {name: row[name] for name in _OTHER} | {"reasons": list(reason_codes.listed(row["reasons"]))}
            for row in _of(reader.rows("report/other_curves"), deployment)
        ],
        "trustworthy": curve["trustworthy"],
        "reasons": list(reason_codes.listed(curve["reasons"])),
        "price_ratio": ratio,
        **_valley(seen, ratio),
    }


def curve_sentences(found: dict[str, Any]) -> list[str]:
    """Say it in lines."""
    name = shown(found["deployment"])
    if found["tps0"] is None:
        return [name, f"no curve, {because(found['reasons'])}"]
    size = f"{found['n_requests']} requests of {found['input_tokens']:.0f} input tokens on average"
    return [
        f"{name}, curve of {found['day_utc']}: {size}, {found['n_minutes']} rows",
        f"estimator {found['estimator']} of {found['target']}",
        *(f"          {_other_words(other)}" for other in found["others"]),
        *line_sentences(found),
        f"residual  {found['residual_scale']:.1%}",
        f"family    {family_words(found['family'], found['family_errors'], left_out='hours')}",
        f"line      {line_words(found['line_good_until_hit_rate'])}",
        f"chunk     {_chunk_words(found)}",
        *(f"{'lengths' if first else '':10}{_length_words(row)}" for first, row in _marked(found["lengths"])),
        f"valley    {_valley_words(found)}",
        *doubt(found),
    ]


def _of(rows: list[dict[str, Any]], deployment: str) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if name != "deployment"}
        for row in rows
        if row["deployment"] == deployment
    ]


def _valley(seen: Overview, price_ratio: float | None) -> dict[str, Any]:
    """Return floor and exit of the straight line, as `valley_status` has them, at any price ratio."""
    forms: dict[str, Any] = dict.fromkeys(("floor_hit_rate", "floor_depth", "exit_hit_rate"))
    curve, law = seen.curve, seen.law
    if curve is None or law is None or price_ratio is None:
        return {"has_valley": None, **forms}
    forms = closed_forms(curve["a"], law, curve["reference_input_tokens"], price_ratio)
    return {"has_valley": forms["floor_hit_rate"] is not None, **forms}


def _other_words(other: dict[str, Any]) -> str:
    doubts = f", not to be trusted, {because(other['reasons'])}" if other["reasons"] else ""
    return f"{other['estimator']} of {other['target']} says a {slope_words(other)}{doubts}"


def _chunk_words(found: dict[str, Any]) -> str:
    if not found["chunk_searched"]:
        return "not looked for: too few busy periods, or none"
    if found["chunk_tokens"] is None:
        return f"none of {CHUNK_TOKENS[0]} to {CHUNK_TOKENS[-1]} tokens shows"
    said = tail_words(found["chunk_tokens"], found["step_s"], found["tail_hit_rates"])
    cost = tail_cost_words(found["tail_chunk_s_per_day"], found["tail_chunk_lost_per_day"], found["currency"])
    return f"{said}; {cost}"


def _marked(rows: list[dict[str, Any]]) -> list[tuple[bool, dict[str, Any]]]:
    return [(number == 0, row) for number, row in enumerate(rows)]


def _length_words(row: dict[str, Any]) -> str:
    said = f"up to {row['high_input_tokens']} tokens: "
    if row["a"] is None:
        return f"{said}no curve"
    said += f"tps0 {row['tps0']:.0f} tokens/s, a {slope_words(row)}"
    if row["agrees"] is None:
        return f"{said}; too little of its own to check it"
    own = f"its own busy periods say a {row['own_a']:.3f}"
    return f"{said}; {own}" if row["agrees"] else f"{said}; {own}, off by {row['own_deviation']:.1%}: doubt this length"


def _valley_words(found: dict[str, Any]) -> str:
    if found["price_ratio"] is None:
        return "not known: no price is configured for its traffic; give --price-ratio"
    if found["has_valley"] is None:
        return "not stated for a curve that must not be trusted"
    return priced(found)
