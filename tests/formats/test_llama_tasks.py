"""llama.cpp's text log: a task becomes one record, wherever blocks are cut and however far the file has grown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines import lines, llama_tasks
from tests.conftest import REPO
from tests.place import Place

LOG = (REPO / "fixtures" / "formats" / "llama_cpp_log" / "log.txt").read_bytes()
SOURCE = """
[[sources]]
name = "engine"
format = "llama_cpp_log"
path = "logs/*"
deployment = "pool"
"""
LOADED = "select request_id, arrived_us, input_tokens, cached_tokens, source_line from requests order by source_line"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, SOURCE)


def loaded(place: Place, *contents: bytes) -> list[dict[str, Any]]:
    """The requests after the log had each of these contents."""
    for content in contents:
        place.write("server.log", content)
        (outcome,) = place.ingest()
        counts = (outcome.n_loaded, outcome.n_duplicates, outcome.n_quarantined, outcome.n_blank)
        assert outcome.n_lines == sum(count or 0 for count in counts) == content.count(b"\n")
    return place.rows(LOADED)


def test_the_records_are_the_same_wherever_blocks_are_cut(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = loaded(place, LOG)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 300)
    assert loaded(Place(tmp_path / "cut", SOURCE), LOG) == whole
    assert len(whole) == 6


@pytest.mark.parametrize("n_lines", [4, 13, 17, 26, 44])
def test_a_task_that_was_open_when_the_log_was_first_read_is_loaded_once(
    place: Place, tmp_path: Path, n_lines: int
) -> None:
    begun = b"".join(LOG.splitlines(keepends=True)[:n_lines])
    grown = loaded(place, begun, LOG)
    assert grown == loaded(Place(tmp_path / "whole", SOURCE), LOG)


def test_a_task_that_is_open_at_the_end_is_refused_by_name_at_its_last_line(place: Place) -> None:
    loaded(place, b"".join(LOG.splitlines(keepends=True)[:13]))
    assert place.rows("select source_line, reason from quarantine order by source_line") == [
        {"source_line": 10, "reason": "request_unfinished"},
        {"source_line": 13, "reason": "request_unfinished"},
    ]


def test_a_log_of_endless_slots_is_refused_before_it_fills_the_memory(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_tasks, "MAX_OPEN_TASKS", 3)
    for n_slots, status in ((3, "loaded"), (4, "rejected")):
        begun = (f"slot launch_slot_: id {slot} | task {slot} | processing task\n" for slot in range(n_slots))
        place.write("server.log", "".join(begun).encode())
        (outcome,) = place.ingest()
        assert outcome.status == status
    assert str(outcome.detail).startswith("too_many_open_tasks: over 3 slots at work at one time")
