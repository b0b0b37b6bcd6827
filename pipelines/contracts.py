"""What happens at a boundary: profile, judgement, and what a breach does to the day.

Belongs here: which profiles make a contract, and that a broken one leaves no trace but its findings. Does not belong
here: what is expected (`expectations`), counting (`sql/checks/`), Dagster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pipelines.curve_window import window_findings
from pipelines.engines.duck import DUCKDB
from pipelines.engines.interface import Engine
from pipelines.errors import BlockedDayError
from pipelines.expectations import (
    BLOCK,
    Finding,
    expected_of_curves,
    expected_of_deployments,
    expected_of_files,
    expected_of_manifest,
    expected_of_marts,
    expected_of_requests,
    judge,
)
from pipelines.faults import reach
from pipelines.lake import MARTS_BY_HOUR
from pipelines.marts import refresh_busy_periods, refresh_hours
from pipelines.settings import PolicySettings
from pipelines.times import HOURS_PER_DAY, US_PER_DAY, day_text
from pipelines.warehouse import Reader, Writer

REQUESTS = "requests"
MARTS = "hourly marts"
CURVES = "throughput curves"
CONTRACTS = (REQUESTS, MARTS, CURVES)
"""In the order a day meets them."""


def warnings(reader: Reader) -> tuple[str, ...]:
    """Say what the newest judged day lacks, one sentence an expectation."""
    return tuple(
        f"{day_text(row['day_index'])}{_others(row['n_days'])}, {row['contract']}: "
        f"not so: {row['expectation']} ({row['detail']})"
        for row in reader.rows("report/warnings")
    )


def _others(n_days: int) -> str:
    return f" and {n_days - 1} other days" if n_days > 1 else ""


def breaches(writer: Writer, day_index: int, contracts: Sequence[str] = CONTRACTS) -> list[str]:
    """Say what stopped a day, one sentence a breach of one of the contracts."""
    return [
        f"the contract of the {row['contract']} is broken: {row['expectation']} ({row['detail']})"
        for row in writer.rows("ops/breaches", day_index=day_index)
        if row["contract"] in contracts
    ]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What became of a day's marts; after a breach nothing was replaced."""

    findings: tuple[Finding, ...]
    n_hours: dict[str, int]


class _BreachError(Exception):
    """Carries the findings out of a transaction that they undo."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__(findings)
        self.findings = findings


def is_broken(findings: Sequence[Finding]) -> bool:
    """Say whether the day must stop here."""
    return any(not finding.passed and finding.severity == BLOCK for finding in findings)


def judge_requests(writer: Writer, day_index: int, policy: PolicySettings) -> tuple[Finding, ...]:
    """Judge the manifest and the day's requests; keep and return the findings."""
    writer.open_days(day_index, day_index)
    day = {"from_us": day_index * US_PER_DAY, "to_us": (day_index + 1) * US_PER_DAY}
    requests = writer.frame("checks/requests_profile", **day)
    findings = [
        *judge(writer.frame("checks/manifest"), expected_of_manifest()),
        *judge(requests, expected_of_requests(policy.min_coverage)),
    ]
    if not requests.is_empty():
        findings += judge(writer.frame("checks/files_profile", **day), expected_of_files())
        findings += judge(writer.frame("checks/deployments_profile", **day), expected_of_deployments())
    _keep(writer, day_index, REQUESTS, findings)
    return tuple(findings)


def refresh_marts(writer: Writer, day_index: int, engine: Engine = DUCKDB) -> Refreshed:
    """Replace the day's dirty hours in all marts and judge what they became, before the one commit.

    A broken contract rolls everything back: yesterday's rows stay, the hours stay dirty, only the findings are kept.
    """
    try:
        with writer.transaction():
            n_hours = {
                "hourly_hit_rate": refresh_hours(writer, "hourly_hit_rate", day_index, engine),
                "hit_rate_histogram": refresh_hours(writer, "hit_rate_histogram", day_index, engine),
                "busy_periods": HOURS_PER_DAY * refresh_busy_periods(writer, day_index, engine),
            }
            findings = _require_kept(_judge_marts(writer, day_index))
            reach("marts_judged")
    except _BreachError as breach:
        findings, n_hours = breach.findings, dict.fromkeys(MARTS_BY_HOUR, 0)
    reach("marts_committed")
    _keep(writer, day_index, MARTS, findings)
    return Refreshed(findings, n_hours)


def judge_curves(writer: Writer, day_index: int) -> tuple[Finding, ...]:
    """Judge the day's curves against each other, and what they rest on; keep and return the findings."""
    profile = writer.frame("checks/curves_profile", day_index=day_index)
    findings = window_findings(writer, day_index)
    if not profile.is_empty():
        findings += judge(profile, expected_of_curves())
    _keep(writer, day_index, CURVES, findings)
    return tuple(findings)


def keep_without_curves(writer: Writer, day_index: int, why: BlockedDayError) -> None:
    """Keep that a day stops for want of curves."""
    _keep(writer, day_index, CURVES, [Finding("curves rest on marts that keep their contract", BLOCK, False, str(why))])


def _require_kept(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    if is_broken(findings):
        raise _BreachError(findings)
    return findings


def _judge_marts(writer: Writer, day_index: int) -> tuple[Finding, ...]:
    writer.open_days(day_index - 1, day_index)
    from_us, to_us = day_index * US_PER_DAY, (day_index + 1) * US_PER_DAY
    profile = writer.frame("checks/marts_profile", context_from_us=from_us - US_PER_DAY, from_us=from_us, to_us=to_us)
    return tuple(judge(profile, expected_of_marts()))


def _keep(writer: Writer, day_index: int, contract: str, findings: Sequence[Finding]) -> None:
    """Replace the day's findings about one contract."""
    with writer.transaction():
        writer.run("ops/clear_findings", day_index=day_index, contract=contract)
        reach("findings_cleared")
        rows = [{"day_index": day_index, "contract": contract, **asdict(finding)} for finding in findings]
        writer.insert_rows("ops.findings", rows)
