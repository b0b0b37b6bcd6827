"""The page's own arithmetic is that of `models`, and its sliders show it."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from models import valley
from models.bathtub import move_to_hit_rate, valley_of_mix
from models.operating_point import OperatingPoint, gain
from models.service_time import ServiceTime, TrafficMoments, revenue_index
from models.what_if import Change, what_if
from pipelines.report.pages import page_of
from tests.conftest import FleetWarehouse
from tests.report.browser import needs_chromium, opened_browser, visited

pytestmark = needs_chromium
N_CASES = 400
CLOSE = {"rel": 1e-9, "abs": 1e-9}
_ALL = """cases => cases.map(({x, a, r, law, moments, traffic, f}) => {
  const model = valleywatchModel, moved = model.moveToHitRate(moments, x), other = {...law, f};
  return {
    lineIndex: model.revenueIndex(x, a, r), lineValley: model.lineValley(a, r), lineSide: model.lineSide(x, a, r),
    mixIndex: model.mixIndex(law, moved, r), mixValley: model.mixValley(law, moments, r),
    mixSide: model.mixSide(law, moved, r), mixGain: model.mixGain(traffic, {r, x, f}),
    lineGain: model.lineGain(traffic, {r, x, a}),
    moved,
  };
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def glm(fleet_warehouse: FleetWarehouse) -> Path:
    return fleet_warehouse.place.warehouse.folder / "report" / page_of("glm-5-h200")


def cases() -> list[tuple[float, float, float, float, OperatingPoint]]:
    """Random (x, a, r, f) with a traffic and a law each: with and without attention, loading, fixed cost and hits."""
    draw = np.random.default_rng(20261130)
    found = []
    for number in range(N_CASES):
        length = draw.integers(100, 100_000, size=30).astype(float)
        hit = draw.beta(*draw.uniform(0.3, 3, size=2), size=30)
        cached = np.floor(length * hit)
        miss = length - cached
        moments = TrafficMoments(
            30.0, length.sum(), cached.sum(), miss.sum(), (miss * cached).sum(), (miss**2).sum(), (length**2).sum()
        )
        on = draw.random(3) < 0.7
        law = ServiceTime(0.02 * draw.random() * on[0], 1e-6 + 4e-5 * draw.random(), 1e-9 * draw.random() * on[1],
                          2e-5 * draw.random() * on[2])  # fmt: skip
        r = (0.0, 1.0, 0.25, 0.1)[number % 4] if number < 40 else float(draw.random())
        point = OperatingPoint(law, np.empty((0, 4)), moments, float(draw.random()), 1.4)
        a = float(draw.uniform(0.001, 0.99))
        found.append((float(draw.uniform(0, 0.999)), a, r, 0.02 * float(draw.random()), point))
    return found


def test_the_pages_formulas_are_those_of_the_models(browser: Browser, glm: Path) -> None:
    given = cases()
    with visited(browser, glm) as visit:
        answers = visit.page.evaluate(_ALL, [
            {
                "x": x, "a": a, "r": r, "f": f, "law": asdict(point.law), "moments": asdict(point.moments),
                "traffic": {name: asdict(getattr(point, name)) for name in ("law", "moments")}
                | {name: getattr(point, name) for name in ("price_ratio", "input_per_mtok")},
            }
            for x, a, r, f, point in given
        ])  # fmt: skip
    kinds = set()
    for (x, a, r, f, point), said in zip(given, answers, strict=True):
        law, moments = point.law, point.moments
        moved = move_to_hit_rate(moments, x)
        assert said["moved"] == pytest.approx(asdict(moved), rel=1e-9, abs=1e-3)
        assert said["lineIndex"] == pytest.approx(float(valley.revenue_index(x, a, r)), **CLOSE)
        assert_valley(said["lineValley"], valley.locate_valley(a, r))
        assert said["mixIndex"] == pytest.approx(revenue_index(law, moved, r), **CLOSE)
        assert_valley(said["mixValley"], valley_of_mix(law, moments, r))
        on_line, earned_on_line = what_if(point, Change(price_ratio=r, slope=a, hit_rate=x))
        assert said["lineSide"] == on_line.side
        assert said["lineGain"] == pytest.approx(earned_on_line.value, **CLOSE)
        there, _ = what_if(point, Change(price_ratio=r, hit_rate=x))
        assert said["mixSide"] == there.side
        both = Change(price_ratio=r, hit_rate=x, fixed_cost=f)
        assert said["mixGain"] == pytest.approx(what_if(point, both)[1].value, **CLOSE)
        kinds.add((said["mixSide"], said["mixValley"] is None, said["lineValley"] is None))
    assert len(kinds) >= 6


def assert_valley(said: dict[str, float | None] | None, expected: valley.Valley | None) -> None:
    if expected is None:
        assert said is None
        return
    assert said is not None
    assert said["floorHitRate"] == pytest.approx(expected.floor_hit_rate, **CLOSE)
    assert said["floorDepth"] == pytest.approx(expected.floor_depth, **CLOSE)
    if expected.exit_hit_rate is None:
        assert said["exitHitRate"] is None
    else:
        assert said["exitHitRate"] == pytest.approx(expected.exit_hit_rate, **CLOSE)


def test_gain_of_nothing_is_nothing(browser: Browser, glm: Path) -> None:
    with visited(browser, glm) as visit:
        assert value(visit.page, "mix-gain") == pytest.approx(0, abs=1e-9)
    point = cases()[50][-1]
    assert gain(point, point).value == 0


@pytest.mark.parametrize(("r", "exit_hit_rate", "said"), [(0.25, 0.7, "70.0 %"), (0.1, 0.9, "90.0 %")])
def test_the_articles_exits(browser: Browser, glm: Path, r: float, exit_hit_rate: float, said: str) -> None:
    with visited(browser, glm) as visit:
        page = visit.page
        page.get_by_label("Slope a of the line", exact=True).fill(repr(10 / 19))
        page.get_by_label("Price ratio r, cached to miss", exact=True).fill(repr(r))
        expect(page.locator("#line-exit")).to_have_text(said)
        assert value(page, "line-exit") == pytest.approx(exit_hit_rate, abs=1e-12)


def test_slide_and_field_follow_each_other_and_the_traffic_follows_both(browser: Browser, glm: Path) -> None:
    with visited(browser, glm) as visit:
        page = visit.page
        field, slide = page.locator("#price-ratio"), page.locator("#price-ratio-slider")
        before = {answer: value(page, answer) for answer in ("line-index", "mix-index", "mix-gain")}
        slide.focus()
        slide.press("ArrowRight")
        expect(field).to_have_value("0.105")
        assert all(value(page, answer) > was for answer, was in before.items())
        field.fill("0.5")
        assert slide.input_value() == "0.5"
        page.locator("#fixed-cost").fill("0.05")
        costly = value(page, "mix-gain")
        page.locator("#fixed-cost").fill("0")
        assert value(page, "mix-gain") > costly
        page.get_by_role("button", name="As it is").click()
        assert {answer: value(page, answer) for answer in before} == pytest.approx(before)


@pytest.mark.parametrize("wrong", ["1.5", "-0.1", ""])
def test_a_number_outside_its_range_is_marked_and_changes_nothing(browser: Browser, glm: Path, wrong: str) -> None:
    with visited(browser, glm) as visit:
        before = value(visit.page, "line-index")
        field = visit.page.locator("#price-ratio")
        field.fill(wrong)
        expect(field).to_have_attribute("aria-invalid", "true")
        assert value(visit.page, "line-index") == before


def value(page: Page, answer: str) -> float:
    return float(page.locator(f"#{answer}").get_attribute("data-value") or "nan")
