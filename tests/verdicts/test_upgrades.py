"""An engine that is upgraded, or a model that takes over, within a curve's window: the curve is of what serves now."""

from __future__ import annotations

import html
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from models.service_time import ServiceTime, straight_line
from pipelines.contracts import judge_curves
from pipelines.served_models import served_models
from pipelines.times import to_day_index
from tests.place import Place, do_day, request
from tests.verdicts.traffic import GENTLE, busy_hours

pytestmark = pytest.mark.jobs

BEGIN = datetime(2026, 11, 28, tzinfo=UTC)
UPGRADED_AT = 20
"""Hours from the beginning."""
FASTER = ServiceTime(f=GENTLE.f / 1.4, c=GENTLE.c / 1.4, q=GENTLE.q / 1.4, k=GENTLE.k / 1.4)
ROWS = [
    request(**row)
    for row in busy_hours(n_hours=34, per_hour=60, upgraded_at=UPGRADED_AT, upgraded_to=FASTER)
]  # fmt: skip
CURVES = "select * from throughput_curve order by day_utc"
FINDINGS = "select * from check_findings where contract = 'throughput curves' and not passed order by day_utc"


def hour(index: int) -> datetime:
    return (BEGIN + timedelta(hours=index)).replace(tzinfo=None)


def judged(place: Place) -> Place:
    """The job and the checks of its curves."""
    place.settle()
    with place.warehouse.writer() as writer:
        for row in place.rows("select distinct day_utc from throughput_curve"):
            judge_curves(writer, to_day_index(row["day_utc"]))
        writer.publish()
    return place


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("upgraded"))
    place.write("a.jsonl", ROWS)
    return judged(place)


def test_the_curve_is_the_new_engine_s(upgraded: Place) -> None:
    _, curve = upgraded.rows(CURVES)
    assert (curve["trustworthy"], curve["reasons"]) == (True, "")
    assert (curve["changed_at_hour"], curve["window_from_hour"]) == (hour(UPGRADED_AT), hour(UPGRADED_AT))
    assert curve["changed"] == "level"
    assert curve["change_size"] == pytest.approx(0.4, rel=0.1)
    truth = straight_line(FASTER, curve["reference_input_tokens"])
    assert curve["tps0"] == pytest.approx(truth.tps0, rel=0.015)
    assert curve["a"] == pytest.approx(truth.a, abs=0.03)


def test_a_remainder_that_is_too_short_is_refused_and_not_pooled_with_the_old_engine(upgraded: Place) -> None:
    curve, _ = upgraded.rows(CURVES)
    assert curve["changed_at_hour"] == hour(UPGRADED_AT)
    assert (curve["trustworthy"], curve["reasons"]) == (False, "too_few")


def test_hours_before_the_change_have_no_verdict_from_the_curve_that_came_after(upgraded: Place) -> None:
    hours = upgraded.rows("select hour_utc, revenue_index, reasons from valley_status order by hour_utc")
    assert len(hours) == 34
    assert {row["revenue_index"] is None for row in hours if row["hour_utc"] < hour(24)} == {True}
    assert {row["reasons"] for row in hours if row["hour_utc"] >= hour(24)} == {""}


def test_a_change_is_told_in_words(upgraded: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert {row["severity"] for row in upgraded.rows(FINDINGS)} == {"warn"}
    says = "since 2026-11-28T20:00Z its engine computes up to "
    assert says in upgraded.rows(FINDINGS)[-1]["detail"]
    assert upgraded.valleywatch("status") == 0
    assert f"pool: {says}" in capsys.readouterr().err
    assert upgraded.valleywatch("report") == 0
    assert f"pool: {says}" in html.unescape(Path(capsys.readouterr().out.strip()).read_text())


def test_one_engine_throughout_is_not_told(place: Place) -> None:
    place.write("a.jsonl", [request(**row) for row in busy_hours(n_hours=34, per_hour=60)])
    place.settle()
    curves = place.rows(CURVES)
    assert [(row["window_from_hour"], row["changed_at_hour"], row["change_size"]) for row in curves] == [
        (hour(0), None, None)
    ] * 2
    assert [row["trustworthy"] for row in curves] == [True, True]


def test_order_of_lines_of_days_and_reruns_change_nothing(upgraded: Place, tmp_path: Path) -> None:
    split = Place(tmp_path / "split")
    # The newer day first and alone; then what was missing, old hours among it, comes late.
    split.write("b.jsonl", ROWS[-600:])
    split.settle()
    assert split.rows(CURVES)[-1]["changed_at_hour"] is None
    split.write("a.jsonl", ROWS[:-600][::-1])
    split.settle()
    without = ("source_file", "source_line", "source_name", "content_sha256", "path", "lines", "loaded")
    tables = ("throughput_curve", "curve_candidates", "valley_status", "valley_episodes", "busy_periods")
    expected, found = (place.views(without=without) for place in (upgraded, split))
    assert [found[table] for table in tables] == [expected[table] for table in tables]
    with split.warehouse.writer() as writer:
        for day_index in (20_786, 20_785):
            do_day(writer, day_index, split)
        writer.publish()
    again = split.views(without=without)
    assert [again[table] for table in tables] == [expected[table] for table in tables]


# ------------------------------------------------------------------------------------------------------------- models


def test_the_window_begins_where_another_model_took_over(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    rows = busy_hours(n_hours=20, per_hour=60)
    place.write("a.jsonl", (request(**row, model="old" if row["number"] < 8 * 60 else "new") for row in rows))
    judged(place)
    (curve,) = place.rows(CURVES)
    assert (curve["model"], curve["model_since_hour"], curve["window_from_hour"]) == ("new", hour(8), hour(8))
    assert curve["changed_at_hour"] is None
    assert curve["n_requests"] <= 12 * 60
    capsys.readouterr()
    assert place.valleywatch("status") == 0
    assert "pool: model new since 2026-11-28T08:00Z, another before" in capsys.readouterr().err


def test_models_served_side_by_side_are_told_and_not_cut(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    rows = busy_hours(n_hours=6, per_hour=60)
    place.write("a.jsonl", (request(**row, model="even" if row["number"] % 3 else "third") for row in rows))
    judged(place)
    (curve,) = place.rows(CURVES)
    assert (curve["mixed_models"], curve["model_since_hour"], curve["window_from_hour"]) == (
        "even and third", None, hour(0),
    )  # fmt: skip
    capsys.readouterr()
    assert place.valleywatch("status") == 0
    assert "models even and third are served in the same hours" in capsys.readouterr().err


def hours_of(*models: str) -> list[dict[str, Any]]:
    """An hour each of so many tokens: "a:90 b:10"."""
    return [
        {"hour_index": at, "model": name, "input_tokens": int(tokens)}
        for at, said in enumerate(models)
        for name, tokens in (part.split(":") for part in said.split())
    ]


@pytest.mark.parametrize(
    ("models", "model", "since_hour", "mixed"),
    [
        ([], None, None, ()),
        (["a:100"] * 5, "a", None, ()),
        (["a:100"] * 5 + ["b:100"], "b", 5, ()),
        # A rolling switch: the hours of both are left out.
        (["a:100"] * 4 + ["a:60 b:40"] + ["b:100"] * 4, "b", 5, ()),
        # A canary that has not taken over.
        (["a:100"] * 20 + ["a:60 b:40"], "a", None, ()),
        # Back to the first.
        (["a:100"] * 3 + ["b:100"] * 3 + ["a:100"] * 3, "a", 6, ()),
        # A test at night is no takeover.
        (["a:1000"] * 6 + ["b:9"] + ["a:1000"] * 3, "a", None, ()),
        (["a:60 b:40"] * 5, None, None, ("a", "b")),
        (["a:100"] * 2 + ["b:100"] + ["b:50 c:50"] * 5, "b", 2, ("b", "c")),
    ],
    ids=str,
)
def test_a_takeover_is_told_from_a_mixture(
    models: list[str], model: str | None, since_hour: int | None, mixed: tuple[str, ...]
) -> None:
    served = served_models(hours_of(*models))
    assert (served.model, served.since_hour, served.mixed) == (model, since_hour, mixed)
