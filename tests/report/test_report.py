"""The whole page: the golden file, honesty about what is not known, determinism, and nothing fetched."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from pipelines.report import (
    CurveView,
    DeploymentReport,
    HourRow,
    Report,
    Verdict,
    render_report,
    trusted_verdict,
    write_report,
)

GOLDEN = Path(__file__).parent / "golden" / "report.html"
NOW = datetime(2026, 3, 5, 2, 30, tzinfo=UTC)


def test_small_report_matches_the_golden_file(small_report: Report, request: pytest.FixtureRequest) -> None:
    html = render_report(small_report)
    if request.config.getoption("--update-golden"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(html, encoding="utf-8")
    assert html == GOLDEN.read_text(encoding="utf-8")


def test_same_report_gives_the_same_bytes(small_report: Report) -> None:
    assert render_report(small_report) == render_report(small_report)


def test_nothing_is_fetched_and_nothing_runs(small_report: Report) -> None:
    html = render_report(small_report)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert "<script" not in html
    assert not re.findall(r"https?://", html.replace('xmlns="http://www.w3.org/2000/svg"', ""))
    assert not re.findall(r"url\(|@import|@font-face", html)
    assert set(re.findall(r'(?:href|src)="([^"#]*)', html)) <= {"data:,", ""}


def test_every_table_has_a_caption_and_every_image_a_name(small_report: Report) -> None:
    html = render_report(small_report)
    assert html.count("<table") == html.count("<caption")
    images = re.findall(r'<svg class="chart" role="img"[^>]*aria-labelledby="(\S+) (\S+)"', html)
    assert len(images) == html.count('class="chart"') == 4
    for title, description in images:
        assert f'<title id="{title}">' in html
        assert f'<desc id="{description}">' in html


def test_ids_are_unique_and_every_link_lands(small_report: Report) -> None:
    html = render_report(small_report)
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)


def test_empty_report_says_so() -> None:
    html = render_report(Report(generated_at=NOW))
    assert "There is no deployment to report on" in html
    assert "0 of 0 deployments are in the valley." in html
    assert "not known" in html


def test_unknown_is_never_a_number(all_unknown: DeploymentReport) -> None:
    html = render_report(Report(generated_at=NOW, deployments=(all_unknown,)))
    section = html[html.index('<section class="deployment"') : html.index("Lines that were not read")]
    visible = re.sub(r"<[^>]*>", "", section)
    assert not re.search(r"\d", visible.replace("2026-03-04 00:00", "").replace("Hour by hour (1)", ""))
    assert "Cannot tell, and no reason was recorded." in visible
    assert visible.count("not known") > 10


def test_not_a_number_is_not_known() -> None:
    nan, inf = float("nan"), float("inf")
    verdict = Verdict(state="in_valley", hit_rate=nan, revenue_index=inf, lost_24h=nan, floor_hit_rate=nan)
    hours = (HourRow(hour_utc=NOW, hit_rate=nan, revenue_index=nan, lost_per_hour=inf),)
    curve = CurveView(trustworthy=True, tps0=nan, points=((nan, 1.0, 3), (0.5, inf, 3)), law=((0.0, nan), (1.0, nan)))
    page = DeploymentReport(name="x", verdict=verdict, hours=hours, curve=curve)
    visible = re.sub(
        r"<style>.*?</style>|<[^>]*>", "", render_report(Report(generated_at=NOW, deployments=(page,))), flags=re.S
    )
    assert not re.search(r"\b(nan|inf)\b", visible)


def test_no_verdict_follows_from_an_untrustworthy_curve(untrusted: DeploymentReport) -> None:
    verdict = trusted_verdict(untrusted)
    assert (verdict.state, verdict.reasons) == ("unknown", ("narrow_hit_range", "poor_fit"))
    html = render_report(Report(generated_at=NOW, deployments=(untrusted,)))
    assert "Cannot tell, because the hit rate varied too little" in html
    for withheld in ("0.780", "0.761", "1,234.50", "68.4 %", "earns money</td>"):
        assert withheld not in html
    assert "No verdict rests on this curve" in html


def test_a_held_state_stays_without_numbers(untrusted: DeploymentReport) -> None:
    held = replace(untrusted, verdict=replace(untrusted.verdict, reasons=("held:poor_fit",)))
    verdict = trusted_verdict(held)
    assert verdict.state == "in_valley"
    assert verdict.revenue_index is None
    assert "In the valley, as last decided." in render_report(Report(generated_at=NOW, deployments=(held,)))


def test_losses_of_two_currencies_are_not_added(in_valley: DeploymentReport) -> None:
    def named(name: str, **changes: object) -> DeploymentReport:
        return replace(in_valley, name=name, verdict=replace(in_valley.verdict, **changes))  # type: ignore[arg-type]

    report = Report(
        generated_at=NOW,
        deployments=(named("a"), named("b"), named("c", currency="EUR"), named("d", lost_24h=None)),
    )
    html = render_report(report)
    assert "What that cost in 24 hours: 2,469.00 USD and 1,234.50 EUR." in html
    assert "For 1 of them the cost is not known." in html


def test_times_are_shown_in_utc() -> None:
    moment = datetime(2026, 3, 5, 1, 30, tzinfo=timezone(timedelta(hours=8)))
    assert "Generated 2026-03-04 17:30 UTC" in render_report(Report(generated_at=moment))


def test_report_file_is_private_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("yesterday")
    write_report("<p>today ✓</p>", target)
    assert target.read_text(encoding="utf-8") == "<p>today ✓</p>"
    assert target.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_leaves_the_old_report(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("yesterday")
    with pytest.raises(UnicodeEncodeError):
        write_report("\ud800", target)
    assert target.read_text() == "yesterday"
    assert list(tmp_path.iterdir()) == [target]


def test_a_curves_shapes_and_lengths_are_two_small_tables(in_valley: DeploymentReport) -> None:
    html = render_report(Report(generated_at=NOW, deployments=(in_valley,)))
    rows = re.findall(r"<tr>\s*(.*?)\s*</tr>", html, re.DOTALL)
    cells = [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]
    assert ["service-time law", "2.1 %", "20,010", "0.523", "kept"] in cells
    assert ["straight line", "7.4 %", "not known", "not known", ""] in cells
    assert ["24,000", "16,000", "24,300", "0.41 [0.39–0.43]", "0.42", "yes"] in cells
    assert ["52,000", "36,500", "19,200", "0.54 [0.52–0.56]", "0.31", "no: off by 18.7 %"] in cells
    assert ["131,000", "80,000", "13,900", "0.62 [0.6–0.64]", "not known", "too little of its own to tell"] in cells
    assert "The straight line is within 5% of the curve up to hit rate 0.917." in html
    assert "8192 tokens, 51 ms a step; a small last chunk is left just below hit rate 0.250, 0.500, 0.750;" in html
    assert "steps that are not full cost at most 312 busy seconds a day, worth 41.70 USD." in html


def test_every_row_of_a_table_has_as_many_cells_as_its_head(small_report: Report) -> None:
    for table in re.findall(r"<table.*?</table>", render_report(small_report), re.DOTALL):
        widths = {len(re.findall(r"<t[hd][ >]", row)) for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)}
        assert len(widths) == 1
