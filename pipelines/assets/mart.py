"""The hourly marts."""

from datetime import date

import dagster as dg

from pipelines.assets.core import requests
from pipelines.marts import refresh_busy_periods, refresh_hours
from pipelines.partitions import DAILY_UTC
from pipelines.resources import Workplace
from pipelines.times import to_day_index


@dg.asset(partitions_def=DAILY_UTC, group_name="marts", kinds={"duckdb"}, pool="duckdb_write", deps=[requests])
def hourly_hit_rate(context: dg.AssetExecutionContext, workplace: Workplace) -> dg.MaterializeResult[None]:
    """Traffic and hit rates per deployment and hour, with the moments that make the verdict exact."""
    with workplace.writer() as writer:
        n_hours = refresh_hours(writer, "hourly_hit_rate", to_day_index(date.fromisoformat(context.partition_key)))
    return dg.MaterializeResult(metadata={"hours_replaced": n_hours})


@dg.asset(partitions_def=DAILY_UTC, group_name="marts", kinds={"duckdb"}, pool="duckdb_write", deps=[requests])
def hit_rate_histogram(context: dg.AssetExecutionContext, workplace: Workplace) -> dg.MaterializeResult[None]:
    """The distribution of request hit rates per deployment and hour."""
    with workplace.writer() as writer:
        n_hours = refresh_hours(writer, "hit_rate_histogram", to_day_index(date.fromisoformat(context.partition_key)))
    return dg.MaterializeResult(metadata={"hours_replaced": n_hours})


@dg.asset(partitions_def=DAILY_UTC, group_name="marts", kinds={"duckdb"}, pool="duckdb_write", deps=[requests])
def busy_periods(context: dg.AssetExecutionContext, workplace: Workplace) -> dg.MaterializeResult[None]:
    """The rows the throughput curve is fitted on: busy time against tokens, per instance, busy period and minute."""
    with workplace.writer() as writer:
        is_replaced = refresh_busy_periods(writer, to_day_index(date.fromisoformat(context.partition_key)))
    return dg.MaterializeResult(metadata={"day_replaced": is_replaced})
