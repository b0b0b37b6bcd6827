"""
The little drawing the charts share: scales, ticks, a frame with labelled axes, paths.

Belongs here: geometry and SVG elements; colours are CSS classes of the page, and every text is escaped.
Does not belong here: what a chart means (`charts`).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map from data to drawing units."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Place a value; values outside the domain land outside the range."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot area inside a drawing of `width` × `height` units."""

    width: float
    height: float
    x: Scale
    y: Scale

    def at(self, x: float, y: float) -> str:
        """Place a point, as path coordinates."""
        return f"{units(self.x(x))} {units(self.y(y))}"

    def clipped(self, content: Markup) -> Markup:
        """Cut a drawing at the edges of the plot area; coordinates stay the same."""
        left, top = self.x.start, self.y.end
        width, height = self.x.end - left, self.y.start - top
        box = " ".join(units(value) for value in (left, top, width, height))
        return Markup('<svg x="{}" y="{}" width="{}" height="{}" viewBox="{}" overflow="hidden">{}</svg>').format(
            units(left), units(top), units(width), units(height), box, content
        )


def units(value: float) -> str:
    """Write a coordinate, to a tenth of a drawing unit, without a trailing ``.0``."""
    return f"{value:.1f}".removesuffix(".0")


def ticks(low: float, high: float, at_most: int) -> tuple[float, ...]:
    """Choose round tick values (steps of 1, 2 or 5 times a power of ten) inside [low, high]."""
    rough = (high - low) / at_most
    power = 10 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(round(k * step, 12) for k in range(first, last + 1))


def drawing(*parts: Markup, chart_id: str, title: str, description: str, width: float, height: float) -> Markup:
    """Wrap a drawing as an image with a name and a description for those who cannot see it."""
    return Markup(
        '<svg class="chart" role="img" viewBox="0 0 {w} {h}" aria-labelledby="{i}-t {i}-d" '
        'xmlns="http://www.w3.org/2000/svg"><title id="{i}-t">{t}</title><desc id="{i}-d">{d}</desc>{p}</svg>'
    ).format(w=units(width), h=units(height), i=chart_id, t=title, d=description, p=joined(parts))


def joined(parts: Iterable[Markup]) -> Markup:
    """Put drawings one after the other."""
    return Markup("\n").join(parts)


def text(x: float, y: float, content: str, *, css: str = "tick", anchor: str = "middle") -> Markup:
    """Write a text; `anchor` is start, middle or end."""
    return Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        css, units(x), units(y), anchor, content
    )


def path(steps: str, css: str) -> Markup:
    """Draw path steps."""
    return Markup('<path class="{}" d="{}"/>').format(css, steps) if steps else Markup("")


def polyline(plot: Plot, points: Sequence[tuple[float, float]], css: str) -> Markup:
    """Draw a line through data points."""
    return path("M" + "L".join(plot.at(x, y) for x, y in points), css) if len(points) > 1 else Markup("")


def area(plot: Plot, edges: Sequence[tuple[float, float, float]], css: str) -> Markup:
    """Fill between a low and a high edge: (x, low, high) each."""
    outline = [(x, high) for x, _, high in edges] + [(x, low) for x, low, _ in reversed(edges)]
    return path("M" + "L".join(plot.at(x, y) for x, y in outline) + "Z", css) if len(edges) > 1 else Markup("")


def vertical(plot: Plot, x: float, css: str) -> Markup:
    """Draw a line from bottom to top of the plot area."""
    return path(f"M{plot.at(x, plot.y.low)}L{plot.at(x, plot.y.high)}", css)


def box(x: float, y: float, width: float, height: float) -> str:
    """Give the path steps of a rectangle, so that many of one colour make one element."""
    return f"M{units(x)} {units(y)}h{units(width)}v{units(height)}h{units(-width)}z"


def dot(plot: Plot, x: float, y: float) -> str:
    """Give the path steps of a dot; its size is the stroke width of its class, with round caps."""
    return f"M{plot.at(x, y)}h0"


def axes(
    plot: Plot,
    *,
    x_label: str,
    y_label: str,
    x_name: Callable[[float], str],
    y_name: Callable[[float], str],
    at_most: int = 5,
) -> Markup:
    """Draw the grid, tick labels and axis labels; the y label stands above the axis, level, where it can be read."""
    left, right, bottom, top = plot.x.start, plot.x.end, plot.y.start, plot.y.end
    x_ticks, y_ticks = ticks(plot.x.low, plot.x.high, at_most), ticks(plot.y.low, plot.y.high, at_most)
    grid = "".join(f"M{units(left)} {units(plot.y(y))}H{units(right)}" for y in y_ticks)
    marks = "".join(f"M{units(plot.x(x))} {units(bottom)}v4" for x in x_ticks)
    return joined(
        (
            path(grid, "grid"),
            path(f"M{units(left)} {units(bottom)}H{units(right)}{marks}", "axis"),
            *(text(plot.x(x), bottom + 18, x_name(x)) for x in x_ticks),
            *(text(left - 7, plot.y(y) + 4, y_name(y), anchor="end") for y in y_ticks),
            text((left + right) / 2, bottom + 38, x_label, css="label"),
            text(4, top - 12, y_label, css="label", anchor="start"),
        )
    )
