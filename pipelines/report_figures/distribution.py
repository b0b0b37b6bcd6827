"""
The day's distribution: requests by their hit rate, with percentiles and the share above 99 %.

Belongs here: pooling bins, and reading percentiles from them. Does not belong here: counting (`sql`), the heat map.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from pipelines.display import count, share
from pipelines.report_figures.spec import Row, Spec, altair, between, drawn_up, filled, named
from pipelines.report_input import HeatCell

PERCENTILES = (10, 50, 90)
_NAMES = {10: "p10", 50: "median", 90: "p90"}
_GAP, _OWN = 0.008, 0.02
"""What holds bars apart, and the width of the bars of exactly 0 and exactly 1, which stand outside the axis."""


def requests_by_hit_rate(cells: Iterable[HeatCell]) -> Spec | None:
    """
    Draw the share of requests in each per cent of hit rate, all hours together; None without requests.

    Exactly 0 and exactly 100 % have bars of their own. Percentiles are those of the bins: the bin that holds the
    request of that rank (nearest rank), so they are known to its width.
    """
    bins: Counter[tuple[float, float]] = Counter()
    for cell in cells:
        bins[cell.bin_low, cell.bin_high] += cell.n_requests
    everything = bins.total()
    if not everything:
        return None
    held = {percent: percentile_bin(bins, percent) for percent in PERCENTILES}
    high = sum(n for (low, _), n in bins.items() if low >= 0.99) / everything
    said = ", ".join(f"{_NAMES[percent]} {_bin_words(*held[percent])}" for percent in PERCENTILES)
    bars = _bars(bins, everything)
    return filled(
        _form(),
        title="Requests by hit rate",
        caption=f"{count(everything)} requests; {share(high)} of them at 99 % or above.",
        description=f"Histogram of {count(everything)} requests by hit rate: {said}; {share(high)} at 99 % or above.",
        data={
            "bars": bars,
            "percentiles": [
                {"hit_rate": (low + top) / 2, "row": row, "name": f"{_NAMES[percent]} {_bin_words(low, top)}"}
                for row, (percent, (low, top)) in enumerate(held.items())
            ],
        },
        # Room above for the percentiles' names.
        params={"top": 1.28 * max(bar["share"] for bar in bars)},
    )


def percentile_bin(bins: Counter[tuple[float, float]], percent: int) -> tuple[float, float]:
    """Return the bin that holds the request of rank ceil(percent/100 · n); of the bins (low, high), n > 0."""
    rank = -(-percent * bins.total() // 100)
    below = 0
    for edges in sorted(bins):
        below += bins[edges]
        if below >= rank:
            return edges
    raise ValueError(f"percentile {percent} is out of range: 0 < percent <= 100")


def _bars(bins: Counter[tuple[float, float]], everything: int) -> list[Row]:
    """Pool to whole per cents; the bins without width move outside."""
    pooled: Counter[tuple[float, float, str]] = Counter()
    for (low, high), n in bins.items():
        if high <= 0:
            pooled[-_GAP - _OWN, -_GAP, "exactly 0 %"] += n
        elif low >= 1:
            pooled[1 + _GAP, 1 + _GAP + _OWN, "exactly 100 %"] += n
        else:
            percent = round(low * 1000) // 10
            pooled[percent / 100, (percent + 1) / 100, f"{percent} to {percent + 1} %"] += n
    return [
        {"low": low, "high": high, "name": name, "n_requests": n, "share": n / everything}
        for (low, high, name), n in sorted(pooled.items())
    ]


def _bin_words(low: float, high: float) -> str:
    if high <= low:
        return f"{low * 100:.0f} %"
    return f"{low * 100:.4g}–{high * 100:.4g} %"


@cache
def _form() -> Spec:
    alt = altair()
    axis = alt.Axis(format=".0%", values=[0, 0.2, 0.4, 0.6, 0.8, 1], title="hit rate of a request")
    scale = alt.Scale(domain=[-0.04, 1.04], nice=False)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    scale_y = alt.Scale(domain=between(0, "top"), nice=False)
    y = alt.Y("share:Q", title="share of requests", scale=scale_y, axis=alt.Axis(format="~%", tickCount=4))
    bars = (
        named("bars")
        .mark_rect(style="chosen")
        .encode(
            x=x("low"),
            x2="high:Q",
            y=y,
            y2=alt.datum(0),
            tooltip=[
                alt.Tooltip("name:N", title="hit rate"),
                alt.Tooltip("n_requests:Q", title="requests", format=","),
                alt.Tooltip("share:Q", format=".2%"),
            ],
        )
    )
    lines = named("percentiles").mark_rule(style="limit").encode(x=x("hit_rate"))
    names = [
        named("percentiles")
        .transform_filter(f"datum.row === {row} && (datum.hit_rate {'>' if is_left else '<='} 0.6)")
        .mark_text(style="strong", align="right" if is_left else "left", dx=-5 if is_left else 5)
        .encode(x=x("hit_rate"), y=alt.value(6 + 14 * row), text="name:N")
        for row in range(len(PERCENTILES))
        for is_left in (True, False)
    ]
    return drawn_up(alt.layer(bars, lines, *names).add_params(alt.param(name="top", value=1)), 220)
