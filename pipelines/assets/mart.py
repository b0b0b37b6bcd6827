"""The hourly marts."""

from collections.abc import Iterator
from datetime import date

import dagster as dg

from pipelines.assets.core import requests
from pipelines.checks import MARTS_CONTRACT, check_result
from pipelines.contracts import refresh_marts
from pipelines.partitions import DAILY_UTC
from pipelines.resources import Workplace
from pipelines.times import to_day_index

_DESCRIPTIONS = {
    "hourly_hit_rate": "Traffic and hit rates per deployment and hour, with the moments that make the verdict exact.",
    "hit_rate_histogram": "The distribution of request hit rates per deployment and hour.",
    "busy_periods": (
        "The rows the throughput curve is fitted on: busy time against tokens, per instance, busy period and minute."
    ),
}
_MARTS = [
    dg.AssetSpec(
        name, description=text, deps=[requests], group_name="marts", kinds={"duckdb"}, partitions_def=DAILY_UTC
    )
    for name, text in _DESCRIPTIONS.items()
]


@dg.multi_asset(specs=_MARTS, check_specs=[MARTS_CONTRACT], pool="duckdb_write")
def hourly_marts(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Replace the day's hours; the marts change in one commit once they keep their contract, hence one step."""
    with workplace.writer() as writer:
        refreshed = refresh_marts(writer, to_day_index(date.fromisoformat(context.partition_key)))
    for mart, n_hours in refreshed.n_hours.items():
        judged = [check_result(MARTS_CONTRACT, refreshed.findings)] if mart == "hourly_hit_rate" else []
        yield dg.MaterializeResult(asset_key=mart, metadata={"hours_replaced": n_hours}, check_results=judged)
