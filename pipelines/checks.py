"""Asset checks: findings about a contract as Dagster shows them.

Belongs here: specs and display. Does not belong here: what is expected, or what a breach does.
"""

from collections.abc import Mapping, Sequence

import dagster as dg

from pipelines.contracts import is_broken
from pipelines.expectations import Finding
from pipelines.times import day_text

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
        dg.TableColumn("day"),
        dg.TableColumn("expectation"),
        dg.TableColumn("severity"),
        dg.TableColumn("passed", "bool"),
        dg.TableColumn("detail"),
    ]
)


def check_result(spec: dg.AssetCheckSpec, found: Mapping[int, Sequence[Finding]]) -> dg.AssetCheckResult:
    """Return the findings of a run's days, by day index, as a check result.

    It stops what is downstream where every day breaks the contract: a day that stands alone stops there, days of a
    range are left out one by one (`assets.step`) and are told of here.
    """
    findings = [(day_text(day_index), finding) for day_index, of_day in found.items() for finding in of_day]
    failed = [(day, finding) for day, finding in findings if not finding.passed]
    n_broken = sum(is_broken(of_day) for of_day in found.values())
    records = [
        dg.TableRecord({
            "day": day, "expectation": finding.expectation, "severity": finding.severity, "passed": finding.passed,
            "detail": finding.detail,
        })
        for day, finding in findings
    ]  # fmt: skip
    return dg.AssetCheckResult(
        check_name=spec.name,
        asset_key=spec.asset_key,
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if 0 < len(found) == n_broken else dg.AssetCheckSeverity.WARN,
        description="; ".join(_told(day, finding, is_range=len(found) > 1) for day, finding in failed) or None,
        metadata={
            "evaluated": len(findings),
            "failed": len(failed),
            "days": len(found),
            "days_blocked": n_broken,
            "findings": dg.MetadataValue.table(records, _COLUMNS),
        },
    )


def _told(day: str, finding: Finding, *, is_range: bool) -> str:
    return f"{f'{day}, ' if is_range else ''}{finding.expectation}: {finding.detail}"
