"""`valleywatch fit DEPLOYMENT`: the newest curve of the snapshot, in numbers equal to the views'."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from models.valley import locate_valley
from pipelines.cli import main
from tests.conftest import REPO, FleetWarehouse
from tests.place import SOURCE, Place, request

NAME = "glm-5-h200"
SWEEP = REPO / "fixtures/logs/llama_server/sweep_L8192_ub512.jsonl"


def fitted(place: Place, capsys: pytest.CaptureFixture[str], name: str, *options: str) -> tuple[int, dict[str, Any]]:
    code = place.valleywatch("fit", name, "--json", *options)
    return code, json.loads(capsys.readouterr().out)


def test_the_numbers_are_the_views(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> None:
    place = fleet_warehouse.place
    code, found = fitted(place, capsys, NAME)
    assert code == 0
    (curve,) = place.rows(f"select * from throughput_curve where deployment = '{NAME}'")
    same = set(curve) & set(found) - {"day_utc", "reasons"}
    assert {name: found[name] for name in same} == {name: curve[name] for name in same}
    assert {"tps0", "a", "f", "family", "line_good_until_hit_rate", "chunk_tokens", "residual_scale"} <= same
    assert (found["day_utc"], found["reasons"]) == (curve["day_utc"].isoformat(), [])
    families = place.rows(f"select * from curve_families where deployment = '{NAME}'")
    assert found["family_errors"] == {row["family"]: row["error"] for row in families}
    bands = place.rows(f"select * exclude (deployment, day_utc) from curve_by_length where deployment = '{NAME}'")
    assert found["lengths"] == sorted(bands, key=lambda row: row["band"])
    others = place.rows(f"select * from curve_candidates where deployment = '{NAME}' and not is_chosen")
    assert {row["target"]: row["a"] for row in found["others"]} == {row["target"]: row["a"] for row in others}
    (newest,) = place.rows(f"select * from valley_status where deployment = '{NAME}' order by hour_utc desc limit 1")
    for name in ("price_ratio", "floor_hit_rate", "exit_hit_rate", "floor_depth"):
        assert found[name] == newest[name], name


def test_it_speaks_to_people(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert fleet_warehouse.place.valleywatch("fit", NAME) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{NAME}, curve of 2026-11-28: ")
    said = [line.split()[0] for line in lines[1:] if not line.startswith(" ")]
    assert said == ["estimator", "tps0", "a", "residual", "family", "line", "chunk", "lengths", "valley"]
    assert sum(": tps0 " in line for line in lines) == 4
    assert sum("envelope of " in line for line in lines) == 2


def test_another_price_ratio_moves_floor_and_exit(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = fitted(fleet_warehouse.place, capsys, NAME, "--price-ratio", "0.2")
    valley = locate_valley(found["a"], 0.2)
    assert valley is not None
    assert (code, found["floor_hit_rate"], found["exit_hit_rate"]) == (0, valley.floor_hit_rate, valley.exit_hit_rate)
    assert fitted(fleet_warehouse.place, capsys, NAME, "--price-ratio", "0.6")[1]["has_valley"] is False


def test_a_slow_tier_has_no_exit(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = fitted(fleet_warehouse.place, capsys, "agent-offload")
    assert (found["has_valley"], found["exit_hit_rate"]) == (True, None)
    assert fleet_warehouse.place.valleywatch("fit", "agent-offload") == 0
    assert "below no cache; no exit\n" in capsys.readouterr().out


def test_a_curve_that_must_not_be_trusted_is_told_with_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(tmp_path, SOURCE)
    rows = ({"timestamp": f"2026-11-28T10:{n:02d}:00Z", "cached_tokens": 40 * (n % 20)} for n in range(40))
    place.write("a.jsonl", (request(n, **row) for n, row in enumerate(rows)))
    place.settle()
    code, found = fitted(place, capsys, "pool")
    assert (code, found["trustworthy"]) == (1, False)
    assert "too_few" in found["reasons"]
    assert [found[name] for name in ("price_ratio", "has_valley", "floor_hit_rate")] == [None] * 3
    assert place.valleywatch("fit", "pool") == 1
    said = capsys.readouterr().out
    assert "no price is configured for its traffic; give --price-ratio" in said
    assert "do not rely on this curve, because there are too few requests" in said
    assert place.valleywatch("fit", "pool", "--price-ratio", ".1") == 1
    assert "not stated for a curve that must not be trusted" in capsys.readouterr().out


def test_a_deployment_without_a_curve_says_so(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write("a.jsonl", [request(1, cached_tokens=None)])
    place.settle()
    assert place.valleywatch("fit", "pool") == 1
    assert "no curve, because " in capsys.readouterr().out


def test_a_file_wins_over_a_deployment_of_its_name_and_a_folder_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(tmp_path / "place")
    place.write("a.jsonl", (request(n, deployment=name) for n, name in enumerate(("sweep", "folder"))))
    place.settle()
    (tmp_path / "sweep").write_bytes(SWEEP.read_bytes())
    (tmp_path / "folder").mkdir()
    with contextlib.chdir(tmp_path):
        assert place.valleywatch("fit", "sweep", "--json") == 0
        assert "time_basis" in json.loads(capsys.readouterr().out)
        assert place.valleywatch("fit", "folder", "--json") == 1
        assert json.loads(capsys.readouterr().out)["deployment"] == "folder"


def test_what_is_neither_file_nor_deployment_is_told_as_both(
    fleet_warehouse: FleetWarehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.chdir(tmp_path):
        assert fleet_warehouse.place.valleywatch("fit", "glm5-h200") == 2
        said = capsys.readouterr().err
        assert "no such file: " in said
        assert "has no deployment 'glm5-h200' (did you mean 'glm-5-h200'?)" in said
        assert main(["fit", "glm-5-h200"]) == 2
        assert "cannot be looked up as a deployment: no configuration at valleywatch.toml" in capsys.readouterr().err
        unpublished = Place(tmp_path / "unpublished")
        assert unpublished.valleywatch("fit", "pool") == 2
        assert "nothing is published" in capsys.readouterr().err


def test_a_hostile_name_is_shown_and_not_obeyed(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.write("a.jsonl", [request(1, deployment="a/../\x1b[2Jb")])
    place.settle()
    name = place.rows("select deployment from throughput_curve")[0]["deployment"]
    assert place.valleywatch("fit", name) == 1
    assert "\x1b" not in capsys.readouterr().out
