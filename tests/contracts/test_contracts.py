"""The contracts at the boundaries: every fault they are there for is put in, and what follows is seen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import date
from typing import Any

import duckdb
import polars as pl
import pytest

from pipelines import expectations, marts
from pipelines.contracts import MARTS, REQUESTS, breaches, judge_requests, refresh_marts, warnings
from pipelines.expectations import BLOCK, WARN, Expectation, Finding, judge
from pipelines.settings import load_settings
from pipelines.times import to_day_index
from tests.place import SOURCE, Place, request

pytestmark = pytest.mark.jobs

DAY = to_day_index(date(2026, 11, 28))
EXPECTED = (Expectation("n_repeated", "nothing is repeated"), Expectation("share", "enough is known", WARN, 0.5, 1))
PROFILE: dict[str, list[Any]] = {"deployment": ["pool"], "hour_index": [498_000], "n_repeated": [0], "share": [0.75]}


def failed(findings: list[Finding] | tuple[Finding, ...]) -> dict[str, str]:
    """Severity by expectation of what did not pass."""
    return {finding.expectation: finding.severity for finding in findings if not finding.passed}


def judged(place: Place) -> dict[str, str]:
    """What the contract of the day's requests is found to break."""
    with place.warehouse.writer() as writer:
        return failed(judge_requests(writer, DAY, load_settings(place.config).policy))


def refreshed(place: Place) -> dict[str, str]:
    with place.warehouse.writer() as writer:
        return failed(refresh_marts(writer, DAY).findings)


def test_a_profile_as_expected_passes() -> None:
    assert [finding.passed for finding in judge(pl.DataFrame(PROFILE), EXPECTED)] == [True, True]


def test_an_empty_profile_is_one_warning_and_no_pass() -> None:
    assert failed(judge(pl.DataFrame(PROFILE).clear(), EXPECTED)) == {"there is data to judge": WARN}


def test_a_null_fails_by_its_expectations_own_severity() -> None:
    holes = pl.DataFrame(PROFILE | {"n_repeated": [None], "share": [None]})
    assert failed(judge(holes, EXPECTED)) == {"nothing is repeated": BLOCK, "enough is known": WARN}
    assert judge(holes, EXPECTED)[0].detail == "n_repeated is NULL (deployment pool, hour_utc 2026-10-24T00:00Z)"


def test_a_null_beside_good_values_fails_as_well() -> None:
    two = {name: values * 2 for name, values in PROFILE.items()}
    assert failed(judge(pl.DataFrame(two | {"n_repeated": [0, None]}), EXPECTED)) == {"nothing is repeated": BLOCK}


@pytest.mark.parametrize("column", ["n_repeated", "share"])
def test_an_exception_inside_an_expectation_fails_it_and_no_other(column: str) -> None:
    found = judge(pl.DataFrame(PROFILE).drop(column), EXPECTED)
    (broken,) = [finding for finding in found if not finding.passed]
    assert broken.severity == (BLOCK if column == "n_repeated" else WARN)
    assert broken.detail.startswith("the expectation itself failed: ")
    assert column in broken.detail


@pytest.mark.parametrize("lost", [1, 2])
def test_an_expectation_that_vanishes_from_the_result_fails(monkeypatch: pytest.MonkeyPatch, lost: int) -> None:
    validate = expectations._validate
    monkeypatch.setattr(expectations, "_validate", lambda profile, expected: validate(profile, expected)[lost:])
    (broken,) = [finding for finding in judge(pl.DataFrame(PROFILE), EXPECTED) if not finding.passed]
    assert (broken.expectation, broken.severity) == ("nothing is repeated", BLOCK)
    assert broken.detail == f"{lost} of its parts gave no result"


def test_a_finding_names_the_worst_places_and_shows_hostile_names_as_text() -> None:
    wrong = {"deployment": ["a\x1b[2J", "b", "c"], "hour_index": [498_000] * 3, "n_repeated": [2] * 3, "share": [1] * 3}
    detail = judge(pl.DataFrame(wrong), EXPECTED)[0].detail
    assert detail == (
        "n_repeated = 2 (deployment a\\x1b[2J, hour_utc 2026-10-24T00:00Z); "
        "n_repeated = 2 (deployment b, hour_utc 2026-10-24T00:00Z) and 1 more"
    )


def test_a_good_day_keeps_both_contracts_and_findings_are_replaced_not_added(place: Place) -> None:
    place.write("a.jsonl", [request(n, e2e_ms=900, prefill_ms=200) for n in range(3)])
    place.ingest()
    for _ in range(2):
        assert judged(place) == {}
        assert refreshed(place) == {}
    place.ingest()
    assert place.rows(
        "select contract, count(*) as n, bool_and(passed) as ok from check_findings group by 1 order by 1"
    ) == [
        {"contract": MARTS, "n": 7, "ok": True},
        {"contract": REQUESTS, "n": 14, "ok": True},
    ]


def test_a_day_without_requests_warns(place: Place) -> None:
    place.ingest()
    assert judged(place) == {"there is data to judge": WARN}
    assert refreshed(place) == {"there is data to judge": WARN}
    place.ingest()
    with place.warehouse.reader() as reader:
        assert len(warnings(reader)) == 2


@pytest.mark.parametrize(
    ("changes", "expectation"),
    [
        ({"e2e_ms": 249}, "the first token is not later than the last"),
        ({"prefill_ms": 251}, "prefill_s is at most ttft_s"),
        ({"cached_tokens": None}, "enough requests report cached_tokens"),
    ],
)
def test_what_no_rerun_mends_only_warns(place: Place, changes: dict[str, Any], expectation: str) -> None:
    place.write("a.jsonl", [request(1, **changes)])
    place.ingest()
    assert judged(place) == {expectation: WARN}


def test_a_file_that_loses_too_many_lines_warns(place: Place) -> None:
    place.write("a.jsonl", [request(n) for n in range(99)] + [request(99, cached_tokens=1001)])
    place.ingest()
    assert judged(place) == {}
    place.write("b.jsonl", [request(n) for n in range(100, 130)] + [request(130, cached_tokens=1001)])
    place.ingest()
    assert judged(place) == {"few lines of a file are quarantined": WARN}


CORRUPTED = {
    "update ops.lake_files set n_requests = 7": "as many requests are in the lake as the manifest says were loaded",
    "update ops.ingest_files set duplicates = 1": "a file's lines are loaded, duplicates, quarantined or blank",
}


@pytest.mark.parametrize("change", CORRUPTED)
def test_a_manifest_that_does_not_add_up_blocks(place: Place, change: str) -> None:
    place.write("a.jsonl", [request(1)])
    place.ingest()
    tamper(place, change)
    assert judged(place) == {CORRUPTED[change]: BLOCK}


def tamper(place: Place, statement: str) -> None:
    with duckdb.connect(str(place.warehouse.folder / "warehouse.duckdb")) as connection:
        connection.execute(statement)


LAKE = {
    "request_id = 'r-0'": "a request counts once",
    "input_tokens = null": "a served request has input_tokens",
    "cached_tokens = input_tokens + 1": "cached_tokens are at most input_tokens",
    "output_tokens = -1": "no count of tokens is negative",
    "queue_us = -1": "no duration is negative",
    "source_line = null": "a request names the file and line it came from",
}


@pytest.mark.parametrize("change", LAKE)
def test_a_lake_that_breaks_the_contract_of_the_requests_blocks(place: Place, change: str) -> None:
    place.write("a.jsonl", [request(n) for n in range(2)])
    place.ingest()
    (file,) = (place.warehouse.folder / "lake").rglob("*.parquet")
    rows = pl.read_parquet(file)
    column, value = change.split(" = ")
    file.chmod(0o600)
    changed = pl.sql_expr(value).cast(rows.schema[column], strict=False).alias(column)
    rows.with_columns(changed).write_parquet(file)
    tamper(place, f"update ops.lake_files set sha256 = '{hashlib.sha256(file.read_bytes()).hexdigest()}'")
    found = judged(place)
    assert found[LAKE[change]] == BLOCK
    with place.warehouse.writer() as writer:
        assert any(LAKE[change] in sentence for sentence in breaches(writer, DAY))


MART = {
    "update mart.hourly_hit_rate set n_requests = 4": "an hour counts exactly the requests that arrived in it",
    "delete from mart.hourly_hit_rate": "an hour counts exactly the requests that arrived in it",
    "update mart.hourly_hit_rate set n_reported = 4": "n_rated <= n_reported <= n_requests",
    "update mart.hourly_hit_rate set n_rated = 4": "n_rated <= n_reported <= n_requests",
    "update mart.hourly_hit_rate set cached_tokens = 3001": (
        "hit_rate is between 0 and 1, and input = cached + miss where reported"
    ),
    "update mart.hourly_hit_rate set miss_tokens = null": (
        "hit_rate is between 0 and 1, and input = cached + miss where reported"
    ),
    "update mart.hourly_hit_rate set sum_miss_cached = sum_miss_cached + 1": (
        "sum_input_sq = sum_miss_sq + 2 sum_miss_cached + sum_cached_sq"
    ),
    "update mart.hourly_hit_rate set sum_cached_sq = null": (
        "sum_input_sq = sum_miss_sq + 2 sum_miss_cached + sum_cached_sq"
    ),
    "update mart.hit_rate_histogram set n_requests = 2": (
        "a histogram adds up to the hour's rated requests and their tokens"
    ),
    "update mart.hit_rate_histogram set cached_tokens = 1": (
        "a histogram adds up to the hour's rated requests and their tokens"
    ),
    "delete from mart.hit_rate_histogram": "a histogram adds up to the hour's rated requests and their tokens",
    "delete from mart.busy_periods": "busy periods hold exactly the requests whose first token is known",
    "update mart.busy_periods set busy_us = -1": "an instance is busy at most the hour and what ran over into it",
    "update mart.busy_periods set busy_us = 3600000001": (
        "an instance is busy at most the hour and what ran over into it"
    ),
}


@pytest.mark.parametrize("change", MART)
def test_marts_that_break_their_contract_block(place: Place, change: str) -> None:
    place.write("a.jsonl", [request(n) for n in range(3)])
    place.settle()
    tamper(place, change)
    found = refreshed(place)
    assert found[MART[change]] == BLOCK


def test_an_hour_of_work_that_began_before_the_hour_is_no_breach(place: Place) -> None:
    """Arrived at 10:15, first token at 12:10: the busy time of the instance falls into one hour and is longer."""
    place.write("a.jsonl", [request(1, ttft_ms=115 * 60_000)])
    place.ingest()
    assert refreshed(place) == {}


def broken_hours(refresh: Callable[..., int]) -> Callable[..., int]:
    """A mart that loses a request on its way from the lake."""

    def wrong(writer: Any, mart: str, *day_and_engine: Any) -> int:
        n_hours = refresh(writer, mart, *day_and_engine)
        writer._connection.execute(f"update mart.{mart} set n_requests = n_requests - 1")
        return n_hours

    return wrong


def test_a_broken_mart_leaves_yesterdays_rows_and_its_hours_dirty(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines import contracts

    place.write("a.jsonl", [request(n) for n in range(3)])
    place.settle()
    before = place.views()
    place.write("b.jsonl", [request(n) for n in range(3, 6)])
    place.ingest()
    with monkeypatch.context() as patch:
        patch.setattr(contracts, "refresh_hours", broken_hours(marts.refresh_hours))
        assert BLOCK in refreshed(place).values()
    place.ingest()
    after = place.views()
    assert all(after[view] == before[view] for view in ("hourly_hit_rate", "hit_rate_histogram", "busy_periods"))
    assert refreshed(place) == {}
    place.ingest()
    assert place.rows("select n_requests from hourly_hit_rate") == [{"n_requests": 6}]
    assert place.rows("select * from check_findings where not passed") == []


@pytest.mark.parametrize("contract", [REQUESTS, MARTS])
def test_a_broken_contract_stops_the_run_and_what_is_published_stays(
    place: Place, contract: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through the command and the Dagster job: nothing downstream runs, the message says what is broken and where."""
    from pipelines import contracts

    place.write("a.jsonl", [request(n) for n in range(3)])
    assert place.valleywatch("run") == 0
    before, snapshot = place.views(), place.warehouse.snapshot.readlink()
    place.write("b.jsonl", [request(n, input_tokens=9000) for n in range(3, 9)])
    with monkeypatch.context() as patch:
        if contract == MARTS:
            patch.setattr(contracts, "refresh_hours", broken_hours(marts.refresh_hours))
        else:
            wrong = Expectation("n_unbalanced_files", "made to fail", BLOCK, 5, 5)
            patch.setattr(contracts, "expected_of_manifest", lambda: (wrong,))
        capsys.readouterr()
        assert place.valleywatch("run") == 1
    said = capsys.readouterr().err
    assert f"the contract of the {contract} is broken: " in said
    assert "what was published before is unchanged" in said
    assert (place.views(), place.warehouse.snapshot.readlink()) == (before, snapshot)
    assert place.valleywatch("run") == 0
    assert place.rows("select n_requests from hourly_hit_rate") == [{"n_requests": 9}]


def test_a_warning_stops_nothing_and_is_told_by_status_and_report(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write("a.jsonl", [request(n, e2e_ms=1, deployment="<b>pool") for n in range(3)])
    assert place.valleywatch("run") == 0
    capsys.readouterr()
    assert place.valleywatch("status", "--json") == 0
    said = capsys.readouterr()
    assert said.out.startswith("[")
    sentence = (
        "2026-11-28, requests: not so: the first token is not later than the last (n_ttft_over_e2e = 3 (deployment"
    )
    assert f"note: {sentence} <b>pool, n_requests 3, hour_utc 2026-11-28T10:00Z))" in said.err
    report = (place.warehouse.folder / "report" / "index.html").read_text()
    assert f">{sentence} &lt;b&gt;pool" in report


def test_the_day_without_dirty_hours_is_judged_all_the_same(place: Place) -> None:
    place.configure(SOURCE)
    place.write("a.jsonl", [request(1)])
    place.settle()
    tamper(place, "delete from mart.hit_rate_histogram")
    assert BLOCK in refreshed(place).values()
