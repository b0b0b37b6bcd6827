"""The verdicts, the money beside them and the episodes they add up to."""

from collections.abc import Iterator

import dagster as dg

from pipelines.alerts.record import judge_day
from pipelines.assets.graph import IN_ONE_RUN, asset_spec
from pipelines.assets.shown import money_shown, report_link, verdicts_shown
from pipelines.assets.step import step
from pipelines.contracts import CONTRACTS
from pipelines.resources import Workplace

_STATUS = asset_spec(
    "valley_status",
    "Per deployment and hour: the revenue index of its own traffic, the state, what it costs.",
    group="verdict",
    grain="deployment-hour",
    kinds={"python", "duckdb"},
    deps=["throughput_curve", "hourly_hit_rate"],
)
_PROFIT = asset_spec(
    "profit_and_loss",
    "Per deployment and hour: what was sold, what the instances cost, what the hits earned or cost.",
    group="verdict",
    grain="deployment-hour",
    kinds={"python", "duckdb"},
    deps=["valley_status"],
)
_EPISODES = asset_spec(
    "valley_episodes",
    "Runs of hours that policy holds a deployment in the valley, with the alerts they call for.",
    group="verdict",
    grain="episode",
    kinds={"python", "duckdb"},
    deps=["valley_status"],
)


@dg.multi_asset(specs=[_STATUS, _PROFIT, _EPISODES], backfill_policy=IN_ONE_RUN)
def verdicts(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Judge the days; status, money, episodes and alerts change in one commit, hence one step."""
    with step(context, workplace) as at:
        for day in at.sound_days(CONTRACTS):
            counts = judge_day(at.writer, day, at.settings, workplace.now())
            link = report_link(at.settings, workplace.warehouse())
            at.show(day, {"hours": counts["hours"]} | verdicts_shown(at.writer, day) | link, "valley_status")
            at.show(day, money_shown(at.writer, day), "profit_and_loss")
            episodes = {"episodes": counts["episodes"], "new_alerts": counts["new_alerts"]}
            at.show(day, episodes, "valley_episodes")
    for name in ("valley_status", "profit_and_loss", "valley_episodes"):
        yield dg.MaterializeResult(asset_key=name)
