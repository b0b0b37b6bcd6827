"""Logs of inference engines: each fixture becomes exactly the requests and refusals typed into its expected.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.formats import detect
from pipelines.lines import first_record
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
    """Requests and refused lines of the place in the words of expected.json."""
    requests = place.rows("select * from requests")
    found = [{"line": row["source_line"]} | {key: row[key] for key in COLUMNS} for row in requests]
    for row in found:
        row["arrived_at"] = row["arrived_at"].isoformat(timespec="microseconds")
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
def test_a_log_is_told_from_others_by_its_first_line(engine: str) -> None:
    found = detect(*first_record(log_of(engine)))
    assert found
    assert found.name == engine


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
