"""
What each lever is worth a day, with its interval.

Belongs here: bars in money. Does not belong here: finding and ranking levers (`models.levers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pipelines.display import known, money, shown
from pipelines.report_figures.spec import Spec, altair, between, drawn_up, filled, named, rows
from pipelines.report_input import LeverView

_ROW_PX = 38


def levers(view: Sequence[LeverView]) -> Spec | None:
    """Draw the levers in the order given, each with its words above its bar; None where there are none."""
    usable = [lever for lever in view if known(lever.gain)]
    if not usable:
        return None
    unit = "currency not known" if usable[0].currency is None else shown(usable[0].currency, 12)
    bars = [
        {
            "lever": position,
            "name": shown(lever.words, 90),
            "gain": lever.gain,
            "label": money(lever.gain, lever.currency),
        }
        for position, lever in enumerate(usable)
    ]
    ends = [end for lever in usable for end in (lever.gain, lever.gain_low, lever.gain_high) if end is not None]
    return filled(
        _form(f"{unit} per day"),
        title="What each lever is worth",
        caption=f"{unit} per day, each lever pulled alone; thin lines: 90 % intervals. Worked out for the whole day:"
        " what the hits cost is added up hour by hour, so the two need not agree.",
        description="Worth of each lever a day: " + "; ".join(f"{bar['name']}: {bar['label']}" for bar in bars) + ".",
        data={
            "bars": bars,
            "whiskers": rows(
                ("lever", "low", "high"),
                [(position, lever.gain_low, lever.gain_high) for position, lever in enumerate(usable)],
            ),
            "labels": [
                bar | {"right": max(lever.gain, lever.gain_high or lever.gain, 0.0)}
                for bar, lever in zip(bars, usable, strict=True)
            ],
        },
        params={"low": min(0.0, *ends), "high": 1.35 * max(ends) if max(ends) > 0 else 1.0},
        height=_ROW_PX * len(bars),
    )


@lru_cache(maxsize=32)
def _form(axis_title: str) -> Spec:
    alt = altair()
    scale = alt.Scale(domain=between("low", "high"), nice=False)
    y = alt.Y("lever:O", title=None, axis=None)

    def x(field: str) -> Any:
        axis = alt.Axis(title=axis_title, format=",~r", tickCount=4, grid=True)
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    bars = named("bars").mark_bar(style="gain", height=10, yOffset=7).encode(x=x("gain"), y=y)
    whiskers = named("whiskers").mark_rule(style="whisker", yOffset=7).encode(x=x("low"), x2="high:Q", y=y)
    amounts = (
        named("labels").mark_text(style="strong", align="left", dx=6, dy=7).encode(x=x("right"), y=y, text="label:N")
    )
    names = named("bars").mark_text(style="note", align="left", dy=-8).encode(x=alt.value(2), y=y, text="name:N")
    params = [alt.param(name=name, value=value) for name, value in (("low", 0), ("high", 1))]
    return drawn_up(alt.layer(bars, whiskers, amounts, names).add_params(*params))
