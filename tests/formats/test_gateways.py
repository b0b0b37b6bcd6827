"""Logs of gateways, providers and SDKs: hand-made lines with every trap, and the canonical table typed in by hand."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from pipelines import staging
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
    "portkey",
    "openrouter",
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


HOSTILE = (
    None,
    "",
    "x",
    "-",
    "0",
    "infinity",
    -1,
    0,
    1.5,
    10**30,
    -(2**63),
    2**63,
    1e308,
    True,
    [],
    {},
    [[{}]],
    {"a": None},
)
"""What no producer writes where it stands."""


def changed(value: Any) -> Iterator[Any]:
    """Yield copies of a record, each with one value inside of it replaced, whatever it is."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from (value | {key: other} for other in (*HOSTILE, *changed(inner)))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from ([*value[:index], other, *value[index + 1 :]] for other in (*HOSTILE, *changed(inner)))


@pytest.mark.parametrize("name", FORMATS)
def test_no_value_anywhere_in_a_record_stops_its_neighbours(
    place: Place, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "MIN_REJECTS", 10**9)
    first = json.loads((FOLDER / name / "log.jsonl").read_text().splitlines()[0])
    records = list(changed(first))
    path = place.write("log.jsonl", [*records, first])
    assert place.valleywatch("ingest", str(path), "--format", name, "--deployment", "pool") == 0
    with place.warehouse.writer() as writer:
        writer.publish()
    (file,) = place.rows("select * from ingest_files")
    assert file["lines"] == len(records) + 1
    assert file["lines"] == file["loaded"] + file["duplicates"] + file["quarantined"] + file["blank"]
    assert file["loaded"] > 0
    assert place.rows("select * from requests where cached_tokens > input_tokens or input_tokens < 0") == []


GROUP = r'"model_group": ?"[^"]'
NAMED_BY_THE_LINE = {"litellm_spend": GROUP, "litellm_standard": GROUP, "bedrock": "inference-profile/"}
"""Formats whose lines can name a deployment beside the model, and a pattern that shows it."""


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "openai_usage"])
def test_the_deployment_of_the_source_comes_before_the_model_and_after_the_lines_own(place: Place, name: str) -> None:
    log = (FOLDER / name / "log.jsonl").read_bytes()
    path = place.write("log.jsonl", log)
    assert place.valleywatch("ingest", str(path), "--format", name, "--deployment", "mine") == 0
    with place.warehouse.writer() as writer:
        writer.publish()
    lines = log.decode().splitlines()
    own = NAMED_BY_THE_LINE.get(name)
    for row in place.rows("select source_line, deployment from requests"):
        names_it = own is not None and re.search(own, lines[row["source_line"] - 1]) is not None
        assert (row["deployment"] != "mine") is names_it
