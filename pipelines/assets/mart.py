"""The hourly marts."""

from collections.abc import Iterator

import dagster as dg

from pipelines.assets.graph import IN_ONE_RUN, asset_spec
from pipelines.assets.shown import traffic_shown, work_shown
from pipelines.assets.step import step
from pipelines.checks import MARTS_CONTRACT, check_result
from pipelines.contracts import REQUESTS, refresh_marts
from pipelines.engines.opening import engine_of
from pipelines.lake import MARTS_BY_HOUR
from pipelines.resources import Workplace

_HIT_RATE, _HISTOGRAM, _BUSY = (
    asset_spec(name, text, group="marts", grain=grain, kinds={"duckdb"}, deps=["requests"])
    for name, grain, text in (
        (
            "hourly_hit_rate",
            "deployment-hour",
            "Traffic and hit rates per deployment and hour, with the moments that make the verdict exact.",
        ),
        (
            "hit_rate_histogram",
            "deployment-hour-bin",
            "The distribution of request hit rates per deployment and hour.",
        ),
        (
            "busy_periods",
            "instance-minute",
            "The rows the throughput curve is fitted on: busy time against tokens, per instance, busy period, minute.",
        ),
    )
)


@dg.multi_asset(
    specs=[_HIT_RATE, _HISTOGRAM, _BUSY],
    check_specs=[MARTS_CONTRACT],
    backfill_policy=IN_ONE_RUN,
)
def hourly_marts(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Replace the days' dirty hours; the marts change in one commit once they keep their contract, hence one step."""
    findings = {}
    with step(context, workplace) as at, engine_of(at.settings, context.log.info) as engine:
        for day in at.sound_days((REQUESTS,)):
            refreshed = refresh_marts(at.writer, day, engine)
            findings[day] = refreshed.findings
            for mart, n_hours in refreshed.n_hours.items():
                at.show(day, {"hours_replaced": n_hours}, mart)
            at.show(day, traffic_shown(at.writer, day) | work_shown(engine.shown()), "hourly_hit_rate")
    for mart in MARTS_BY_HOUR:
        judged = [check_result(MARTS_CONTRACT, findings)] if mart == "hourly_hit_rate" else []
        yield dg.MaterializeResult(asset_key=mart, check_results=judged)
