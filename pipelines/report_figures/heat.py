"""
The heat map: hour × hit rate of the requests, shaded by the share of the hour, by requests or by tokens.

Belongs here: how bins are pooled and shaded. Does not belong here: how they are counted (`sql`).
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from pipelines.display import count, share
from pipelines.report_figures.spec import HOUR_MS, Spec, altair, drawn_up, filled, moment_ms, named, utc_x
from pipelines.report_input import HeatCell

MOST_HOURS = 31 * 24
EDGES = (*(k / 20 for k in range(20)), 0.99)
"""Rows from the bottom: exactly 0, then from each edge to the next (5 % wide, but 95–99 % and 99–100 %), exactly 1."""
N_ROWS = len(EDGES) + 2
_ROW_PX = 11
_LABELS = {0: "exactly 0 %", 5: "20 %", 9: "40 %", 13: "60 %", 17: "80 %", 21: "99–100 %", 22: "exactly 100 %"}


def hit_rates_by_hour(cells: Sequence[HeatCell], *, weight: Literal["requests", "tokens"] = "requests") -> Spec | None:
    """
    Draw the last `MOST_HOURS` hours at most; None without requests.

    The parameter `weight` of the drawn view chooses what a shade is a share of: the hour's requests or input tokens.
    """
    began_ms = {hour: moment_ms(hour) for hour in {cell.hour_utc for cell in cells}}
    requests: Counter[tuple[int, int]] = Counter()
    tokens: Counter[tuple[int, int]] = Counter()
    for cell in cells:
        place = began_ms[cell.hour_utc], row_of(cell.bin_low, cell.bin_high)
        requests[place] += cell.n_requests
        tokens[place] += cell.input_tokens
    if not requests.total():
        return None
    first_ms = max(hour for hour, _ in requests) - (MOST_HOURS - 1) * HOUR_MS
    seen = {place: n for place, n in requests.items() if n and place[0] >= first_ms}
    everything, hours = sum(seen.values()), {hour for hour, _ in seen}
    zero, high = (sum(n for (_, row), n in seen.items() if row in which) for which in ((0,), (N_ROWS - 2, N_ROWS - 1)))
    return filled(
        _form(),
        title="Hit rates by hour (UTC)",
        caption=f"{share(zero / everything)} of the requests hit nothing, {share(high / everything)} hit 99 % or more.",
        description=f"Heat map of {count(everything)} requests in {len(hours)} hours, by hour (UTC) and hit rate:"
        f" {share(zero / everything)} hit nothing, {share(high / everything)} hit 99 % or more.",
        data={
            "cells": [
                {"hour": hour, "row": row, "requests": seen[hour, row], "tokens": tokens[hour, row]}
                for hour, row in sorted(seen)
            ]
        },
        params={"weight": weight},
    )


@lru_cache(maxsize=1024)
def row_of(bin_low: float, bin_high: float) -> int:
    """Find the row of a bin, counted from the bottom; a bin without width at 0 or 1 has its own."""
    if bin_high <= 0:
        return 0
    return N_ROWS - 1 if bin_low >= 1 else bisect.bisect_right(EDGES, bin_low + 1e-9)


@cache
def _form() -> Spec:
    alt = altair()
    labels = "".join(f"datum.value === {row} ? '{label}' : " for row, label in _LABELS.items()) + "''"
    chart = (
        named("cells")
        .transform_joinaggregate(all_requests="sum(requests)", all_tokens="sum(tokens)", groupby=["hour"])
        .transform_calculate(
            share="weight === 'tokens' ? datum.tokens / max(datum.all_tokens, 1) : datum.requests / datum.all_requests",
            end=f"datum.hour + {HOUR_MS}",
        )
        .mark_rect()
        .encode(
            x=utc_x("hour"),
            x2="end:T",
            y=alt.Y(
                "row:O",
                scale=alt.Scale(domain=list(range(N_ROWS - 1, -1, -1)), paddingInner=0.06),
                axis=alt.Axis(values=list(_LABELS), labelExpr=labels, title="hit rate of a request"),
            ),
            color=alt.Color(
                "share:Q",
                scale=alt.Scale(type="sqrt", domain=[0, 1], range="heatmap"),
                legend=alt.Legend(
                    title="share of the hour", orient="bottom", format=".0%", gradientLength=160, gradientThickness=8,
                    values=[0, 0.1, 0.25, 0.5, 1], titleOrient="left",
                ),
            ),
            tooltip=[
                alt.Tooltip("hour:T", title="hour (UTC)", timeUnit="utcyearmonthdatehours"),
                alt.Tooltip("requests:Q", format=","),
                alt.Tooltip("tokens:Q", title="input tokens", format=","),
                alt.Tooltip("share:Q", title="share of the hour", format=".1%"),
            ],
        )
        .add_params(alt.param(name="weight", value="requests"))
    )  # fmt: skip
    return drawn_up(chart, N_ROWS * _ROW_PX)
