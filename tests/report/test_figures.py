"""Figures are valid, drawable and true to their input, whatever a deployment is called; of nothing there is none."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree as ET

import altair
import pytest

from models import valley
from pipelines import report_figures as figures
from pipelines.report.embedded import compact, embedded
from pipelines.report_figures.distribution import percentile_bin
from pipelines.report_figures.heat import N_ROWS, row_of
from pipelines.report_figures.png import SIGNATURE, packed
from pipelines.report_figures.theme import THEMES, TOKENS
from pipelines.report_figures.throughput import MOST_POINTS
from pipelines.report_input import (
    CurveView,
    DeploymentReport,
    EpisodeView,
    HeatCell,
    HourRow,
    LeverView,
    WaterfallView,
)
from pipelines.verdict import Verdict

from .conftest import MIDNIGHT, A, R

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "a.b[0]['c']\\d",
    "datum.row); throw 1; //",
    "\x1b[2J\u202e\u2028",
    "{{7*7}}${8*8}",
)


@pytest.fixture
def full(in_valley: DeploymentReport) -> DeploymentReport:
    """A deployment of which there is something to draw in every figure."""
    parts = (("price", 0.0), ("volume", 1.25), ("hit_rate", -6.5), ("residual", 0.25))
    return replace(
        in_valley,
        day_bins=in_valley.heat,
        episodes=(
            EpisodeView(
                entered_at=MIDNIGHT,
                left_at=MIDNIGHT + timedelta(hours=3),
                peak_depth=0.06,
                lost_total=9.5,
                currency="USD",
            ),
            EpisodeView(
                entered_at=MIDNIGHT + timedelta(hours=9), left_at=None, peak_depth=0.2, lost_total=None, currency=None
            ),
        ),
        levers=(
            LeverView(words="raise the hit rate to 90 %", gain=120.0, gain_low=100.0, gain_high=131.0, currency="USD"),
            LeverView(words="cut the fixed cost", gain=8.0, gain_low=None, gain_high=None, currency="USD"),
        ),
        waterfall=WaterfallView(
            before=91.0, after=86.0, parts=parts, currency="USD", before_name="2026-03-03", after_name="2026-03-04"
        ),
    )


def drawn(spec: figures.Spec, kind: figures.Format = "svg") -> bytes:
    return figures.picture(spec, kind)


def texts(spec: figures.Spec) -> list[str]:
    svg = ET.fromstring(drawn(spec))
    return [element.text or "" for element in svg.iter("{http://www.w3.org/2000/svg}text")]


def skeleton(value: Any) -> Any:
    """A specification without what comes from data: what may hold code."""
    return {key: part for key, part in value.items() if key not in ("datasets", "description", "usermeta", "params")}


@pytest.mark.parametrize("name", figures.FIGURES)
def test_each_figure_is_valid_is_described_and_can_be_drawn(name: str, full: DeploymentReport) -> None:
    spec = figures.FIGURES[name](full)
    assert spec is not None
    altair.Chart.from_dict(spec, validate=True)
    assert len(spec["description"]) > 30
    assert spec["usermeta"]["title"]
    assert spec["width"] == "container"
    ET.fromstring(drawn(spec))
    assert any(texts(spec))
    assert spec == figures.FIGURES[name](full)
    json.dumps(spec, allow_nan=False)


def test_pictures_are_the_same_bytes_each_time_and_png_is_png(full: DeploymentReport) -> None:
    spec = figures.FIGURES["levers"](full)
    assert spec is not None
    image = drawn(spec, "png")
    assert image.startswith(SIGNATURE)
    assert 5_000 < len(image) < 100_000
    assert image == drawn(spec, "png") == packed(image)
    assert drawn(spec) == drawn(spec)
    with pytest.raises(ValueError, match="not a PNG"):
        packed(drawn(spec))


def test_a_theme_changes_colours_and_nothing_else(full: DeploymentReport) -> None:
    spec = figures.FIGURES["bathtub"](full)
    assert spec is not None
    light, dark = (figures.picture(spec, "svg", look=look).decode() for look in THEMES)
    assert TOKENS["light"].main in light
    assert TOKENS["dark"].main not in light
    for token, colour in figures.tokens("light").items():
        dark = dark.replace(figures.tokens("dark")[token], colour)
    assert dark == light
    assert not [colour for look in THEMES for colour in figures.tokens(look).values() if colour in json.dumps(spec)]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_logs_say_is_data_and_text_never_part_of_the_form(text: str, full: DeploymentReport) -> None:
    assert full.waterfall is not None
    hostile = replace(
        full,
        name=text,
        verdict=replace(full.verdict, currency=None),
        levers=tuple(replace(lever, words=text) for lever in full.levers),
        waterfall=replace(full.waterfall, before_name=text),
    )
    calm_ones = figures.figures_of(replace(full, verdict=hostile.verdict))
    hostile_ones = figures.figures_of(hostile)
    for name, spec in hostile_ones.items():
        calm = calm_ones[name]
        assert skeleton(spec) == skeleton(calm)
        svg = ET.fromstring(figures.picture(spec, "svg", of=text))
        assert not [
            e for e in svg.iter() if e.tag.rpartition("}")[2] in ("script", "image", "a", "foreignObject", "style")
        ]
        assert not [key for e in svg.iter() for key in e.attrib if key.startswith("on") or "href" in key]


def test_a_currency_is_a_title_and_no_more(full: DeploymentReport) -> None:
    spec = figures.revenue(full.curve, replace(full.verdict, currency="<b>.[x]"))
    assert spec is not None
    assert "revenue per busy hour, <b>.[x]" in texts(spec)


def test_the_heat_map_counts_what_it_was_given_by_hour_and_row(in_valley: DeploymentReport) -> None:
    cells = [replace(cell, input_tokens=100 * cell.n_requests) for cell in in_valley.heat]
    spec = figures.hit_rates_by_hour(cells, weight="tokens")
    assert spec is not None
    rows = spec["datasets"]["cells"]
    assert sum(row["requests"] for row in rows) == sum(cell.n_requests for cell in cells)
    assert all(row["tokens"] == 100 * row["requests"] for row in rows)
    assert len({row["hour"] for row in rows}) == 24
    assert {param["name"]: param["value"] for param in spec["params"]} == {"weight": "tokens"}


def test_the_heat_map_is_of_a_month_at_most_and_small() -> None:
    cells = [
        HeatCell(MIDNIGHT + timedelta(hours=hour), k / 20, k / 20 + 0.01, 1 + k, 1000)
        for hour in range(40 * 24)
        for k in range(20)
    ]
    spec = figures.hit_rates_by_hour(cells)
    assert spec is not None
    assert len({row["hour"] for row in spec["datasets"]["cells"]}) == 31 * 24
    assert len(embedded(compact({"heat": spec}))) < 500_000


@pytest.mark.parametrize(
    ("low", "high", "row"),
    [(0, 0, 0), (0, 0.01, 1), (0.05, 0.06, 2), (0.95, 0.96, 20), (0.99, 0.991, 21), (0.999, 1, 21), (1, 1, N_ROWS - 1)],
)
def test_bins_go_to_the_row_that_holds_them(low: float, high: float, row: int) -> None:
    assert row_of(low, high) == row


def test_the_distribution_says_shares_and_the_bins_of_its_percentiles(in_valley: DeploymentReport) -> None:
    spec = figures.requests_by_hit_rate(in_valley.heat)
    assert spec is not None
    everything = sum(cell.n_requests for cell in in_valley.heat)
    bars = {bar["name"]: bar for bar in spec["datasets"]["bars"]}
    assert sum(bar["n_requests"] for bar in bars.values()) == everything
    assert math.isclose(sum(bar["share"] for bar in bars.values()), 1)
    for name, edge in (("exactly 0 %", 0.0), ("exactly 100 %", 1.0)):
        assert bars[name]["n_requests"] == sum(c.n_requests for c in in_valley.heat if c.bin_low == c.bin_high == edge)
    assert [row["name"].split()[0] for row in spec["datasets"]["percentiles"]] == ["p10", "median", "p90"]


def test_a_percentile_is_in_the_bin_of_its_nearest_rank() -> None:
    bins = Counter({(0.0, 0.0): 1, (0.1, 0.11): 8, (1.0, 1.0): 1})
    assert [percentile_bin(bins, percent) for percent in (1, 10, 11, 50, 90, 91, 100)] == [
        (0.0, 0.0), (0.0, 0.0), (0.1, 0.11), (0.1, 0.11), (0.1, 0.11), (1.0, 1.0), (1.0, 1.0),
    ]  # fmt: skip


def test_throughput_draws_the_points_law_line_interval_and_tail_chunks(in_valley: DeploymentReport) -> None:
    curve = in_valley.curve
    assert curve is not None
    spec = figures.throughput(curve)
    assert spec is not None
    data = spec["datasets"]
    assert [(p["hit_rate"], p["tps_miss"], p["n_requests"]) for p in data["points"]] == list(curve.points)
    assert [(p["hit_rate"], p["tps_miss"]) for p in data["law"]] == list(curve.law)
    assert [(p["hit_rate"], p["tps_miss"]) for p in data["line"]] == list(curve.line)
    assert [(p["hit_rate"], p["low"], p["high"]) for p in data["band"]] == list(curve.band)
    assert [p["hit_rate"] for p in data["singular"]] == [0.25, 0.5, 0.75]
    assert {"law", "straight line"} <= set(texts(spec))


def test_a_curve_that_is_not_trusted_is_dashed_and_nothing_is_derived_from_it(untrusted: DeploymentReport) -> None:
    spec = figures.throughput(untrusted.curve)
    assert spec is not None
    assert spec["datasets"]["doubtful"]
    assert not spec["datasets"]["law"] + spec["datasets"]["band"] + spec["datasets"]["names"]
    assert "not trustworthy" in spec["description"]
    assert set(figures.figures_of(untrusted)) == {"throughput"}


def test_points_are_bounded_and_keep_their_range() -> None:
    points = tuple((k / 10_000, 1000.0 + k, 1 + k % 7) for k in range(9_999))
    spec = figures.throughput(CurveView(trustworthy=True, points=points))
    assert spec is not None
    kept = [point["hit_rate"] for point in spec["datasets"]["points"]]
    assert 0.9 * MOST_POINTS < len(kept) <= MOST_POINTS
    assert kept[0] == 0
    assert kept[-1] > 0.999


def test_hit_throughput_is_the_hyperbola_of_the_law(in_valley: DeploymentReport) -> None:
    spec = figures.hit_throughput(in_valley.curve)
    assert spec is not None
    assert in_valley.curve is not None
    expected = [x / (1 - x) * tps for x, tps in in_valley.curve.law]
    assert [row["tps_hit"] for row in spec["datasets"]["law"]] == pytest.approx(expected)


def test_revenue_adds_up_and_on_the_straight_line_is_the_closed_form(in_valley: DeploymentReport) -> None:
    curve, verdict = in_valley.curve, in_valley.verdict
    assert curve is not None
    spec = figures.revenue(replace(curve, law=curve.line), verdict)
    assert spec is not None
    parts = spec["datasets"]["parts"]
    assert all(math.isclose(row["miss"] + row["hit"], row["total"]) for row in parts)
    assert parts[0]["total"] == pytest.approx(20_000 * 1.4 * 3600 / 1e6)
    for row in parts:
        assert row["total"] / parts[0]["total"] == pytest.approx(float(valley.revenue_index(row["hit_rate"], A, R)))


def test_revenue_at_several_prices_is_relative_and_without_prices_there_is_none(in_valley: DeploymentReport) -> None:
    several = replace(in_valley.verdict, input_per_mtok=None, cached_per_mtok=None)
    spec = figures.revenue(in_valley.curve, several)
    assert spec is not None
    assert spec["datasets"]["parts"][0]["total"] == pytest.approx(1)
    assert figures.revenue(in_valley.curve, replace(several, price_ratio=None)) is None


def test_the_bathtub_shows_three_zones_the_closed_form_and_the_path(in_valley: DeploymentReport) -> None:
    spec = figures.FIGURES["bathtub"](in_valley)
    assert spec is not None
    data = spec["datasets"]
    assert [data[name] for name in ("falling", "rising", "past")] == [
        [{"start": 0.0, "stop": 0.684}],
        [{"start": 0.684, "stop": 0.9}],
        [{"start": 0.9, "stop": 1.0}],
    ]
    floor = min(data["closed"], key=lambda row: row["index"])
    assert floor["hit_rate"] == pytest.approx(valley.floor_hit_rate(A, R), abs=0.005)
    assert floor["index"] == pytest.approx(valley.floor_index(A, R), abs=1e-4)
    assert [(row["hit_rate"], row["index"]) for row in data["path"]] == [
        (hour.hit_rate, hour.revenue_index) for hour in in_valley.hours
    ]
    assert {"now 0.780", "floor 68.4 %", "exit 90.0 %", "closed form"} <= set(texts(spec))


def test_a_valley_without_an_exit_is_said(in_valley: DeploymentReport) -> None:
    verdict = replace(in_valley.verdict, exit_hit_rate=None)
    spec = figures.bathtub(in_valley.bathtub, verdict)
    assert spec is not None
    assert "no exit" in spec["usermeta"]["caption"]
    assert spec["datasets"]["past"] == []
    no_valley = figures.bathtub(in_valley.bathtub, Verdict(state="no_valley"))
    assert no_valley is not None
    assert "no exit" not in no_valley["usermeta"]["caption"]


def test_the_waterfall_goes_from_before_to_after(full: DeploymentReport) -> None:
    spec = figures.waterfall(full.waterfall)
    assert spec is not None
    steps = spec["datasets"]["steps"]
    assert (steps[0]["start"], steps[-1]["stop"]) == (91.0, 86.0)
    assert [row["kind"] for row in steps] == ["gain", "gain", "loss", "gain"]
    assert {"2026-03-03", "2026-03-04", "hit rate", "−6.50 USD", "+1.25 USD"} <= set(texts(spec))
    assert full.waterfall is not None
    assert figures.waterfall(replace(full.waterfall, after=math.nan)) is None


def test_episodes_are_cut_to_the_span_and_an_open_one_reaches_its_end(full: DeploymentReport) -> None:
    first, last = MIDNIGHT + timedelta(hours=1), MIDNIGHT + timedelta(hours=12)
    spec = figures.episodes(full.episodes, first=first, last=last)
    assert spec is not None
    hours = [((bar["stop"] - bar["start"]) / 3_600_000, bar["is_open"]) for bar in spec["datasets"]["bars"]]
    assert hours == [(2, False), (3, True)]
    assert "cost not known" in spec["description"]
    assert figures.episodes(full.episodes[:1], first=last, last=last + timedelta(hours=1)) is None


def test_levers_are_drawn_with_their_intervals(full: DeploymentReport) -> None:
    spec = figures.levers(full.levers)
    assert spec is not None
    assert spec["datasets"]["whiskers"] == [{"lever": 0, "low": 100.0, "high": 131.0}]
    assert {"120.00 USD", "raise the hit rate to 90 %"} <= set(texts(spec))


def test_a_sparkline_breaks_where_hours_are_missing() -> None:
    hours = [HourRow(hour_utc=MIDNIGHT + timedelta(hours=h), hit_rate=0.5 + h / 100) for h in (0, 1, 2, 5, 6)]
    spec = figures.sparkline([*hours, HourRow(hour_utc=MIDNIGHT + timedelta(hours=9))])
    assert spec is not None
    altair.Chart.from_dict(spec, validate=True)
    assert [row["run"] for row in spec["datasets"]["hours"]] == [0, 0, 0, 1, 1]
    assert spec["datasets"]["last"][0]["hit_rate"] == 0.56
    ET.fromstring(drawn(spec))


def test_the_script_is_one_function_and_fits_a_page() -> None:
    script = figures.script()
    assert "window.valleywatchDraw" in script
    assert "</script" not in script.lower()
    assert len(script) < 1_000_000
    assert script is figures.script()


def test_nothing_known_is_no_figure() -> None:
    nothing = DeploymentReport(name="new", verdict=Verdict())
    assert figures.figures_of(nothing) == {}
    assert figures.sparkline([]) is None
    hollow = replace(
        nothing,
        hours=(HourRow(hour_utc=MIDNIGHT),),
        heat=(HeatCell(MIDNIGHT, 0.1, 0.11, 0),),
        curve=CurveView(trustworthy=True, points=((math.nan, 1.0, 1),), law=((0.5, math.inf),)),
    )
    assert figures.figures_of(hollow) == {}
