"""
The waterfall: why a busy hour earns another amount than before, factor by factor.

Belongs here: placing the parts one on the other. Does not belong here: finding them (`models.waterfall`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pipelines.display import known, money, shown
from pipelines.report_figures.spec import Row, Spec, altair, between, drawn_up, filled, named
from pipelines.report_input import WaterfallView

_ROW_PX = 26
_WORDS = {
    "price": "price", "volume": "volume", "lengths": "lengths", "hit_rate": "hit rate", "curve": "curve",
    "residual": "unexplained",
}  # fmt: skip


def waterfall(view: WaterfallView | None) -> Spec | None:
    """Draw the parts from before to after, top to bottom; None where they are not known."""
    if view is None or not all(known(value) for value in (view.before, view.after, *(part for _, part in view.parts))):
        return None
    steps: list[Row] = []
    level = view.before
    for factor, part in view.parts:
        kind = "gain" if part >= 0 else "loss"
        steps.append({
            "row": len(steps) + 1, "name": _WORDS.get(factor, factor), "kind": kind,
            "start": level, "stop": level + part, "right": max(level, level + part),
            "label": _signed(part, view.currency),
        })  # fmt: skip
        level += part
    ends = [
        {"row": row, "name": shown(name, 24), "start": amount, "label": money(amount, view.currency), "right": amount}
        for row, name, amount in (
            (0, view.before_name, view.before),
            (len(steps) + 1, view.after_name, view.after),
        )
    ]
    edges = [row[key] for row in steps for key in ("start", "stop")] + [view.before, view.after]
    low, high = _frame(edges)
    unit = "currency not known" if view.currency is None else shown(view.currency, 12)
    return filled(
        _form(f"{unit} per busy hour"),
        title="Why a busy hour earns another amount",
        caption=f"{unit} per busy hour, {shown(view.before_name)} to {shown(view.after_name)}; the parts add up to the"
        " change. The axis does not begin at 0.",
        description=f"A busy hour earned {money(view.before, view.currency)} before and"
        f" {money(view.after, view.currency)} after: "
        + ", ".join(f"{row['name']} {row['label']}" for row in steps)
        + ".",
        data={"ends": [end | {"low": low} for end in ends], "steps": steps},
        params={"low": low, "high": high, "names": [ends[0]["name"], *(row["name"] for row in steps), ends[1]["name"]]},
        height=_ROW_PX * (len(steps) + 2),
    )


def _frame(edges: list[float]) -> tuple[float, float]:
    """Show the parts large: the frame is as wide as twice what changed, and leaves room for labels at the right."""
    low, high = min(edges), max(edges)
    width = (high - low) or abs(high) * 0.1 or 1.0
    return low - 0.3 * width, high + 0.6 * width


def _signed(amount: float, currency: str | None) -> str:
    return f"+{money(amount, currency)}" if amount >= 0.005 else money(amount, currency)


@lru_cache(maxsize=32)
def _form(axis_title: str) -> Spec:
    alt = altair()
    scale = alt.Scale(domain=between("low", "high"), nice=False, zero=False)
    y = alt.Y("row:O", title=None, axis=alt.Axis(labelExpr="names[datum.value]", labelLimit=110, grid=False))

    def x(field: str) -> Any:
        axis = alt.Axis(title=axis_title, format=",.4~g", tickCount=4, grid=True)
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    bars = [
        named("steps")
        .transform_filter(alt.datum.kind == kind)
        .mark_bar(style=kind, height=14)
        .encode(x=x("start"), x2="stop:Q", y=y)
        for kind in ("gain", "loss")
    ]
    ends = named("ends").mark_bar(style="plain", height=14).encode(x=x("low"), x2="start:Q", y=y)
    labels = [
        named(name).mark_text(style="strong", align="left", dx=5).encode(x=x("right"), y=y, text="label:N")
        for name in ("steps", "ends")
    ]
    params = [alt.param(name=name, value=value) for name, value in (("low", 0), ("high", 1), ("names", []))]
    return drawn_up(alt.layer(ends, *bars, *labels).add_params(*params))
