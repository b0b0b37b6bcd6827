"""
Throughput against hit rate: computed tokens with what was measured and fitted, and cached tokens with their hyperbola.

Belongs here: the figures of one throughput curve. Does not belong here: prices (`revenue`, `bathtub`), fitting.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from pipelines.display import count, interval, known, number, share
from pipelines.report_figures.spec import Row, Spec, altair, between, drawn_up, filled, hit_rate_x, named, rows
from pipelines.report_input import CurveView

MOST_POINTS = 1500
_FRAME = 0.98
"""Share of the points that the frame is chosen by; the others may leave it."""


def throughput(curve: CurveView | None) -> Spec | None:
    """
    Draw computed tokens per busy second against hit rate; None where nothing was measured or fitted.

    Points: measurements, the larger the more requests, at most `MOST_POINTS` of them. The law with its interval, dashed
    where it is not trustworthy; the article's straight line; and where an engine that does not pack has tail chunks.
    """
    if curve is None:
        return None
    points = _thinned(rows(("hit_rate", "tps_miss", "n_requests"), curve.points))
    law, line = (rows(("hit_rate", "tps_miss"), of) for of in (curve.law, curve.line))
    if not points and not law:
        return None
    band = rows(("hit_rate", "low", "high"), curve.band)
    top = _top([point["tps_miss"] for point in points], (row["tps_miss"] for row in (*law, *line)))
    beyond = sum(point["tps_miss"] > top for point in points)
    is_trusted = curve.trustworthy
    return filled(
        _throughput_form(),
        title="Miss throughput against hit rate",
        caption=_caption(curve, len(points), beyond),
        description=f"{count(len(points))} measured points of computed tokens per busy second against hit rate"
        + _slope_words(curve)
        + ("." if is_trusted else "; the curve is not trustworthy."),
        data={
            "points": points,
            "band": band if is_trusted else [],
            "law": law if is_trusted else [],
            "doubtful": [] if is_trusted else law,
            "line": line if is_trusted else [],
            "singular": _singular(curve),
            "names": _names(law, line, top) if is_trusted else [],
        },
        params={"top": top},
    )


def hit_throughput(curve: CurveView | None) -> Spec | None:
    """Draw cached tokens per busy second against hit rate: x/(1-x) times the miss throughput, of points and law."""
    if curve is None or not curve.trustworthy:
        return None
    law = _hits(rows(("hit_rate", "tps_miss"), curve.law))
    points = _hits(_thinned(rows(("hit_rate", "tps_miss", "n_requests"), curve.points)))
    if not law:
        return None
    reached = max((point["hit_rate"] for point in points), default=0.9)
    framed = [row["tps_hit"] for row in law if row["hit_rate"] <= max(reached, 0.5)]
    top = _top([point["tps_hit"] for point in points], framed)
    at_half = law[bisect.bisect_left([row["hit_rate"] for row in law], 0.5) - 1]
    return filled(
        _hit_form(),
        title="Hit throughput against hit rate",
        caption="The curve is x / (1 − x) of the miss throughput; where it flattens at the right, fixed costs and"
        " loading the cache cap it.",
        description=f"Cached tokens per busy second against hit rate: about {number(at_half['tps_hit'])} at 50 %,"
        f" {number(law[-1]['tps_hit'])} at {share(law[-1]['hit_rate'])}; {count(len(points))} measured points.",
        data={"points": points, "law": law},
        params={"top": top},
    )


def _thinned(points: list[Row]) -> list[Row]:
    """Keep every n-th point by hit rate, so that the whole range stays."""
    step = math.ceil(len(points) / MOST_POINTS)
    return sorted(points, key=lambda point: (point["hit_rate"], point["tps_miss"]))[::step] if step > 1 else points


def _hits(points: list[Row]) -> list[Row]:
    return [
        {key: value for key, value in point.items() if key != "tps_miss"}
        | {"tps_hit": point["hit_rate"] / (1 - point["hit_rate"]) * point["tps_miss"]}
        for point in points
        if point["hit_rate"] < 1
    ]


def _top(heights: Sequence[float], curves: Iterable[float]) -> float:
    """Choose the top of the axis by the curves and nearly all points."""
    ordinary = sorted(heights)[: math.ceil(len(heights) * _FRAME)]
    top = 1.08 * max([*ordinary, *curves], default=0.0)
    return top if top > 0 else 1.0


def _singular(curve: CurveView) -> list[Row]:
    """Place tail chunks on the law: the nearest of its hit rates."""
    law = rows(("hit_rate", "tps_miss"), curve.law)
    if curve.tail is None or not law or not curve.trustworthy:
        return []
    return [
        min(law, key=lambda row: abs(row["hit_rate"] - x)) | {"hit_rate": x}
        for x in curve.tail.hit_rates
        if 0 <= x <= law[-1]["hit_rate"]
    ]


def _names(law: list[Row], line: list[Row], top: float) -> list[Row]:
    """Name law and line where they are furthest apart, each on its own side."""
    if not law or not line:
        return []
    at = {row["hit_rate"]: row["tps_miss"] for row in line}
    shared = [row for row in law if row["hit_rate"] in at and 0.2 <= row["hit_rate"] <= 0.8]
    if not shared:
        return []
    widest = max(shared, key=lambda row: abs(row["tps_miss"] - at[row["hit_rate"]]))
    x, up = widest["hit_rate"], widest["tps_miss"] >= at[widest["hit_rate"]]
    gap = 0.05 * top * (1 if up else -1)
    return [
        {"hit_rate": x, "tps_miss": widest["tps_miss"] + gap, "name": "law", "kind": "law"},
        {"hit_rate": x, "tps_miss": at[x] - gap, "name": "straight line", "kind": "line"},
    ]


def _slope_words(curve: CurveView) -> str:
    if not (known(curve.tps0) and known(curve.a)):
        return ""
    return (
        f"; the straight line starts at {number(curve.tps0)} tokens per busy second without hits and has the relative"
        f" slope {number(curve.a)} ({interval(curve.a_low, curve.a_high)})"
    )


def _caption(curve: CurveView, n_points: int, beyond: int) -> str:
    said = f"{count(n_points)} points, larger ones of more requests"
    said += f"; {count(beyond)} beyond the frame" if beyond else ""
    if curve.reference_input_tokens is not None and curve.law:
        said += f". Curve at {count(curve.reference_input_tokens)} input tokens, shaded: its 90 % interval"
    if _singular(curve) and curve.tail is not None:
        said += f". Diamonds: prompts that end in a small chunk of {count(curve.tail.chunk_tokens)} tokens"
    return said + "."


def tps_axis(field: str, title: str, **scale: Any) -> Any:
    """Return the axis of a throughput, from 0."""
    alt = altair()
    return alt.Y(
        f"{field}:Q", title=title, scale=alt.Scale(zero=True, **scale), axis=alt.Axis(format="~s", tickCount=5)
    )


def _dots(y: Any, field: str, title: str) -> Any:
    alt = altair()
    return (
        named("points")
        .mark_circle(style="dots", clip=True)
        .encode(
            x=_x(),
            y=y,
            size=alt.Size("n_requests:Q", legend=None, scale=alt.Scale(range=[10, 130])),
            tooltip=[
                alt.Tooltip("hit_rate:Q", title="hit rate", format=".1%"),
                alt.Tooltip(f"{field}:Q", title=title, format=",.0f"),
                alt.Tooltip("n_requests:Q", title="requests", format=","),
            ],
        )
    )


def _x() -> Any:
    return hit_rate_x(edge=0.012)


@cache
def _throughput_form() -> Spec:
    alt = altair()
    y = tps_axis("tps_miss", "miss tokens per busy second", domain=between(0, "top"))

    def line(name: str, style: str) -> Any:
        return named(name).mark_line(style=style, clip=True).encode(x=_x(), y=y)

    def label(kind: str, style: str) -> Any:
        return (
            named("names")
            .transform_filter(alt.datum.kind == kind)
            .mark_text(style=style, align="center", clip=True)
            .encode(x=_x(), y=y, text="name:N")
        )

    band = named("band").mark_area(style="band", clip=True).encode(x=_x(), y=_renamed(y, "low"), y2="high:Q")
    singular = (
        named("singular")
        .mark_point(style="singular", shape="diamond", size=110, clip=True)
        .encode(x=_x(), y=y, tooltip=[alt.Tooltip("hit_rate:Q", title="tail chunks at", format=".1%")])
    )
    layers = alt.layer(
        _dots(y, "tps_miss", "miss tokens/s"), band, line("line", "straight"), line("law", "law"),
        line("doubtful", "doubtful"), singular, label("law", "note-main"), label("line", "note-other"),
    ).add_params(alt.param(name="top", value=1))  # fmt: skip
    return drawn_up(layers)


@cache
def _hit_form() -> Spec:
    alt = altair()
    y = tps_axis("tps_hit", "hit tokens per busy second", domain=between(0, "top"))
    law = named("law").mark_line(style="law", clip=True).encode(x=_x(), y=y)
    return drawn_up(alt.layer(_dots(y, "tps_hit", "hit tokens/s"), law).add_params(alt.param(name="top", value=1)), 220)


def _renamed(y: Any, field: str) -> Any:
    """Return the same axis for another field, so that layers share one scale."""
    other = y.copy()
    other.shorthand = f"{field}:Q"
    return other
