"""How long snapshots and files of the lake stay: as long as a reader may need them, and no longer."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pipelines.opening import warehouse_of
from pipelines.settings import load_settings
from pipelines.warehouse import Retention
from tests.place import PRICE, SOURCE, Place, request

pytestmark = pytest.mark.jobs

HOUR_S = 3600.0
LOTS = 10**12


def kept_days(place: Place, keep: str) -> Place:
    place.configure(f"[warehouse]\n{keep}\n{SOURCE}{PRICE}")
    return place


def aged(paths: list[Path], hours: float) -> None:
    """Make files older, as if they had been there for that long."""
    for path in paths:
        at = path.stat().st_mtime - hours * HOUR_S
        os.utime(path, (at, at))


def replace_lake(place: Place, version: int) -> None:
    """Publish better records of the same requests: the file of the lake that has them gives way to another."""
    place.write(f"{version}.jsonl", [request(n, output_tokens=version) for n in range(3)])
    place.ingest()


def lake_files(place: Place) -> set[Path]:
    return set(place.warehouse.folder.glob("lake/*/*.parquet"))


def numbers(place: Place) -> list[int]:
    return sorted(int(path.stem.split("-")[1]) for path in place.warehouse.snapshots())


def test_the_configuration_reaches_the_warehouse(place: Place) -> None:
    kept_days(place, "keep_h = 1.5\nkeep_gib = 0.5")
    assert warehouse_of(load_settings(place.config)).keep == Retention(1.5, 1 << 29)
    place.configure(SOURCE)
    assert place.warehouse.keep == Retention(24.0, 8 << 30)


@pytest.mark.parametrize(
    ("keep", "expected"),
    [("keep_h = 24", [1, 2, 3, 4, 5, 6]), ("keep_h = 0", [4, 5, 6]), ("keep_gib = 0", [4, 5, 6])],
)
def test_snapshots_stay_for_hours_within_a_size_and_three_at_least(
    place: Place, keep: str, expected: list[int]
) -> None:
    kept_days(place, keep)
    for _ in range(6):
        place.ingest()
    assert numbers(place) == expected


def test_a_snapshot_is_as_old_as_the_one_after_it(tmp_path: Path) -> None:
    """Published 30 hours ago and superseded 20 hours ago: somebody may have opened it 20 hours ago."""
    paths = [tmp_path / str(number) for number in range(6)]
    now = time.time()
    for path, age_h in zip(paths, (0, 1, 2, 20, 30, 40), strict=True):
        path.write_bytes(bytes(100))
        os.utime(path, (now - age_h * HOUR_S, now - age_h * HOUR_S))
    assert Retention(24, LOTS).superseded(paths, now) == paths[5:]
    assert Retention(10, LOTS).superseded(paths, now) == paths[4:]
    assert Retention(1, LOTS).superseded(paths, now) == paths[3:]
    assert Retention(24, 450).superseded(paths, now) == paths[4:]
    assert Retention(24, 0).superseded(paths, now) == paths[3:]
    assert Retention(0, 0).superseded(paths[:2], now) == []


def test_a_file_of_the_lake_outlives_the_snapshots_that_list_it(place: Place) -> None:
    """Whoever opened a snapshot still has it when its name is gone; its files he opens query by query."""
    kept_days(place, "keep_gib = 0")
    replace_lake(place, 1)
    (first,) = lake_files(place)
    with place.warehouse.reader() as reader:
        for version in range(2, 7):
            replace_lake(place, version)
        assert numbers(place) == [4, 5, 6]
        assert reader.ask("select distinct output_tokens from requests")[1] == [(1,)]
    aged(list(place.warehouse.folder.glob("lake/*/*.unlisted")), 23)
    place.ingest()
    assert first.exists()
    aged(list(place.warehouse.folder.glob("lake/*/*.unlisted")), 2)
    place.ingest()
    assert not first.exists()
    assert place.rows("select distinct output_tokens as n from requests") == [{"n": 6}]


def test_a_file_that_a_kept_snapshot_lists_stays_however_old(place: Place) -> None:
    replace_lake(place, 1)
    (first,) = lake_files(place)
    replace_lake(place, 2)
    aged([*place.warehouse.snapshots(), *place.warehouse.folder.glob("lake/*/*.unlisted")], 1000)
    place.ingest()
    assert numbers(place) == [1, 2, 3]
    assert first.exists()
    place.ingest()
    assert numbers(place) == [2, 3, 4]
    assert not first.exists()


def test_marks_go_with_their_files_and_when_a_file_is_listed_again(place: Place) -> None:
    kept_days(place, "keep_h = 0")
    for version in range(1, 6):
        replace_lake(place, version)
    present = next(
        path for path in lake_files(place) if str(path.relative_to(place.warehouse.folder)) in _listed(place)
    )
    mark = present.with_name(f"{present.name}.unlisted")
    mark.touch()
    place.ingest()
    marks = {path.with_suffix("") for path in place.warehouse.folder.glob("lake/*/*.unlisted")}
    assert present.exists()
    assert present not in marks
    assert marks <= lake_files(place)


def test_what_was_never_published_goes_at_once(place: Place) -> None:
    replace_lake(place, 1)
    with place.warehouse.writer():
        stray = place.warehouse.folder / "lake" / "day=2026-11-28" / "0123456789abcdef.parquet"
        stray.write_bytes(b"left by a run that was killed")
    place.ingest()
    assert not stray.exists()


def test_nothing_goes_while_a_snapshot_cannot_be_read(place: Place) -> None:
    kept_days(place, "keep_h = 0")
    replace_lake(place, 1)
    (first,) = lake_files(place)
    replace_lake(place, 2)
    old = place.warehouse.snapshots()[-1]
    old.write_bytes(b"no database")
    replace_lake(place, 3)
    assert first.exists()
    old.unlink()
    place.ingest()
    assert not first.exists()


def _listed(place: Place) -> set[str]:
    return {row["file"] for row in place.rows("select file from ops.lake_files")}
