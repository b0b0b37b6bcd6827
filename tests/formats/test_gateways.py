"""Logs of gateways, providers and SDKs: hand-made lines with every trap, and the canonical table typed in by hand."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.formats import detect
from pipelines.lines import first_record
from pipelines.times import to_us
from tests.conftest import REPO
from tests.place import Place

FORMATS = (
    "openai_usage",
    "litellm_spend",
    "litellm_standard",
    "otlp",
    "envoy_ai_gateway",
    "langfuse",
    "helicone",
    "bedrock",
    "new_api",
)
FOLDER = REPO / "fixtures" / "formats"
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
)


def expected_lines(name: str) -> list[dict[str, Any]]:
    """Every line's request, reason, or why it is neither; what an entry leaves out is not reported."""
    found = json.loads((FOLDER / name / "expected.json").read_text())
    for entry in found:
        if at := entry.pop("arrived_at", None):
            entry["arrived_us"] = to_us(datetime.fromisoformat(at))
    return found


def read_lines(place: Place) -> list[dict[str, Any]]:
    """What became of the lines, in the same shape; an id made from a record's content is not reported either."""
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
@pytest.mark.parametrize("named", [True, False], ids=["named", "detected"])
def test_a_log_becomes_the_table_typed_in_by_hand(place: Place, name: str, named: bool) -> None:
    path = place.write("log.jsonl", (FOLDER / name / "log.jsonl").read_bytes())
    options = ["--format", name] if named else []
    assert place.valleywatch("ingest", str(path), *options) == 0
    with place.warehouse.writer() as writer:
        writer.publish()
    expected = expected_lines(name)
    assert read_lines(place) == [entry for entry in expected if entry.get("outcome") not in ("blank", "duplicate")]
    fates = Counter("reason" if "reason" in entry else entry["outcome"] for entry in expected)
    (file,) = place.rows("select * from ingest_files")
    assert file["format"] == name
    assert file["lines"] == len(expected)
    assert file["quarantined"] == fates["reason"]
    assert file["blank"] == fates["blank"]
    assert file["duplicates"] == fates["duplicate"]
    assert file["loaded"] == file["lines"] - file["quarantined"] - file["blank"] - file["duplicates"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_log_is_told_from_every_other_format_by_its_first_line(name: str) -> None:
    found = detect(*first_record(Path(FOLDER / name / "log.jsonl")))
    assert found
    assert found.name == name
