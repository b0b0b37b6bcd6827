"""
A day at a glance: the revenue index hour by hour, a row a deployment, as a picture for the orchestrator.

Belongs here: the figure and its Markdown. Does not belong here: reading the rows (`assets.shown`).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import cache

from pipelines.display import index, shown
from pipelines.report_figures.pictures import picture
from pipelines.report_figures.spec import Row, Spec, altair, drawn_up, filled, named, rows

MAX_ROWS = 12
SPAN = 0.25
"""The shades reach from an index of 1 − SPAN to one of 1 + SPAN; beyond, they stay the same."""
_ROW_PX, _LONGEST_NAME = 20, 22


def index_by_hour(of: Mapping[str, Sequence[float | None]]) -> Spec | None:
    """
    Draw the first `MAX_ROWS` deployments; None where no hour's index is known.

    of: a value for each hour of the day, None where it is not known: such hours stay blank.
    """
    chosen = list(of.items())[:MAX_ROWS]
    cells = rows(
        ("row", "hour", "index"),
        [(row, hour, value) for row, (_, values) in enumerate(chosen) for hour, value in enumerate(values)],
    )
    if not cells:
        return None
    newest: dict[int, Row] = {cell["row"]: cell | {"name": index(cell["index"])} for cell in cells}
    left_out = len(of) - len(chosen)
    return filled(
        _form(),
        title="Revenue index by hour (UTC)",
        caption="Below 1 the hits cost money; at the right, the newest hour's."
        + (f" {left_out} more are not shown." if left_out else ""),
        description="Revenue index of the newest hour: "
        + ", ".join(f"{shown(chosen[row][0], _LONGEST_NAME)} {cell['name']}" for row, cell in newest.items())
        + ".",
        data={"cells": cells, "newest": list(newest.values())},
        params={"names": [shown(name, _LONGEST_NAME) for name, _ in chosen]},
        height=_ROW_PX * len(chosen),
    )


def index_by_hour_markdown(of: Mapping[str, Sequence[float | None]]) -> str:
    """Return the figure as an image in Markdown, some 50 kB at most; a sentence where there is none."""
    spec = index_by_hour(of)
    if spec is None:
        return "No hour has a revenue index."
    image = base64.b64encode(picture(spec, "png", scale=1.0)).decode()
    return f"![revenue index by UTC hour](data:image/png;base64,{image})"


@cache
def _form() -> Spec:
    alt = altair()
    y = alt.Y("row:O", title=None, axis=alt.Axis(labelExpr="names[datum.value]", labelLimit=150))
    x = alt.X(
        "hour:O",
        title="UTC hour",
        scale=alt.Scale(domain=list(range(24)), paddingInner=0.08),
        axis=alt.Axis(values=list(range(0, 24, 3)), labelAngle=0),
    )
    shade = alt.Color(
        "index:Q",
        scale=alt.Scale(domain=[1 - SPAN, 1, 1 + SPAN], range="diverging", clamp=True, interpolate="rgb"),
        legend=alt.Legend(
            title="index",
            orient="bottom",
            titleOrient="left",
            format=".2f",
            gradientLength=160,
            gradientThickness=8,
            values=[1 - SPAN, 1, 1 + SPAN],
        ),
    )
    cells = named("cells").mark_rect().encode(x=x, y=y, color=shade, tooltip=[alt.Tooltip("index:Q", format=".3f")])
    newest = (
        named("newest").mark_text(style="strong", align="left", dx=4).encode(x=alt.value("width"), y=y, text="name:N")
    )
    return drawn_up(alt.layer(cells, newest).add_params(alt.param(name="names", value=[])))
