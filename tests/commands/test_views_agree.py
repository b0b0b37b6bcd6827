"""What several commands say of the same traffic is the same, where an engine changed or a price is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.place import PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

UPGRADED_AT, N_HOURS, PER_HOUR = 8, 20, 60
UPGRADE = [
    request(**row) for row in busy_hours(n_hours=N_HOURS, per_hour=PER_HOUR, upgraded_at=UPGRADED_AT)
]  # fmt: skip
FIRST_IN_DOLLARS = PRICE.replace("2026-01-01", "2026-01-01\neffective_to = 2026-11-28T00:30:00Z")
THEN_IN_YUAN = PRICE.replace("2026-01-01", '2026-11-28T00:30:00Z\ncurrency = "CNY"')


def asked(place: Place, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert place.valleywatch(*arguments, "--json") == code
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("upgraded"))
    place.write("a.jsonl", UPGRADE)
    place.settle()
    return place


def test_hours_of_the_engine_before_are_no_traffic_of_the_curve_that_came_after(
    upgraded: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    (curve,) = upgraded.rows("select trustworthy, hour(changed_at_hour) as since from throughput_curve")
    assert curve == {"trustworthy": True, "since": UPGRADED_AT}
    (judged,) = upgraded.rows(
        "select sum(lost_per_hour) as lost, count(revenue_index) as n_hours from valley_status"
    )  # fmt: skip
    reasons = [row["reasons"] for row in upgraded.rows("select reasons from valley_status order by hour_utc")]
    assert reasons[:UPGRADED_AT] == ["before_change"] * UPGRADED_AT
    assert "before_change" not in reasons[UPGRADED_AT:]
    (status,) = asked(upgraded, capsys, "status")
    assert status["lost_24h"] == pytest.approx(judged["lost"])
    assert (status["lost_hours"], status["traffic_hours"]) == (judged["n_hours"], N_HOURS)
    assert status["n_requests"] == (N_HOURS - UPGRADED_AT) * PER_HOUR
    found = asked(upgraded, capsys, "whatif", "pool")
    assert (found["n_hours_before_change"], found["n_requests"]) == (UPGRADED_AT, status["n_requests"])
    for name in ("hit_rate", "revenue_index", "floor_hit_rate", "exit_hit_rate"):
        assert found["before"][name] == pytest.approx(status[name]), name
    # One mix of hours against each hour's own.
    assert found["before"]["lost"]["value"] == pytest.approx(judged["lost"], rel=0.02)


def test_a_waterfall_compares_no_hours_with_a_curve_they_were_not_served_by(
    upgraded: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    day = ("waterfall", "pool", "--from", "2026-11-28", "--to", "2026-11-28")
    found = asked(upgraded, capsys, *day)["before"]
    assert found["n_hours_before_change"] == UPGRADED_AT
    assert found["modelled_busy_s"] == pytest.approx(found["busy_s"], rel=0.01)
    assert upgraded.valleywatch(*day) == 0
    assert f"({UPGRADED_AT} hours of another engine or model left out)" in capsys.readouterr().err
    refused = asked(upgraded, capsys, "waterfall", "pool", "--from", "2026-11-28T03", "--to", "2026-11-28T12", code=1)
    assert refused["reasons"] == ["before_change"]


@pytest.mark.parametrize(
    ("prices", "reason"),
    [
        (PRICE + 'hours_utc = "00:00-00:30"\n', "partly_priced"),
        (FIRST_IN_DOLLARS + THEN_IN_YUAN, "mixed_currencies"),
    ],
)
def test_an_hour_without_a_price_has_one_reason_everywhere(
    prices: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(tmp_path, SOURCE + prices)
    place.write("a.jsonl", (request(**row) for row in busy_hours(n_hours=1, per_hour=60)))
    place.settle()
    (row,) = place.rows("select reasons from valley_status")
    assert reason in row["reasons"]
    assert asked(place, capsys, "whatif", "pool", code=1)["reasons"] == [reason]


def test_a_valley_without_an_exit_is_no_reason_to_hold(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    rows = busy_hours(n_hours=13, per_hour=60, law_of_a_valley=True)
    place.write("a.jsonl", (request(**row) for row in rows[: 12 * 60 + 3]))
    place.settle()
    (status,) = asked(place, capsys, "status")
    assert status["state"] == "in_valley"
    assert status["reasons"] == ["held:low_traffic", "no_exit"]


def test_a_plan_and_a_curve_are_of_one_price_ratio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dearer = PRICE.replace("2026-01-01", "2026-11-28T05:00:00Z").replace("= 0.1", "= 0.4")
    place = Place(tmp_path, SOURCE + PRICE + dearer)
    place.write("a.jsonl", (request(**row) for row in busy_hours(n_hours=10, per_hour=60)))
    place.settle()
    (status,) = asked(place, capsys, "status")
    assert 0.1 < status["price_ratio"] < 0.4
    for command in (("fit", "pool"), ("fit", "--plan", "pool")):
        assert asked(place, capsys, *command)["price_ratio"] == pytest.approx(status["price_ratio"]), command


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("whatif", "pool", "--day", "9999-12-31"), 2, "no day that logs can be of"),
        (("waterfall", "pool", "--from", "9999-12-31T23", "--to", "2026-11-28"), 2, "no day that logs can be of"),
        (("waterfall", "pool", "--from", "2999-12-31", "--to", "2999-12-31", "--days", "366"), 1, "cannot tell"),
        (("whatif", "pool", "--fixed-cost", "1e308"), 2, "--fixed-cost 1e+308 is out of range"),
    ],
)
def test_what_no_calendar_and_no_number_holds_is_refused(
    arguments: tuple[str, ...], code: int, says: str, upgraded: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert upgraded.valleywatch(*arguments) == code
    assert says in capsys.readouterr().err


def test_where_the_newest_curve_is_not_trusted_no_lever_is_needless_and_what_hours_cost_stays_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(tmp_path)
    place.write("a.jsonl", (request(**row) for row in busy_hours(n_hours=29, per_hour=60, upgraded_at=26)))
    place.settle()
    (status,) = asked(place, capsys, "status")
    assert (status["state"], status["revenue_index"], status["reasons"]) == ("escaped", None, ["held:too_few"])
    (known,) = place.rows(
        "select sum(lost_per_hour) as lost, count(lost_per_hour) as n_hours from valley_status "
        "where hour_utc >= timestamp '2026-11-28 05:00:00'"
    )
    assert (status["lost_24h"], status["lost_hours"]) == (pytest.approx(known["lost"]), known["n_hours"])
    assert place.valleywatch("report") == 0
    page = Path(capsys.readouterr().out.strip()).read_text()
    assert "none needed" not in page
    assert "none known, because the evidence allows no new decision" in page
