"""The profit and loss of an hour against sums request by request, and what is said where something is not known."""

from __future__ import annotations

from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.goodput import Objective
from models.service_time import ServiceTime
from tests.models.simulate import service_s
from tests.place import SOURCE, Place, request
from tests.profit.conftest import COSTS, OBJECTIVES, PRICES, at, judged, lines_of, mark_changes, prices_of, taken_in
from tests.profit.gate_by_hand import revenue_in_time

HOURS = range(3)
MONEY = ("miss_revenue", "cached_revenue", "output_revenue", "cache_write_revenue")
COUNTS = ("cached_tokens", "output_tokens", "cache_write_tokens")


def hour_of(place: Place, hour: int) -> dict[str, Any]:
    return place.rows(f"select * from profit_and_loss where hour(hour_utc) = {hour}")[0]


def sold(line: dict[str, Any]) -> dict[str, float]:
    """What a line is known to have been sold for."""
    miss, cached, output, written = prices_of(line)
    known = {
        "miss_revenue": line["cached_tokens"] is not None and miss * (line["input_tokens"] - line["cached_tokens"]),
        "cached_revenue": line["cached_tokens"] is not None and cached * line["cached_tokens"],
        "output_revenue": line["output_tokens"] is not None and output * line["output_tokens"],
        "cache_write_revenue": line["cache_write_tokens"] is not None and written * line["cache_write_tokens"],
    }
    return {name: float(value) for name, value in known.items()}


@pytest.mark.parametrize("hour", HOURS)
def test_revenue_is_the_sum_over_requests_at_their_own_prices(settled: Place, hour: int) -> None:
    found, lines = hour_of(settled, hour), lines_of(hour)
    for name in MONEY:
        assert found[name] == pytest.approx(fsum(sold(line)[name] for line in lines), rel=1e-12)
    assert found["gross_revenue"] == pytest.approx(fsum(found[name] for name in MONEY), rel=1e-12)
    assert found["discount_given"] == pytest.approx(
        fsum((prices_of(line)[0] - prices_of(line)[1]) * (line["cached_tokens"] or 0) for line in lines), rel=1e-12
    )
    assert found["n_requests"] == len(lines)
    assert found["n_unknown"] == sum(any(line[name] is None for name in COUNTS) for line in lines)


def test_the_middle_hour_alone_reports_everything(settled: Place) -> None:
    unknown = [hour_of(settled, hour)["n_unknown"] for hour in HOURS]
    assert unknown[1] == 0
    assert min(unknown[0], unknown[2]) > 0


@pytest.mark.parametrize("hour", HOURS)
def test_answers_in_time_are_those_sorted_by_hand(settled: Place, hour: int) -> None:
    found, lines = hour_of(settled, hour), lines_of(hour)

    def column(name: str, unit: float = 1.0) -> np.ndarray:
        return np.array([np.nan if line[name] is None else line[name] * unit for line in lines])

    in_time, late, unknown = revenue_in_time(
        np.array([fsum(sold(line).values()) for line in lines]),
        Objective(ttft_s=1.5, tpot_s=0.02),
        ttft_s=column("ttft_ms", 1e-3),
        e2e_s=column("e2e_ms", 1e-3),
        output_tokens=column("output_tokens"),
    )
    assert found["in_time_revenue"] == pytest.approx(in_time, rel=1e-12)
    assert found["late_revenue"] == pytest.approx(late, rel=1e-12)
    assert found["unknown_time_revenue"] == pytest.approx(unknown, rel=1e-12, abs=1e-15)
    assert found["n_in_time"] + found["n_late"] + found["n_unknown_time"] == len(lines)
    assert (found["n_unknown_time"] > 0) is (unknown > 0) is (hour != 1)


@pytest.mark.parametrize("hour", HOURS)
def test_what_the_cache_saved_and_earned_follows_from_the_curve(settled: Place, hour: int) -> None:
    found, (row,) = hour_of(settled, hour), settled.rows("select f, c, q, k from throughput_curve")
    (status,) = settled.rows(f"select * from valley_status where hour(hour_utc) = {hour}")
    lines, law = lines_of(hour, lambda line: line["cached_tokens"] is not None), ServiceTime(**row)
    saved = fsum(
        service_s(law, line["input_tokens"], 0)
        - service_s(law, line["input_tokens"] - line["cached_tokens"], line["cached_tokens"])
        for line in lines
    )
    assert found["saved_busy_s"] == pytest.approx(saved, rel=1e-9)
    assert found["cache_value"] == -status["lost_per_hour"]
    earned = found["miss_revenue"] + found["cached_revenue"]
    for bound in ("low", "high"):
        assert found[f"cache_value_{bound}"] == pytest.approx(earned * (1 - 1 / status[f"index_{bound}"]), rel=1e-9)
    assert found["cache_value_low"] < found["cache_value"] < found["cache_value_high"]


@pytest.mark.parametrize(("cost", "is_loss"), [(0.5, [False, False, False]), (900.0, [None, True, None])])
def test_a_loss_is_said_where_nothing_unknown_could_turn_it(copied: Place, cost: float, is_loss: list[Any]) -> None:
    """Outputs that the outer hours do not report could have been of any length."""
    found = judged(copied, SOURCE + PRICES + COSTS.replace("2.0", str(cost)))
    assert [row["is_loss"] for row in found] == is_loss
    for row in found:
        assert row["margin"] == pytest.approx(row["gross_revenue"] - cost, rel=1e-12)


HALF = {"input_tokens": 1_000_000, "cached_tokens": None, "output_tokens": 0}
PLAIN = """
[[prices]]
deployment = "pool"
effective_from = 2026-01-01
input_per_mtok = 1.0
cached_per_mtok = 0.1
output_per_mtok = 4.0
"""
WITHOUT_OUTPUT = PLAIN.replace("output_per_mtok = 4.0", "")


@pytest.mark.parametrize(("cost", "is_loss"), [(0.5, False), (1.2, None), (2.2, True)])
def test_a_prompt_of_unknown_hits_is_sold_for_at_most_its_full_price(
    place: Place, cost: float, is_loss: bool | None
) -> None:
    place.write("a.jsonl", [request(1, **HALF), request(2, **HALF | {"cached_tokens": 0})])
    place.configure(SOURCE + PLAIN + COSTS.replace("2.0", str(cost)))
    place.settle()
    (found,) = place.rows("select * from profit_and_loss")
    assert (found["gross_revenue"], found["unknown_revenue_at_most"], found["n_unknown"]) == (1.0, 1.0, 1)
    assert found["is_loss"] is is_loss


@pytest.mark.parametrize(
    ("config", "line", "reasons", "known"),
    [
        pytest.param(PLAIN, {}, "no_cost", {"gross_revenue"}, id="no costs at all"),
        pytest.param(COSTS, {}, "no_price", {"cost"}, id="no price"),
        pytest.param(
            WITHOUT_OUTPUT + COSTS, {}, "no_output_price", {"cost"}, id="output has no price"
        ),
        pytest.param(
            WITHOUT_OUTPUT + COSTS, {"output_tokens": 0}, "", {"cost", "gross_revenue", "margin"}, id="none to price",
        ),
        pytest.param(
            PLAIN + COSTS + 'currency = "EUR"', {}, "cost_in_other_currency", {"cost", "gross_revenue"}, id="currencies"
        ),
        pytest.param(PLAIN + COSTS, {"instance": None}, "instances_not_known", {"gross_revenue"}, id="no instances"),
        pytest.param(
            PLAIN + COSTS + "instances = 3", {"instance": None}, "", {"cost", "gross_revenue", "margin"},
            id="instances configured",
        ),
        pytest.param(
            PLAIN + COSTS, {"cached_tokens": None, "output_tokens": None}, "sales_not_reported", {"cost"},
            id="nothing reported",
        ),
        pytest.param(PLAIN + COSTS, {"status": 500}, "", {"cost", "gross_revenue", "margin"}, id="all failed"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_null_with_its_reason(
    place: Place, config: str, line: dict[str, Any], reasons: str, known: set[str]
) -> None:
    place.write("a.jsonl", [request(1, **line)])
    place.configure(SOURCE + config)
    place.settle()
    (found,) = place.rows("select * from profit_and_loss")
    assert found["reasons"] == reasons
    for name in ("cost", "gross_revenue", "margin"):
        assert (found[name] is not None) is (name in known), name
    assert (found["n_in_time"], found["in_time_revenue"]) == (None, None)


def test_an_hour_of_failures_earns_nothing_and_costs_all_the_same(place: Place) -> None:
    place.write("a.jsonl", [request(1, status=500)])
    place.configure(SOURCE + PLAIN + COSTS)
    place.settle()
    (found,) = place.rows("select gross_revenue, margin, is_loss from profit_and_loss")
    assert list(found.values()) == [0.0, -2.0, True]


def tables(place: Place) -> list[list[dict[str, Any]]]:
    return [place.rows(f"select * from {view} order by all") for view in ("profit_and_loss", "profit_breakdown")]


def test_late_lines_and_reruns_leave_what_one_run_leaves(place: Place, tmp_path: Path) -> None:
    config, lines = SOURCE + PRICES + COSTS + OBJECTIVES, [line for hour in HOURS for line in lines_of(hour)]
    once = Place(tmp_path / "once", config)
    once.write("a.jsonl", lines)
    taken_in(once)
    place.configure(config)
    place.write("b.jsonl", lines[1::2])
    taken_in(place)
    place.write("c.jsonl", lines[::2])
    taken_in(place)
    expected = tables(once)
    assert tables(place) == expected
    judged(place, place.config.read_text())
    assert tables(place) == expected


def test_changed_costs_and_objectives_judge_again(copied: Place) -> None:
    before = hour_of(copied, 1)
    mark_changes(copied)
    copied.configure(SOURCE + PRICES + COSTS.replace("2.0", "3.0") + OBJECTIVES.replace("1.5", "0.5"))
    mark_changes(copied)
    copied.settle()
    after = hour_of(copied, 1)
    assert after["margin"] == pytest.approx(before["margin"] - 1.0, rel=1e-12)
    assert after["n_late"] > before["n_late"]


def test_a_busy_second_pays_for_thrashing_unless_answers_have_to_be_in_time(place: Place) -> None:
    """SemiAnalysisAI/InferenceX#2268: 16 clients at 39 % hits wait 14 s for a first token, 8 at 97 % wait 0.4 s.

    At a price ratio of 0.10 the first sold 2,220 and the second 1,601 full-price tokens a second.
    """
    cases = (("thrashing", 2220.0, 0.39, 14.0), ("cached", 1601.0, 0.97, 0.4))
    for name, sold_per_s, hit_rate, ttft_s in cases:
        length = 5000
        service = length * (1 - 0.9 * hit_rate) / sold_per_s
        lines = [
            request(
                f"{name}-{number}", deployment=name, instance=name, timestamp=at(1 + number * service / 60),
                ttft_ms=ttft_s * 1e3, input_tokens=length, cached_tokens=round(length * hit_rate), output_tokens=0,
            )
            for number in range(int(1200 / service))
        ]  # fmt: skip
        place.write(f"{name}.jsonl", lines)
    objective = '[[objectives]]\ndeployment = "*"\nttft_s = 2.0\n'
    place.configure(SOURCE + PLAIN.replace('"pool"', '"*"') + objective)
    place.settle()
    found = {row["deployment"]: row for row in place.rows("select * from profit_and_loss")}
    for name, sold_per_s, _, _ in cases:
        assert found[name]["revenue_per_busy_hour"] == pytest.approx(sold_per_s * 3600 / 1e6, rel=0.02)
    ungated = [found[name]["revenue_per_busy_hour"] for name in ("thrashing", "cached")]
    gated = [found[name]["in_time_revenue_per_busy_hour"] for name in ("thrashing", "cached")]
    assert ungated[0] > 1.35 * ungated[1]
    assert gated == [0.0, ungated[1]]
