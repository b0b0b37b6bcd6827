"""Logs of inference engines: each fixture becomes exactly the requests and refusals typed into its expected.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.detection import recognise
from pipelines.inbox import LocalFile
from tests.conftest import REPO
from tests.place import Place

FIXTURES = REPO / "fixtures" / "formats"
ENGINES = (
    "sglang_export",
    "sglang_request_log",
    "sglang_finish_text",
    "sglang_time_stats",
    "vllm",
    "dynamo",
    "lmcache",
    "llama_cpp",
    "llama_cpp_log",
)
SOURCE = """
[[sources]]
name = "engine"
format = "{format}"
path = "logs/*"
deployment = "pool"
"""
NAIVE = ("sglang_request_log", "sglang_finish_text", "lmcache")
"""Formats with time stamps without an offset, which the fixture's source declares to be UTC."""

COLUMNS = (
    "outcome",
    "status",
    "request_id",
    "arrived_at",
    "instance",
    "model",
    "session_id",
    "input_tokens",
    "cached_tokens",
    "cached_device_tokens",
    "cached_host_tokens",
    "cached_storage_tokens",
    "cache_write_tokens",
    "output_tokens",
    "queue_us",
    "prefill_us",
    "ttft_us",
    "e2e_us",
)
"""What expected.json states of a request; a column it does not name is not reported."""


def log_of(engine: str) -> Path:
    (log,) = (FIXTURES / engine).glob("log.*")
    return log


def expected_of(engine: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FIXTURES / engine / "expected.json").read_text())
    return found


def outcomes(place: Place) -> list[dict[str, Any]]:
    """Requests and refused lines of the place in the words of expected.json; an id made from a record is not told."""
    requests = place.rows("select * from requests")
    found = [{"line": row["source_line"]} | {key: row[key] for key in COLUMNS} for row in requests]
    for row in found:
        row["arrived_at"] = row["arrived_at"].isoformat(timespec="microseconds")
        row["request_id"] = None if row["request_id"].startswith("sha256:") else row["request_id"]
    refused = place.rows("select source_line as line, reason from quarantine")
    reported = [{key: value for key, value in row.items() if value is not None} for row in found]
    return sorted([*reported, *refused], key=lambda row: row["line"])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_log_becomes_the_requests_and_refusals_it_was_written_for(engine: str, tmp_path: Path) -> None:
    zone = 'timezone = "UTC"\n' if engine in NAIVE else ""
    place = Place(tmp_path, SOURCE.format(format=engine) + zone)
    place.write(log_of(engine).name, log_of(engine).read_bytes())
    (outcome,) = place.ingest()
    expected = expected_of(engine)
    assert outcomes(place) == [row for row in expected if "left_out" not in row]
    assert [row["line"] for row in expected] == list(range(1, (outcome.n_lines or 0) + 1))
    left_out = [row.get("left_out") for row in expected]
    assert (outcome.n_blank, outcome.n_duplicates) == (left_out.count("blank"), left_out.count("duplicate"))
    assert outcome.n_loaded == sum("outcome" in row for row in expected)
    assert outcome.n_quarantined == sum("reason" in row for row in expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_log_is_told_from_others_by_how_it_begins(engine: str) -> None:
    told = recognise(LocalFile(log_of(engine)))
    assert told.format, told.found
    assert told.format.name == engine


@pytest.mark.parametrize("engine", ENGINES)
def test_a_log_named_on_the_command_line_is_counted_to_the_last_line(engine: str, place: Place) -> None:
    path = place.write(log_of(engine).name, log_of(engine).read_bytes())
    assert place.valleywatch("ingest", str(path), "--deployment", "pool") == 0
    with place.warehouse.writer() as writer:
        writer.publish()
    (row,) = place.rows("select * from ingest_files")
    assert row["format"] == engine
    assert row["loaded"] > 0
    assert row["lines"] == row["loaded"] + row["duplicates"] + row["quarantined"] + row["blank"]


HOSTILE = [
    "{",
    "3",
    "null",
    "[{}]",
    "{}",
    '{"a": 1, "a": 2}',
    '{"a": "\\ud800"}',
    "{\x00}",
    "[" * 100_000,
    '{"event":' * 50_000,
    "'" * 100_000,
    "\x1b[" * 100_000,
    '{"event": [], "schema": 3, "timings": [1], "error": true, "request_parameters": {"stream": []}}',
    '{"timings": {"cache_n": {}, "prompt_n": []}, "ts": 1e400, "request_parameters": "{", "finish_reason": [1]}',
    '[2026-08-02 03:11:14] {"timestamp": [], "event": {"x": 1}, "rid": 3, "out": [], "obj": "text"}',
    '[2026-08-02 03:11:14] {"timestamp": 1, "event": "request.finished", "rid": [], "out": {"meta_info": 7}}',
    "Finish: obj=X(, out={'meta_info': {'id': '\\'; drop table requests', 'prompt_tokens': 1e999, 'cached_tokens': {",
    "Finish: obj=X(" + "'meta_info': {" * 20_000,
    "ReqTimeStats(rid=a, input_len=x, type=unified): queue_duration=nanms, forward_duration=ms, entry_time=inf",
    "ReqTimeStats(" + "type=unified): " * 20_000,
    "Reqid: x, Total tokens 1e9, LMCache hit tokens: -, need to load: ?",
    "Reqid: " * 20_000,
]
"""Lines that no producer wrote, or that somebody wrote into a prompt."""


@pytest.mark.parametrize("engine", ENGINES)
def test_no_line_stops_the_lines_after_it(engine: str, tmp_path: Path) -> None:
    place = Place(tmp_path, SOURCE.format(format=engine) + ('timezone = "UTC"\n' if engine in NAIVE else ""))
    good = log_of(engine).read_bytes()
    place.write("a.log", "".join(f"{line}\n" for line in HOSTILE).encode() + good)
    (outcome,) = place.ingest()
    assert outcome.status == "loaded"
    loaded = [row["line"] + len(HOSTILE) for row in expected_of(engine) if "outcome" in row]
    found = place.rows("select source_line from requests order by source_line")
    assert [row["source_line"] for row in found if row["source_line"] > len(HOSTILE)] == loaded
    n_lines = len(HOSTILE) + len(expected_of(engine))
    counts = (outcome.n_loaded, outcome.n_duplicates, outcome.n_quarantined, outcome.n_blank)
    assert (outcome.n_lines, sum(count or 0 for count in counts)) == (n_lines, n_lines)


@pytest.mark.parametrize("engine", NAIVE)
def test_a_time_stamp_without_an_offset_is_refused_until_the_source_says_it_is_utc(engine: str, tmp_path: Path) -> None:
    place = Place(tmp_path, SOURCE.format(format=engine))
    place.write(log_of(engine).name, log_of(engine).read_bytes())
    (without,) = place.ingest()
    assert place.rows("select source_line from quarantine where reason = 'timestamp_without_offset'")
    place.configure(SOURCE.format(format=engine) + 'timezone = "UTC"\n')
    (declared,) = place.ingest()
    assert without.n_loaded + declared.n_loaded == sum("outcome" in row for row in expected_of(engine))
