"""Faults that other products shipped, each with an input of our own that shows the same kind and the right value.

A test's name carries the report: product, number, then what must be true.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.place import Place

SOURCE = """
[[sources]]
name = "gateway"
format = "openai_usage"
path = "logs/*"
"""


@pytest.fixture
def place(place: Place) -> Place:
    """A place whose source logs a provider's usage object."""
    place.configure(SOURCE)
    return place


def line(usage: dict[str, Any] | None, number: int = 1, **changes: Any) -> dict[str, Any]:
    """One request of the pool as a gateway logs it."""
    common = {"ts": f"2026-11-28T10:15:{number:02}Z", "request_id": f"r-{number}", "deployment": "pool"}
    return common | {"usage": usage} | changes


def read(place: Place, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    """The requests that the lines become."""
    place.write("a.jsonl", lines)
    place.ingest()
    return place.rows("select *, input_tokens - cached_tokens as miss_tokens from requests order by arrived_us")


def hit_rate(*requests: dict[str, Any]) -> float:
    return sum(row["cached_tokens"] for row in requests) / sum(row["input_tokens"] for row in requests)


def test_aider_5516_cached_tokens_of_an_inclusive_input_are_not_counted_again(place: Place) -> None:
    usage = {
        "prompt_tokens": 17111,
        "cache_read_input_tokens": 17102,
        "cache_creation_input_tokens": 0,
        "completion_tokens": 8,
    }
    (request,) = read(place, line(usage))
    assert (request["input_tokens"], request["miss_tokens"], request["output_tokens"]) == (17111, 9, 8)
    dollars = (request["miss_tokens"] * 1.00 + request["cached_tokens"] * 0.10 + request["output_tokens"] * 5.00) / 1e6
    assert dollars == pytest.approx(0.0017592, abs=1e-12)


def test_openusage_360_codex_cached_input_is_part_of_the_input(place: Place) -> None:
    usage = {"input_tokens": 1000, "cached_input_tokens": 500, "output_tokens": 200, "total_tokens": 1200}
    (request,) = read(place, line(usage))
    assert request["input_tokens"] == 1000
    assert hit_rate(request) == 0.5


def test_pi_2588_gemini_cached_content_is_part_of_the_prompt(place: Place) -> None:
    usage = {"promptTokenCount": 70838, "cachedContentTokenCount": 69905}
    (request,) = read(
        place, {key: value for key, value in line(None).items() if key != "usage"} | {"usageMetadata": usage}
    )
    assert request["miss_tokens"] == 933
    assert hit_rate(request) == pytest.approx(0.98683, abs=5e-6)


def test_new_api_5003_an_input_smaller_than_its_cache_reads_never_becomes_negative(place: Place) -> None:
    usage = {"input_tokens": 56322, "cache_read_input_tokens": 72960, "output_tokens": 87}
    (request,) = read(place, line(usage))
    assert (request["input_tokens"], request["miss_tokens"]) == (129_282, 56_322)
    assert hit_rate(request) == pytest.approx(0.56435, abs=5e-6)


def test_sglang_11900_more_cached_than_prompt_tokens_are_quarantined_not_explained_away(place: Place) -> None:
    usage = {"prompt_tokens": 59946, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 122_884}}
    assert read(place, line(usage)) == []
    assert place.rows("select reason from quarantine") == [{"reason": "cached_exceeds_input"}]


def test_pew_143_a_hit_rate_is_cached_over_all_input_not_over_the_uncached(place: Place) -> None:
    (request,) = read(place, line({"input_tokens": 1300, "cache_read_input_tokens": 74000, "output_tokens": 1}))
    assert hit_rate(request) == pytest.approx(0.98274, abs=5e-6)


def test_gnhf_212_cache_reads_are_part_of_the_input(place: Place) -> None:
    usage = {
        "input_tokens": 9,
        "cache_read_input_tokens": 17102,
        "cache_creation_input_tokens": 0,
        "output_tokens": 8,
    }
    (request,) = read(place, line(usage))
    assert request["input_tokens"] == 17111
    assert hit_rate(request) == pytest.approx(0.99947, abs=5e-6)


def test_litellm_28009_a_total_reads_every_vendors_name_of_cached_tokens(place: Place) -> None:
    requests = read(
        place,
        line({"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 700}}),
        line({"input_tokens": 300, "cache_read_input_tokens": 700}, 2),
    )
    assert sum(row["input_tokens"] for row in requests) == 2000
    assert sum(row["cached_tokens"] for row in requests) == 1400
    assert hit_rate(*requests) == 0.7


def test_vllm_44377_an_absent_cached_count_is_unknown_and_coverage_says_so(place: Place) -> None:
    silent = {"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": None}
    telling = silent | {"prompt_tokens_details": {"cached_tokens": 50}}
    place.write("a.jsonl", [line(silent), line(silent, 2), line(telling, 3)])
    place.settle()
    (hour,) = place.rows("select n_requests, n_reported, hit_rate, coverage from hourly_hit_rate")
    assert (hour["n_requests"], hour["n_reported"], hour["hit_rate"]) == (3, 1, 0.5)
    assert hour["coverage"] == pytest.approx(1 / 3)


def test_vllm_44377_an_absent_cached_count_is_zero_where_the_source_declares_it(place: Place) -> None:
    place.configure(SOURCE + "absent_cached_is_zero = true\n")
    silent = {"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": None}
    telling = silent | {"prompt_tokens_details": {"cached_tokens": 50}}
    failed = line(None, 4, status=502)
    place.write("a.jsonl", [line(silent), line(silent, 2), line(telling, 3), failed])
    place.settle()
    (hour,) = place.rows("select n_requests, n_reported, hit_rate, coverage from hourly_hit_rate")
    assert (hour["n_requests"], hour["n_reported"], hour["coverage"]) == (3, 3, 1.0)
    assert hour["hit_rate"] == pytest.approx(50 / 300)
    assert place.rows("select cached_basis, cached_tokens, count(*) as n from requests group by all order by all") == [
        {"cached_basis": "declared", "cached_tokens": 0, "n": 2},
        {"cached_basis": "measured", "cached_tokens": 50, "n": 1},
        {"cached_basis": "measured", "cached_tokens": None, "n": 1},
    ]


def test_vllm_44377_a_cached_count_of_zero_is_a_miss(place: Place) -> None:
    (request,) = read(place, line({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 0}}))
    assert request["cached_tokens"] == 0


def test_oh_my_pi_6876_cache_writes_are_counted_whatever_their_lifetime(place: Place) -> None:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 344_139},
        "output_tokens": 1,
    }
    (request,) = read(place, line(usage))
    assert (request["cache_write_tokens"], request["cached_tokens"]) == (344_139, 0)
    assert request["input_tokens"] == 344_142


def test_claude_code_history_viewer_283_rows_of_one_message_count_once(place: Place) -> None:
    usage = {"input_tokens": 1, "cache_creation_input_tokens": 2241, "cache_read_input_tokens": 113_676}
    (request,) = read(place, *(line(usage, number, request_id="msg-1") for number in (1, 2, 3)))
    assert request["input_tokens"] == 115_918
    assert hit_rate(request) == pytest.approx(0.98066, abs=5e-6)


@pytest.mark.parametrize("outputs", [(1, 384), (384, 1)], ids=["partial first", "partial last"])
def test_ccusage_797_of_rows_of_one_message_the_complete_one_is_kept(place: Place, outputs: tuple[int, int]) -> None:
    lines = [
        line({"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": output}, number, request_id="m1")
        for number, output in enumerate(outputs)
    ]
    (request,) = read(place, *lines)
    assert request["output_tokens"] == 384
