"""Which estimator a day's curve comes from, what the others say beside it, and what is told where they disagree."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pipelines.contracts import judge_curves
from pipelines.curve_words import estimator_words
from pipelines.times import to_day_index
from tests.conftest import FleetWarehouse
from tests.place import ABSENT, PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

pytestmark = pytest.mark.jobs

DAY = 20_785
"""2026-11-28 in whole days since 1970-01-01."""
NAME = "agent-offload"
CHOSEN = "select * from throughput_curve order by deployment"
WITHOUT_INSTANCE = "envelope of ttft_s"
END_TO_END_ALONE = "envelope of e2e_s"


def stripped(folder: Path, logs: Path, *fields: str) -> Place:
    """The log of NAME without some of its fields, settled."""
    place = Place(folder, SOURCE + PRICE)
    with gzip.open(logs / f"{NAME}.jsonl.gz") as lines:
        rows = [json.loads(line) for line in lines]
    place.write(f"{NAME}.jsonl", [{key: row[key] for key in row if key not in fields} for row in rows])
    place.settle()
    return place


@pytest.fixture(scope="module")
def fallbacks(fleet_day: tuple[Path, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Place]:
    """The same day as logs show it that name no instance, and that have no time to first token either."""
    logs, _ = fleet_day
    return {
        WITHOUT_INSTANCE: stripped(tmp_path_factory.mktemp("no-instance"), logs, "instance"),
        END_TO_END_ALONE: stripped(tmp_path_factory.mktemp("end-to-end"), logs, "instance", "ttft_ms"),
    }


def named(curve: dict[str, Any]) -> str:
    return f"{curve['estimator']} of {curve['target']}"


@pytest.mark.parametrize(
    ("fallback", "slope_within", "index_within"), [(WITHOUT_INSTANCE, 0.02, 0.01), (END_TO_END_ALONE, 0.04, 0.03)]
)
def test_a_day_whose_log_lacks_something_still_has_its_curve_and_verdict(
    fallbacks: dict[str, Place],
    fleet_day: tuple[Path, dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    fallback: str,
    slope_within: float,
    index_within: float,
) -> None:
    place, facts = fallbacks[fallback], fleet_day[1]["deployments"][NAME]
    (curve,) = place.rows(CHOSEN)
    assert (named(curve), curve["trustworthy"], curve["reasons"]) == (fallback, True, "")
    assert curve["a_low"] <= facts["a"] <= curve["a_high"]
    assert curve["a"] == pytest.approx(facts["a"], abs=slope_within)
    assert place.valleywatch("status", "--json") == 0
    (verdict,) = json.loads(capsys.readouterr().out)
    assert (verdict["estimator"], verdict["target"]) == (curve["estimator"], curve["target"])
    # At the configured price ratio of .1 the truth is the same engine's: its work without a cache over its work.
    expected = (1 - 0.9 * facts["hit_rate"]) * facts["busy_without_cache_s"] / facts["busy_s"]
    assert verdict["revenue_index"] == pytest.approx(expected, rel=index_within)
    assert verdict["index_low"] <= expected <= verdict["index_high"]
    assert verdict["state"] == "escaped"
    assert place.valleywatch("report") == 0
    page = place.page(NAME)
    assert f"Measured by{estimator_words(curve['estimator'], curve['target'])}" in page
    assert "is the lower envelope of times" in page


def test_an_interval_from_less_is_wider(fleet_warehouse: FleetWarehouse, fallbacks: dict[str, Place]) -> None:
    def width(place: Place) -> float:
        query = "select avg(a_high - a_low) as width from throughput_curve where deployment = 'agent-offload'"
        return float(place.rows(query)[0]["width"])

    best, first_token, end_to_end = (
        width(place) for place in (fleet_warehouse.place, fallbacks[WITHOUT_INSTANCE], fallbacks[END_TO_END_ALONE])
    )
    assert best < first_token < end_to_end


def test_with_instances_the_curve_is_of_busy_periods_and_the_others_stand_beside_it(
    fleet_warehouse: FleetWarehouse,
) -> None:
    place = fleet_warehouse.place
    assert {named(curve) for curve in place.rows(CHOSEN)} == {"busy_periods of busy_s"}
    beside = place.rows("select * from curve_candidates where is_chosen order by deployment")
    assert [{key: row[key] for key in row if key != "is_chosen"} for row in beside] == place.rows(CHOSEN)
    per_day = place.rows("select deployment, day_utc, count(*) as n from curve_candidates group by all")
    assert {row["n"] for row in per_day} == {3}
    assert re.search(r"Slope a measured in other ways: .*lower envelope of times from end to end", place.page(NAME))


def test_without_a_disagreement_nothing_is_told(fleet_warehouse: FleetWarehouse) -> None:
    found = fleet_warehouse.place.rows("select * from check_findings where contract = 'throughput curves'")
    assert {(row["severity"], row["passed"]) for row in found} == {("warn", True)}


def test_estimators_that_contradict_each_other_are_told(
    fleet_warehouse: FleetWarehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fleet_warehouse.copy(tmp_path / "copy")
    (newest,) = place.rows("select deployment, day_utc from throughput_curve order by day_utc desc limit 1")
    day_index = to_day_index(newest["day_utc"])
    other = {
        "deployment": newest["deployment"], "day_index": day_index, "estimator": "envelope", "target": "other_s",
        "family": "service_time", "a": 0.7, "a_low": 0.6, "a_high": 0.8, "n_minutes": 1000, "n_requests": 9000,
        "window_from_hour": 24 * day_index, "is_chosen": False, "trustworthy": True, "reasons": "",
    }  # fmt: skip
    with place.warehouse.writer() as writer:
        writer.insert_rows("mart.curve_candidates", [other, other | {"target": "doubted_s", "trustworthy": False}])
        (finding,) = (finding for finding in judge_curves(writer, day_index) if not finding.passed)
        writer.publish()
    assert finding.severity == "warn"
    assert "n_curves_apart = 1 (" in finding.detail
    assert "chosen busy_periods of busy_s, apart envelope of other_s)" in finding.detail
    assert place.valleywatch("status") == 0
    assert "estimators of one curve agree within their intervals" in capsys.readouterr().err


def test_a_log_without_instances_that_says_too_little_says_what_it_lacks(place: Place) -> None:
    rows = busy_hours(n_hours=4, per_hour=150)
    place.write("a.jsonl", (request(**row, instance=ABSENT) for row in rows))
    place.settle()
    (curve,) = place.rows(CHOSEN)
    assert named(curve) == WITHOUT_INSTANCE
    assert curve["reasons"] == "no_timing,too_few"
    assert curve["a"] is not None


def two_places(folder: Path, *, with_worse: bool) -> Place:
    """One traffic timed by a gateway and, ten times as long, by a client; no instance in either."""
    sources = "".join(
        f'[[sources]]\nname = "{basis}"\nformat = "canonical"\npath = "logs/{basis}.jsonl"\nttft_basis = "{basis}"\n'
        for basis in ("gateway", "client")[: 1 + with_worse]
    )
    place = Place(folder, sources + PRICE)
    rows = busy_hours(n_hours=8, per_hour=150)
    for basis, times in (("gateway", 1), ("client", 10))[: 1 + with_worse]:
        lines = [request(**row, instance=ABSENT) for row in rows]
        changed = [
            line | {"request_id": f"{basis}-{n}", "ttft_ms": line["ttft_ms"] * times} for n, line in enumerate(lines)
        ]
        place.write(f"{basis}.jsonl", changed)
    place.settle()
    return place


def test_an_envelope_is_of_the_best_place_alone(tmp_path: Path) -> None:
    alone, both = (two_places(tmp_path / str(worse), with_worse=worse).rows(CHOSEN)[0] for worse in (False, True))
    assert alone["trustworthy"]
    without_length = [{key: row[key] for key in row if key != "reference_input_tokens"} for row in (alone, both)]
    assert without_length[0] == without_length[1]


def test_the_sample_is_bounded_and_follows_from_the_requests_alone(tmp_path: Path) -> None:
    rows = [request(n, input_tokens=1_000 + n, cached_tokens=500, instance=ABSENT) for n in range(4_000)]
    whole, split = Place(tmp_path / "whole"), Place(tmp_path / "split")
    whole.write("a.jsonl", rows)
    split.write("b.jsonl", rows[2_000:])
    split.write("a.jsonl", rows[:2_000][::-1])
    samples = []
    for place in (whole, split):
        place.ingest()
        with place.warehouse.writer() as writer:
            writer.open_days(DAY, DAY)
            day = {"from_us": DAY * 86_400_000_000, "to_us": (DAY + 1) * 86_400_000_000}
            sample = writer.frame("curve/envelope_rows", deployment="pool", rows_per_size=100, **day)
        samples.append(sample.sort(sample.columns))
    assert samples[0].equals(samples[1])
    # Misses of 500 to 4,499 tokens are of five powers of two; all 11 below 511 are there, of the others about 100.
    by_size = [((samples[0]["miss_tokens"] + 1).log(2).floor() == power).sum() for power in range(8, 13)]
    assert by_size[0] == 11
    assert all(60 < count < 140 for count in by_size[1:])
