"""Asset checks: findings about a contract as Dagster shows them.

Belongs here: specs and display. Does not belong here: what is expected, or what a breach does.
"""

from collections.abc import Sequence

import dagster as dg

from pipelines.contracts import is_broken
from pipelines.expectations import Finding

REQUESTS_CONTRACT = dg.AssetCheckSpec(
    "requests_contract",
    asset="requests",
    blocking=True,
    description="Stops the day before its marts when its requests break their contract; a day without requests warns.",
)
MARTS_CONTRACT = dg.AssetCheckSpec(
    "marts_contract",
    asset="hourly_hit_rate",
    blocking=True,
    description="Stops the day before its verdicts, and keeps the marts as they were, when they break their contract.",
)
CURVES_CONTRACT = dg.AssetCheckSpec(
    "curves_contract",
    asset="throughput_curve",
    description="Warns where estimators of one curve contradict each other, or engine or model changed in its window.",
)

# Named because a table of no findings does not show its columns.
_COLUMNS = dg.TableSchema(
    columns=[
        dg.TableColumn("expectation"),
        dg.TableColumn("severity"),
        dg.TableColumn("passed", "bool"),
        dg.TableColumn("detail"),
    ]
)


def check_result(spec: dg.AssetCheckSpec, findings: Sequence[Finding]) -> dg.AssetCheckResult:
    """Return the findings as a check result: an error stops what is downstream, a warning does not."""
    failed = [finding for finding in findings if not finding.passed]
    records = [
        dg.TableRecord({
            "expectation": finding.expectation, "severity": finding.severity, "passed": finding.passed,
            "detail": finding.detail,
        })
        for finding in findings
    ]  # fmt: skip
    return dg.AssetCheckResult(
        check_name=spec.name,
        asset_key=spec.asset_key,
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if is_broken(findings) else dg.AssetCheckSeverity.WARN,
        description="; ".join(f"{finding.expectation}: {finding.detail}" for finding in failed) or None,
        metadata={
            "evaluated": len(findings),
            "failed": len(failed),
            "findings": dg.MetadataValue.table(records, _COLUMNS),
        },
    )
