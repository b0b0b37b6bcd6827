"""The requests themselves."""

from collections import Counter

import dagster as dg

from pipelines.ingest import ingest_sources
from pipelines.partitions import DAILY_UTC
from pipelines.resources import Workplace


@dg.asset(partitions_def=DAILY_UTC, group_name="ingest", kinds={"duckdb", "parquet"}, pool="duckdb_write")
def requests(context: dg.AssetExecutionContext, workplace: Workplace) -> dg.MaterializeResult[None]:
    """Every accepted request once: reads whatever is new in the sources, whichever days it belongs to."""
    with workplace.writer() as writer:
        outcomes = ingest_sources(writer, workplace.settings(), workplace.now(), context.log.info)
    statuses = Counter(outcome.status for outcome in outcomes)
    return dg.MaterializeResult(
        metadata={
            "files": len(outcomes),
            "files_loaded": statuses["loaded"],
            "files_rejected": statuses["rejected"],
            "rows_loaded": sum(outcome.n_loaded for outcome in outcomes),
            "rows_quarantined": sum(outcome.n_quarantined or 0 for outcome in outcomes),
        }
    )
