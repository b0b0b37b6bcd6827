"""The verdicts, the money beside them and the episodes they add up to."""

from collections.abc import Iterator
from datetime import date

import dagster as dg

from pipelines.alerts.record import judge_day
from pipelines.assets.curve import throughput_curve
from pipelines.partitions import DAILY_UTC
from pipelines.resources import Workplace
from pipelines.times import to_day_index

_STATUS = dg.AssetSpec(
    "valley_status",
    description="Per deployment and hour: the revenue index of its own traffic, the state, what it costs.",
    deps=[throughput_curve, "hourly_hit_rate"],
    group_name="verdict",
    kinds={"python", "duckdb"},
    partitions_def=DAILY_UTC,
)
_PROFIT = dg.AssetSpec(
    "profit_and_loss",
    description="Per deployment and hour: what was sold, what the instances cost, what the hits earned or cost.",
    deps=[_STATUS],
    group_name="verdict",
    kinds={"python", "duckdb"},
    partitions_def=DAILY_UTC,
)
_EPISODES = dg.AssetSpec(
    "valley_episodes",
    description="Runs of hours that policy holds a deployment in the valley, with the alerts they call for.",
    deps=[_STATUS],
    group_name="verdict",
    kinds={"python", "duckdb"},
    partitions_def=DAILY_UTC,
)


@dg.multi_asset(specs=[_STATUS, _PROFIT, _EPISODES], pool="duckdb_write")
def verdicts(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Judge the day; status, money, episodes and alerts change in one commit, hence one step."""
    with workplace.writer() as writer:
        day_index = to_day_index(date.fromisoformat(context.partition_key))
        counts = judge_day(writer, day_index, workplace.settings(), workplace.now())
    yield dg.MaterializeResult(asset_key="valley_status", metadata={"hours": counts["hours"]})
    yield dg.MaterializeResult(asset_key="profit_and_loss", metadata={"hours": counts["hours"]})
    yield dg.MaterializeResult(
        asset_key="valley_episodes", metadata={"episodes": counts["episodes"], "new_alerts": counts["new_alerts"]}
    )
