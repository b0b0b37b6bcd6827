"""Bug reports E 41 to 44: many days at one time, days without data, and expectations that meet nothing or NULL."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

from pipelines.contracts import judge_requests
from pipelines.expectations import WARN
from pipelines.settings import load_settings
from pipelines.times import to_day_index
from tests.conftest import REPO
from tests.place import Place, request

FIRST = date(2026, 11, 5)
N_DAYS, N_WORKERS = 24, 4

BACKFILL = """
import os, sys
from datetime import date
from pipelines.alerts.record import judge_day
from pipelines.curves import fit_day
from pipelines.ingest import ingest_sources
from pipelines.marts import refresh_busy_periods, refresh_hours
from pipelines.resources import Workplace
from tests.place import NOW

workplace = Workplace(config_path=sys.argv[1], fixed_now=NOW.isoformat())
first, n_days, n_workers = int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])

def do(day):
    settings = workplace.settings()
    with workplace.writer() as writer:
        ingest_sources(writer, settings, NOW, lambda line: None)
    for mart in ("hourly_hit_rate", "hit_rate_histogram"):
        with workplace.writer() as writer:
            refresh_hours(writer, mart, day)
    with workplace.writer() as writer:
        refresh_busy_periods(writer, day)
    with workplace.writer() as writer:
        fit_day(writer, day, settings.policy)
    with workplace.writer() as writer:
        judge_day(writer, day, settings, NOW)
        writer.publish()

def work(worker):
    for day in range(first + worker, first + n_days, n_workers):
        do(day)

children = []
for worker in range(n_workers):
    child = os.fork()
    if child == 0:
        work(worker)
        os._exit(0)
    children.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""
"""The steps of each day as the assets take them: one opening of the warehouse a step, waiting while another has it."""


def logs_of_24_days(place: Place) -> Place:
    for day in range(N_DAYS):
        at = f"{FIRST + timedelta(days=day)}T{day:02}:15:00Z"
        rows = [request(40 * day + n, timestamp=at, input_tokens=1000 + n, cached_tokens=10 * n) for n in range(40)]
        place.write(f"{day:02}.jsonl", rows)
    return place


def backfilled(place: Place, n_workers: int) -> str:
    """Do all days in as many processes while this one reads; return the processes' exit codes."""
    command = [sys.executable, "-c", BACKFILL, str(place.config), str(to_day_index(FIRST)), str(N_DAYS), str(n_workers)]
    with subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        seen = 0
        while process.poll() is None:
            if place.warehouse.snapshot.exists():
                (row,) = place.rows("select count(*) as n from valley_status")
                assert row["n"] >= seen
                seen = row["n"]
        printed, errors = process.communicate()
    assert process.returncode == 0, errors
    return printed.strip()


def test_dagster_16248_days_done_four_at_a_time_are_as_if_done_one_by_one(tmp_path: Path) -> None:
    together = logs_of_24_days(Place(tmp_path / "together"))
    assert backfilled(together, N_WORKERS) == str([0] * N_WORKERS)
    alone = logs_of_24_days(Place(tmp_path / "alone"))
    alone.settle()
    without = ("path", "source_file")
    assert together.views(without=without) == alone.views(without=without)
    assert together.rows("select count(*) as n, sum(n_requests)::bigint as n_requests from hourly_hit_rate") == [
        {"n": N_DAYS, "n_requests": 40 * N_DAYS}
    ]


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
