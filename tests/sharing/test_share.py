"""`valleywatch share`: what leaves the house is of at least k individuals, whatever is in the logs."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.conftest import FleetWarehouse
from tests.place import PRICE, SOURCE, Place, request

TABLES = ("hourly_hit_rate", "hit_rate_histogram", "valley_status", "throughput_curve")
SUMS = ("input_tokens", "cached_tokens", "miss_tokens")


def shared(place: Place, folder: Path, *arguments: str) -> dict[str, pl.DataFrame]:
    assert place.valleywatch("share", str(folder), *arguments) == 0
    return {name: pl.read_parquet(folder / f"{name}.parquet") for name in TABLES}


def random_rows(dice: random.Random, n_rows: int) -> list[dict[str, Any]]:
    """Requests of few and of many, with and without session, output and cached tokens, some failed or repeated."""
    rows = []
    for number in range(n_rows):
        sure = dice.choice([0, 1000, dice.randint(0, 1000), dice.randint(985, 1000)])
        session = dice.choice([None, f"session-{dice.randint(0, dice.choice([2, 30]))}"])
        hour = dice.choice([3, 3, 3, 4, 23])
        rows.append(
            request(
                dice.randint(0, 2 * n_rows) if dice.random() < 0.1 else n_rows * 3 + number,
                timestamp=f"2026-11-{dice.choice([27, 28])}T{hour:02}:{dice.randint(0, 59):02}:00Z",
                deployment=dice.choice(["pool-a", "pool-a", "pool-a", "pool-b", "pool-secret"]),
                session_id=session,
                input_tokens=1000 if dice.random() < 0.97 else 0,
                cached_tokens=None if dice.random() < 0.05 else sure,
                output_tokens=None if dice.random() < 0.02 else dice.randint(1, 50),
                status=dice.choice([200, 200, 200, 500]),
            )
        )
    for row in rows:
        if row["input_tokens"] == 0 and row["cached_tokens"]:
            row["cached_tokens"] = 0
    return rows


def hour_of(value: datetime) -> datetime:
    return value.replace(minute=0, second=0, microsecond=0)


def counted(place: Place) -> list[dict[str, Any]]:
    """What can be published at all: requests that succeeded and have a hit rate."""
    return [
        row
        for row in place.rows("select * from requests where outcome = 'ok' and cached_tokens is not null")
        if row["input_tokens"] > 0
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 5, 9])
def test_every_published_row_is_of_k_individuals_and_exact(tmp_path: Path, seed: int, k: int) -> None:
    """The definition, computed anew from the requests: groups by the quasi-identifiers, and their complements."""
    dice = random.Random(f"{seed} {k}")
    place = Place(tmp_path / "place", SOURCE + PRICE)
    place.write("a.jsonl", random_rows(dice, dice.choice([40, 150, 400])))
    place.ingest()
    found = shared(place, tmp_path / "out", "--k", str(k), "--names")
    requests = counted(place)
    by_hour: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in requests:
        by_hour[row["deployment"], hour_of(row["arrived_at"])].append(row)
    groups = {key: individuals(rows) for key, rows in by_hour.items()}
    hourly = {(row["deployment"], row["hour_utc"]): row for row in found["hourly_hit_rate"].iter_rows(named=True)}
    assert set(hourly) == {key for key, found_in in groups.items() if len(found_in) >= k}
    for key, row in hourly.items():
        require_same(row, by_hour[key], k)
    seen: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in found["hit_rate_histogram"].iter_rows(named=True):
        key = row["deployment"], row["hour_utc"]
        taken = {id(x) for x in seen[key]}
        inside = [x for x in by_hour[key] if is_inside(x, row) and id(x) not in taken]
        if row["bin_high"] == 1 and row["bin_low"] < 1 and not has_own_row(found["hit_rate_histogram"], key):
            inside += [x for x in by_hour[key] if x["cached_tokens"] == x["input_tokens"] and x not in inside]
        require_same(row, inside, k)
        seen[key] += inside
    assert {key: len(rows) for key, rows in seen.items()} == {key: hourly[key]["n_requests"] for key in hourly}


def has_own_row(histogram: pl.DataFrame, key: Any) -> bool:
    return not histogram.filter(
        (pl.col("deployment") == key[0]) & (pl.col("hour_utc") == key[1]) & (pl.col("bin_low") == 1)
    ).is_empty()


def is_inside(row: dict[str, Any], of: dict[str, Any]) -> bool:
    permille = 1000 * row["cached_tokens"] / row["input_tokens"]
    low, high = 1000 * of["bin_low"], 1000 * of["bin_high"]
    return round(low, 6) <= permille < round(high, 6) or low == high == permille


def individuals(rows: list[dict[str, Any]]) -> set[str]:
    return {row["session_id"] or f"alone {row['request_id']}" for row in rows}


def require_same(published: dict[str, Any], rows: list[dict[str, Any]], k: int) -> None:
    assert len(individuals(rows)) >= k
    assert k <= published["n_individuals"] <= len(individuals(rows))
    assert published["n_requests"] == len(rows)
    for name in SUMS:
        assert published[name] == sum(row[name] for row in rows)
    outputs = [row["output_tokens"] for row in rows]
    assert published["output_tokens"] == (None if None in outputs else sum(outputs))
    assert published["hit_rate"] == published["cached_tokens"] / published["input_tokens"]


def test_a_busy_session_is_one_individual(place: Place, tmp_path: Path) -> None:
    """A hundred requests of four people stay at home; those of five may go."""
    place.write(
        "a.jsonl", [request(n, session_id=f"person {n % 4}", timestamp="2026-11-28T01:00:00Z") for n in range(100)]
    )
    place.write("b.jsonl", [request(n, session_id=f"person {n % 5}") for n in range(200, 205)])
    place.ingest()
    found = shared(place, tmp_path / "out")
    assert found["hourly_hit_rate"]["n_requests"].to_list() == [5]
    assert "1 of 2 deployment-hours" in (tmp_path / "out" / "README.md").read_text()


def test_nothing_that_names_anybody_leaves_the_house(
    fleet_warehouse: FleetWarehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fleet_warehouse.place
    found = shared(place, tmp_path / "out")
    shared_csv = tmp_path / "csv"
    assert place.valleywatch("share", str(shared_csv), "--csv") == 0
    given = "".join(path.read_text() for path in shared_csv.iterdir())
    given += repr([table.rows() for table in found.values()]) + capsys.readouterr().out
    given_bytes = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    names = place.rows(
        "select distinct unnest([deployment, instance, model, session_id, source_name, source_file]) as name "
        "from requests union all (select request_id from requests limit 500)"
    )
    secret = {row["name"] for row in names if row["name"]} | {str(place.folder)}
    assert len(secret) > 500
    for name in secret:
        assert name not in given
        assert name.encode() not in given_bytes
    assert found["hourly_hit_rate"]["deployment"].unique().sort().to_list() == [f"deployment-{n}" for n in range(1, 6)]
    assert {path.name for path in shared_csv.iterdir()} == {*(f"{name}.csv" for name in TABLES), "README.md"}


def test_verdicts_and_curves_are_those_of_published_hours(fleet_warehouse: FleetWarehouse, tmp_path: Path) -> None:
    place = fleet_warehouse.place
    everything = shared(place, tmp_path / "two", "--names", "--k", "2")["hourly_hit_rate"]
    k = int(everything["n_individuals"].median() or 0)
    found = shared(place, tmp_path / "out", "--names", "--k", str(k))
    hours = set(found["hourly_hit_rate"].select("deployment", "hour_utc").rows())
    verdicts = found["valley_status"]
    assert set(verdicts.select("deployment", "hour_utc").rows()) == hours
    assert 0 < len(hours) < everything.height, "some are left out"
    known = {(row["deployment"], row["hour_utc"]): row for row in place.rows("from valley_status")}
    for row in verdicts.iter_rows(named=True):
        of = known[row["deployment"], row["hour_utc"]]
        assert {name: of[name] for name in row} == row
    assert set(found["throughput_curve"]["deployment"]) == {deployment for deployment, _ in hours}


def test_a_range_of_days_and_the_same_bytes_again(fleet_warehouse: FleetWarehouse, tmp_path: Path) -> None:
    place = fleet_warehouse.place
    found = shared(place, tmp_path / "out", "--from", "2026-11-29", "--to", "2026-11-29")
    assert {str(hour.date()) for hour in found["hourly_hit_rate"]["hour_utc"]} == {"2026-11-29"}
    shared(place, tmp_path / "again", "--from", "2026-11-29")
    for path in (tmp_path / "out").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_names_are_inert_where_they_are_asked_for(place: Place, tmp_path: Path) -> None:
    place.write("a.jsonl", [request(n, deployment='=cmd|"/c calc"!A1') for n in range(5)])
    place.ingest()
    assert place.valleywatch("share", str(tmp_path / "out"), "--csv", "--names") == 0
    lines = (tmp_path / "out" / "hourly_hit_rate.csv").read_text().splitlines()
    assert lines[1].startswith("\"'=cmd|")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--k", "1"], "hides nobody"),
        (["--from", "2026-11-29", "--to", "2026-11-28"], "is before"),
        (["--from", "yesterday"], "YYYY-MM-DD"),
    ],
)
def test_what_makes_no_sense_is_refused(
    place: Place, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place.ingest()
    assert place.valleywatch("share", str(tmp_path / "out"), *arguments) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_left_alone(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place.ingest()
    (tmp_path / "out").mkdir()
    assert shared(place, tmp_path / "out")["hourly_hit_rate"].is_empty(), "an empty one is taken"
    assert place.valleywatch("share", str(tmp_path / "out")) == 2
    assert "is there already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_where_nothing_is_joined_the_bins_are_those_of_the_histogram(place: Place, tmp_path: Path) -> None:
    """Two statements know the bins: one counts requests, the other individuals. They must not part."""
    shares = [0, 1, 9, 10, 11, 499, 989, 990, 991, 998, 999, 1000]
    rows = [
        request(f"{session} {share}", cached_tokens=share, session_id=f"{session} {share}")
        for share in shares
        for session in ("one", "two")
    ]
    place.write("a.jsonl", rows)
    place.settle()
    columns = ["bin_low", "bin_high", "n_requests", "input_tokens", "cached_tokens"]
    found = shared(place, tmp_path / "out", "--k", "2", "--names")["hit_rate_histogram"]
    expected = place.rows(f"select {', '.join(columns)} from hit_rate_histogram order by bin_low, bin_high")
    assert len(expected) > 8
    assert found.select(columns).sort("bin_low", "bin_high").rows() == [tuple(row.values()) for row in expected]
