"""A small plot of a day's index by hour, as an image for pages that take Markdown.

Belongs here: the drawing and its encoding. Does not belong here: what is drawn (`assets.shown`), the report's charts.
An image runs no script and loads nothing, whatever a deployment is called; names are escaped as text all the same.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from pipelines import display
from pipelines.svg import units
from pipelines.times import HOURS_PER_DAY

ROW, NAME_WIDTH, HOUR_WIDTH, VALUE_WIDTH = 22.0, 200.0, 11.0, 60.0
MAX_ROWS = 12
SPAN = 0.25
"""The index is drawn from 1 − SPAN to 1 + SPAN at least; beyond, a row takes the scale that holds it."""
LONGEST_NAME = 28


def index_by_hour(of: Mapping[str, Sequence[float | None]]) -> str:
    """Return Markdown of one image: a row a deployment, its index hour by hour, the line where a cache earns nothing.

    of: a value for each hour of the day, None where it is not known. Below the line is red; gaps stay open.
    """
    rows = [_row(name, values, number * ROW) for number, (name, values) in enumerate(list(of.items())[:MAX_ROWS])]
    width, height = NAME_WIDTH + HOURS_PER_DAY * HOUR_WIDTH + VALUE_WIDTH, max(len(rows), 1) * ROW
    svg = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" '
        'font-family="sans-serif" font-size="11"><rect width="{w}" height="{h}" fill="#fff"/>{rows}</svg>'
    ).format(w=units(width), h=units(height), rows=Markup("").join(rows))
    return f"![revenue index by UTC hour](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})"


def _row(name: str, values: Sequence[float | None], top: float) -> Markup:
    known = [value for value in values if value is not None]
    span = max([SPAN, *(abs(value - 1) for value in known)])
    middle = top + ROW / 2

    def at(hour: int, value: float) -> tuple[float, float]:
        return NAME_WIDTH + (hour + 0.5) * HOUR_WIDTH, middle - (value - 1) / span * (ROW / 2 - 2)

    bars = [
        Markup('<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>').format(
            units(at(hour, value)[0] - HOUR_WIDTH / 2 + 1),
            units(min(at(hour, value)[1], middle)),
            units(HOUR_WIDTH - 2),
            units(max(abs(at(hour, value)[1] - middle), 0.5)),
            "#c0392b" if value < 1 else "#2e7d5b",
        )
        for hour, value in enumerate(values)
        if value is not None
    ]
    line = Markup('<line x1="{}" x2="{}" y1="{y}" y2="{y}" stroke="#999" stroke-width="0.5"/>').format(
        units(NAME_WIDTH), units(NAME_WIDTH + HOURS_PER_DAY * HOUR_WIDTH), y=units(middle)
    )
    texts = Markup('<text x="4" y="{y}">{}</text><text x="{}" y="{y}">{}</text>').format(
        display.shown(name, LONGEST_NAME),
        units(NAME_WIDTH + HOURS_PER_DAY * HOUR_WIDTH + 6),
        display.index(known[-1]) if known else "",
        y=units(middle + 4),
    )
    return Markup("").join([line, *bars, texts])
