"""Every number on the published pages is the SQL view's, and every digit on them is accounted for."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines import curve_words, display, words
from pipelines.curve_words import line_words
from pipelines.overview import Overview, overviews
from pipelines.profit_result import profits
from pipelines.report.money import money_of
from pipelines.report.pages import page_of
from pipelines.report.summary import attention
from pipelines.report_input import LeverView
from tests.conftest import FleetWarehouse
from tests.report.marked import Marked, Number, marked

Rows = list[dict[str, Any]]

# A view's rows in the order of the page, for the deployment; data-row counts in them.
QUERIES = {
    "valley_status": "select s.*, h.n_requests from valley_status s join hourly_hit_rate h using (deployment, hour_utc)"
    " where deployment = $name order by hour_utc",
    "throughput_curve": "select * from throughput_curve where deployment = $name order by day_utc desc limit 1",
    "curve_candidates": "select * from curve_candidates where deployment = $name and not is_chosen and a is not null"
    " and day_utc = (select max(day_utc) from curve_candidates where deployment = $name) order by target",
    "curve_families": "select * from curve_families where deployment = $name"
    " and day_utc = (select max(day_utc) from curve_families where deployment = $name) order by error, family",
    "curve_by_length": "select * from curve_by_length where deployment = $name and day_utc ="
    " (select max(day_utc) from curve_by_length where deployment = $name) order by high_input_tokens",
    "valley_episodes": "select * from valley_episodes where deployment = $name order by entered_at",
    "quarantine": "select reason, count(*) as n_lines from quarantine group by reason order by n_lines desc, reason",
    "verdict": """
        with day as (
            select * from hourly_hit_rate where deployment = $name and hour_utc >
                (select max(hour_utc) - interval 24 hours from hourly_hit_rate where deployment = $name)
        )
        select sum(cached_tokens) / sum(cached_tokens + miss_tokens) as hit_rate, sum(n_requests) as n_requests,
            sum(n_failed) as n_failed, sum(n_reported) / sum(n_requests) as coverage, max(hour_utc) as last_hour,
            (select sum(lost_per_hour) from valley_status join day using (deployment, hour_utc)) as lost_24h
        from day""",
}  # fmt: skip
MONEY = ("miss_revenue", "cached_revenue", "output_revenue", "gross_revenue", "in_time_revenue", "cost", "margin")
SUMS = ", ".join(f"sum({column}) as {column}, count({column}) as hours_{column}" for column in MONEY)
PROFIT = f"""
    select {SUMS}, count(*) as traffic_hours, count(*) filter (margin < 0) as loss_hours,
        string_agg(',' || reasons || ',', ';') as reasons
    from profit_and_loss where deployment = $name and hour_utc >
        (select max(hour_utc) - interval 24 hours from hourly_hit_rate where deployment = $name)"""


@dataclass
class Truth:
    """What the snapshot says, asked anew by SQL, and what is computed from it."""

    views: dict[str, dict[str, Rows]]
    seen: dict[str, Overview]
    levers: dict[str, tuple[LeverView, ...]]
    reasons: dict[str, tuple[str, ...]]
    """Codes of why money is not known, in the order of the page."""

    def of(self, number: Number) -> Any:
        """Return the value that a marked number claims to be."""
        anchor = number.deployment or ""
        if number.view == "levers":
            return getattr(self.levers[anchor][number.row or 0], number.column)
        if number.view == "verdict" and number.column == "gain":
            return self.levers[anchor][0].gain
        rows = self.views[number.view][anchor]
        if number.column == "reason_hours":
            return rows[0]["reasons"].count(f",{self.reasons[anchor][number.row or 0]},")
        if number.view == "profit_and_loss":
            return rows[0][number.column]
        if number.view == "verdict" and number.column not in rows[0]:
            return getattr(self.seen[anchor].verdict, number.column)
        if number.view == "valley_status":
            rows = [row for row in rows if f"{row['hour_utc']:%Y-%m-%dT%H:%MZ}" == number.hour]
        return rows[number.row or 0][number.column]


@pytest.fixture(scope="module")
def truth(fleet_warehouse: FleetWarehouse) -> Truth:
    with fleet_warehouse.place.warehouse.reader() as reader:
        seen = {display.anchor(one.deployment): one for one in overviews(reader)}
        views: dict[str, dict[str, Rows]] = {}
        for view, query in (QUERIES | {"profit_and_loss": PROFIT}).items():
            for anchor, one in seen.items():
                bound = query.replace("$name", f"'{one.deployment}'")
                views.setdefault(view, {})[anchor] = fleet_warehouse.place.rows(bound)
        hours = {anchor: int(display.as_utc(one.verdict.last_hour).timestamp()) // 3600 for anchor, one in seen.items()}
        reasons = {display.anchor(of.deployment): tuple(code for code, _ in of.reasons) for of in profits(reader)}
        levers = {anchor: money_of(reader, one.deployment, hours[anchor]).levers for anchor, one in seen.items()}
    return Truth(views, seen, levers, reasons)


@pytest.fixture(scope="module")
def pages(fleet_warehouse: FleetWarehouse) -> dict[str, str]:
    folder = fleet_warehouse.place.warehouse.folder / "report"
    return {path.name: path.read_text(encoding="utf-8") for path in Path(folder).glob("*.html")}


def faults(page: Marked, truth: Truth) -> Iterator[str]:
    """Say which numbers are not the view's, or are not written as such a number is."""
    for number in page.numbers:
        value = truth.of(number)
        if isinstance(value, datetime):
            written = f"{value:%Y-%m-%dT%H:%MZ}"
            if (number.value, number.text) != (written, display.utc_time(value)):
                yield f"{number} is not {written}"
            continue
        # A length is a mean, and said in whole tokens.
        value = float(round(value) if number.column == "reference_input_tokens" else value)
        if not math.isclose(float(number.value), value, rel_tol=1e-12, abs_tol=1e-15):
            yield f"{number} is not {value}"
        if number.text not in written_forms(value):
            yield f"{number} is not written as {value}"


def written_forms(value: float) -> set[str]:
    forms = {display.share(value), display.index(value), display.index(1 - value), display.number(value)}
    forms |= {display.money(value, "USD"), display.price(value, "USD")}
    return forms | ({display.count(int(value))} if value == int(value) else set())


def test_every_number_is_the_views(pages: dict[str, str], truth: Truth) -> None:
    assert set(pages) == {"index.html", *(page_of(one.deployment) for one in truth.seen.values())}
    for name, html in pages.items():
        page = marked(html)
        assert list(faults(page, truth)) == [], name
        assert len(page.numbers) > (30 if name == "index.html" else 20), name


def test_no_digit_stands_outside_a_mark(pages: dict[str, str]) -> None:
    for name, html in pages.items():
        assert [text for text in marked(html).rest if re.search(r"\d", text)] == [], name


def test_every_sentence_is_what_is_said_of_the_verdict(pages: dict[str, str], truth: Truth) -> None:
    verdicts = {anchor: one.verdict for anchor, one in truth.seen.items()}
    ranked = sorted(verdicts.values(), key=lambda verdict: -(verdict.lost_24h or 0))
    summary = " ".join(attention(ranked))
    for name, html in pages.items():
        said = [(kind, text) for kind, text in marked(html).said if kind != "covered"]
        if name == "index.html":
            levers = [("lever", words.lever_words(one.lever)) for one in ranked if one.lever is not None]
            assert said == [("summary", summary), *levers]
            continue
        anchor = name.removesuffix(".html")
        verdict = verdicts[anchor]
        expected = [
            ("headline", words.verdict_headline(verdict)),
            ("details", " ".join(words.verdict_details(verdict))),
        ]
        expected += [("lever", f"Lever: {words.lever_words(verdict.lever)}.")] if verdict.lever else []
        expected += [("load", words.regime_sentence(verdict.regime, verdict.busy_share))]
        (curve,) = truth.views["throughput_curve"][anchor]
        shape = f"The straight line is {line_words(curve['line_good_until_hit_rate'])}."
        if curve["chunk_tokens"] is not None:
            steps = curve_words.tail_words(curve["chunk_tokens"], curve["step_s"], tuple(curve["tail_hit_rates"]))
            cost = (curve["tail_chunk_s_per_day"], verdict.tail_chunk_lost_per_day, verdict.currency)
            shape += f" Steps: {steps}; {curve_words.tail_cost_words(*cost)}."
        assert said == [*expected, ("shape", shape)], name


def test_a_wrong_digit_is_found(pages: dict[str, str], truth: Truth) -> None:
    """The guard of the tests above."""
    html = pages[page_of("glm-5-h200")]
    assert list(faults(marked(html), truth)) == []
    for was, now in ((">0.938</data>", ">0.939</data>"), ('<data value="0.62', '<data value="0.63')):
        assert was in html
        assert list(faults(marked(html.replace(was, now, 1)), truth)) != []
    assert any("7" in text for text in marked(html.replace("</h1>", " 7</h1>")).rest)


def test_times_are_said_to_be_utc(pages: dict[str, str]) -> None:
    for html in pages.values():
        assert re.search(r"Generated \d{4}-\d\d-\d\d \d\d:\d\d UTC\.", html)
        assert re.search(r"(Newest hour|Hours|Hour by hour) \(UTC\)", html)
