"""Contracts at the boundary, judged by Great Expectations on a small profile that DuckDB has counted.

Belongs here: suites and what their results mean. Does not belong here: counting (`sql/checks/`) or Dagster. Great
Expectations is imported inside the functions: the import takes seconds and most commands never need it. Its SQL source
does not work on DuckDB (1.24.1), and raw rows in pandas cost gigabytes: so it sees one row per deployment and hour.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from pipelines.times import US_PER_DAY
from pipelines.warehouse import Writer

MUST_BE_ZERO = (
    "n_repeated_ids",
    "n_missing_input",
    "n_cached_over_input",
    "n_negative_tokens",
    "n_negative_latency",
    "n_no_origin",
)
"""Columns of `sql/checks/requests_profile.sql` that count breaches of the requests' contract."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One expectation's result: `detail` says what was seen, or what the expectation itself died of."""

    expectation: str
    passed: bool
    detail: str


def judge_requests(writer: Writer, day_index: int) -> list[Finding] | None:
    """Judge the day's requests and the manifest; None when the day has no requests: that is no data, not a pass."""
    files = writer.rows("ops/lake_files_of_days", first_day=day_index, last_day=day_index)
    writer.open_lake(row["file"] for row in files)
    day = {"from_us": day_index * US_PER_DAY, "to_us": (day_index + 1) * US_PER_DAY}
    profile = writer.frame("checks/requests_profile", **day)
    if profile.is_empty():
        return None
    return [*_judge_manifest(writer), *_judge_profile(profile.to_pandas())]


def _judge_manifest(writer: Writer) -> list[Finding]:
    seen = writer.rows("checks/manifest")[0]
    return [
        Finding(
            "loaded lines equal requests in the lake",
            seen["n_loaded"] == seen["n_in_lake"],
            f"{seen['n_loaded']} loaded, {seen['n_in_lake']} in the lake",
        ),
        Finding(
            "lines = loaded + duplicates + quarantined + blank",
            seen["n_unbalanced_files"] == 0,
            f"{seen['n_unbalanced_files']} files break it",
        ),
    ]


def _judge_profile(profile: Any) -> list[Finding]:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    import great_expectations.expectations as gxe

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("profile").add_dataframe_asset("hours")
    batch = asset.add_batch_definition_whole_dataframe("day")
    expected = [
        gxe.ExpectTableRowCountToBeBetween(min_value=1),
        gxe.ExpectColumnValuesToBeBetween(column="n_requests", min_value=1),
        *(gxe.ExpectColumnValuesToBeBetween(column=name, min_value=0, max_value=0) for name in MUST_BE_ZERO),
        *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in MUST_BE_ZERO),
    ]
    suite = context.suites.add(gx.ExpectationSuite(name="requests", expectations=expected))
    definition = gx.ValidationDefinition(name="requests", data=batch, suite=suite)
    report = context.validation_definitions.add(definition).run(batch_parameters={"dataframe": profile})
    findings = [_finding(result) for result in report.results]
    if len(findings) != len(expected):
        lost = f"{len(expected) - len(findings)} of {len(expected)} expectations gave no result"
        findings.append(Finding("every expectation gives a result", False, lost))
    return findings


def _finding(result: Any) -> Finding:
    config = result.expectation_config
    column = config.kwargs.get("column")
    name = config.type.removeprefix("expect_").replace("_", " ") + (f": {column}" if column else "")
    raised = [info for info in _exceptions(result.exception_info) if info]
    if raised:
        return Finding(name, False, f"raised: {raised[0][:200]}")
    seen = dict(result.result)
    unexpected = seen.get("unexpected_count", seen.get("observed_value"))
    return Finding(name, bool(result.success), f"unexpected {int(unexpected)}" if unexpected is not None else "")


def _exceptions(info: Any) -> list[str]:
    """Return the messages in GX's exception info, which is one mapping or a mapping of them."""
    if not info:
        return []
    entries = [info] if "exception_message" in info else list(info.values())
    return [str(entry["exception_message"]) for entry in entries if entry.get("raised_exception")]
