"""What readers see: the snapshot for SQL and the report for people."""

import dagster as dg

from pipelines.partitions import DAILY_UTC
from pipelines.report_data import finish_publishing, publish_report
from pipelines.resources import Workplace


@dg.asset(
    partitions_def=DAILY_UTC,
    group_name="published",
    kinds={"duckdb"},
    pool="duckdb_write",
    deps=["valley_episodes", "profit_and_loss", "hit_rate_histogram"],
)
def snapshot(workplace: Workplace) -> dg.MaterializeResult[None]:
    """A copy of all marts that any DuckDB client can open while the job writes."""
    with workplace.writer() as writer:
        path = writer.publish()
    return dg.MaterializeResult(metadata={"path": dg.MetadataValue.path(str(path)), "bytes": path.stat().st_size})


@dg.asset(partitions_def=DAILY_UTC, group_name="published", kinds={"html"}, pool="duckdb_write", deps=[snapshot])
def report(workplace: Workplace) -> dg.MaterializeResult[None]:
    """The page people read: one self-contained HTML file."""
    path = publish_report(workplace.warehouse(), workplace.now())
    with workplace.writer() as writer:
        finish_publishing(writer)
    return dg.MaterializeResult(metadata={"path": dg.MetadataValue.path(str(path))})
