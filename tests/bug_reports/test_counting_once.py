"""Bug reports B 19 and 21, and C 27 as far as transcripts write counters: what is told again is not counted again."""

from __future__ import annotations

import json
from typing import Any

from tests.place import Place, request

SOURCE = '[[sources]]\nname = "s"\nformat = "{}"\npath = "logs/*"\ndeployment = "pool"\n'
RATES = "select hour_utc, n_requests, input_tokens, cached_tokens, hit_rate from hourly_hit_rate order by hour_utc"


def test_voice_of_customer_264_a_job_that_died_after_its_raw_rows_counts_no_hour_twice(place: Place) -> None:
    """The raw insert alone, as after a kill before the rollup; then the whole job, twice. Every kill: tests/faults."""
    rows = [request(number, input_tokens=1000 + number) for number in range(20)]
    place.write("a.jsonl", rows)
    calm = Place(place.folder / "calm")
    calm.write("a.jsonl", rows)
    calm.settle()
    place.ingest()
    assert place.rows(RATES) == []
    for _ in range(2):
        place.settle()
        without = ("path", "source_file")
        assert place.views(without=without) == calm.views(without=without)


def test_vllm_43736_a_request_that_was_scheduled_again_is_one_request(place: Place) -> None:
    line = {
        "timestamp": 1795860900.5,
        "request_id": "r-1",
        "input_tokens": 1000,
        "cached_tokens": 800,
        "output_tokens": 9,
        "e2e_s": 1.0,
    }
    place.configure(SOURCE.format("canonical") + 'epoch_unit = "s"\n')
    place.write("a.jsonl", [line, line | {"num_preemptions": 1}])
    place.settle()
    (hour,) = place.rows(RATES)
    assert (hour["n_requests"], hour["input_tokens"], hour["cached_tokens"], hour["hit_rate"]) == (1, 1000, 800, 0.8)


def token_count(at: str, total: tuple[int, int], last: tuple[int, int]) -> dict[str, Any]:
    """An event of a transcript: its counters since the session's start, and the request's own counts."""
    usages = [
        {"input_tokens": tokens, "cached_input_tokens": cached, "output_tokens": 1, "total_tokens": tokens + 1}
        for tokens, cached in (total, last)
    ]
    info = dict(zip(("total_token_usage", "last_token_usage"), usages, strict=True))
    return {"timestamp": at, "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def test_ai_dba_workbench_401_counters_since_the_start_hide_no_bad_hour_and_a_restart_is_not_negative(
    place: Place,
) -> None:
    place.configure(SOURCE.format("codex"))
    events = [
        token_count("2026-11-28T09:59:00Z", (1_000_000, 900_000), (1_000_000, 900_000)),
        token_count("2026-11-28T10:59:00Z", (1_100_000, 900_000), (100_000, 0)),
        token_count("2026-11-28T11:30:00Z", (5_000, 4_000), (5_000, 4_000)),
    ]
    place.write("rollout.jsonl", "".join(json.dumps(event) + "\n" for event in events).encode())
    place.settle()
    assert [(row["hour_utc"].hour, row["hit_rate"]) for row in place.rows(RATES)] == [(9, 0.9), (10, 0.0), (11, 0.8)]
    assert place.rows("select * from requests where input_tokens < 0 or miss_tokens < 0") == []
