"""The formats on other people's recorded files: every total equals the one counted by hand.

The files may not be copied into this repository: they are read from `../shared/data` beside it, or from
`$VALLEYWATCH_SHARED/data`, and a test whose files are not there skips by their name.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from pipelines import ingest
from pipelines.ingest import FileOutcome
from tests.conftest import REPO
from tests.place import Place

DATA = Path(os.environ.get("VALLEYWATCH_SHARED", REPO.parent / "shared")) / "data"
TOTALS = (
    "select count(*) as n, sum(input_tokens) as input, sum(cached_tokens) as cached, count(cached_tokens) as n_cached"
)


def public(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"never: {name} is not there; see $VALLEYWATCH_SHARED")
    return path


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
    outcome = load(place, "azure_trace", public("azure/AzureLLMInferenceTrace_code.csv"), 'timezone = "UTC"')
    assert counts(outcome) == (8819, 8819, 0, 0, 0)
    assert totals(place) == {"n": 8819, "input": 18_059_974, "cached": None, "n_cached": 0}
    assert place.rows("select sum(output_tokens) as n, min(arrived_at)::varchar as first from requests") == [
        {"n": 245_896, "first": "2023-11-16 18:17:03.97996"}
    ]


def test_azures_trace_is_refused_while_nobody_says_its_zone(place: Place) -> None:
    outcome = load(place, "azure_trace", public("azure/AzureLLMInferenceTrace_code.csv"))
    assert outcome.status == "rejected"
    assert "timestamp_without_offset" in str(outcome.detail)


def test_mooncakes_trace_meets_the_infinite_cache(place: Place) -> None:
    outcome = load(place, "mooncake", public("mooncake/conversation_trace.jsonl.gz"))
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
    outcome = load(place, "aiperf", public("aiperf/run1_profile_export.jsonl.gz"))
    assert counts(outcome) == (100, 100, 0, 0, 0)
    found = place.rows("select outcome, count(*) as n, count(input_tokens) as n_input, count(ttft_us) as n_ttft "
                       "from requests group by outcome order by outcome")  # fmt: skip
    assert found == [
        {"outcome": "aborted", "n": 11, "n_input": 0, "n_ttft": 0},
        {"outcome": "ok", "n": 89, "n_input": 89, "n_ttft": 89},
    ]
    first = place.rows("select ttft_us, e2e_us from requests where request_id = '1ed40a0d-e708-434d-bb8e-fb1b44cb8717'")
    assert first == [{"ttft_us": 1_680_544, "e2e_us": 7_936_968}]


@pytest.mark.parametrize("name", sorted(path.name for path in (DATA / "strix_halo").glob("*.jsonl")) or ["absent"])
def test_llama_benchs_tests_are_loaded_and_its_decode_tests_are_no_requests(place: Place, name: str) -> None:
    path = public(f"strix_halo/{name}")
    tests = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
    n_prompt = sum(test["n_prompt"] > 0 for test in tests)
    n_other = len(path.read_text().splitlines()) - len(tests)
    outcome = load(place, "llama_bench", path)
    assert counts(outcome) == (len(tests) + n_other, n_prompt, 0, n_other, len(tests) - n_prompt)


def test_llama_benchs_throughput_at_each_hit_rate_is_the_measured_one(place: Place) -> None:
    load(place, "llama_bench", public("strix_halo/gpt-oss-20b.default-hip.jsonl"))
    found = place.rows("""
        select
          round(cached_tokens / input_tokens, 3) as x,
          round((input_tokens - cached_tokens) * 1000000 / prefill_us)::integer as computed
        from requests order by x""")
    assert [(row["x"], row["computed"]) for row in found] == [
        (0, 1472), (0.667, 1388), (0.889, 1176), (0.970, 714), (0.992, 278)
    ]  # fmt: skip


def test_lines_before_the_first_test_are_refused_by_name(place: Place) -> None:
    load(place, "llama_bench", public("strix_halo/quick-test.jsonl"))
    found = place.rows("select source_line, reason from quarantine order by source_line")
    assert [tuple(row.values()) for row in found] == [(line, "not_json") for line in (1, 2, 3, 4)]


INFRON = "infron/requests_2026-06-27.jsonl.gz"


def test_a_benchmark_half_of_whose_answers_have_no_time_is_refused(place: Place) -> None:
    outcome = load(place, "infron", public(INFRON))
    assert outcome.status == "rejected"
    assert "998 of 1,996 lines are refused, 998 of them for missing_timestamp" in str(outcome.detail)
    assert place.rows("select * from requests") == []


def test_what_is_loaded_and_what_is_refused_of_the_benchmark_is_all_of_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "MIN_REJECTS", 10**9)
    outcome = load(place, "infron", public(INFRON))
    assert counts(outcome) == (1996, 998, 0, 998, 0)
    (refused,) = place.rows("""
        select
          list(distinct reason) as reasons,
          sum(regexp_extract(excerpt, '"prompt_tokens":([0-9]+)', 1)::integer) as input,
          sum(regexp_extract(excerpt, '"cache_read_tokens":([0-9]+)', 1)::integer) as cached
        from quarantine""")
    loaded = totals(place)
    assert refused["reasons"] == ["missing_timestamp"]
    assert loaded["input"] + refused["input"] == 3_280_148
    assert loaded["cached"] + refused["cached"] == 2_514_485


def test_no_answer_that_the_benchmarks_authors_left_out_for_a_fault_enters_a_statistic(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "MIN_REJECTS", 10**9)
    pairs = json.loads(gzip.decompress(public("infron/records_excluded.json.gz").read_bytes()))["records"]
    answers = [pair[half] for pair in pairs for half in ("first", "second")]
    path = place.write("excluded.jsonl", [answer | {"provider_name": "pool"} for answer in answers])
    outcome = load(place, "infron", path)
    assert outcome.n_lines == len(answers) == 1204
    assert outcome.n_loaded + outcome.n_quarantined == 1204
    assert place.rows("select * from requests where outcome = 'ok' and (input_tokens = 0 or ttft_us is null)") == []
    n_good = sum(
        answer["status"] == 200 and bool(answer["usage"]) and str(answer["response_id"]).startswith("gen-")
        for answer in answers
    )
    assert outcome.n_loaded == n_good
