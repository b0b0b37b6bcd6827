"""
Revenue of a busy hour against hit rate: what computed and what cached tokens earn, one on the other.

Belongs here: the law's throughputs at the deployment's prices. Does not belong here: the index of the actual traffic
(`bathtub`), what was really earned.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

from pipelines.display import count, known, money, share, shown
from pipelines.report_figures.spec import Row, Spec, altair, between, drawn_up, filled, hit_rate_x, named, rows
from pipelines.report_input import CurveView
from pipelines.verdict import Verdict

_ALIGNED: dict[str, Literal["left", "center"]] = {"miss": "left", "hit": "center"}
_FRAMED_INDEX = 1.6
"""How far above the revenue without hits the frame reaches: near 100 % there is no bound."""


def revenue(curve: CurveView | None, verdict: Verdict) -> Spec | None:
    """
    Draw 3,600 · (tps_miss·p_miss + tps_hit·p_hit) by its two parts; None without a trusted law or without prices.

    Where several prices held, in units of the revenue without hits: then only their ratio is known.
    """
    if curve is None or not curve.trustworthy:
        return None
    law = rows(("hit_rate", "tps_miss"), curve.law)
    prices = _prices(verdict, law)
    if prices is None or not law:
        return None
    p_miss, p_hit, unit = prices
    parts = [_parts(row["hit_rate"], row["tps_miss"], p_miss, p_hit) for row in law if row["hit_rate"] < 1]
    start = parts[0]["total"]
    lowest = min(parts, key=lambda row: float(row["total"]))
    top = max(_FRAMED_INDEX * start, 1.1 * _at(parts, verdict.hit_rate))
    return filled(
        _form(f"revenue per busy hour, {unit}"),
        title="Revenue against hit rate",
        caption=f"What an hour of busy time earns at this hit rate, in {unit}; dotted: without a hit."
        + (f" At {count(length)} input tokens." if (length := curve.reference_input_tokens) else ""),
        description=f"Revenue per busy hour against hit rate, in {unit}: {_amount(start, verdict, unit)} without hits,"
        f" least {_amount(lowest['total'], verdict, unit)} at {share(lowest['hit_rate'])}. The part of computed tokens"
        " falls, the part of cached tokens rises.",
        data={
            "parts": parts,
            "start": [{"total": start}],
            "here": [{"hit_rate": verdict.hit_rate, "total": _at(parts, verdict.hit_rate)}]
            if known(verdict.hit_rate)
            else [],
            "names": _names(parts, top),
        },
        params={"top": top},
    )


def _prices(verdict: Verdict, law: list[Row]) -> tuple[float, float, str] | None:
    """Return what a computed and a cached token earn an hour for each token/s, and in what unit."""
    if verdict.input_per_mtok is not None and verdict.cached_per_mtok is not None and verdict.input_per_mtok > 0:
        unit = "currency not known" if verdict.currency is None else shown(verdict.currency, 12)
        return verdict.input_per_mtok * 3600 / 1e6, verdict.cached_per_mtok * 3600 / 1e6, unit
    if verdict.price_ratio is None or not law:
        return None
    first = 1 / law[0]["tps_miss"]
    return first, verdict.price_ratio * first, "1 = without hits"


def _parts(x: float, tps_miss: float, p_miss: float, p_hit: float) -> Row:
    miss, hit = tps_miss * p_miss, x / (1 - x) * tps_miss * p_hit
    return {"hit_rate": x, "miss": miss, "hit": hit, "total": miss + hit}


def _at(parts: list[Row], x: float | None) -> float:
    """Return the total at a hit rate, between the two nearest; 0 where it is not known."""
    if x is None or not known(x):
        return 0.0
    for left, right in pairwise(parts):
        if left["hit_rate"] <= x <= right["hit_rate"]:
            part = (x - left["hit_rate"]) / (right["hit_rate"] - left["hit_rate"])
            return float(left["total"] + part * (right["total"] - left["total"]))
    return float(parts[-1]["total"])


def _names(parts: list[Row], top: float) -> list[Row]:
    """Name each part where it is thick: computed tokens at the left, cached ones where they reach a tenth."""
    names = [{"hit_rate": 0.04, "at": parts[0]["miss"] * 0.5, "name": "computed tokens", "kind": "miss"}]
    thick = [row for row in parts if row["hit"] > 0.14 * top and row["hit_rate"] >= 0.3 and row["total"] < top]
    if thick:
        row = thick[len(thick) // 2]
        names.append(
            {
                "hit_rate": min(row["hit_rate"], 0.87),
                "at": row["miss"] + row["hit"] / 2,
                "name": "cached",
                "kind": "hit",
            }
        )
    return names


def _amount(amount: float, verdict: Verdict, unit: str) -> str:
    return f"{amount:.3f}" if unit.startswith("1 =") else money(amount, verdict.currency)


@lru_cache(maxsize=32)
def _form(axis_title: str) -> Spec:
    alt = altair()
    x = hit_rate_x()
    scale = alt.Scale(domain=between(0, "top"), nice=False)
    axis = alt.Axis(title=axis_title, format=",.4~g", tickCount=5)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=scale, axis=axis)

    computed = named("parts").mark_area(style="miss-part", clip=True).encode(x=x, y=y("miss"), y2=alt.datum(0))
    cached = named("parts").mark_area(style="hit-part", clip=True).encode(x=x, y=y("miss"), y2="total:Q")
    total = named("parts").mark_line(style="total", clip=True).encode(x=x, y=y("total"))
    start = named("start").mark_rule(style="limit").encode(y=y("total"))
    here = [
        named("here").mark_circle(style=style, size=size, opacity=1, clip=True).encode(x=x, y=y("total"))
        for style, size in (("halo", 190), ("here", 110))
    ]
    names = [
        named("names")
        .transform_filter(alt.datum.kind == kind)
        .mark_text(style="strong", align=align, clip=True)
        .encode(x=x, y=y("at"), text="name:N")
        for kind, align in _ALIGNED.items()
    ]
    return drawn_up(
        alt.layer(computed, cached, total, start, *here, *names).add_params(alt.param(name="top", value=1)), 240
    )
