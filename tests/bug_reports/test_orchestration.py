"""Bug reports E 41 to 44: many days at one time, days without data, and expectations that meet nothing or NULL."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest

from pipelines.alerts.record import judge_day
from pipelines.contracts import judge_requests
from pipelines.curves import fit_day
from pipelines.expectations import WARN
from pipelines.settings import load_settings
from pipelines.times import to_day_index
from tests.conftest import REPO
from tests.place import NOW, Place, request

pytestmark = pytest.mark.jobs

FIRST = date(2026, 11, 5)
N_WORKERS = 4

BACKFILL = """
import os, sys
import pandas  # pyarrow does so on first use: once here, not in every child
from pipelines import contracts
from pipelines.alerts.record import judge_day
from pipelines.contracts import refresh_marts
from pipelines.curves import fit_day
from pipelines.expectations import Finding
from pipelines.ingest import ingest_sources
from pipelines.resources import Workplace
from tests.place import NOW

# What Great Expectations says is tested elsewhere and takes seconds.
contracts.judge = lambda profile, expected: [Finding(one.says, one.severity, bool(profile.height)) for one in expected]
workplace = Workplace(config_path=sys.argv[1], fixed_now=NOW.isoformat())
days = [int(day) for day in sys.argv[3:]]

def do(day):
    settings = workplace.settings()
    with workplace.writer() as writer:
        ingest_sources(writer, settings, NOW, lambda line: None)
        refresh_marts(writer, day)
    with workplace.writer() as writer:
        fit_day(writer, day, settings.policy)
    with workplace.writer() as writer:
        judge_day(writer, day, settings, NOW)
        writer.publish()

children = []
for worker in range(int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        for day in days[worker :: int(sys.argv[2])]:
            do(day)
        os._exit(0)
    children.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""
"""The steps of each day, each waiting while another process has the warehouse, as the assets do."""


def logs(place: Place, n_days: int) -> Place:
    rows = [
        request(10 * day + n, timestamp=f"{FIRST + timedelta(days=day)}T{day:02}:{n}5:00Z", cached_tokens=100 * n)
        for day in range(n_days)
        for n in range(5)
    ]
    for part in range(3):
        place.write(f"{part}.jsonl", rows[part::3])
    return place


def backfilled(place: Place, n_workers: int, days: Sequence[date]) -> Place:
    """Do the days in as many processes while this one reads."""
    indexes = [str(to_day_index(day)) for day in days]
    command = [sys.executable, "-c", BACKFILL, str(place.config), str(n_workers), *indexes]
    with subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        seen = 0
        while not is_over(process):
            if place.warehouse.snapshot.exists():
                (row,) = place.rows("select count(*) as n from valley_status")
                assert row["n"] >= seen
                seen = row["n"]
        printed, errors = process.communicate()
    assert (process.returncode, printed) == (0, f"{[0] * n_workers}\n"), errors
    return place


def is_over(process: subprocess.Popen[str]) -> bool:
    """Say whether the process has ended, waiting for it a little."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    return process.returncode is not None


# Each day opens the warehouse three times, and most openings wait for another one.
@pytest.mark.parametrize("n_days", [8, pytest.param(24, marks=[pytest.mark.slow, pytest.mark.timeout(300)])])
def test_dagster_16248_days_done_four_at_a_time_and_backwards_are_as_if_done_one_by_one(
    tmp_path: Path, n_days: int
) -> None:
    days = [FIRST + timedelta(days=day) for day in range(n_days)]
    together = backfilled(logs(Place(tmp_path / "together"), n_days), N_WORKERS, days[::-1])
    alone = logs(Place(tmp_path / "alone"), n_days)
    alone.settle()
    found, expected = (place.views(without=("path", "source_file")) for place in (together, alone))
    # What a run finds at its end, the backfill's single steps do not look for.
    assert found | {"check_findings": expected["check_findings"]} == expected
    assert together.rows("select count(*) as n, sum(n_requests)::bigint as n_requests from hourly_hit_rate") == [
        {"n": n_days, "n_requests": 5 * n_days}
    ]
    with together.warehouse.writer() as writer:
        dirty = {row["day_index"] for row in writer.rows("ops/dirty_days")}
    assert not dirty & {to_day_index(day) for day in days}


def test_dagster_16248_a_day_that_gets_late_lines_while_it_is_judged_is_done_again(place: Place) -> None:
    settings, day = load_settings(place.config), to_day_index(date(2026, 11, 28))
    place.write("a.jsonl", [request(1)])
    place.ingest()
    with place.warehouse.writer() as writer:
        fit_day(writer, day, settings.policy)
    place.write("b.jsonl", [request(2)])
    place.ingest()
    with place.warehouse.writer() as writer:
        judge_day(writer, day, settings, NOW)
        assert day in {row["day_index"] for row in writer.rows("ops/dirty_days")}
    place.settle()
    assert place.rows("select n_requests from hourly_hit_rate") == [{"n_requests": 2}]


def test_great_expectations_1149_a_day_without_a_folder_has_no_data_and_has_not_passed(place: Place) -> None:
    place.write("a.jsonl", [request(1)])
    place.ingest()
    with place.warehouse.writer() as writer:
        findings = judge_requests(writer, to_day_index(FIRST), load_settings(place.config).policy)
        writer.publish()
    assert [(found.severity, found.detail) for found in findings if not found.passed] == [
        (WARN, "no data for this day")
    ]
    assert place.rows("select count(*) as n from check_findings where not passed") == [{"n": 1}]


def test_great_expectations_8548_an_expectation_that_meets_nulls_is_listed_and_failed(place: Place) -> None:
    place.write("a.jsonl", [request(1), request(2), request(3, cached_tokens=None)])
    place.ingest()
    with place.warehouse.writer() as writer:
        judge_requests(writer, to_day_index(date(2026, 11, 28)), load_settings(place.config).policy)
        writer.publish()
    said = "enough requests report cached_tokens"
    (finding,) = place.rows(f"select passed, detail from check_findings where expectation = '{said}'")
    assert finding["passed"] is False
    assert finding["detail"].startswith("coverage = 0.666667 (")
