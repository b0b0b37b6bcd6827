"""Which model a deployment serves, since when, and whether it serves several at one time.

Belongs here: telling a takeover from a mixture, by hour. Does not belong here: reading the hours, or what follows for a
curve (`curve_window`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

MIN_HOUR_SHARE = 0.1
"""Of the mean hour's tokens: with fewer, an hour says nothing about who serves (a test at night is no takeover)."""
MIN_MIXED_SHARE = 0.1
"""Of the window's tokens in hours of several models: fewer are a switch under way."""


@dataclass(frozen=True, slots=True)
class ServedModels:
    """The model of the newest hour that has but one; since_hour: its first, if another had an hour before.

    mixed: models that each have over a tenth of the tokens of the same hours, by name; of hours from since_hour on.
    """

    model: str | None
    since_hour: int | None
    mixed: tuple[str, ...]


def served_models(rows: Iterable[dict[str, Any]]) -> ServedModels:
    """Tell from the rows of `sql/curve/hourly_models.sql`, ascending by hour."""
    hours = [(hour, list(of_hour)) for hour, of_hour in groupby(rows, key=lambda row: row["hour_index"])]
    tokens = {hour: sum(row["input_tokens"] for row in of_hour) for hour, of_hour in hours}
    least = MIN_HOUR_SHARE * sum(tokens.values()) / max(1, len(tokens))
    alone = [(hour, of_hour[0]["model"]) for hour, of_hour in hours if len(of_hour) == 1 and tokens[hour] >= least]
    model = alone[-1][1] if alone else None
    since_hour = None
    for (_, before), (hour, after) in pairwise(alone):
        if before != after:
            since_hour = hour
    window = [(hour, of_hour) for hour, of_hour in hours if since_hour is None or hour >= since_hour]
    mixed = [(hour, of_hour) for hour, of_hour in window if len(of_hour) > 1]
    if sum(tokens[hour] for hour, _ in mixed) <= MIN_MIXED_SHARE * sum(tokens[hour] for hour, _ in window):
        mixed = []
    return ServedModels(model, since_hour, tuple(sorted({row["model"] for _, of_hour in mixed for row in of_hour})))
