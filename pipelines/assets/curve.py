"""The throughput curves."""

from collections.abc import Iterator

import dagster as dg

from pipelines.assets.graph import IN_ONE_RUN, asset_spec
from pipelines.assets.shown import curves_shown
from pipelines.assets.step import step
from pipelines.checks import CURVES_CONTRACT, check_result
from pipelines.contracts import MARTS, REQUESTS, judge_curves, keep_without_curves
from pipelines.curves import fit_day
from pipelines.errors import BlockedDayError
from pipelines.resources import Workplace

_CURVE = asset_spec(
    "throughput_curve",
    "How each deployment's miss-token throughput falls with its hit rate, fitted on the trailing window.",
    group="verdict",
    grain="deployment-day",
    kinds={"python", "scipy"},
    deps=["requests", "busy_periods", "hourly_hit_rate"],
)


@dg.multi_asset(specs=[_CURVE], check_specs=[CURVES_CONTRACT], backfill_policy=IN_ONE_RUN)
def fit_curves(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Fit the days' curves; those of a day that runs on are kept where the cadence is hourly."""
    findings = {}
    with step(context, workplace) as at:
        for day in at.sound_days((REQUESTS, MARTS)):
            hours_over = at.settings.schedule.hours_over(day, workplace.now())
            try:
                n_fitted = fit_day(at.writer, day, at.settings.policy, hours_over=hours_over)
            except BlockedDayError as why:
                if len(at.days) == 1:
                    raise
                keep_without_curves(at.writer, day, why)
                continue
            findings[day] = judge_curves(at.writer, day)
            at.show(day, {"fitted": n_fitted} | curves_shown(at.writer, day))
    yield dg.MaterializeResult(check_results=[check_result(CURVES_CONTRACT, findings)])
