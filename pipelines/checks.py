"""Asset checks: findings of `expectations` as Dagster shows them.

Belongs here: severities and display. Does not belong here: what is expected.
"""

from datetime import date

import dagster as dg

from pipelines.assets.core import requests
from pipelines.expectations import judge_requests
from pipelines.partitions import DAILY_UTC
from pipelines.resources import Workplace
from pipelines.times import to_day_index


@dg.asset_check(asset=requests, blocking=True, partitions_def=DAILY_UTC, pool="duckdb_write")
def requests_contract(context: dg.AssetCheckExecutionContext, workplace: Workplace) -> dg.AssetCheckResult:
    """Stop the day before its marts when its requests break their contract; a day without requests only warns."""
    with workplace.writer() as writer:
        findings = judge_requests(writer, to_day_index(date.fromisoformat(context.partition_key)))
    if findings is None:
        return dg.AssetCheckResult(passed=False, severity=dg.AssetCheckSeverity.WARN, description="no data for this day")
    failed = [finding for finding in findings if not finding.passed]
    records = [
        dg.TableRecord({"expectation": finding.expectation, "passed": finding.passed, "detail": finding.detail})
        for finding in findings
    ]
    return dg.AssetCheckResult(
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR,
        description="; ".join(f"{finding.expectation}: {finding.detail}" for finding in failed) or None,
        metadata={"evaluated": len(findings), "failed": len(failed), "findings": dg.MetadataValue.table(records)},
    )
