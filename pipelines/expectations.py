"""Contracts at the boundaries, judged by Great Expectations on small profiles that DuckDB has counted.

Belongs here: what is expected of a profile, how bad a breach is, and what Great Expectations' answers mean. Does not
belong here: counting (`sql/checks/`), what follows from a breach (`contracts`), Dagster. Great Expectations is imported
inside the function: the import takes seconds and most commands never need it. Its SQL source does not work on DuckDB
(1.24.1), and raw rows in pandas cost gigabytes: so it sees a row per deployment and hour, or per file.
"""

from __future__ import annotations

import math
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipelines.display import shown
from pipelines.times import hour_text

BLOCK = "block"
"""The partition stops before anything that rests on it; what was published stays."""
WARN = "warn"
"""Kept, and shown by `valleywatch status` and in the report; nothing stops."""

MAX_QUARANTINED_SHARE = 0.01
"""A file may lose this share of its lines before somebody is told (and 5 % before all of it is refused)."""
NAMED_ROWS = 2
"""How many of the rows that break an expectation its finding names."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a column of a profile must be in every row: present, not NULL, and between `low` and `high`."""

    column: str
    says: str
    severity: str = BLOCK
    low: float = 0
    high: float = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One expectation's result: `detail` says where it was broken, or what the expectation itself died of."""

    expectation: str
    severity: str
    passed: bool
    detail: str = ""


def expected_of_manifest() -> tuple[Expectation, ...]:
    """Return what is expected of `sql/checks/manifest.sql`."""
    return (
        Expectation("n_not_in_lake", "as many requests are in the lake as the manifest says were loaded"),
        Expectation("n_unbalanced_files", "a file's lines are loaded, duplicates, quarantined or blank"),
    )


def expected_of_requests(min_coverage: float) -> tuple[Expectation, ...]:
    """Return what is expected of `sql/checks/requests_profile.sql`.

    Times that contradict each other only warn: producers take them at different places, and no rerun mends a log.
    """
    return (
        Expectation("n_repeated_ids", "a request counts once"),
        Expectation("n_missing_input", "a served request has input_tokens"),
        Expectation("n_cached_over_input", "cached_tokens are at most input_tokens"),
        Expectation("n_negative_tokens", "no count of tokens is negative"),
        Expectation("n_negative_latency", "no duration is negative"),
        Expectation("n_no_origin", "a request names the file and line it came from"),
        Expectation("n_ttft_over_e2e", "the first token is not later than the last", WARN),
        Expectation("n_prefill_over_ttft", "prefill_s is at most ttft_s", WARN),
        Expectation("coverage", "enough requests report cached_tokens", WARN, min_coverage, 1),
    )


def expected_of_deployments() -> tuple[Expectation, ...]:
    """Return what is expected of `sql/checks/deployments_profile.sql`: nothing that a rerun mends."""
    return (
        Expectation("n_silent_caches", "a cache that is reported has hits; if it has none, is it switched on?", WARN),
        Expectation("n_bases", "a deployment is measured at one place; of several its curve uses the best", WARN, 1, 1),
    )


def expected_of_files() -> tuple[Expectation, ...]:
    """Return what is expected of `sql/checks/files_profile.sql`."""
    return (Expectation("quarantined_share", "few lines of a file are quarantined", WARN, 0, MAX_QUARANTINED_SHARE),)


def expected_of_marts() -> tuple[Expectation, ...]:
    """Return what is expected of `sql/checks/marts_profile.sql`."""
    return (
        Expectation("n_hours_not_of_requests", "an hour counts exactly the requests that arrived in it"),
        Expectation("n_reported_over_requests", "n_rated <= n_reported <= n_requests"),
        Expectation("n_hit_rates_outside", "hit_rate is between 0 and 1, and input = cached + miss where reported"),
        Expectation("n_moments_apart", "sum_input_sq = sum_miss_sq + 2 sum_miss_cached + sum_cached_sq"),
        Expectation("n_histograms_apart", "a histogram adds up to the hour's rated requests and their tokens"),
        Expectation("n_busy_not_of_requests", "busy periods hold exactly the requests whose first token is known"),
        Expectation("n_overbusy_instances", "an instance is busy at most the hour and what ran over into it"),
    )


def expected_of_curves() -> tuple[Expectation, ...]:
    """Return what is expected of `sql/checks/curves_profile.sql`."""
    return (Expectation("n_curves_apart", "estimators of one curve agree within their intervals", WARN),)


def judge(profile: pl.DataFrame, expected: Sequence[Expectation]) -> list[Finding]:
    """Return one finding for each expectation, whatever becomes of it.

    It passes only if Great Expectations answered every part of it with success: an answer that is missing and an
    exception inside an expectation are failures of its own severity. An empty profile is no data: one warning, no pass.
    """
    if profile.is_empty():
        return [Finding("there is data to judge", WARN, False, "no data for this day")]
    answers = defaultdict(list)
    for result in _validate(profile, expected):
        answers[result.expectation_config.meta["column"]].append(result)
    return [_finding(expectation, answers[expectation.column]) for expectation in expected]


def _validate(profile: pl.DataFrame, expected: Sequence[Expectation]) -> list[Any]:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with _unseen("pyspark"):
        import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("duckdb").add_dataframe_asset("profile")
    batch = asset.add_batch_definition_whole_dataframe("day").get_batch({"dataframe": profile.to_pandas()})
    suite = gx.ExpectationSuite(name="contract", expectations=[part for one in expected for part in _parts(one)])
    report = batch.validate(suite, result_format="BOOLEAN_ONLY")
    if not report.success:
        # Which rows break a part takes as long again to find out, and most days break none.
        judged = {expectation.column for expectation in expected}
        where = [name for name in profile.columns if name not in judged]
        report = batch.validate(
            suite, result_format={"result_format": "COMPLETE", "unexpected_index_column_names": where}
        )
    return list(report.results)


@contextmanager
def _unseen(package: str) -> Iterator[None]:
    """
    Let what is imported meanwhile not find `package`, whether it is installed, imported already, or neither.

    Great Expectations looks for Spark, which no expectation here needs, and imports all of it: that warns of the pandas
    it comes with, and ends the process with exit code 0 where Spark's Connect client lacks one of its own packages.
    """
    there = sys.modules.get(package)
    sys.modules[package] = None  # type: ignore[assignment]  # how Python spells "not to be found"
    try:
        yield
    finally:
        del sys.modules[package]
        if there is not None:
            sys.modules[package] = there


def _parts(expectation: Expectation) -> tuple[Any, ...]:
    """Return what Great Expectations must answer; its BETWEEN skips NULLs, so that they are a part of their own."""
    import great_expectations.expectations as gxe

    meta = {"column": expectation.column}
    return (
        gxe.ExpectColumnValuesToNotBeNull(column=expectation.column, meta=meta),
        gxe.ExpectColumnValuesToBeBetween(
            column=expectation.column, min_value=expectation.low, max_value=expectation.high, meta=meta
        ),
    )


def _finding(expectation: Expectation, answers: Sequence[Any]) -> Finding:
    raised = [message for answer in answers for message in _exceptions(answer.exception_info)]
    broken = [row for answer in answers for row in answer.result.get("unexpected_index_list") or ()]
    if raised:
        detail = f"the expectation itself failed: {shown(raised[0], 200)}"
    elif len(answers) < len(_parts(expectation)):
        detail = f"{len(_parts(expectation)) - len(answers)} of its parts gave no result"
    else:
        detail = _where(broken, expectation.column)
    passed = not detail and all(bool(answer.success) for answer in answers)
    return Finding(expectation.says, expectation.severity, passed, detail)


def _where(broken: Sequence[dict[str, Any]], column: str) -> str:
    """Name the first rows that break an expectation, with the value that does."""
    named = [f"{_seen(column, row[column])} ({_row(row, column)})" for row in broken[:NAMED_ROWS]]
    more = f" and {len(broken) - NAMED_ROWS:,} more" if len(broken) > NAMED_ROWS else ""
    return "; ".join(named) + more


def _seen(column: str, value: Any) -> str:
    number = math.nan if value is None else float(value)
    return f"{column} is NULL" if math.isnan(number) else f"{column} = {number:.6g}"


def _row(row: dict[str, Any], column: str) -> str:
    """Say which row of the profile it is."""
    told = {name: shown(str(value)) for name, value in row.items() if name not in (column, "hour_index")}
    hour = {"hour_utc": hour_text(int(row["hour_index"]))} if "hour_index" in row else {}
    return ", ".join(f"{name} {value}" for name, value in (told | hour).items())


def _exceptions(info: Any) -> list[str]:
    """Return the messages in GX's exception info, which is one mapping or a mapping of them."""
    if not info:
        return []
    entries = [info] if "exception_message" in info else list(info.values())
    return [str(entry["exception_message"]) for entry in entries if entry.get("raised_exception")]
