"""
What else is known of a curve: its straight line by prompt length, and which shape of curve predicts best.

Belongs here: figures of `curve_by_length` and `curve_families`. Does not belong here: the curve itself (`throughput`).
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from pipelines.display import known, number, share
from pipelines.report_figures.spec import Row, Spec, altair, between, drawn_up, filled, hit_rate_x, named
from pipelines.report_figures.throughput import tps_axis
from pipelines.report_input import CurveView, LengthView

_MEASURED = 0.9
"""Where the lines of length bands end: beyond, a straight line says nothing."""


def throughput_by_length(curve: CurveView | None) -> Spec | None:
    """Draw the straight line of each band of prompt lengths; None where there are fewer than two."""
    if curve is None or not curve.trustworthy:
        return None
    bands = [band for band in curve.lengths if known(band.tps0) and known(band.a)]
    if len(bands) < 2:
        return None
    lines: list[Row] = [
        {"band": position, "hit_rate": x, "tps_miss": band.tps0 * (1 - band.a * x)}
        for position, band in enumerate(bands)
        for x in (0.0, _MEASURED)
        if band.tps0 is not None and band.a is not None
    ]
    names: list[Row] = [
        {"hit_rate": _MEASURED, "tps_miss": band.tps0 * (1 - band.a * _MEASURED), "name": _band_name(band)}
        for band in bands
        if band.tps0 is not None and band.a is not None
    ]
    return filled(
        _length_form(),
        title="Miss throughput by prompt length",
        caption="Straight lines of the bands of prompt lengths that the traffic falls into: longer prompts fall steeper"
        " where attention is what costs.",
        description="Computed tokens per busy second against hit rate by prompt length: "
        + "; ".join(f"{_tokens(band)}: {number(band.tps0)} falling with slope {number(band.a)}" for band in bands)
        + ".",
        data={"lines": lines, "names": _apart(names, 0.065 * max(row["tps_miss"] for row in lines))},
    )


def curve_families(curve: CurveView | None) -> Spec | None:
    """Draw how far each shape of curve is off on hours that it was not fitted to; None where none were compared."""
    if curve is None:
        return None
    compared = [family for family in curve.families if known(family.error)]
    if not compared:
        return None
    data: list[Row] = [
        {"family": family.family.replace("_", " "), "error": family.error, "label": share(family.error, 2)}
        for family in compared
    ]
    kept = [row for row, family in zip(data, compared, strict=True) if family.is_kept]
    return filled(
        _families_form(),
        title="Which shape of curve predicts best",
        caption="Relative error on hours left out; the shape that is kept is in colour.",
        description="Relative error on hours left out by shape of curve: "
        + ", ".join(f"{row['family']} {row['label']}" for row in data)
        + ".",
        data={"families": data, "kept": kept},
        params={"widest": 1.25 * max(row["error"] for row in data) or 1.0},
        height=26 * len(data),
    )


def _apart(names: list[Row], gap: float) -> list[Row]:
    """Move labels down so that none covers another; gap: their height on the axis."""
    placed = sorted((dict(row) for row in names), key=lambda row: -float(row["tps_miss"]))
    for above, below in pairwise(placed):
        below["tps_miss"] = min(below["tps_miss"], above["tps_miss"] - gap)
    return placed


def _band_name(band: LengthView) -> str:
    return f"{_short(band.low_input_tokens)}–{_short(band.high_input_tokens)}: a {number(band.a, 2)}"


def _short(tokens: int) -> str:
    return f"{tokens / 1000:.0f}k" if tokens >= 10_000 else f"{tokens:,}"


def _tokens(band: LengthView) -> str:
    return f"{number(band.low_input_tokens)}–{number(band.high_input_tokens)} tokens"


@cache
def _length_form() -> Spec:
    x, y = hit_rate_x(right=1.5), tps_axis("tps_miss", "miss tokens per busy second, by tokens of a prompt")
    lines = named("lines").mark_line(style="law").encode(x=x, y=y, detail="band:N")
    names = named("names").mark_text(style="strong", align="left", dx=6).encode(x=x, y=y, text="name:N")
    return drawn_up(altair().layer(lines, names), 240)


@cache
def _families_form() -> Spec:
    alt = altair()
    x = alt.X("error:Q", title="relative error on hours left out", axis=alt.Axis(format=".0%", tickCount=4, grid=True),
              scale=alt.Scale(domain=between(0, "widest"), nice=False))  # fmt: skip
    y = alt.Y("family:N", sort=None, title=None, axis=alt.Axis(labelLimit=140))
    everyone = named("families").mark_bar(style="plain", height=12).encode(x=x, y=y)
    kept = named("kept").mark_bar(style="chosen", height=12).encode(x=x, y=y)
    label = named("families").mark_text(style="note", align="left", dx=4).encode(x=x, y=y, text="label:N")
    return drawn_up(alt.layer(everyone, kept, label).add_params(alt.param(name="widest", value=1)))
