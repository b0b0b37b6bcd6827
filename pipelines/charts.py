"""
The report's two curves: throughput against hit rate, and the bathtub.

Belongs here: what is drawn and how it is described in words to those who cannot see it.
Does not belong here: scales and elements (`svg`), the heat map (`heat_map`), fitting (`models`), colours (template).
"""

import math
from collections.abc import Iterable

from markupsafe import Markup

from pipelines.display import index, interval, known, number, share
from pipelines.report_input import BathtubView, CurveView
from pipelines.svg import Plot, Scale, area, axes, dot, drawing, joined, path, polyline, text, units, vertical
from pipelines.verdict import Verdict

_WIDTH, _HEIGHT = 460.0, 330.0
_X_LABEL = "hit rate (share of input tokens from the cache)"
_CHARACTER = 6.6  # width of a label's average character, in drawing units


def throughput_chart(curve: CurveView, *, chart_id: str) -> Markup:
    """
    Draw miss tokens per busy second against hit rate.

    Points are measurements, larger ones of more requests; the curve is the service-time law at the reference length,
    dashed where it is not trustworthy; the article's straight line runs beside it; the shade is the law's interval.
    """
    points = [point for point in curve.points if _finite(point)]
    law, line = _all_finite(curve.law), _all_finite(curve.line)
    band = [edge for edge in curve.band if _finite(edge)]
    top, above = _throughput_top(
        sorted(y for _, y, _ in points), [*(y for _, y in law), *(y for _, y in line), *(high for _, _, high in band)]
    )
    plot = Plot(_WIDTH, _HEIGHT, Scale(0, 1, 62, _WIDTH - 22), Scale(0, top, _HEIGHT - 50, 62))
    law_css = "law" if curve.trustworthy else "law doubtful"
    parts = [
        axes(plot, x_label=_X_LABEL, y_label="miss tokens per busy second", x_name=_percent, y_name=_thousands),
        plot.clipped(
            joined(
                (
                    area(plot, band, "band"),
                    *_dots(plot, points),
                    polyline(plot, line, "line"),
                    polyline(plot, law, law_css),
                )
            )
        ),
        _throughput_key(points=bool(points), law=bool(law), line=bool(line), band=bool(band), law_css=law_css),
    ]
    if above:
        parts.append(text(plot.x.end, plot.y.end - 4, f"{above} beyond the frame", anchor="end"))
    return drawing(
        *parts,
        chart_id=chart_id,
        title="Throughput against hit rate",
        description=_throughput_description(curve, len(points)),
        width=_WIDTH,
        height=_HEIGHT,
    )


def bathtub_chart(bathtub: BathtubView, verdict: Verdict, *, chart_id: str) -> Markup:
    """Draw the revenue index against hit rate: the loss below 1, floor, exit, zones, and where the deployment is."""
    curve = _all_finite(bathtub.curve)
    band = [edge for edge in bathtub.band if _finite(edge)]
    low, high = _bathtub_range([y for _, y in curve], verdict)
    plot = Plot(_WIDTH, _HEIGHT, Scale(0, 1, 62, _WIDTH - 22), Scale(low, high, _HEIGHT - 50, 40))
    loss = [(x, min(y, 1.0), 1.0) for x, y in curve]
    return drawing(
        axes(
            plot,
            x_label=_X_LABEL,
            y_label="revenue per busy second (1 = without a cache)",
            x_name=_percent,
            y_name=lambda y: f"{y:.2f}",
        ),
        plot.clipped(
            joined((area(plot, loss, "loss"), area(plot, band, "band"), polyline(plot, curve, "law"))),
        ),
        path(f"M{plot.at(0, 1)}L{plot.at(1, 1)}", "even"),
        *_zones(plot, verdict),
        _operating_point(plot, verdict),
        chart_id=chart_id,
        title="Revenue index against hit rate",
        description=_bathtub_description(verdict),
        width=_WIDTH,
        height=_HEIGHT,
    )


def _throughput_top(heights: list[float], curves: list[float]) -> tuple[float, int]:
    """Choose the top of the axis by the curves and 98 % of the points; also count the points beyond it."""
    ordinary = heights[: math.ceil(len(heights) * 0.98)]
    top = 1.08 * max([*ordinary, *curves], default=0.0)
    top = top if top > 0 else 1.0
    return top, sum(1 for height in heights if height > top)


def _dots(plot: Plot, points: list[tuple[float, float, int]]) -> Iterable[Markup]:
    """Draw the points in three sizes, by the requests behind them relative to the median."""
    sizes = sorted(n for _, _, n in points)
    median = sizes[len(sizes) // 2] if sizes else 0
    steps = {"small": "", "medium": "", "large": ""}
    for x, y, n in points:
        size = "small" if n < median / 2 else "large" if n > median * 2 else "medium"
        steps[size] += dot(plot, x, y)
    return [path(drawn, f"dots {size}") for size, drawn in steps.items() if drawn]


def _throughput_key(*, points: bool, law: bool, line: bool, band: bool, law_css: str) -> Markup:
    """Draw the key, left to right, of what is really there."""
    x, y, parts = 4.0, 14.0, []
    entries = ((points, "dots medium", "measured"), (law, law_css, "law"), (band, "band", "its interval"))
    for present, css, name in (*entries, (line, "line", "straight line")):
        if not present:
            continue
        swatch = f"M{units(x + 10)} {units(y)}h0" if "dots" in css else f"M{units(x)} {units(y)}h20"
        if css == "band":
            swatch = f"M{units(x)} {units(y - 5)}h20v10h-20z"
        parts += [path(swatch, css), text(x + 26, y + 4, name, anchor="start")]
        x += 26 + _CHARACTER * len(name) + 20
    return joined(parts)


def _throughput_description(curve: CurveView, n_points: int) -> str:
    said = f"{n_points} measured points"
    if known(curve.tps0) and known(curve.a):
        said += (
            f"; the straight line starts at {number(curve.tps0)} tokens per busy second without hits"
            f" and has the relative slope {number(curve.a)}"
        )
    return said + ("." if curve.trustworthy else "; the curve is not trustworthy.")


def _bathtub_range(values: list[float], verdict: Verdict) -> tuple[float, float]:
    """Show the whole valley and the operating point; the right rim may leave the frame, since it has no bound."""
    here = [v for v in (verdict.revenue_index, verdict.index_low, verdict.index_high) if v is not None and known(v)]
    low = min([1.0, *values, *here])
    high = max(1 + max(0.08, (1 - low) * 0.5), max(here, default=1.0) + 0.03)
    return max(0.0, low - 0.12 * (high - low)), high


def _zones(plot: Plot, verdict: Verdict) -> list[Markup]:
    """Mark floor and exit, and name the ground between them."""
    floor, way_out = verdict.floor_hit_rate, verdict.exit_hit_rate
    if floor is None or not known(floor):
        return []
    end = way_out if way_out is not None and known(way_out) else 1.0
    parts = [vertical(plot, floor, "mark"), _mark_label(plot, floor, f"floor {share(floor)}", plot.y.start - 6, 0.28)]
    if way_out is not None and known(way_out):
        level = plot.y.start - (6 if way_out - floor > 0.3 else 20)  # at the foot, clear of the floor's own label
        parts += [vertical(plot, way_out, "mark"), _mark_label(plot, way_out, f"exit {share(way_out)}", level, 0.7)]
    for start, stop, name in ((0.0, floor, "descending"), (floor, end, "ascending"), (end, 1.0, "past the exit")):
        if plot.x(stop) - plot.x(start) > _CHARACTER * len(name):
            parts.append(text(plot.x((start + stop) / 2), plot.y.end + 12, name, css="zone"))
    return parts


def _mark_label(plot: Plot, x: float, content: str, y: float, left_beyond: float) -> Markup:
    on_left = x > left_beyond
    return text(plot.x(x) + (-5 if on_left else 5), y, content, css="zone", anchor="end" if on_left else "start")


def _operating_point(plot: Plot, verdict: Verdict) -> Markup:
    """Draw where the deployment is, with its interval; nothing where it is not known."""
    x, y, low, high = verdict.hit_rate, verdict.revenue_index, verdict.index_low, verdict.index_high
    if x is None or y is None or not (known(x) and known(y)):
        return Markup("")
    parts, ends = [], (y, y)
    if low is not None and high is not None and known(low) and known(high):
        parts.append(path(f"M{plot.at(x, low)}L{plot.at(x, high)}", "whisker"))
        ends = (low, high)
    label_y = plot.y(ends[1]) - 10 if y < 1 else plot.y(ends[0]) + 18  # inside the bowl, or below the rising rim
    half = _CHARACTER * 7
    label_x = min(max(plot.x(x), plot.x.start + half), plot.x.end - half)
    parts += [path(dot(plot, x, y), "here"), text(label_x, label_y, f"here: {index(y)}", css="label strong")]
    return joined(parts)


def _bathtub_description(verdict: Verdict) -> str:
    return (
        f"Operating point: hit rate {share(verdict.hit_rate)}, revenue index {index(verdict.revenue_index)}"
        f" (interval {interval(verdict.index_low, verdict.index_high)})."
        f" Floor of the valley: {share(verdict.floor_hit_rate)}. Exit: {share(verdict.exit_hit_rate)}."
    )


def _finite(values: Iterable[float]) -> bool:
    return all(math.isfinite(value) for value in values)


def _all_finite(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    return [point for point in points if _finite(point)]


def _percent(value: float) -> str:
    return f"{value * 100:.0f} %"


def _thousands(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"
