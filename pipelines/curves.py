"""One throughput curve per deployment and day: every estimator on the trailing window, and the best of them.

Belongs here: reading the rows, calling the fits, choosing among them, storing the results. Does not belong here: the
fits (`models/`), which hours of the window they are of (`curve_window`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from models.busy_periods import fit_busy_periods
from models.curve_fit import CurveFit, Target
from models.envelope import EnvelopeRows, fit_envelope
from pipelines import reason_codes
from pipelines.contracts import is_broken, refresh_marts
from pipelines.curve_shapes import NO_SHAPE, CurveShape, shape_of
from pipelines.curve_window import CurveWindow, busy_rows, open_window
from pipelines.errors import BlockedDayError
from pipelines.faults import reach
from pipelines.running_day import turn_of
from pipelines.settings import PolicySettings
from pipelines.times import HOURS_PER_DAY, day_text
from pipelines.warehouse import Writer

VERDICTS = "valley_status"
"""The mart that is marked when its day has new curves."""
TARGETS: tuple[Target, ...] = ("ttft_s", "e2e_s")
"""Times that envelopes are fitted to, the more certain first."""
ROWS_PER_SIZE = 256
"""Requests read for an envelope, of each power of two of computed and of cached tokens: about 15,000 a deployment."""
BASES_PER_COUNT = 10
"""`basis_rank` is ten times the rank of where cached tokens were counted, plus that of where times were taken."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What one estimator says; reasons: the fit's own, and what the logs lack for it; rows: what it was fitted to."""

    fit: CurveFit
    reasons: tuple[str, ...]
    rows: pl.DataFrame

    @property
    def is_trustworthy(self) -> bool:
        """Say whether a verdict may rest on it."""
        return not self.reasons


def fit_day(writer: Writer, day_index: int, policy: PolicySettings, *, hours_over: int | None = None) -> int:
    """Replace the day's curves and candidates; return the number of curves that were fitted.

    The marts of the whole window are brought up to date first: days that are done at one time, or not in their order,
    give the curves that they give one after the other. hours_over: of a day that runs on (`running_day`).
    """
    first_day = day_index - policy.window_days + 1
    _refresh_window(writer, first_day, day_index)
    curves: list[dict[str, Any]] = []
    candidates: list[dict[str, Any]] = []
    families: list[dict[str, Any]] = []
    lengths: list[dict[str, Any]] = []
    draws: list[pl.DataFrame] = []
    hours = {"first_hour": first_day * HOURS_PER_DAY, "last_hour": (day_index + 1) * HOURS_PER_DAY - 1}
    turn = turn_of(writer, day_index, hours_over)
    to_fit = [row for row in writer.rows("curve/deployments", **hours) if row["deployment"] not in turn.kept]
    if to_fit:
        writer.open_days(first_day, day_index)
    for traffic in to_fit:
        deployment = traffic["deployment"]
        seed = _seed(deployment, day_index)
        window = open_window(writer, traffic, **hours, seed=seed)
        found = _candidates(writer, window, seed, policy)
        chosen = _choose(found)
        shape = _shape(writer, window, chosen, seed)
        keys = {"deployment": deployment, "day_index": day_index, **window.columns()}
        curves.append(keys | _curve_row(chosen) | shape.columns)
        candidates += [
            curves[-1] | {"is_chosen": True} if one is chosen else keys | _curve_row(one) | {"is_chosen": False}
            for one in found
        ]
        families += shape.family_rows(deployment, day_index)
        lengths += shape.length_rows(deployment, day_index)
        if chosen.fit.draws is not None:
            draws.append(_draw_rows(deployment, day_index, chosen.fit))
    with writer.transaction():
        turn.clear(writer)
        reach("curves_cleared")
        writer.insert_rows("mart.throughput_curve", curves)
        writer.insert_rows("mart.curve_candidates", candidates)
        writer.insert_rows("mart.curve_families", families)
        writer.insert_rows("mart.curve_by_length", lengths)
        if draws:
            writer.insert_frame("mart.curve_draws", pl.concat(draws))
        writer.run("ops/clean_day", day_index=day_index)
        turn.note(writer)
        writer.insert_rows("ops.dirty_hours", [{"mart": VERDICTS, "hour_index": day_index * HOURS_PER_DAY}])
    return len(curves)


def _candidates(writer: Writer, window: CurveWindow, seed: int, policy: PolicySettings) -> list[Candidate]:
    """Return what every estimator says of a deployment, the most certain kind first."""
    traffic, busy = window.traffic, window.busy
    length = _mean_input_tokens(traffic)
    found = [(fit_busy_periods(busy_rows(busy), reference_input_tokens=length, seed=seed), busy)]
    requests = writer.frame(
        "curve/envelope_rows", deployment=traffic["deployment"], **window.bounds_us, rows_per_size=ROWS_PER_SIZE
    )
    for target in TARGETS:
        rows = _of_best_basis(requests, target)
        fit = fit_envelope(
            _envelope_rows(rows, target),
            target=target,
            reference_input_tokens=length,
            seed=seed,
            is_timed_by_engine=bool(rows.height) and rows["basis_rank"][0] % BASES_PER_COUNT == 0,
        )
        found.append((fit, rows))
    return [
        Candidate(fit, _reasons(fit, traffic, is_timed=busy.height > 0, policy=policy), rows) for fit, rows in found
    ]


def _shape(writer: Writer, window: CurveWindow, chosen: Candidate, seed: int) -> CurveShape:
    """Ask what else the window tells of the chosen curve; an envelope's requests are no busy periods."""
    lengths = writer.frame("curve/lengths", deployment=window.traffic["deployment"], **window.bounds_us)
    busy = window.busy if chosen.fit.estimator == "busy_periods" else window.busy.clear()
    return shape_of(chosen.fit, busy_rows(busy), busy, lengths, seed=seed)


def _choose(candidates: list[Candidate]) -> Candidate:
    """Return the first that is trustworthy, else the first that has rows, else the first."""
    trusted = [candidate for candidate in candidates if candidate.is_trustworthy]
    with_rows = [candidate for candidate in candidates if candidate.rows.height]
    return (trusted or with_rows or candidates)[0]


def _refresh_window(writer: Writer, first_day: int, last_day: int) -> None:
    for row in writer.rows("ops/stale_days", first_day=first_day, last_day=last_day):
        if is_broken(refresh_marts(writer, row["day_index"]).findings):
            raise BlockedDayError(
                f"no curve of {day_text(last_day)} can be fitted: it rests on the hourly marts of "
                f"{day_text(row['day_index'])}, which break their contract; see the view check_findings"
            )


def _of_best_basis(requests: pl.DataFrame, target: Target) -> pl.DataFrame:
    """Return the requests with this time that were timed and counted at the best place there is; never of several."""
    timed = requests.drop_nulls(_in_microseconds(target))
    return timed.filter(pl.col("basis_rank") == pl.col("basis_rank").min())


def _envelope_rows(rows: pl.DataFrame, target: Target) -> EnvelopeRows:
    def column(name: str) -> Any:
        return rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()

    return EnvelopeRows(
        minute_index=rows["minute_index"].to_numpy(),
        target_s=column(_in_microseconds(target)) / 1e6,
        miss_tokens=column("miss_tokens"),
        cached_tokens=column("cached_tokens"),
        output_tokens=column("output_tokens"),
    )


def _in_microseconds(target: Target) -> str:
    return target.removesuffix("_s") + "_us"


def _mean_input_tokens(traffic: dict[str, Any]) -> float:
    """Return the length the day's line is stated for; 0 where no request reports cached tokens."""
    return traffic["reported_input_tokens"] / traffic["n_rated"] if traffic["n_rated"] else 0.0


def _reasons(fit: CurveFit, traffic: dict[str, Any], *, is_timed: bool, policy: PolicySettings) -> tuple[str, ...]:
    """Return why the curve must not be trusted: the fit's own reasons and what the logs lack.

    is_timed: there are busy periods. Without them an envelope may be trusted; one that is not says that they lack.
    """
    lacks = []
    if traffic["n_requests"] and traffic["n_reported"] < policy.min_coverage * traffic["n_requests"]:
        lacks.append("low_coverage")
    if fit.reasons and not is_timed and traffic["n_reported"]:
        lacks.append("no_timing")
    return tuple(dict.fromkeys((*lacks, *fit.reasons)))


def _seed(deployment: str, day_index: int) -> int:
    """Return a seed that depends on nothing but what is fitted, so that a rerun gives the same intervals."""
    return int.from_bytes(hashlib.sha256(f"{deployment}\0{day_index}".encode()).digest()[:4], "big")


def _curve_row(candidate: Candidate) -> dict[str, Any]:
    fit, law = candidate.fit, candidate.fit.law
    return {
        "estimator": fit.estimator,
        "target": fit.target,
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
        **NO_SHAPE,
        "n_minutes": fit.n_minutes,
        "n_requests": fit.n_requests,
        "x_low": fit.x_low,
        "x_high": fit.x_high,
        "residual_scale": fit.residual_scale,
        "trustworthy": candidate.is_trustworthy,
        "reasons": reason_codes.joined(candidate.reasons),
    }


def _draw_rows(deployment: str, day_index: int, fit: CurveFit) -> pl.DataFrame:
    assert fit.draws is not None
    columns = {name: fit.draws[:, index] for index, name in enumerate("fcqk")}
    n_draws = len(fit.draws)
    keys = {"deployment": [deployment] * n_draws, "day_index": [day_index] * n_draws, "draw": range(n_draws)}
    return pl.DataFrame({**keys, **columns})
