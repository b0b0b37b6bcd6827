"""The logger that runs inside vLLM: what it writes is read as `vllm`, and it never harms the engine."""

from __future__ import annotations

import ast
import logging
import sys
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.detection import recognise
from pipelines.inbox import LocalFile
from pipelines.plugins import vllm_logger
from pipelines.plugins.vllm_logger import RequestLog
from tests.conftest import REPO
from tests.place import Place

SOURCE = """
[[sources]]
name = "engine"
format = "vllm"
path = "logs/*"
"""
FinishReason = IntEnum("FinishReason", {"STOP": 0, "LENGTH": 1, "ABORT": 2, "ERROR": 3, "REPETITION": 4})
CONFIG = SimpleNamespace(model_config=SimpleNamespace(served_model_name=["m-70b", "alias"]))
ENDED = 1785640273.9


def finished(**changes: Any) -> SimpleNamespace:
    """A finished request with the attributes of vLLM 0.33; the value `...` leaves one out."""
    stats = {
        "finish_reason": FinishReason.STOP,
        "request_id": "chatcmpl-1",
        "e2e_latency": 3.8,
        "num_prompt_tokens": 5210,
        "num_cached_tokens": 4096,
        "num_generation_tokens": 188,
        "queued_time": 0.02,
        "prefill_time": 0.21,
        "num_preemptions": 0,
    } | changes
    return SimpleNamespace(**{key: value for key, value in stats.items() if value is not ...})


def iteration(*requests: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(iteration_timestamp=ENDED, finished_requests=list(requests))


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place whose log is the one that the logger writes."""
    place = Place(tmp_path / "place", SOURCE)
    monkeypatch.setenv("VALLEYWATCH_VLLM_LOG", str(place.logs / "vllm.jsonl"))
    monkeypatch.setenv("VALLEYWATCH_DEPLOYMENT", "pool")
    monkeypatch.setenv("VALLEYWATCH_INSTANCE", "gpu-3")
    return place


def test_a_finished_request_is_read_back_as_it_was(engine: Place) -> None:
    RequestLog(CONFIG, 1).record(None, iteration(finished()))
    path = engine.logs / "vllm.jsonl"
    told = recognise(LocalFile(path))
    assert told.format, told.found
    assert told.format.name == "vllm"
    engine.ingest()
    (row,) = engine.rows("select * from requests")
    assert row["arrived_us"] == 1785640270_100000
    assert (row["deployment"], row["instance"], row["model"]) == ("pool", "gpu-3:1", "m-70b")
    assert (row["input_tokens"], row["cached_tokens"], row["output_tokens"]) == (5210, 4096, 188)
    assert (row["queue_us"], row["prefill_us"], row["ttft_us"], row["e2e_us"]) == (20_000, 210_000, 230_000, 3_800_000)
    assert (row["outcome"], row["ttft_basis"], row["cached_basis"]) == ("ok", "engine", "measured")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"num_cached_tokens": ...}, {"cached_tokens": None}),
        ({"num_cached_tokens": -1}, {"cached_tokens": None}),
        ({"num_cached_tokens": 0}, {"cached_tokens": 0}),
        ({"prefill_time": -12.0}, {"prefill_us": None, "ttft_us": None, "queue_us": 20_000}),
        ({"queued_time": ...}, {"queue_us": None, "ttft_us": None, "prefill_us": 210_000}),
        ({"finish_reason": FinishReason.ABORT}, {"outcome": "aborted"}),
        ({"finish_reason": FinishReason.ERROR}, {"outcome": "failed"}),
        ({"finish_reason": FinishReason.REPETITION}, {"outcome": "ok"}),
        ({"finish_reason": "length"}, {"outcome": "ok"}),
        ({"finish_reason": ...}, {"outcome": "ok"}),
        ({"num_preemptions": ...}, {"outcome": "ok"}),
    ],
    ids=str,
)
def test_what_the_engine_does_not_know_is_not_reported(
    engine: Place, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    RequestLog(CONFIG).record(None, iteration(finished(**changes)))
    engine.ingest()
    (row,) = engine.rows("select * from requests")
    assert {key: row[key] for key in expected} == expected


def test_a_request_without_a_duration_has_no_arrival(engine: Place) -> None:
    RequestLog(CONFIG).record(None, iteration(finished(e2e_latency=...)))
    engine.ingest()
    assert engine.rows("select reason from quarantine") == [{"reason": "missing_timestamp"}]


def test_engines_share_a_file(engine: Place) -> None:
    loggers = [RequestLog(CONFIG, index) for index in range(2)]
    for number in range(4):
        loggers[number % 2].record(None, iteration(finished(request_id=f"r-{number}")), None, number % 2)
    engine.ingest()
    rows = engine.rows("select request_id, instance from requests order by request_id")
    assert [tuple(row.values()) for row in rows] == [
        ("r-0", "gpu-3:0"), ("r-1", "gpu-3:1"), ("r-2", "gpu-3:0"), ("r-3", "gpu-3:1"),
    ]  # fmt: skip


@pytest.mark.parametrize("stats", [None, SimpleNamespace(), iteration()], ids=["none", "without", "empty"])
def test_an_iteration_without_finished_requests_writes_nothing(engine: Place, stats: Any) -> None:
    logger = RequestLog(CONFIG)
    logger.log_engine_initialized()
    logger.record(None, stats, mm_cache_stats=None, engine_idx=0)
    logger.log()
    assert list(engine.logs.iterdir()) == []


def test_nothing_is_written_unless_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VALLEYWATCH_VLLM_LOG", raising=False)
    monkeypatch.chdir(tmp_path)
    RequestLog(CONFIG).record(None, iteration(finished()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("broken", ["folder", "value"])
def test_a_failure_stays_out_of_the_engine_and_is_told_once(
    engine: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    if broken == "folder":
        monkeypatch.setenv("VALLEYWATCH_VLLM_LOG", str(engine.folder / "gone" / "vllm.jsonl"))
    logger = RequestLog(SimpleNamespace())
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            logger.record(None, iteration(finished(e2e_latency="long" if broken == "value" else 1.0)))
    assert [record.getMessage().startswith("valleywatch cannot log to ") for record in caplog.records] == [True]


def test_the_module_can_be_copied_into_an_engine_by_itself() -> None:
    tree = ast.parse(Path(vllm_logger.__file__).read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {name.partition(".")[0] for name in imported} <= {*sys.stdlib_module_names, "vllm"}


def test_vllm_finds_it_by_its_entry_point() -> None:
    text = (REPO / "pyproject.toml").read_text()
    group = text.split('[project.entry-points."vllm.stat_logger_plugins"]', 1)[1]
    assert group.split("[", 1)[0].strip() == f'valleywatch = "{RequestLog.__module__}:{RequestLog.__name__}"'
