"""The drawings: where things land, what is left out, and that they stay small."""

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from pipelines.charts import bathtub_chart, throughput_chart
from pipelines.heat_map import heat_map, row_of, shade_of
from pipelines.report import BathtubView, CurveView, DeploymentReport, HeatCell, Verdict
from pipelines.svg import Scale, ticks

MIDNIGHT = datetime(2026, 3, 4, tzinfo=UTC)


def test_exact_zero_exact_one_and_the_last_per_cent_have_their_own_rows() -> None:
    rows = [row_of(0, 0), row_of(0, 0.01), row_of(0.04, 0.05), row_of(0.05, 0.06), row_of(0.98, 0.99)]
    assert rows == [0, 1, 1, 2, 20]
    assert [row_of(0.99, 0.991), row_of(0.999, 1.0), row_of(1.0, 1.0)] == [21, 21, 22]


def test_every_per_cent_bin_is_pooled_with_its_five() -> None:
    rows = [row_of(k / 100, (k + 1) / 100) for k in range(99)]
    assert rows == [k // 5 + 1 for k in range(99)]


@pytest.mark.parametrize(("part", "shade"), [(0.001, 1), (0.02, 1), (0.021, 2), (0.4, 5), (0.41, 6), (1.0, 7)])
def test_shades_grow_with_the_share(part: float, shade: int) -> None:
    assert shade_of(part) == shade


def test_a_heat_map_of_no_requests_is_nothing() -> None:
    assert heat_map((), chart_id="x") == ""


def test_a_long_heat_map_keeps_its_last_seven_days_and_says_so() -> None:
    cells = [
        HeatCell(MIDNIGHT + timedelta(hours=k), low / 100, (low + 1) / 100, 5)
        for k in range(2000)
        for low in range(0, 99, 3)
    ]
    drawn = heat_map(cells, chart_id="x")
    assert "Only the last 7 days are drawn." in drawn
    assert len(drawn) < 150_000


def test_drawings_are_well_formed_xml(in_valley: DeploymentReport) -> None:
    assert in_valley.curve is not None
    assert in_valley.bathtub is not None
    for drawn in (
        heat_map(in_valley.heat, chart_id="a"),
        throughput_chart(in_valley.curve, chart_id="b"),
        bathtub_chart(in_valley.bathtub, in_valley.verdict, chart_id="c"),
    ):
        ElementTree.fromstring(drawn)


def test_operating_point_stands_on_its_coordinates(in_valley: DeploymentReport) -> None:
    curve = BathtubView(((0.0, 1.0), (0.5, 0.8), (1.0, 1.1)))
    drawn = bathtub_chart(curve, Verdict(hit_rate=0.5, revenue_index=1.0), chart_id="x")
    x, y = re.search(r'class="here" d="M(\S+) (\S+)h0"', drawn).groups()  # type: ignore[union-attr]
    even = re.search(r'class="even" d="M(\S+) (\S+)L(\S+) ', drawn).groups()  # type: ignore[union-attr]
    assert float(y) == float(even[1])
    assert float(x) == pytest.approx((float(even[0]) + float(even[2])) / 2, abs=0.1)


def test_what_is_not_known_is_not_drawn() -> None:
    drawn = bathtub_chart(BathtubView(((0.0, 1.0), (1.0, 1.1))), Verdict(), chart_id="x")
    for css in ("here", "whisker", "mark", "zone"):
        assert f'class="{css}"' not in drawn


def test_points_beyond_the_frame_are_counted() -> None:
    points = (*((k / 100, 1000.0, 5) for k in range(100)), (0.5, 90_000.0, 5))
    assert "1 beyond the frame" in throughput_chart(CurveView(trustworthy=True, points=points), chart_id="x")


def test_an_untrustworthy_curve_is_dashed() -> None:
    law = ((0.0, 10.0), (1.0, 5.0))
    assert 'class="law doubtful"' in throughput_chart(CurveView(trustworthy=False, law=law), chart_id="x")


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.72, 1.11), (0, 21_600), (0, 3e-9), (0.9999, 1.0001)])
def test_ticks_are_few_round_and_inside(low: float, high: float) -> None:
    values = ticks(low, high, 5)
    assert 2 <= len(values) <= 6
    assert all(low - 1e-12 <= value <= high + 1e-12 for value in values)


def test_a_scale_maps_ends_to_ends() -> None:
    scale = Scale(0, 2, 100, 20)
    assert (scale(0), scale(1), scale(2)) == (100, 60, 20)
