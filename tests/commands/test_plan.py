"""`valleywatch fit --plan`: what to measure, fed back through the same command until nothing is left to measure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.design import size_features
from models.plan import ENOUGH
from tests.conftest import FleetWarehouse
from tests.place import ABSENT, SOURCE, Place, request


def planned(capsys: pytest.CaptureFixture[str], place: Place, name: str, *options: str) -> dict[str, Any]:
    assert place.valleywatch("fit", *options, "--plan", name, "--json") == 0
    return json.loads(capsys.readouterr().out)


def benchmark(path: Path, points: list[dict[str, Any]], law: tuple[float, ...], *, repeats: int, noise: float) -> Path:
    """Write the log of a benchmark of these points on an engine of this law, a quarter faster than in production."""
    dice, lines = np.random.default_rng(7), []
    for point in points:
        seconds = float(size_features(np.array([[point["input_tokens"], point["cached_tokens"]]]))[0] @ law) * 0.8
        for _ in range(repeats):
            taken_ms = 1e3 * seconds * dice.lognormal(0, noise)
            tokens = {name: point[name] for name in ("input_tokens", "cached_tokens")}
            timing = {"prefill_ms": taken_ms, "ttft_ms": taken_ms + 1}
            lines.append(request(len(lines), deployment=ABSENT, instance=ABSENT, **tokens, **timing))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_plan_of_a_trusted_curve_names_points_that_narrow_its_exit(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place = fleet_warehouse.place
    found = planned(capsys, place, "agent-chat")
    assert (found["outcome"], found["quantity"], found["price_ratio_from"]) == ("measure", "exit_hit_rate", "own")
    assert found["price_ratio"] == pytest.approx(0.1)
    assert (found["curve_trustworthy"], found["reasons"], found["chunk_tokens"]) == (True, [], None)
    assert found["low"] < found["value"] < found["high"]
    assert place.valleywatch("status", "--json") == 0
    shown = {row["deployment"]: row for row in json.loads(capsys.readouterr().out)}["agent-chat"]
    assert found["value"] == pytest.approx(shown["exit_hit_rate"], rel=1e-9)
    assert found["hit_rate"] == pytest.approx(shown["hit_rate"])
    widths = [found["half_width"], *(point["half_width"] for point in found["points"])]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < ENOUGH < widths[0]
    for point in found["points"]:
        assert point["miss_tokens"] == point["input_tokens"] - point["cached_tokens"] > 0
        assert found["low"] - 1e-9 <= point["low"] < point["high"] <= found["high"] + 1e-9
    curve = place.rows("select f, c, q, k from throughput_curve where deployment = 'agent-chat'")[0]
    law = tuple(curve[name] for name in "fcqk")
    first = benchmark(tmp_path / "sweep.jsonl", found["points"], law, repeats=5, noise=0.01)
    after = planned(capsys, place, "agent-chat", str(first), "--format", "canonical")
    assert (after["outcome"], after["points"], after["benchmark_points"]) == ("suffices", [], 8)
    assert after["benchmark_residual"] < 0.02
    assert after["half_width"] < ENOUGH
    assert abs(after["value"] - found["value"]) < found["half_width"]


@pytest.mark.parametrize(
    ("name", "outcome", "quantity"),
    [
        ("agent-offload", "suffices", "revenue_index"),
        ("glm-5-h200", "suffices", "exit_hit_rate"),
        ("coder-b200", "suffices", "exit_hit_rate"),
        ("chat-short", "no_valley", "revenue_index"),
    ],
)
def test_where_nothing_needs_to_be_measured_the_plan_says_so(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str], name: str, outcome: str, quantity: str
) -> None:
    place = fleet_warehouse.place
    found = planned(capsys, place, name)
    assert (found["outcome"], found["quantity"], found["points"], found["how"]) == (outcome, quantity, [], [])
    assert place.valleywatch("fit", "--plan", name) == 0
    said = capsys.readouterr().out
    assert "measure " not in said
    assert {"suffices": "nothing needs to be measured", "no_valley": "no measurement would change that"}[
        outcome
    ] in said


def test_a_price_of_ones_own_overrides_the_deployments(
    fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    found = planned(capsys, fleet_warehouse.place, "glm-5-h200", "--price-ratio", "0.9")
    assert (found["price_ratio"], found["price_ratio_from"], found["outcome"]) == (0.9, "given", "no_valley")


def few_requests(**changes: Any) -> list[dict[str, Any]]:
    """A dozen requests of several lengths: far too few for a curve."""
    return [
        request(
            n, input_tokens=2000 * (n % 4 + 1), cached_tokens=150 * n, timestamp=f"2026-11-28T10:{n:02}:00Z", **changes
        )
        for n in range(12)
    ]


def test_without_a_curve_a_benchmark_of_the_plan_gives_the_exit(
    place: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What is not trusted is planned from plausible engines; without a price the default is said aloud."""
    place.configure(SOURCE)
    place.write("a.jsonl", few_requests())
    place.settle()
    cold = planned(capsys, place, "pool")
    assert (cold["outcome"], cold["value"], cold["curve_trustworthy"]) == ("measure", None, False)
    assert "too_few" in cold["reasons"]
    assert (cold["price_ratio"], cold["price_ratio_from"]) == (0.1, "default")
    assert place.valleywatch("fit", "--plan", "pool") == 0
    said = capsys.readouterr().out
    assert "the default 0.1 stands in" in said
    assert "no curve to rely on, because there are too few requests" in said
    assert "`valleywatch fit SWEEP_FILE --plan DEPLOYMENT`" in said
    log = benchmark(tmp_path / "sweep.jsonl", cold["points"], (0.002, 6e-5, 1e-8, 1e-6), repeats=5, noise=0.005)
    warm = planned(capsys, place, "pool", str(log), "--format", "canonical")
    assert warm["value"] is not None
    assert warm["half_width"] < cold["half_width"] / 5
    assert place.valleywatch("fit", str(log), "--format", "canonical", "--plan", "pool") == 0
    assert "benchmark of 8 points, off by 0." in capsys.readouterr().out


def test_hostile_names_are_planned_and_shown_inert(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    name = "a\x1b[31m' or 1=1; --\u202e"
    place.write("a.jsonl", few_requests(deployment=name))
    place.settle()
    assert place.valleywatch("fit", "--plan", name) == 0
    said = capsys.readouterr().out
    assert said.startswith("a\\x1b[31m' or 1=1; --\\u202e at hit rate ")
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pol", "no deployment 'pol' has traffic in the published snapshot (did you mean 'pool'?)"),
        ("\x1b[2J", "no deployment '\\x1b[2J' has traffic in the published snapshot; it knows pool, silent"),
        ("", "no deployment '' has traffic in the published snapshot; it knows pool, silent"),
        ("silent", "--plan silent: no request of its last 24 hours of traffic reports cached tokens"),
    ],
)
def test_a_deployment_that_cannot_be_planned_for_is_a_message(
    place: Place, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    place.write("a.jsonl", [request(1), request(2, deployment="silent", cached_tokens=ABSENT)])
    place.settle()
    assert place.valleywatch("fit", "--plan", name) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"valleywatch: {said}" in printed.err
    assert "\x1b" not in printed.err


def test_the_plan_of_nothing_and_a_log_of_traffic_are_refused(
    place: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert place.valleywatch("fit", "--plan", "pool") == 2
    assert "run `valleywatch run` first" in capsys.readouterr().err
    place.write("a.jsonl", [request(1)])
    place.settle()
    traffic = tmp_path / "traffic.jsonl"
    traffic.write_text("".join(json.dumps(request(n, input_tokens=1000 + n)) + "\n" for n in range(201)))
    assert place.valleywatch("fit", str(traffic), "--format", "canonical", "--plan", "pool") == 2
    assert "201 different prompt sizes" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        place.valleywatch("fit")
    assert "name a SWEEP_FILE or a DEPLOYMENT, or a deployment with --plan" in capsys.readouterr().err
