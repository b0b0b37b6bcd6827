"""Three hours of traffic with a trustworthy curve: two models, two prices, outputs and writes, some counts missing."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.alerts.record import judge_day, mark_changed_judgement
from pipelines.marts import refresh_hours
from pipelines.settings import load_settings
from pipelines.times import to_day_index
from tests.place import ABSENT, NOW, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

DAY = to_day_index(date(2026, 11, 28))
PRICES = """
[[prices]]
deployment = "*"
effective_from = 2026-01-01
input_tokens_to = 20_001
input_per_mtok = 1.0
cached_per_mtok = 0.1
output_per_mtok = 4.0
cache_write_per_mtok = 1.25

[[prices]]
deployment = "*"
effective_from = 2026-01-01
input_tokens_from = 20_001
input_per_mtok = 2.0
cached_per_mtok = 0.3
output_per_mtok = 6.0
cache_write_per_mtok = 2.5
"""
COSTS = """
[[costs]]
deployment = "*"
effective_from = 2026-01-01
per_instance_hour = 2.0
"""
OBJECTIVES = """
[[objectives]]
deployment = "p*"
ttft_s = 1.5
tpot_s = 0.02
"""


def _lines() -> list[dict[str, Any]]:
    """The lines: the second hour reports everything; in the others a few requests lack a count or a time."""
    dice, lines = random.Random(11), []
    for row in busy_hours(n_hours=3, per_hour=120, law_of_a_valley=True):
        output = dice.choice([1, 2, 40, 200])
        end_ms = row["ttft_ms"] + (output - 1) * dice.uniform(5.0, 40.0)
        line = request(
            **row, model=dice.choice(["large", "small"]), output_tokens=output, e2e_ms=round(end_ms, 3),
            cache_write_tokens=dice.choice([0, 0, 1024]),
        )  # fmt: skip
        is_whole = datetime.fromisoformat(line["timestamp"]).hour == 1
        if not is_whole and dice.random() < 0.05:
            line[dice.choice(["cached_tokens", "output_tokens", "cache_write_tokens", "e2e_ms"])] = None
        lines.append({key: value for key, value in line.items() if value is not ABSENT})
    return lines


LINES = _lines()


def prices_of(line: dict[str, Any]) -> tuple[float, float, float, float]:
    """The prices of a line per token: computed, cached, output, written."""
    per_mtok = (2.0, 0.3, 6.0, 2.5) if line["input_tokens"] > 20_000 else (1.0, 0.1, 4.0, 1.25)
    return tuple(price / 1e6 for price in per_mtok)  # type: ignore[return-value]


def lines_of(hour: int, holds: Callable[[dict[str, Any]], bool] = lambda _line: True) -> list[dict[str, Any]]:
    return [line for line in LINES if datetime.fromisoformat(line["timestamp"]).hour == hour and holds(line)]


def at(minute: float) -> str:
    """The time stamp of a minute after 2026-11-28T10:00Z."""
    moment = datetime(2026, 11, 28, 10, tzinfo=UTC) + timedelta(minutes=minute)
    return moment.isoformat().replace("+00:00", "Z")


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The traffic at its prices, costs and objective; read only."""
    place = Place(tmp_path_factory.mktemp("profit") / "place", SOURCE + PRICES + COSTS + OBJECTIVES)
    place.write("a.jsonl", LINES)
    place.settle()
    return place


@pytest.fixture
def copied(settled: Place, tmp_path: Path) -> Place:
    """A copy of it to change."""
    shutil.copytree(settled.folder, tmp_path / "copy", symlinks=True)
    return Place(tmp_path / "copy", settled.config.read_text())


def mark_changes(place: Place) -> None:
    """Compare the configuration with what was judged, as every run begins."""
    with place.warehouse.writer() as writer:
        mark_changed_judgement(writer, load_settings(place.config))


def taken_in(place: Place) -> None:
    """Ingest what is new and judge the day without a curve, which takes most of the time."""
    place.ingest()
    with place.warehouse.writer() as writer:
        refresh_hours(writer, "hourly_hit_rate", DAY)
    judged(place, place.config.read_text())


def judged(place: Place, config: str, day_index: int = DAY) -> list[dict[str, Any]]:
    """Judge the day under this configuration; return its profit and loss."""
    place.configure(config)
    with place.warehouse.writer() as writer:
        judge_day(writer, day_index, load_settings(place.config), NOW)
        writer.publish()
    return place.rows("select * from profit_and_loss order by deployment, hour_utc")
