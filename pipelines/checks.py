"""Asset checks: findings of `expectations` as Dagster shows them.

Belongs here: severities and display. Does not belong here: what is expected.
"""

from collections.abc import Sequence

import dagster as dg

from pipelines.expectations import Finding

REQUESTS_CONTRACT = dg.AssetCheckSpec(
    "requests_contract",
    asset="requests",
    blocking=True,
    description="Stops the day before its marts when its requests break their contract; a day without requests warns.",
)


def check_result(findings: Sequence[Finding] | None) -> dg.AssetCheckResult:
    """Return the findings as a check result; no findings at all means no data, which is not a pass."""
    if findings is None:
        return dg.AssetCheckResult(
            check_name=REQUESTS_CONTRACT.name,
            passed=False,
            severity=dg.AssetCheckSeverity.WARN,
            description="no data for this day",
        )
    failed = [finding for finding in findings if not finding.passed]
    records = [
        dg.TableRecord({"expectation": finding.expectation, "passed": finding.passed, "detail": finding.detail})
        for finding in findings
    ]
    return dg.AssetCheckResult(
        check_name=REQUESTS_CONTRACT.name,
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR,
        description="; ".join(f"{finding.expectation}: {finding.detail}" for finding in failed) or None,
        metadata={"evaluated": len(findings), "failed": len(failed), "findings": dg.MetadataValue.table(records)},
    )
