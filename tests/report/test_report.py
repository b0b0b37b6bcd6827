"""The pages: honesty about what is not known, determinism, and nothing fetched."""

import json
import os
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from html import unescape
from pathlib import Path

import pytest

from pipelines.report import deployment_page, page_of, trusted_verdict
from pipelines.report.embedded import embedded
from pipelines.report.folder import FolderAside
from pipelines.report.pages import POLICY, style_sheet
from pipelines.report_input import CurveView, DeploymentReport, HeatCell, HourRow, Report
from pipelines.verdict import Verdict
from tests.report.publishing import pages_of, text_of

NOW = datetime(2026, 3, 5, 2, 30, tzinfo=UTC)


def test_same_report_gives_the_same_bytes(small_report: Report) -> None:
    assert pages_of(small_report) == pages_of(small_report)


def test_nothing_is_fetched_from_elsewhere(small_report: Report) -> None:
    assert POLICY.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:;")
    for html in pages_of(small_report).values():
        assert POLICY in unescape(html)
        assert not re.search(r"<script>|<style|\sstyle=|\son[a-z]+=", html)
        assert not re.findall(r"https?://", html.replace('"$schema":"https://vega.github.io/schema/', ""))
    assert not re.findall(r"url\(|@import|@font-face", style_sheet())


def test_every_table_has_a_caption_and_every_figure_a_name(small_report: Report) -> None:
    for html in pages_of(small_report).values():
        assert html.count("<table") == html.count("<caption")
        plots = re.findall(r'data-plot="[^"]+" role="img" aria-label="([^"]*)"', html)
        assert len(plots) == html.count("data-plot=")
        assert all(len(said) > 20 for said in plots)


def test_ids_are_unique_and_every_link_lands(small_report: Report) -> None:
    pages = pages_of(small_report)
    for html in pages.values():
        ids = re.findall(r'\bid="([^"]+)"', html)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
        for name, place in re.findall(r'href="([^"#]+\.html)(?:#([^"]+))?"', html):
            assert f'id="{place}"' in pages[name] if place else name in pages


def test_empty_report_says_so() -> None:
    html = text_of(Report(generated_at=NOW))
    assert "There is no deployment to report on" in html
    assert "0 of 0 deployments are in the valley." in html
    assert "not known" in html


def test_unknown_is_never_a_number(all_unknown: DeploymentReport) -> None:
    _, html = pages_of(Report(generated_at=NOW, deployments=(all_unknown,))).values()
    page = html[html.index("<main") : html.index('<section aria-labelledby="words"')]
    page = re.sub(r"<[^>]*>", "", re.sub(r'<div class="what-if".*?</table>', "", page, flags=re.DOTALL))
    assert not re.search(r"\d", page.replace("2026-03-04 00:00", "").replace("Its last 24 hours of traffic", ""))
    assert "Cannot tell, and no reason was recorded." in html
    assert page.count("not known") > 10


def test_not_a_number_is_not_known() -> None:
    nan, inf = float("nan"), float("inf")
    verdict = Verdict(state="in_valley", hit_rate=nan, revenue_index=inf, lost_24h=nan, floor_hit_rate=nan)
    hours = (HourRow(hour_utc=NOW, hit_rate=nan, revenue_index=nan, lost_per_hour=inf),)
    curve = CurveView(trustworthy=True, tps0=nan, points=((nan, 1.0, 3), (0.5, inf, 3)), law=((0.0, nan), (1.0, nan)))
    page = DeploymentReport(name="x", verdict=verdict, hours=hours, curve=curve)
    visible = re.sub(r"<[^>]*>", "", text_of(Report(generated_at=NOW, deployments=(page,))))
    assert not re.search(r"\b(nan|inf)\b", visible)


def test_no_verdict_follows_from_an_untrustworthy_curve(untrusted: DeploymentReport) -> None:
    verdict = trusted_verdict(untrusted)
    assert (verdict.state, verdict.reasons) == ("unknown", ("narrow_hit_range", "poor_fit"))
    html = text_of(Report(generated_at=NOW, deployments=(untrusted,)))
    assert "Cannot tell, because the hit rate varied too little" in html
    for withheld in ("0.780", "0.761", "1,234.50", "68.4 %", "earns money</td>"):
        assert withheld not in html
    assert "No verdict rests on this curve" in html


def test_a_curve_that_is_not_trusted_for_no_recorded_reason_is_told_without_one(untrusted: DeploymentReport) -> None:
    assert untrusted.curve is not None
    unexplained = replace(untrusted, curve=replace(untrusted.curve, reasons=()))
    fleet = pages_of(Report(generated_at=NOW, deployments=(unexplained,)))["index.html"]
    told = fleet[fleet.index('<h2 id="quality">') :]
    assert ">and no reason was recorded<" in told
    assert "describes the measurements poorly" not in told


def test_a_held_state_stays_without_numbers(untrusted: DeploymentReport) -> None:
    held = replace(untrusted, verdict=replace(untrusted.verdict, reasons=("held:poor_fit",)))
    verdict = trusted_verdict(held)
    assert verdict.state == "in_valley"
    assert verdict.revenue_index is None
    assert "In the valley, as last decided." in text_of(Report(generated_at=NOW, deployments=(held,)))


def test_losses_of_two_currencies_are_not_added(in_valley: DeploymentReport) -> None:
    def named(name: str, **changes: object) -> DeploymentReport:
        return replace(in_valley, name=name, verdict=replace(in_valley.verdict, **changes))  # type: ignore[arg-type]

    report = Report(
        generated_at=NOW,
        deployments=(named("a"), named("b"), named("c", currency="EUR"), named("d", lost_24h=None)),
    )
    html = text_of(report)
    assert "What that cost in 24 hours: 2,469.00 USD and 1,234.50 EUR." in html
    assert "For 1 of them the cost is not known." in html


def test_times_are_shown_in_utc() -> None:
    moment = datetime(2026, 3, 5, 1, 30, tzinfo=timezone(timedelta(hours=8)))
    assert "Generated 2026-03-04 17:30 UTC" in text_of(Report(generated_at=moment))


def published(link: Path, page: str) -> None:
    aside = FolderAside(link)
    try:
        aside.write("index.html", page.encode())
        aside.publish()
    finally:
        aside.discard()


def test_the_published_folder_is_private_and_the_one_before_stays(tmp_path: Path) -> None:
    link = tmp_path / "report"
    for day in ("monday", "tuesday", "wednesday"):
        published(link, day)
    assert (link / "index.html").read_text() == "wednesday"
    assert not link.readlink().is_absolute()
    assert (link / "index.html").stat().st_mode & 0o777 == 0o600
    assert link.stat().st_mode & 0o777 == 0o700
    kept = sorted((tmp_path / "reports").iterdir())
    assert [(one / "index.html").read_text() for one in kept] == ["tuesday", "wednesday"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report", "reports"]


def test_a_failed_write_leaves_the_old_report(tmp_path: Path) -> None:
    link = tmp_path / "report"
    published(link, "yesterday")
    with pytest.raises(UnicodeEncodeError):
        published(link, "\ud800")
    assert (link / "index.html").read_text() == "yesterday"
    assert len(list((tmp_path / "reports").iterdir())) == 1


def test_what_a_killed_publisher_left_is_swept_once_it_is_old(tmp_path: Path) -> None:
    link = tmp_path / "report"
    published(link, "one")
    old, young = tmp_path / "reports" / ".new-old", tmp_path / "reports" / ".new-young"
    for left in (old, young):
        left.mkdir()
        (left / "index.html").write_text("half")
    os.utime(old, (0, 0))
    published(link, "two")
    assert not old.exists()
    assert young.exists()


def test_a_curves_shapes_and_lengths_are_two_small_tables(in_valley: DeploymentReport) -> None:
    html = text_of(Report(generated_at=NOW, deployments=(in_valley,)))
    rows = re.findall(r"<tr[^>]*>\s*(.*?)\s*</tr>", html, re.DOTALL)
    cells = [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]
    assert ["service-time law", "2.1 %", "20,010", "0.523", "kept"] in cells
    assert ["straight line", "7.4 %", "not known", "not known", ""] in cells
    assert ["24,000", "16,000", "24,300", "0.410 [0.390–0.430]", "0.420", "yes"] in cells
    assert ["52,000", "36,500", "19,200", "0.540 [0.520–0.560]", "0.310", "no: off by 18.7 %"] in cells
    assert ["131,000", "80,000", "13,900", "0.620 [0.600–0.640]", "not known", "too little of its own to tell"] in cells
    assert "The straight line is within 5% of the curve up to hit rate 0.917." in html
    assert "8192 tokens, 51 ms a step; a small last chunk is left just below hit rate 0.250, 0.500, 0.750;" in html
    assert "steps that are not full cost at most 312 busy seconds a day, worth 41.70 USD." in html


def test_every_row_of_a_table_has_as_many_cells_as_its_head(small_report: Report) -> None:
    for table in re.findall(r"<table.*?</table>", text_of(small_report), re.DOTALL):
        widths = {len(re.findall(r"<t[hd][ >]", row)) for row in re.findall(r"<tr[^>]*>.*?</tr>", table, re.DOTALL)}
        assert len(widths) == 1


def test_a_month_of_a_deployment_is_two_megabytes_at_most(in_valley: DeploymentReport) -> None:
    """Every hour with requests in every row of the heat map, and every minute of the day a point of the curve."""
    edges = [(0, 0), *((k / 20, min((k + 1) / 20, 0.99)) for k in range(20)), (0.99, 1), (1, 1)]
    heat = tuple(
        HeatCell(NOW - timedelta(hours=hour), low, high, 10_000 + hour, 10**8 + hour)
        for hour in range(31 * 24)
        for low, high in edges
    )
    assert in_valley.curve is not None
    curve = replace(in_valley.curve, points=tuple((k / 1500, 20_000 - k / 7, 1000 + k) for k in range(1440)))
    month = replace(in_valley, heat=heat, curve=curve)
    assert 300_000 < len(pages_of(Report(generated_at=NOW, deployments=(month,)))[page_of(month.name)]) < 2_000_000


def test_data_in_a_page_is_json_that_cannot_end_its_element() -> None:
    text = embedded({"a": "</script><!--&", "b": float("nan"), "c": (1, 2.5, None, "\ud800")})
    assert not set(text) & set("<>&")
    assert json.loads(text) == {"a": "</script><!--&", "b": None, "c": [1, 2.5, None, "\ud800"]}


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("https://reports.example.com/valleywatch/", "https://reports.example.com/valleywatch/{}"),
        ("https://reports.example.com/valleywatch", "https://reports.example.com/valleywatch/{}"),
        ("https://reports.example.com/valleywatch/index.html", "https://reports.example.com/valleywatch/{}"),
        ("https://reports.example.com/valleywatch/index.html?v=1#x", "https://reports.example.com/valleywatch/{}?v=1"),
        ("https://reports.example.com/v1.2", "https://reports.example.com/v1.2/{}"),
        ("http://reports.example.com:8000", "http://reports.example.com:8000/{}"),
    ],
)
def test_a_deployments_page_stands_beside_the_first(address: str, page: str) -> None:
    assert deployment_page(address, "glm-5-h200") == page.format("d-e75f826d08f21cc8.html")
