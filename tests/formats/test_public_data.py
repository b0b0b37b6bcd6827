"""The formats on other people's recorded files: every total equals the one counted by hand.

The files may not be copied into this repository: they are read from `../shared/data` beside it, or from
`$VALLEYWATCH_SHARED/data`, and a test whose files are not there skips by their name.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.ingest import FileOutcome
from tests.place import Place
from tests.shared_data import SHARED, shared

TOTALS = (
    "select count(*) as n, sum(input_tokens) as input, sum(cached_tokens) as cached, count(cached_tokens) as n_cached"
)


def load(place: Place, log_format: str, path: Path, options: str = "") -> FileOutcome:
    source = f'name = "s"\nformat = "{log_format}"\npath = {json.dumps(str(path))}\ndeployment = "public"'
    place.configure(f"[[sources]]\n{source}\n{options}\n")
    (outcome,) = place.ingest()
    return outcome


def counts(outcome: FileOutcome) -> tuple[int | None, ...]:
    return outcome.n_lines, outcome.n_loaded, outcome.n_duplicates, outcome.n_quarantined, outcome.n_blank


def totals(place: Place) -> dict[str, Any]:
    return place.rows(f"{TOTALS} from requests")[0]


def test_azures_trace_has_all_its_tokens_and_no_hit_rate(place: Place) -> None:
    outcome = load(place, "azure_trace", shared("data/azure/AzureLLMInferenceTrace_code.csv"), 'timezone = "UTC"')
    assert counts(outcome) == (8819, 8819, 0, 0, 0)
    assert totals(place) == {"n": 8819, "input": 18_059_974, "cached": None, "n_cached": 0}
    assert place.rows("select sum(output_tokens) as n, min(arrived_at)::varchar as first from requests") == [
        {"n": 245_896, "first": "2023-11-16 18:17:03.97996"}
    ]


def test_azures_trace_is_refused_while_nobody_says_its_zone(place: Place) -> None:
    outcome = load(place, "azure_trace", shared("data/azure/AzureLLMInferenceTrace_code.csv"))
    assert outcome.status == "rejected"
    assert "timestamp_without_offset" in str(outcome.detail)


def test_mooncakes_trace_meets_the_infinite_cache(place: Place) -> None:
    outcome = load(place, "mooncake", shared("data/mooncake/conversation_trace.jsonl.gz"))
    assert counts(outcome) == (12_031, 12_031, 0, 0, 0)
    assert totals(place) == {"n": 12_031, "input": 144_793_823, "cached": 54_098_411, "n_cached": 12_031}
    (row,) = place.rows("""
        select
          list(distinct cached_basis) as bases,
          count(*) filter (cached_tokens = input_tokens) as n_without_miss,
          round(sum(cached_tokens / input_tokens) / count(*), 4) as mean_ratio,
          min(arrived_at)::varchar as first
        from requests""")
    assert row == {"bases": ["simulated"], "n_without_miss": 118, "mean_ratio": 0.4094, "first": "2020-01-01 00:00:00"}


def test_aiperfs_run_has_a_hundred_requests_of_which_eleven_were_cancelled(place: Place) -> None:
    outcome = load(place, "aiperf", shared("data/aiperf/run1_profile_export.jsonl.gz"))
    assert counts(outcome) == (100, 100, 0, 0, 0)
    found = place.rows("select outcome, count(*) as n, count(input_tokens) as n_input, count(ttft_us) as n_ttft "
                       "from requests group by outcome order by outcome")  # fmt: skip
    assert found == [
        {"outcome": "aborted", "n": 11, "n_input": 0, "n_ttft": 0},
        {"outcome": "ok", "n": 89, "n_input": 89, "n_ttft": 89},
    ]
    first = place.rows("select ttft_us, e2e_us from requests where request_id = '1ed40a0d-e708-434d-bb8e-fb1b44cb8717'")
    assert first == [{"ttft_us": 1_680_544, "e2e_us": 7_936_968}]


@pytest.mark.parametrize(
    "name", sorted(path.name for path in (SHARED / "data/strix_halo").glob("*.jsonl")) or ["absent"]
)
def test_llama_benchs_tests_are_loaded_and_its_decode_tests_are_no_requests(place: Place, name: str) -> None:
    path = shared(f"data/strix_halo/{name}")
    tests = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
    n_prompt = sum(test["n_prompt"] > 0 for test in tests)
    n_other = len(path.read_text().splitlines()) - len(tests)
    outcome = load(place, "llama_bench", path)
    assert counts(outcome) == (len(tests) + n_other, n_prompt, 0, n_other, len(tests) - n_prompt)


def test_llama_benchs_throughput_at_each_hit_rate_is_the_measured_one(place: Place) -> None:
    load(place, "llama_bench", shared("data/strix_halo/gpt-oss-20b.default-hip.jsonl"))
    found = place.rows("""
        select
          round(cached_tokens / input_tokens, 3) as x,
          round((input_tokens - cached_tokens) * 1000000 / prefill_us)::integer as computed
        from requests order by x""")
    assert [(row["x"], row["computed"]) for row in found] == [
        (0, 1472), (0.667, 1388), (0.889, 1176), (0.970, 714), (0.992, 278)
    ]  # fmt: skip


def test_lines_before_the_first_test_are_refused_by_name(place: Place) -> None:
    load(place, "llama_bench", shared("data/strix_halo/quick-test.jsonl"))
    found = place.rows("select source_line, reason from quarantine order by source_line")
    assert [tuple(row.values()) for row in found] == [(line, "not_json") for line in (1, 2, 3, 4)]


INFRON = "infron/requests_2026-06-27.jsonl.gz"


def test_the_benchmark_has_all_its_tokens_though_half_of_its_answers_have_no_time(place: Place) -> None:
    outcome = load(place, "infron", shared(f"data/{INFRON}"))
    assert counts(outcome) == (1996, 1996, 0, 0, 0)
    assert totals(place) == {"n": 1996, "input": 3_280_148, "cached": 2_514_485, "n_cached": 1996}
    assert place.rows("""
        select outcome, min(hour_utc)::varchar as first, max(hour_utc)::varchar as last, count(*) as n
        from requests group by outcome order by outcome""") == [
        {"outcome": "ok", "first": "2026-06-27 09:00:00", "last": "2026-06-27 09:00:00", "n": 998},
        {"outcome": "untimed", "first": "2020-01-01 00:00:00", "last": "2020-01-01 00:00:00", "n": 998},
    ]


def test_answers_without_a_time_are_in_no_rate_and_no_busy_period(place: Place) -> None:
    source = f'name = "s"\nformat = "infron"\npath = {json.dumps(str(shared(f"data/{INFRON}")))}\n'
    place.configure(f"[[sources]]\n{source}")
    place.settle()
    assert place.rows("""
        select
          year(hour_utc) as year,
          sum(n_requests)::bigint as n,
          sum(n_left_out)::bigint as n_left_out,
          sum(cached_tokens)::bigint as cached
        from hourly_hit_rate group by 1 order by 1""") == [
        {"year": 2020, "n": 0, "n_left_out": 998, "cached": None},
        {"year": 2026, "n": 998, "n_left_out": 0, "cached": 1_050_939},
    ]
    assert place.rows("select * from busy_periods") == []
    assert place.rows("select * from hit_rate_histogram where year(hour_utc) = 2020") == []
    assert place.rows("select state from valley_status where state <> 'unknown'") == []


def test_no_answer_that_the_benchmarks_authors_left_out_for_a_fault_enters_a_statistic(place: Place) -> None:
    pairs = json.loads(gzip.decompress(shared("data/infron/records_excluded.json.gz").read_bytes()))["records"]
    answers = [
        pair[half] | {key: pair[key] for key in ("sort", "provider", "group", "round")} | {"request": half}
        for pair in pairs
        for half in ("first", "second")
    ]
    path = place.write("excluded.jsonl", [answer | {"provider_name": "pool"} for answer in answers])
    outcome = load(place, "infron", path)
    without_usage = [answer for answer in answers if answer["status"] == 200 and not answer["usage"]]
    assert outcome.n_lines == len(answers) == 1204
    assert counts(outcome)[1:4] == (1204 - len(without_usage), 0, len(without_usage))
    assert place.rows("select distinct reason from quarantine") == [{"reason": "missing_input_tokens"}]
    assert place.rows("select * from requests where outcome = 'ok' and (input_tokens = 0 or ttft_us is null)") == []
    good = [
        answer
        for answer in answers
        if answer["status"] == 200 and answer["usage"] and str(answer["response_id"]).startswith("gen-")
    ]
    assert place.rows("select count(*) as n from requests where outcome = 'ok'") == [{"n": len(good)}]
