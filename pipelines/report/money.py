"""
What changes would be worth, and why earnings changed, of each deployment's last 24 hours.

Belongs here: reading a deployment's situation and putting it into views. Does not belong here: formulas (`models`),
what `whatif` and `waterfall` print.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import NamedTuple

from models.levers import levers
from models.service_time import TrafficMoments
from models.waterfall import explain
from pipelines.errors import CannotTellError
from pipelines.priced_traffic import Situation, Stretch, period, priced_traffic, situation
from pipelines.report_input import LeverView, WaterfallView, WhatIfView
from pipelines.times import HOURS_PER_DAY
from pipelines.warehouse import Reader
from pipelines.words import lever_words


class Money(NamedTuple):
    """Levers and what-if of one deployment, or why there are none (`not_told`); the waterfall where it can be told."""

    levers: tuple[LeverView, ...]
    what_if: WhatIfView | None
    waterfall: WaterfallView | None
    not_told: tuple[str, ...]


def money_of(reader: Reader, deployment: str, last_hour: int) -> Money:
    """Return what is known of the 24 hours up to `last_hour` (an index, inclusive)."""
    day = Stretch(deployment, last_hour - HOURS_PER_DAY + 1, last_hour)
    falls = _waterfall(reader, day)
    try:
        found = situation(reader, day)
    except CannotTellError as error:
        return Money((), None, falls, tuple(error.reasons))
    return Money(_levers(found), _what_if(found), falls, ())


def _levers(found: Situation) -> tuple[LeverView, ...]:
    return tuple(
        LeverView(
            words=lever_words(lever.name),
            gain=lever.gain.value,
            gain_low=lever.gain.low,
            gain_high=lever.gain.high,
            currency=found.traffic.currency,
            breaks_even=lever.breaks_even,
        )
        for lever in levers(found.point, chunk_fill=found.chunk_fill)
    )


def _what_if(found: Situation) -> WhatIfView:
    point, slope = found.point, found.point.mix_slope
    return WhatIfView(
        law=asdict(point.law),
        moments={field.name: float(getattr(point.moments, field.name)) for field in fields(TrafficMoments)},
        price_ratio=point.price_ratio,
        input_per_mtok=point.input_per_mtok,
        currency=found.traffic.currency,
        slope=None if slope is None else slope.slope,
    )


def _waterfall(reader: Reader, day: Stretch) -> WaterfallView | None:
    """Compare with the 24 hours before; None where one of the two cannot be told, or they have two currencies."""
    before = Stretch(day.deployment, day.first_hour - HOURS_PER_DAY, day.last_hour - HOURS_PER_DAY)
    try:
        then, now = priced_traffic(reader, before), priced_traffic(reader, day)
        if then.currency != now.currency:
            return None
        found = explain(period(reader, then), period(reader, now))
    except CannotTellError:
        return None
    return WaterfallView(
        before=found.before,
        after=found.after,
        parts=tuple(found.parts.items()),
        currency=now.currency,
        before_name="24 hours before",
        after_name="last 24 hours",
    )
