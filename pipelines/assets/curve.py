"""The throughput curves."""

from collections.abc import Iterator
from datetime import date

import dagster as dg

from pipelines.checks import CURVES_CONTRACT, check_result
from pipelines.contracts import judge_curves
from pipelines.curves import fit_day
from pipelines.partitions import DAILY_UTC
from pipelines.resources import Workplace
from pipelines.times import to_day_index


@dg.asset(
    partitions_def=DAILY_UTC,
    group_name="verdict",
    kinds={"python", "scipy"},
    pool="duckdb_write",
    deps=["requests", "busy_periods", "hourly_hit_rate"],
    check_specs=[CURVES_CONTRACT],
)
def throughput_curve(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """How each deployment's miss-token throughput falls with its hit rate, fitted on the trailing window."""
    with workplace.writer() as writer:
        day_index = to_day_index(date.fromisoformat(context.partition_key))
        n_curves = fit_day(writer, day_index, workplace.settings().policy)
        findings = judge_curves(writer, day_index)
    yield dg.MaterializeResult(metadata={"curves": n_curves}, check_results=[check_result(CURVES_CONTRACT, findings)])
