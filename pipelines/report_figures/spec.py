"""
What the figures have in common: a chart drawn up once with Altair, filled with the data of one deployment.

Belongs here: filling, the axes that several share. Does not belong here: any one figure.

A chart's form depends on nothing that logs say: names and numbers come in as rows of named data sets, as values of
parameters and as texts, never as fields or expressions. Drawing it up takes Altair tens of milliseconds, filling it
next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pipelines.display import as_utc

if TYPE_CHECKING:
    import altair as alt

Spec: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]
HIT_RATE = "hit rate (share of input tokens from the cache)"
HOUR_MS = 3_600_000
HEIGHT = 280
"""Height of a figure's plot [px]; its width is its container's."""


def drawn_up(chart: Any, height: int = HEIGHT) -> Spec:
    """Return a chart as a specification as wide as its container, valid by Vega-Lite's schema, without a theme."""
    made: Spec = chart.properties(width="container", height=height).to_dict()
    made.pop("config", None)
    made["autosize"] = {"type": "fit-x", "contains": "padding"}
    return made


def filled(
    form: Spec,
    *,
    title: str,
    caption: str,
    description: str,
    data: Mapping[str, Sequence[Row]],
    params: Mapping[str, Any] | None = None,
    height: int | None = None,
) -> Spec:
    """
    Return the form with data: rows of each data set, values of its parameters.

    title and caption go into `usermeta`, for the page's own heading and for files, which need one in the picture.
    description: what is seen, for those who cannot.
    """
    spec = form | {"description": description, "datasets": dict(data), "usermeta": {"title": title, "caption": caption}}
    if params:
        spec["params"] = [
            one | {"value": params[one["name"]]} if one["name"] in params else one for one in form["params"]
        ]
    return spec if height is None else spec | {"height": height}


@cache
def altair() -> Any:
    """Import Altair when the first chart is drawn up: it takes most of a second, and most commands draw none."""
    import altair

    return altair


def named(name: str) -> alt.Chart:
    """Begin a layer on a named data set; of rows: reading CSV takes 'unsafe-eval', which pages do not have."""
    alt = altair()
    return alt.Chart(alt.NamedData(name=name))  # type: ignore[no-any-return]


def between(low: float | str, high: float | str) -> Any:
    """Return a domain of numbers or names of parameters; without one, Vega warns of data sets that are empty."""
    return [altair().ExprRef(end) if isinstance(end, str) else end for end in (low, high)]


def hit_rate_x(field: str = "hit_rate", *, edge: float = 0.0, right: float = 1.0) -> Any:
    """Return the axis of hit rates, 0 to 100 %; edge: room for points at its ends. right: where labels need more."""
    alt = altair()
    axis = alt.Axis(format=".0%", values=[0, 0.2, 0.4, 0.6, 0.8, 1], title=HIT_RATE)
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[-edge, right + edge], nice=False), axis=axis)


def utc_x(field: str, title: str | None = None) -> Any:
    """Return an axis of UTC time: hours of the day, and the date where a day begins."""
    alt = altair()
    label = "utchours(datum.value) === 0 ? utcFormat(datum.value, '%-d %b') : utcFormat(datum.value, '%H:%M')"
    axis = alt.Axis(title=title or "UTC", labelExpr=label, labelOverlap=True, labelSeparation=8, tickCount=6)
    return alt.X(f"{field}:T", scale=alt.Scale(type="utc", nice=False), axis=axis)


def moment_ms(moment: datetime) -> int:
    """Return a moment as Vega counts it: milliseconds since 1970, UTC."""
    return round(as_utc(moment).timestamp() * 1000)


def rows(fields: Sequence[str], values: Iterable[Sequence[Any]]) -> list[Row]:
    """Return records of the values that are all known: a figure leaves out what it cannot place."""
    return [dict(zip(fields, row, strict=True)) for row in values if all(_is_known(value) for value in row)]


def _is_known(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))
