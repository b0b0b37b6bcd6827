"""Verdicts against fleets whose right answers are known: index, side, state, episodes and money.

Three bounds, the same everywhere: the index within 2 %; the side and the state right wherever the true index is further
than .03 from 1; the money of a day within 5 % there, and elsewhere within 2 % of the revenue: the loss is the small
difference of two large amounts, so an error of .5 % of the index is all of it where the index is .995.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from math import fsum
from types import ModuleType
from typing import Any

import pytest

from pipelines.alerts.episodes import Hour, episodes_of, replay
from pipelines.alerts.state import Observation
from pipelines.settings import PolicySettings
from tests.conftest import REPO, FleetWarehouse
from tests.place import PRICE, Place
from tests.shared_data import shared

INDEX_ERROR, LOSS_ERROR, REVENUE_ERROR = 0.02, 0.05, 0.02
CLEAR = 0.03
"""How far from 1 an index is clear."""
EVALUATED = 30
"""Requests from which the default policy evaluates an hour."""
HOURS = """
    select
      strftime(hour_utc, '%Y-%m-%dT%H:00:00Z') as hour_utc, revenue_index, p_in_valley, state, lost_per_hour,
      floor_hit_rate is not null as has_valley, n_reported,
      (miss_tokens * input_per_mtok + cached_tokens * cached_per_mtok) / 1e6 as revenue
    from valley_status join hourly_hit_rate using (deployment, hour_utc) where deployment = '{}' order by hour_utc
"""


def is_clear(index: float) -> bool:
    return abs(index - 1) > CLEAR


def money_faults(name: str, index: float, lost: float, true_lost: float, revenue: float) -> Iterator[str]:
    """Say where the money of a day is off."""
    bound = LOSS_ERROR * abs(true_lost) if is_clear(index) else REVENUE_ERROR * revenue
    if abs(lost - true_lost) > bound:
        yield f"{name}: {lost:.2f} lost, truly {true_lost:.2f} of {revenue:.2f}"


def faults_of_hours(place: Place, name: str, truth: dict[str, Any]) -> Iterator[str]:
    """Say which hours, states, episodes or amounts of a deployment with hourly truth are off."""
    known = {row["hour_utc"]: row for row in truth["hours"]}
    found = place.rows(HOURS.format(name))
    assert {row["hour_utc"] for row in found} == {hour for hour, facts in known.items() if facts["requests"]}
    true_hours, inside = [], []
    for at, row in enumerate(found):
        index, seen = known[row["hour_utc"]]["revenue_index"], row["revenue_index"]
        p = row["p_in_valley"]
        if row["n_reported"] >= EVALUATED and is_clear(index):
            if abs(seen / index - 1) > INDEX_ERROR:
                yield f"{name} {row['hour_utc']}: index {seen:.4f}, truly {index:.4f}"
            p = float(index < 1)
            if (row["p_in_valley"] >= 0.95) is not (index < 1) or (row["p_in_valley"] <= 0.5) is not (index > 1):
                yield f"{name} {row['hour_utc']}: p {row['p_in_valley']:.3f} at an index of truly {index:.4f}"
        true_hours.append(
            Hour(at, Observation(p, row["has_valley"], None), index, row["revenue"] * (1 / index - 1), "USD")
        )
        inside.append(row["state"] == "in_valley")
    standings = replay(true_hours, PolicySettings())
    if inside != [standing.is_in_valley for standing in standings]:
        yield f"{name}: {inside} in the valley hour by hour, by the truth {standings}"
    revenue = fsum(row["revenue"] for row in found)
    true_lost = fsum(hour.lost for hour in true_hours)
    yield from money_faults(
        name, truth["revenue_index"], fsum(row["lost_per_hour"] for row in found), true_lost, revenue
    )
    for episode in episodes_of(true_hours, standings):
        entered = found[episode.entered_hour_index]["hour_utc"]
        (seen,) = place.rows(
            "select lost_total, peak_depth from valley_episodes "
            f"where deployment = '{name}' and entered_at = '{entered}'"
        )
        if abs(seen["lost_total"] / episode.lost_total - 1) > LOSS_ERROR:
            yield f"{name}: the episode of {entered} lost {seen['lost_total']:.2f}, truly {episode.lost_total:.2f}"
        if abs(seen["peak_depth"] - episode.peak_depth) > INDEX_ERROR:
            yield f"{name}: the episode of {entered} is {seen['peak_depth']:.3f} deep, truly {episode.peak_depth:.3f}"


def faults_of_day(place: Place, name: str, truth: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    """Say what is off of a deployment's day as a whole; `a` and `price_ratio` are those of the truth."""
    capsys.readouterr()
    assert place.valleywatch("whatif", name, "--json") == 0
    said = json.loads(capsys.readouterr().out)["before"]
    index, seen = truth["revenue_index"], said["revenue_index"]
    if abs(seen / index - 1) > INDEX_ERROR:
        yield f"{name}: index {seen:.4f}, truly {index:.4f}"
    hours = place.rows(HOURS.format(name))
    revenue = fsum(row["revenue"] for row in hours)
    yield from money_faults(name, index, said["lost"]["value"], revenue / index - revenue, revenue)
    true_state = "no_valley" if truth["a"] <= truth["price_ratio"] else "in_valley" if index < 1 else "escaped"
    if is_clear(index) and hours[-1]["state"] != true_state:
        yield f"{name}: {hours[-1]['state']}, truly {true_state}"


def test_every_hour_and_amount_of_the_bundled_fleet_is_right(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    place, fleet = fleet_warehouse.place, fleet_warehouse.truth["deployments"]
    assert [fault for name, truth in fleet.items() for fault in faults_of_hours(place, name, truth)] == []
    assert [fault for name, truth in fleet.items() for fault in faults_of_day(place, name, truth, capsys)] == []


@pytest.mark.slow
@pytest.mark.parametrize(("day", "seed"), [("2026-11-25", 2), ("2026-11-21", 3), ("2026-11-16", 4)])
def test_so_are_those_of_other_days_of_it(
    fleet_module: ModuleType, place: Place, capsys: pytest.CaptureFixture[str], day: str, seed: int
) -> None:
    fleet = fleet_module.generate_fleet(place.folder / "fleet", day=date.fromisoformat(day), seed=seed)["deployments"]
    place.configure((REPO / "fixtures" / "demo.toml").read_text())
    place.settle()
    assert [fault for name, truth in fleet.items() for fault in faults_of_hours(place, name, truth)] == []
    assert [fault for name, truth in fleet.items() for fault in faults_of_day(place, name, truth, capsys)] == []


def test_every_verdict_and_amount_of_another_simulators_fleet_is_right(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared("data/heldin_fleet")
    fleet = json.loads((folder / "truth.json").read_text())
    for truth in fleet.values():
        truth["price_ratio"] = truth["r"]
    prices = [
        PRICE.replace('"*"', f'"{name}"').replace("cached_per_mtok = 0.1", f"cached_per_mtok = {truth['r']}")
        for name, truth in fleet.items()
    ]
    source = f'[[sources]]\nname = "heldin"\nformat = "canonical"\npath = "{folder.resolve()}/*.jsonl.gz"'
    place.configure("\n".join([source, *prices]))
    place.settle()
    assert [fault for name, truth in fleet.items() for fault in faults_of_day(place, name, truth, capsys)] == []
    seen = {row["deployment"] for row in place.rows("select deployment from valley_episodes")}
    clearly_inside = {name for name, truth in fleet.items() if truth["revenue_index"] < 1 - CLEAR}
    clearly_outside = {name for name, truth in fleet.items() if truth["revenue_index"] > 1 + CLEAR}
    assert clearly_inside <= seen
    assert not clearly_outside & seen
