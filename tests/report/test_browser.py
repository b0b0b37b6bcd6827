"""A real browser opens the published pages: they draw, answer, hand out figures, and its console stays empty."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from pipelines.display import shown
from pipelines.report.pages import page_of
from pipelines.report_input import DeploymentReport, LeverView, Report, WhatIfView
from tests.conftest import FleetWarehouse
from tests.report.browser import needs_chromium, opened_browser, visited
from tests.report.publishing import write_pages
from tests.report.test_hostile_names import HOSTILE

pytestmark = needs_chromium
GLM = page_of("glm-5-h200")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(fleet_warehouse: FleetWarehouse) -> Path:
    """The report that the demo published."""
    return fleet_warehouse.place.warehouse.folder / "report"


@pytest.mark.parametrize(
    ("name", "look"),
    [("index.html", "light"), ("index.html", "dark"), (GLM, "light"), (GLM, "dark"), (page_of("agent-chat"), "light")],
)
def test_pages_draw_everything_without_a_word_and_without_a_fault(
    browser: Browser, folder: Path, name: str, look: str
) -> None:
    """Console, requests and the accessibility rules, in one visit: drawing is what takes time."""
    with visited(browser, folder / name, look=look) as visit:
        visit.drawn()
        assert visit.said == []
        assert visit.page.locator("[data-plot] svg").count() == visit.page.locator("[data-plot]").count() > 4
        found = Axe().run(visit.page).response["violations"]
        serious = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]
        assert serious == []


def test_the_console_is_heard(browser: Browser, tmp_path: Path) -> None:
    """The guard of the test above: a refused script does leave a word."""
    page = tmp_path / "page.html"
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    page.write_text(f"<!doctype html>{policy}<script>1</script>")
    with visited(browser, page) as visit:
        assert any("Content Security Policy" in said for said in visit.said)


_CUT = "[...document.querySelectorAll('.plot')].some(p => p.querySelector('svg').clientWidth > p.clientWidth)"


@pytest.mark.parametrize("name", ["index.html", GLM])
def test_no_page_is_wider_than_its_window(browser: Browser, folder: Path, name: str) -> None:
    with visited(browser, folder / name, width=390) as visit:
        page = visit.drawn().page
        for width in (390, 1024, 1920):
            page.set_viewport_size({"width": width, "height": 1000})
            # Figures grow and shrink with the window; none is cut off by its place.
            look = f"const look = () => {_CUT} ? setTimeout(look, 20) : done(); look();"
            page.evaluate(f"new Promise(done => {{ {look} }})")
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_filters_leave_what_matches_and_say_how_many(browser: Browser, folder: Path) -> None:
    with visited(browser, folder / "index.html") as visit:
        page = visit.page
        rows = page.locator("#fleet tbody tr:visible")
        expect(page.locator("#filtered")).to_have_text("5 of 5 shown")
        page.get_by_label("Name contains").fill("AGENT")
        expect(rows).to_have_count(2)
        page.get_by_label("State").select_option("in the valley")
        expect(rows).to_have_count(1)
        expect(rows.first).to_contain_text("agent-offload")
        expect(page.locator("#filtered")).to_have_text("1 of 5 shown")
        page.get_by_label("Name contains").fill("no such name")
        expect(rows).to_have_count(0)


def test_columns_sort_both_ways_and_say_so(browser: Browser, folder: Path) -> None:
    with visited(browser, folder / "index.html") as visit:
        page = visit.page
        assert values(page, "lost_24h") == sorted(values(page, "lost_24h"), reverse=True)
        for column, label in (("hit_rate", "Hit rate"), ("revenue_index", "Revenue index"), ("coverage", "Reported")):
            header = page.locator("#fleet thead th").filter(has_text=label)
            for direction in ("descending", "ascending"):
                header.get_by_role("button").press("Enter")
                assert header.get_attribute("aria-sort") == direction
                assert values(page, column) == sorted(values(page, column), reverse=direction == "descending")
        assert page.locator("#fleet [aria-sort]").count() == 1
        page.get_by_role("button", name="Deployment").click()
        names = page.locator("#fleet tbody th").all_inner_texts()
        assert names == sorted(names)


def test_unknown_comes_last_in_either_direction(browser: Browser, small_report: Report, tmp_path: Path) -> None:
    with visited(browser, write_pages(small_report, tmp_path)) as visit:
        for _ in range(2):
            visit.page.get_by_role("button", name="Lost").click()
            assert visit.page.locator("#fleet tbody th").first.inner_text() == "glm-5-h200"


@pytest.mark.parametrize("name", ["qwen-3-l40s", "new-pool"])
def test_where_nothing_is_known_the_page_says_so_and_still_answers(
    browser: Browser, small_report: Report, tmp_path: Path, name: str
) -> None:
    with visited(browser, write_pages(small_report, tmp_path).with_name(page_of(name))) as visit:
        page = visit.drawn().page
        assert page.get_by_text("Not drawn: ").count() > 5
        page.get_by_label("Price ratio r, cached to miss", exact=True).fill("0.25")
        page.get_by_label("Slope a of the line", exact=True).fill("0.5263157894736842")
        expect(page.locator("#line-exit")).to_have_text("70.0 %")
        expect(page.locator("#mix-exit")).to_have_text("not known")
        expect(page.locator("#line-gain")).to_have_text("–")
        expect(page.get_by_label("Fixed cost f of a request", exact=True)).to_be_disabled()
        assert visit.said == []


def values(page: Page, column: str) -> list[float]:
    marked = page.locator(f"#fleet tbody data[data-column={column}]")
    return marked.evaluate_all("all => all.map(one => Number(one.value))")  # type: ignore[no-any-return]


def test_a_figure_is_handed_out_as_a_file(browser: Browser, folder: Path, tmp_path: Path) -> None:
    files = {}
    with visited(browser, folder / GLM, look="dark", accept_downloads=True) as visit:
        visit.drawn()
        for kind in ("png", "svg"):
            with visit.page.expect_download() as download:
                visit.page.locator("#bathtub").get_by_role("button", name=kind.upper()).click()
            assert re.fullmatch(rf"d-[0-9a-f]{{16}}-bathtub\.{kind}", download.value.suggested_filename)
            download.value.save_as(tmp_path / kind)
            files[kind] = (tmp_path / kind).read_bytes()
        assert visit.said == []
    png, svg = files["png"], files["svg"]
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.endswith(b"IEND\xaeB`\x82")
    assert len(png) > 10_000
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    assert width >= 1400
    assert height >= 600
    assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert b"The bathtub of this traffic" in svg


def test_shades_follow_what_they_are_a_share_of(browser: Browser, folder: Path) -> None:
    with visited(browser, folder / GLM) as visit:
        page = visit.drawn().page
        shades = "[...document.querySelectorAll('#hit_rates_by_hour svg path')].map(p => p.getAttribute('fill')).join()"
        by_requests = page.evaluate(shades)
        page.get_by_role("radio", name="input tokens").check()
        changed = f"const look = () => {shades} === was ? requestAnimationFrame(look) : done(true); look();"
        assert page.evaluate(f"was => new Promise(done => {{ {changed} }})", by_requests)


def test_figures_follow_the_readers_theme_and_print_on_white(browser: Browser, folder: Path) -> None:
    with visited(browser, folder / GLM) as visit:
        page = visit.drawn().page
        ground, picture = page.locator("#bathtub svg").first, page.locator("#bathtub img.paper")
        expect(ground).to_have_css("background-color", "rgb(255, 255, 255)")
        expect(picture).to_have_count(0)
        page.emulate_media(color_scheme="dark")
        expect(ground).to_have_css("background-color", "rgb(20, 24, 29)")
        picture.wait_for(state="attached")
        expect(picture).to_be_hidden()
        page.emulate_media(media="print", color_scheme="dark")
        expect(picture).to_be_visible()
        expect(ground).to_be_hidden()
        assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") > 300
        assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


def test_the_keyboard_reaches_the_content_first(browser: Browser, folder: Path) -> None:
    with visited(browser, folder / GLM) as visit:
        visit.page.keyboard.press("Tab")
        skip = visit.page.get_by_role("link", name="Skip to the content")
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("main")).to_be_focused()


def test_without_scripts_the_tables_say_it_all(browser: Browser, folder: Path) -> None:
    with visited(browser, folder / GLM, java_script_enabled=False) as visit:
        expect(visit.page.locator(".what-if")).to_be_hidden()
        expect(visit.page.locator("#hours")).to_be_visible()


CODE = "</script><script>alert(1)</script>"


def test_hostile_names_are_text_in_a_row(browser: Browser, in_valley: DeploymentReport, tmp_path: Path) -> None:
    verdict = replace(in_valley.verdict, currency=CODE, lever='"><img src=x onerror=alert(1)>')
    named = [DeploymentReport(name=name, verdict=verdict, week=in_valley.week) for name in HOSTILE.values()]
    report = Report(generated_at=in_valley.hours[0].hour_utc, deployments=tuple(named), quarantined=((CODE, 3),))
    with visited(browser, write_pages(report, tmp_path)) as visit:
        seen = set(visit.page.locator("#fleet tbody th bdi").all_text_contents())
        assert seen == {shown(name) for name in HOSTILE.values()}
        assert visit.page.locator("script").count() == 4
        assert visit.said == []


@pytest.mark.parametrize("name", [HOSTILE["title"], HOSTILE["formats"]])
def test_hostile_names_are_text_on_a_page(
    browser: Browser, in_valley: DeploymentReport, tmp_path: Path, name: str
) -> None:
    assert in_valley.curve is not None
    moments = {"n_requests": 9.0, "input_tokens": 900.0, "cached_tokens": 300.0, "miss_tokens": 600.0}
    moments |= {"sum_miss_cached": 20_000.0, "sum_miss_sq": 40_000.0, "sum_input_sq": 90_000.0}
    law = {"f": 0.01, "c": 1e-5, "q": 0.0, "k": 0.0}
    one = replace(
        in_valley,
        name=name,
        model=name,
        verdict=replace(in_valley.verdict, currency=CODE, lever=name, side=name, regime=name),
        curve=replace(in_valley.curve, estimator=name, target=CODE),
        levers=(LeverView(words=CODE, gain=3.0, gain_low=2.0, gain_high=4.0, currency=CODE),),
        what_if=WhatIfView(law=law, moments=moments, price_ratio=0.1, input_per_mtok=1.0, currency=CODE, slope=0.3),
    )
    report = Report(generated_at=in_valley.hours[0].hour_utc, deployments=(one,))
    with visited(browser, write_pages(report, tmp_path).with_name(page_of(name))) as visit:
        page = visit.drawn().page
        assert page.locator("h1 bdi").all_text_contents() == [shown(name)] * 2
        page.get_by_label("Price ratio r, cached to miss", exact=True).fill("0.9")
        expect(page.locator("#mix-gain")).to_contain_text(CODE)
        assert page.locator("script").count() == 6
        assert page.locator("img").count() == 0
        assert visit.said == []
