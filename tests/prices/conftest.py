"""Three hours of traffic with a trustworthy curve, settled once at one price; each test has a copy of its own."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from pipelines.alerts.record import judge_day, mark_changed_judgement
from pipelines.prices.memory import ask_to_reprice
from pipelines.settings import load_settings
from pipelines.times import to_day_index
from tests.place import NOW, Place, request
from tests.verdicts.traffic import busy_hours

DAY = to_day_index(date(2026, 11, 28))
TRAFFIC = busy_hours(n_hours=3, per_hour=120, law_of_a_valley=True)


@pytest.fixture(scope="session")
def at_one_price(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The traffic at the one price of `tests.place`; read only."""
    place = Place(tmp_path_factory.mktemp("prices") / "place")
    place.write("a.jsonl", [request(**row) for row in TRAFFIC])
    compare(place)
    place.settle()
    return place


@pytest.fixture
def priced(at_one_price: Place, tmp_path: Path) -> Place:
    """A copy of it to change."""
    shutil.copytree(at_one_price.folder, tmp_path / "copy", symlinks=True)
    place = Place(tmp_path / "copy")
    with place.warehouse.writer() as writer:
        writer.publish()  # a snapshot's requests are those of the lake it was published beside
    return place


def compare(place: Place) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Compare the configuration with what was published, as every run begins; return days to judge, days that keep."""
    with place.warehouse.writer() as writer:
        changed = mark_changed_judgement(writer, load_settings(place.config))
    return changed.judged_again, changed.kept


def judged(place: Place, config: str, *, reprice: bool = True) -> list[dict[str, Any]]:
    """Judge the day under this configuration, at its prices if asked to; return its hours."""
    place.configure(config)
    with place.warehouse.writer() as writer:
        if reprice:
            ask_to_reprice(writer, [DAY])
        judge_day(writer, DAY, load_settings(place.config), NOW)
        writer.publish()
    return place.rows("select * from valley_status order by hour_utc")
