"""Formats of benchmarks, traces and transcripts: hand-made files with every trap, and the table typed in by hand."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.detection import recognise
from pipelines.formats import formats
from pipelines.inbox import LocalFile
from pipelines.queries import load
from pipelines.times import to_us
from tests.conftest import REPO
from tests.place import Place

FOLDER = REPO / "fixtures" / "formats"
FORMATS = (
    "canonical_csv",
    "azure_trace",
    "infron",
    "aiperf",
    "guidellm",
    "llama_bench",
    "mooncake",
    "claude_code",
    "codex",
)
COLUMNS = (
    "arrived_us",
    "request_id",
    "deployment",
    "instance",
    "model",
    "session_id",
    "input_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "output_tokens",
    "queue_us",
    "prefill_us",
    "ttft_us",
    "e2e_us",
    "status",
    "outcome",
)  # fmt: skip


def log_of(name: str) -> Path:
    (path,) = (FOLDER / name).glob("log.*")
    return path


def expected_lines(name: str) -> list[dict[str, Any]]:
    """Every record's request, reason, or why it is neither; what an entry leaves out is not reported."""
    found: list[dict[str, Any]] = json.loads((FOLDER / name / "expected.json").read_text())
    for entry in found:
        if at := entry.pop("arrived_at", None):
            entry["arrived_us"] = to_us(datetime.fromisoformat(at))
    return found


def read_lines(place: Place) -> list[dict[str, Any]]:
    """What became of the records, in the same shape; an id made from a record's content is not reported either."""
    requests = [
        {"line": row["source_line"]}
        | {
            key: row[key]
            for key in COLUMNS
            if row[key] is not None and not (key == "request_id" and row[key].startswith("sha256:"))
        }
        for row in place.rows("select * from requests")
    ]
    refused = [{"line": row["source_line"], "reason": row["reason"]} for row in place.rows("select * from quarantine")]
    return sorted(requests + refused, key=lambda entry: entry["line"])


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_becomes_the_table_typed_in_by_hand(place: Place, name: str) -> None:
    place.configure(
        f'[[sources]]\nname = "s"\nformat = "{name}"\npath = "logs/*"\ndeployment = "pool"\ntimezone = "UTC"\n'
    )
    place.write(log_of(name).name, log_of(name).read_bytes())
    (outcome,) = place.ingest()
    expected = expected_lines(name)
    assert read_lines(place) == [entry for entry in expected if entry.get("outcome") not in ("blank", "duplicate")]
    fates = Counter("reason" if "reason" in entry else entry["outcome"] for entry in expected)
    assert outcome.n_lines == len(expected)
    assert outcome.n_quarantined == fates["reason"]
    assert outcome.n_blank == fates["blank"]
    assert outcome.n_duplicates == fates["duplicate"]
    assert outcome.n_loaded == len(expected) - fates["reason"] - fates["blank"] - fates["duplicate"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_told_from_every_other_format_by_how_it_begins(name: str) -> None:
    told = recognise(LocalFile(log_of(name)))
    assert told.format, told.found
    assert told.format.name == name


@pytest.mark.parametrize("name", ["canonical_csv", "canonical_parquet"])
def test_the_canonical_format_is_the_same_whatever_file_carries_it(name: str) -> None:
    assert formats()[name].query == formats()["canonical"].query
    assert load(f"formats/{name}").text.strip() == ""


def test_simulated_hits_are_never_called_measured(place: Place) -> None:
    place.configure('[[sources]]\nname = "s"\nformat = "mooncake"\npath = "logs/*"\ndeployment = "pool"\n')
    place.write("log.jsonl", log_of("mooncake").read_bytes())
    place.ingest()
    assert place.rows("select distinct cached_basis from requests") == [{"cached_basis": "simulated"}]
