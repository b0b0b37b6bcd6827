"""DuckDB does as many hours at once as its memory holds, and the rows are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.engines import duck
from pipelines.engines.duck import hours_at_once, runs
from pipelines.warehouse import Warehouse
from tests.place import Place, request

GIB = 1 << 30


def test_a_day_that_fits_is_done_at_once_and_a_large_one_hour_by_hour() -> None:
    assert hours_at_once(0, GIB) == 24
    assert hours_at_once(1_000_000, GIB) == 24
    assert 1 < hours_at_once(15_000_000, GIB) < 24
    assert hours_at_once(10**9, GIB) == 1


def test_runs_are_of_consecutive_hours_and_no_longer_than_asked() -> None:
    assert list(runs([5, 6, 7, 9, 11, 12], 24)) == [(5, 7), (9, 9), (11, 12)]
    assert list(runs([5, 6, 7, 8, 9], 2)) == [(5, 6), (7, 8), (9, 9)]
    assert list(runs([], 3)) == []


@pytest.mark.parametrize(
    ("limit", "size"), [("640MiB", 640 << 20), ("2GB", 2 * 10**9), ("1GiB", GIB), ("9MB", 9 * 10**6)]
)
def test_the_memory_limit_in_bytes(tmp_path: Path, limit: str, size: int) -> None:
    assert Warehouse(tmp_path, memory_limit=limit).memory_bytes == size


def test_hour_by_hour_is_the_whole_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [request(n, timestamp=f"2026-11-28T{n % 24:02}:{n % 60:02}:00Z", cached_tokens=n % 900) for n in range(500)]
    marts = []
    for name, at_once in (("day", 24), ("hours", 1)):
        monkeypatch.setattr(duck, "hours_at_once", lambda _requests, _bytes, at_once=at_once: at_once)
        place = Place(tmp_path / name)
        place.write("a.jsonl", lines)
        place.aggregate()
        marts.append([
            place.rows(f"select * from mart.{mart} order by all") for mart in ("hourly_hit_rate", "hit_rate_histogram")
        ])  # fmt: skip
    assert marts[0] == marts[1]
    assert len(marts[0][0]) == 24
