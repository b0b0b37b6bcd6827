"""
The bathtub: the revenue index of this very traffic at other hit rates, and where the deployment stands in it.

Belongs here: zones, floor, exit, operating point and its path over the day. Does not belong here: finding them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from models.valley import revenue_index
from pipelines.display import index, interval, known, share, utc_time
from pipelines.report_figures.spec import Row, Spec, altair, between, drawn_up, filled, hit_rate_x, named, rows
from pipelines.report_input import BathtubView, CurveView, HourRow
from pipelines.verdict import Verdict

_LEFT_FITS = 0.3
"""Hit rate from which a label fits left of its point."""
_CLOSED_GRID = np.round(np.arange(0.0, 0.996, 0.005), 3)
_HEIGHT = 320
_PAST = "past exit"
_NARROWEST = {"descending": 0.22, "ascending": 0.2, _PAST: 0.19}
"""A zone's name is written where its width [hit rate] holds it in the narrowest figure; the hue tells it anyway."""


def bathtub(
    view: BathtubView | None,
    verdict: Verdict,
    *,
    hours: Sequence[HourRow] = (),
    curve: CurveView | None = None,
) -> Spec | None:
    """
    Draw the revenue index against hit rate; None without a bathtub or with a curve that cannot be trusted.

    Beside the traffic's own bathtub runs the article's closed form at the curve's slope and the price ratio. hours: the
    path of the operating point, hour by hour.
    """
    if view is None or not view.curve or (curve is not None and not curve.trustworthy):
        return None
    own = rows(("hit_rate", "index"), view.curve)
    closed = _closed(curve, verdict)
    path = _path(hours)
    low, high = _frame([row["index"] for row in (*own, *closed)], path, verdict)
    here = rows(("hit_rate", "index"), [(verdict.hit_rate, verdict.revenue_index)])
    return filled(
        _form(),
        title="The bathtub of this traffic",
        caption=_caption(verdict, closed, path),
        description=f"Revenue index against hit rate. Operating point: hit rate {share(verdict.hit_rate)}, index"
        f" {index(verdict.revenue_index)} (interval {interval(verdict.index_low, verdict.index_high)}). Floor of the"
        f" valley: {share(verdict.floor_hit_rate)}. Exit: {share(verdict.exit_hit_rate)}."
        + (f" The operating point moved through {len(path)} hours." if path else ""),
        data={
            "own": own,
            "band": rows(("hit_rate", "low", "high"), view.band),
            "closed": closed,
            "path": path,
            "here": here,
            "whisker": rows(
                ("hit_rate", "low", "high"), [(verdict.hit_rate, verdict.index_low, verdict.index_high)] if here else []
            ),
            "closed_name": _closed_name(own, closed, 0.04 * (high - low)),
            "label": [_label(row, verdict, low, high) for row in here],
            **_zones(verdict),
        },
        params={"low": low, "high": high},
    )


def _closed(curve: CurveView | None, verdict: Verdict) -> list[Row]:
    if curve is None or curve.a is None or not known(curve.a) or verdict.price_ratio is None or curve.a >= 1:
        return []
    values = revenue_index(_CLOSED_GRID, curve.a, verdict.price_ratio)
    return rows(("hit_rate", "index"), zip(_CLOSED_GRID.tolist(), np.asarray(values).tolist(), strict=True))


def _closed_name(own: Sequence[Row], closed: Sequence[Row], gap: float) -> list[Row]:
    """Name the closed form at its floor, clear of the traffic's own bathtub; without a floor nowhere."""
    if not closed:
        return []
    floor = min(closed, key=lambda row: float(row["index"]))
    if floor["hit_rate"] < _LEFT_FITS / 2:
        return []
    beside = min(own, key=lambda row: abs(row["hit_rate"] - floor["hit_rate"]))
    side = 1 if floor["index"] > beside["index"] else -1
    return [{"hit_rate": min(floor["hit_rate"], 0.86), "index": floor["index"] + side * gap, "name": "closed form"}]


def _path(hours: Sequence[HourRow]) -> list[Row]:
    fields = ("hit_rate", "index", "hour")
    return rows(fields, [(hour.hit_rate, hour.revenue_index, utc_time(hour.hour_utc)) for hour in hours])


def _frame(values: Sequence[float], path: Sequence[Row], verdict: Verdict) -> tuple[float, float]:
    """Show the whole valley, the operating point and its path; the right rim may leave, since it has no bound."""
    here = [v for v in (verdict.revenue_index, verdict.index_low, verdict.index_high) if v is not None and known(v)]
    gone = [row["index"] for row in path]
    low = min([1.0, *values, *here, *gone])
    # The path may leave as well, lest one good hour flattens the valley.
    high = max(1 + max(0.08, (1 - low) * 0.5), max(here, default=1.0) + 0.03)
    high = max(high, min(max(gone, default=1.0) + 0.03, 1 + 2.5 * (1 - low)))
    return max(0.0, low - 0.12 * (high - low)), high


def _zones(verdict: Verdict) -> dict[str, list[Row]]:
    floor, way_out = verdict.floor_hit_rate, verdict.exit_hit_rate
    if floor is None or not known(floor):
        return {name: [] for name in ("falling", "rising", "past", "marks", "zone_names")}
    end = way_out if way_out is not None and known(way_out) else 1.0
    ground = {"falling": (0.0, floor), "rising": (floor, end), "past": (end, 1.0)}
    marks = [{"hit_rate": floor, "name": f"floor {share(floor)}", "row": 0}]
    if end < 1:
        marks.append({"hit_rate": end, "name": f"exit {share(end)}", "row": 1})
    names = zip(_NARROWEST.items(), ground.values(), strict=True)
    return {
        **{name: [{"start": start, "stop": stop}] if stop > start else [] for name, (start, stop) in ground.items()},
        "marks": marks,
        "zone_names": [
            {"hit_rate": (start + stop) / 2, "name": name}
            for (name, narrowest), (start, stop) in names
            if stop - start >= narrowest
        ],
    }


def _label(here: Row, verdict: Verdict, low: float, high: float) -> Row:
    """Put the operating point's label inside the bowl: above a point in the valley, left of one on the rising rim."""
    x, name = here["hit_rate"], f"now {index(verdict.revenue_index)}"
    if here["index"] >= 1 and x >= _LEFT_FITS:
        return {"hit_rate": x, "index": here["index"], "name": name, "is_left": True}
    ends = [v for v in (verdict.index_low, verdict.index_high) if v is not None and known(v)] or [here["index"]]
    away = 0.05 * (high - low)
    level = max(ends) + away if here["index"] < 1 else min(ends) - away
    return {"hit_rate": min(max(x, 0.14), 0.86), "index": level, "name": name, "is_left": False}


def _caption(verdict: Verdict, closed: Sequence[Row], path: Sequence[Row]) -> str:
    said = "Index 1: a busy second earns what it would without a cache. Shaded along the curve: its 90 % interval."
    if known(verdict.floor_hit_rate) and not known(verdict.exit_hit_rate):
        said += " There is no exit: it never earns that again."
    said += " Dashed: the closed form for one prompt length." if closed else ""
    return said + (f" Small dots: the last {len(path)} hours." if len(path) > 1 else "")


@cache
def _form() -> Spec:
    alt = altair()
    scale = alt.Scale(domain=between("low", "high"), nice=False, zero=False)
    axis = alt.Axis(format=".2f", tickCount=6, title="revenue index (per busy second, 1 = without a cache)")
    x = hit_rate_x()

    def y(field: str = "index") -> Any:
        return alt.Y(f"{field}:Q", scale=scale, axis=axis)

    zones = [
        named(name).mark_rect(style=name).encode(x=hit_rate_x("start"), x2="stop:Q")
        for name in ("falling", "rising", "past")
    ]
    marks = named("marks").mark_rule(style="limit").encode(x=x)
    mark_names = [
        named("marks")
        .transform_filter((alt.datum.row == row) & (alt.datum.hit_rate > 0.5 if left else alt.datum.hit_rate <= 0.5))
        .mark_text(style="note", align="right" if left else "left", dx=-5 if left else 5)
        .encode(x=x, y=alt.value(26 + 15 * row), text="name:N")
        for row in (0, 1)
        for left in (True, False)
    ]
    lines = [
        named(name).mark_line(style=style, clip=True).encode(x=x, y=y())
        for name, style in (("closed", "straight"), ("own", "law"))
    ]
    path_tips = [alt.Tooltip("hour:N", title="hour (UTC)"), alt.Tooltip("hit_rate:Q", title="hit rate", format=".1%")]
    path_tips.append(alt.Tooltip("index:Q", format=".3f"))
    labels = [
        named("label")
        .transform_filter(alt.datum.is_left == is_left)
        .mark_text(style="strong", align="right" if is_left else "center", dx=-12 if is_left else 0)
        .encode(x=x, y=y(), text="name:N")
        for is_left in (True, False)
    ]
    layers = alt.layer(
        *zones,
        # The rim leaves the frame at the top of the last zone: its name stands at the bottom.
        *(
            named("zone_names")
            .transform_filter(where)
            .mark_text(style="note")
            .encode(x=x, y=alt.value(level), text="name:N")
            for where, level in ((alt.datum.name != _PAST, 10), (alt.datum.name == _PAST, _HEIGHT - 10))
        ),
        marks,
        _parity(scale, axis),
        named("band").mark_area(style="band", clip=True).encode(x=x, y=y("low"), y2="high:Q"),
        *lines,
        named("path").mark_line(style="path", clip=True).encode(x=x, y=y(), order="hour:O"),
        named("path").mark_circle(style="hours", size=12, clip=True).encode(x=x, y=y(), tooltip=path_tips),
        named("whisker").mark_rule(style="whisker").encode(x=x, y=y("low"), y2="high:Q"),
        named("here").mark_circle(style="halo", size=190, opacity=1).encode(x=x, y=y()),
        named("here").mark_circle(style="here", size=110, opacity=1).encode(x=x, y=y(), tooltip=path_tips[1:]),
        named("closed_name").mark_text(style="note-other", clip=True).encode(x=x, y=y(), text="name:N"),
        *labels,
        *mark_names,
    ).add_params(alt.param(name="low", value=0), alt.param(name="high", value=2))
    return drawn_up(layers, _HEIGHT)


def _parity(scale: Any, axis: Any) -> Any:
    """The line where a cache neither earns nor costs."""
    alt = altair()
    one = alt.Chart(alt.InlineData(values=[{"index": 1}]))
    return one.mark_rule(style="parity").encode(y=alt.Y("index:Q", scale=scale, axis=axis))
