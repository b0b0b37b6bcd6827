"""One throughput curve per deployment and day, fitted on the trailing window of busy periods.

Belongs here: reading the rows, calling the fit, storing its result. Does not belong here: the fit (`models/`).
"""

from __future__ import annotations

import hashlib
from typing import Any

import polars as pl

from models.busy_periods import BusyRows, fit_busy_periods
from models.curve_fit import CurveFit
from pipelines.contracts import is_broken, refresh_marts
from pipelines.errors import ValleywatchError
from pipelines.faults import reach
from pipelines.settings import PolicySettings
from pipelines.times import HOURS_PER_DAY, day_text
from pipelines.warehouse import Writer

VERDICTS = "valley_status"
"""The mart that is marked when its day has new curves."""


def fit_day(writer: Writer, day_index: int, policy: PolicySettings) -> int:
    """Replace the day's curves; return their number.

    The marts of the whole window are brought up to date first: days that are done at one time, or not in their order,
    give the curves that they give one after the other.
    """
    _refresh_window(writer, day_index - policy.window_days + 1, day_index)
    window = {
        "first_hour": (day_index - policy.window_days + 1) * HOURS_PER_DAY,
        "last_hour": day_index * HOURS_PER_DAY + HOURS_PER_DAY - 1,
    }
    curves: list[dict[str, Any]] = []
    draws: list[pl.DataFrame] = []
    for traffic in writer.rows("curve/deployments", **window):
        deployment = traffic["deployment"]
        rows = writer.frame("curve/busy_rows", deployment=deployment, **window)
        fit = fit_busy_periods(
            _busy_rows(rows),
            reference_input_tokens=_mean_input_tokens(traffic),
            seed=_seed(deployment, day_index),
        )
        curves.append(_curve_row(deployment, day_index, fit, _reasons(fit, traffic, rows.height, policy)))
        if fit.draws is not None:
            draws.append(_draw_rows(deployment, day_index, fit))
    with writer.transaction():
        writer.run("curve/clear_curve", day_index=day_index)
        writer.run("curve/clear_draws", day_index=day_index)
        reach("curves_cleared")
        writer.insert_rows("mart.throughput_curve", curves)
        if draws:
            writer.insert_frame("mart.curve_draws", pl.concat(draws))
        writer.run("ops/clean_day", day_index=day_index)
        writer.insert_rows("ops.dirty_hours", [{"mart": VERDICTS, "hour_index": day_index * HOURS_PER_DAY}])
    return len(curves)


def _refresh_window(writer: Writer, first_day: int, last_day: int) -> None:
    for row in writer.rows("ops/stale_days", first_day=first_day, last_day=last_day):
        if is_broken(refresh_marts(writer, row["day_index"]).findings):
            raise ValleywatchError(
                f"no curve of {day_text(last_day)} can be fitted: it rests on the hourly marts of "
                f"{day_text(row['day_index'])}, which break their contract; see the view check_findings"
            )


def _busy_rows(rows: pl.DataFrame) -> BusyRows:
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


def _mean_input_tokens(traffic: dict[str, Any]) -> float:
    """Return the length the day's line is stated for; 0 where no request reports cached tokens."""
    return traffic["reported_input_tokens"] / traffic["n_rated"] if traffic["n_rated"] else 0.0


def _reasons(fit: CurveFit, traffic: dict[str, Any], n_rows: int, policy: PolicySettings) -> tuple[str, ...]:
    """Return why the curve must not be trusted: the fit's own reasons and what the logs lack."""
    lacks = []
    if traffic["n_requests"] and traffic["n_reported"] < policy.min_coverage * traffic["n_requests"]:
        lacks.append("low_coverage")
    if n_rows == 0 and traffic["n_reported"]:
        lacks.append("no_timing")
    return tuple(dict.fromkeys((*lacks, *fit.reasons)))


def _seed(deployment: str, day_index: int) -> int:
    """Return a seed that depends on nothing but what is fitted, so that a rerun gives the same intervals."""
    return int.from_bytes(hashlib.sha256(f"{deployment}\0{day_index}".encode()).digest()[:4], "big")


def _curve_row(deployment: str, day_index: int, fit: CurveFit, reasons: tuple[str, ...]) -> dict[str, Any]:
    law = fit.law
    return {
        "deployment": deployment,
        "day_index": day_index,
        "estimator": fit.estimator,
        "family": fit.family,
        "reference_input_tokens": fit.reference_input_tokens,
        "tps0": fit.tps0,
        "tps0_low": fit.tps0_low,
        "tps0_high": fit.tps0_high,
        "a": fit.a,
        "a_low": fit.a_low,
        "a_high": fit.a_high,
        "f": law.f if law else None,
        "c": law.c if law else None,
        "q": law.q if law else None,
        "k": law.k if law else None,
        "overhead_s": fit.overhead_s,
        "chunk_tokens": None,
        "n_minutes": fit.n_minutes,
        "n_requests": fit.n_requests,
        "x_low": fit.x_low,
        "x_high": fit.x_high,
        "residual_scale": fit.residual_scale,
        "trustworthy": fit.trustworthy and not reasons,
        "reasons": ",".join(reasons),
    }


def _draw_rows(deployment: str, day_index: int, fit: CurveFit) -> pl.DataFrame:
    assert fit.draws is not None
    columns = {name: fit.draws[:, index] for index, name in enumerate("fcqk")}
    n_draws = len(fit.draws)
    keys = {"deployment": [deployment] * n_draws, "day_index": [day_index] * n_draws, "draw": range(n_draws)}
    return pl.DataFrame({**keys, **columns})
