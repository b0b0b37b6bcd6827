"""The requests themselves."""

from collections import Counter
from collections.abc import Iterator
from datetime import date

import dagster as dg

from pipelines.checks import REQUESTS_CONTRACT, check_result
from pipelines.contracts import judge_requests
from pipelines.ingest import ingest_sources
from pipelines.partitions import DAILY_UTC
from pipelines.resources import Workplace
from pipelines.times import to_day_index


@dg.asset(
    partitions_def=DAILY_UTC,
    group_name="ingest",
    kinds={"duckdb", "parquet"},
    pool="duckdb_write",
    check_specs=[REQUESTS_CONTRACT],
)
def requests(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[dg.MaterializeResult[None]]:
    """Every accepted request once: reads whatever is new in the sources, whichever days it belongs to."""
    with workplace.writer() as writer:
        settings, day = workplace.settings(), date.fromisoformat(context.partition_key)
        outcomes = ingest_sources(writer, settings, workplace.now(), context.log.info)
        findings = judge_requests(writer, to_day_index(day), settings.policy)
    statuses = Counter(outcome.status for outcome in outcomes)
    yield dg.MaterializeResult(
        metadata={
            "files": len(outcomes),
            "files_loaded": statuses["loaded"],
            "files_deferred": statuses["deferred"],
            "files_rejected": statuses["rejected"],
            "files_unreachable": statuses["unreachable"],
            "rows_loaded": sum(outcome.n_loaded for outcome in outcomes),
            "rows_quarantined": sum(outcome.n_quarantined or 0 for outcome in outcomes),
        },
        check_results=[check_result(REQUESTS_CONTRACT, findings)],
    )
