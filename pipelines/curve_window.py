"""The hours that a curve rests on: the trailing window, from where one engine has served one model.

Belongs here: cutting the window where another model took over or the engine changed, and telling so. Does not belong
here: how a change is found (`models/drift`, `served_models`), the fits (`curves`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from models.drift import Change, newest_change
from models.regression_rows import BusyRows
from pipelines import words
from pipelines.display import shown
from pipelines.expectations import WARN, Finding
from pipelines.served_models import ServedModels, served_models
from pipelines.times import US_PER_HOUR, hour_text
from pipelines.warehouse import Writer

MAX_NAMED = 5
"""Deployments that a finding names."""


@dataclass(frozen=True, slots=True)
class CurveWindow:
    """What a curve is fitted on. first_hour, last_hour: inclusive. traffic: its row of `curve/deployments`.

    busy: its rows of `curve/busy_rows`. change: the newest one of the engine, if the window begins with it.
    """

    first_hour: int
    last_hour: int
    traffic: dict[str, Any]
    busy: pl.DataFrame
    served: ServedModels
    change: Change | None

    @property
    def bounds_us(self) -> dict[str, int]:
        """Arrivals in the window: from_us inclusive, to_us exclusive."""
        return {"from_us": self.first_hour * US_PER_HOUR, "to_us": (self.last_hour + 1) * US_PER_HOUR}

    def columns(self) -> dict[str, Any]:
        """The window's part of a row of `mart.throughput_curve`."""
        change = self.change
        return {
            "window_from_hour": max(self.first_hour, self.traffic["first_hour"]),
            "changed_at_hour": change.hour_index if change else None,
            "change_size": change.size if change else None,
            "change_p_value": change.p_value if change else None,
            "changed": change.aspect if change else None,
            "model": self.served.model,
            "model_since_hour": self.served.since_hour,
            "mixed_models": words.listed(self.served.mixed) or None,
        }


def open_window(writer: Writer, traffic: dict[str, Any], *, first_hour: int, last_hour: int, seed: int) -> CurveWindow:
    """Return the newest part of the hours that is of one model and, where busy periods tell, of one engine."""
    deployment = traffic["deployment"]
    arrived = {"from_us": first_hour * US_PER_HOUR, "to_us": (last_hour + 1) * US_PER_HOUR}
    served = served_models(writer.rows("curve/hourly_models", deployment=deployment, **arrived))
    begins = first_hour if served.since_hour is None else served.since_hour
    busy = writer.frame("curve/busy_rows", deployment=deployment, first_hour=begins, last_hour=last_hour)
    change = newest_change(busy_rows(busy), seed=seed)
    if change is not None:
        begins = change.hour_index
        busy = busy.filter(pl.col("hour_index") >= begins)
    if begins > first_hour:
        of_all = writer.rows("curve/deployments", first_hour=begins, last_hour=last_hour)
        (traffic,) = (row for row in of_all if row["deployment"] == deployment)
    return CurveWindow(begins, last_hour, traffic, busy, served, change)


def busy_rows(rows: pl.DataFrame) -> BusyRows:
    """Return rows of `curve/busy_rows` as the models take them."""

    def column(name: str) -> Any:
        return rows[name].cast(pl.Float64).to_numpy()

    return BusyRows(
        hour_index=rows["hour_index"].to_numpy(),
        busy_s=column("busy_us") / 1e6,
        n_requests=column("n_requests"),
        miss_tokens=column("miss_tokens"),
        attention_tokens2=column("attention2") / 2,
        cached_tokens=column("cached_tokens"),
        period_begins=column("begins_period"),
    )


def window_findings(writer: Writer, day_index: int) -> list[Finding]:
    """Say of the day's curves which windows were cut and which cannot be; none where there are no curves."""
    windows = writer.rows("curve/windows", day_index=day_index)
    if not windows:
        return []
    return [
        _finding(
            "one engine serves throughout a curve's window",
            {
                row["deployment"]: words.engine_changed(row["changed_at_hour"], row["change_size"], row["changed"])
                for row in windows
                if row["changed_at_hour"] is not None
            },
        ),
        _finding(
            "one model is served throughout a curve's window",
            {
                row["deployment"]: f"model {shown(row['model'])} since {hour_text(row['model_since_hour'])}, another "
                "before: the curve rests on the hours from then on"
                for row in windows
                if row["model_since_hour"] is not None
            },
        ),
        _finding(
            "models of one deployment can be told apart",
            {
                row["deployment"]: f"models {row['mixed_models']} are served in the same hours: the curve is of their "
                "mixture; a deployment of its own for each would tell them apart"
                for row in windows
                if row["mixed_models"] is not None
            },
        ),
    ]


def _finding(expectation: str, told: dict[str, str]) -> Finding:
    said = [f"{shown(deployment)}: {what}" for deployment, what in list(told.items())[:MAX_NAMED]]
    more = [f"and {len(told) - MAX_NAMED:,} more deployments"] if len(told) > MAX_NAMED else []
    return Finding(expectation, WARN, not told, "; ".join(said + more))
