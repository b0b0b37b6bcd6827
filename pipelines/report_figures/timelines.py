"""
What happened over time: episodes in the valley, and the week's hit rate as a line in a table's cell.

Belongs here: figures whose axis is UTC time. Does not belong here: the heat map, deciding episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from pipelines.display import count, money, number, share, utc_time
from pipelines.report_figures.spec import HOUR_MS, Row, Spec, altair, drawn_up, filled, moment_ms, named, rows, utc_x
from pipelines.report_input import EpisodeView, HourRow


def episodes(view: Sequence[EpisodeView], *, first: datetime, last: datetime) -> Spec | None:
    """
    Draw the episodes that touch the hours from `first` up to `last` (UTC); None where none does.

    A bar is as high as the episode was deep; one that has not ended reaches the right edge.
    """
    start, end = moment_ms(first), moment_ms(last)
    bars = [bar for one in view if (bar := _bar(one, start, end))["stop"] > bar["start"]]
    if not bars:
        return None
    still = sum(bar["is_open"] for bar in bars)
    return filled(
        _episodes_form(),
        title="Episodes in the valley",
        caption="A bar an episode, as high as it was deep: the share of revenue lost in its worst hour."
        + (" The last one goes on." if still else ""),
        description=f"{count(len(bars))} episodes: "
        + "; ".join(f"from {bar['from']} UTC to {bar['to']}, depth {bar['depth_label']}, {bar['lost']}" for bar in bars)
        + ".",
        data={"bars": bars, "span": [{"start": start, "stop": end}]},
    )


def sparkline(hours: Sequence[HourRow], *, height: int = 28) -> Spec | None:
    """Draw the hit rate hour by hour, no axes, 0 to 1; gaps stay open. None where no hour's is known."""
    known = rows(("hour", "hit_rate"), [(moment_ms(hour.hour_utc), hour.hit_rate) for hour in hours])
    if not known:
        return None
    known.sort(key=lambda row: int(row["hour"]))
    run = 0
    for position, row in enumerate(known):
        run += position > 0 and row["hour"] - known[position - 1]["hour"] > HOUR_MS
        row["run"] = run
    rates = [row["hit_rate"] for row in known]
    return filled(
        _spark_form(),
        title="Hit rate by hour",
        caption="",
        description=f"Hit rate over {count(len(known))} hours: from {share(min(rates))} to {share(max(rates))}, now"
        f" {share(rates[-1])}.",
        data={"hours": known, "last": known[-1:]},
        height=height,
    )


def _bar(one: EpisodeView, start: int, end: int) -> Row:
    entered = moment_ms(one.entered_at)
    left = end if one.left_at is None else moment_ms(one.left_at)
    depth = one.peak_depth or 0.0
    return {
        "start": max(entered, start), "stop": min(left, end), "depth": depth,
        "is_open": one.left_at is None,
        "from": utc_time(one.entered_at), "to": "now" if one.left_at is None else f"{utc_time(one.left_at)} UTC",
        "depth_label": "not known" if one.peak_depth is None else number(depth),
        "lost": "cost not known" if one.lost_total is None else f"cost {money(one.lost_total, one.currency)}",
    }  # fmt: skip


@cache
def _episodes_form() -> Spec:
    alt = altair()
    scale = alt.Scale(domainMin=0, zero=True)
    y = alt.Y("depth:Q", title="depth", scale=scale, axis=alt.Axis(format=".0%", tickCount=3))
    bars = (
        named("bars")
        .mark_rect(style="loss", opacity=0.75)
        .encode(
            x=utc_x("start"),
            x2="stop:T",
            y=y,
            y2=alt.datum(0),
            tooltip=[
                alt.Tooltip("from:N", title="entered (UTC)"),
                alt.Tooltip("to:N", title="left"),
                alt.Tooltip("depth_label:N", title="depth"),
                alt.Tooltip("lost:N", title="money"),
            ],
        )
    )
    # The whole stretch, so that days without an episode are seen as such.
    span = named("span").mark_rule(style="limit").encode(x=utc_x("start"), x2="stop:T", y=alt.datum(0))
    return drawn_up(alt.layer(span, bars), 90)


@cache
def _spark_form() -> Spec:
    alt = altair()

    def placed(mark: Any) -> Any:
        return mark.encode(
            x=alt.X("hour:T", axis=None, scale=alt.Scale(type="utc", nice=False)),
            y=alt.Y("hit_rate:Q", axis=None, scale=alt.Scale(domain=[0, 1])),
        )

    line = placed(named("hours").mark_line(style="spark")).encode(detail="run:N")
    last = placed(named("last").mark_circle(style="chosen", size=24, opacity=1))
    return drawn_up(alt.layer(line, last), 28)
