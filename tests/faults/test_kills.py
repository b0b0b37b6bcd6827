"""SIGKILL at every named instant of the job: the next run ends where an undisturbed one would have."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines import faults
from pipelines.errors import UsageError
from tests.conftest import REPO
from tests.place import Place, as_bytes, request

pytestmark = pytest.mark.jobs

JOBS = """
import os, sys
from pathlib import Path
import pandas  # pyarrow does so on first use: once here, not in every child
from pipelines import contracts
from pipelines.alerts.record import judge_day
from pipelines.contracts import judge_requests, refresh_marts
from pipelines.curves import fit_day
from pipelines.expectations import Finding
from pipelines.ingest import ingest_sources
from pipelines.report import publish_if_behind
from pipelines.report.pages import page_template
from pipelines.report_figures import script
from pipelines.settings import load_settings
from tests.place import NOW, Place

# What is killed here are commits; what Great Expectations says is tested elsewhere and takes seconds.
contracts.judge = lambda profile, expected: [Finding(one.says, one.severity, bool(profile.height)) for one in expected]

def job(place):
    settings = load_settings(place.config)
    with place.warehouse.writer() as writer:
        outcomes = ingest_sources(writer, settings, NOW, lambda _line: None)
        with_data = {row["day_index"] for row in writer.rows("ops/lake_days")}
        for day in [row["day_index"] for row in writer.rows("ops/dirty_days")]:
            if day in with_data:
                judge_requests(writer, day, settings.policy)
                refresh_marts(writer, day)
                fit_day(writer, day, settings.policy)
                judge_day(writer, day, settings, NOW)
    publish_if_behind(place.warehouse, NOW)
    return outcomes

# Children are forked before any engine has run in this process, so that its imports are paid for once.
page_template("fleet")
script()
for argument in sys.argv[1:]:
    folder, _, point = argument.partition(":")
    for fault in (point, "") if point else ("",):
        child = os.fork()
        if child == 0:
            if fault:
                os.environ["VALLEYWATCH_FAULT"] = fault
            outcomes = job(Place(Path(folder)))
            (Path(folder) / "said").write_text(" ".join(outcome.status for outcome in outcomes))
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Does the steps of the job in each folder: killed at the point named after the colon, and then once more."""
FOLDERS = ("path", "source_file")
ROWS = [request(n, timestamp=f"2026-11-28T{n:02}:15:00Z", input_tokens=1000 + n) for n in range(12)]


def overlapping_logs(place: Place, earliest: str) -> Place:
    """Three files that share requests, of which the last brings better (earlier) records, and one that is refused."""
    place.write("a.jsonl", as_bytes(ROWS[:8]))
    place.write("b.jsonl.gz", gzip.compress(as_bytes(ROWS[4:])))
    earlier = [row | {"timestamp": earliest, "input_tokens": 500} for row in ROWS[:3]]
    place.write("c.jsonl", as_bytes(earlier) + b"not a line\n")
    place.write("d.jsonl.gz", gzip.compress(as_bytes(ROWS))[:-4])
    return place


@pytest.mark.parametrize(
    ("points", "earliest"),
    [
        # One in each step: ingest, marts, curves, verdicts, what is published.
        pytest.param(
            ("file_committed", "marts_judged", "curves_cleared", "verdicts_written", "snapshot_named"),
            "2026-11-28T00:00:00Z",
            id="five",
        ),
        pytest.param(faults.POINTS, "2026-11-27T23:59:00Z", id="all, two days", marks=pytest.mark.slow),
    ],
)
def test_a_job_killed_at_any_named_point_is_finished_by_the_next(
    tmp_path: Path, points: tuple[str, ...], earliest: str
) -> None:
    calm = overlapping_logs(Place(tmp_path / "undisturbed"), earliest)
    places = {point: overlapping_logs(Place(tmp_path / point), earliest) for point in points}
    arguments = [str(calm.folder), *(f"{place.folder}:{point}" for point, place in places.items())]
    command = [sys.executable, "-c", JOBS, *arguments]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    # Every point was reached: each first run died there, each second one ended well.
    assert [int(code) for code in done.stdout.split()] == [0, *[-signal.SIGKILL, 0] * len(places)], done.stderr
    expected = calm.views(without=FOLDERS)
    assert len(expected["requests"]) == 12
    for point, place in places.items():
        assert place.views(without=FOLDERS) == expected, f"killed at {point}"
        assert "2026-11-28" in (place.warehouse.folder / "report" / "index.html").read_text(), f"killed at {point}"
        left = [path.name for path in place.warehouse.folder.rglob("valleywatch-*.tmp")]
        assert left == [], f"killed at {point}"
    # Killed right after the first commit: what was committed is known to be, and adds nothing.
    said = (places["file_committed"].folder / "said").read_text().split()
    assert said == ["already_loaded", "loaded", "loaded", "rejected"]


def test_a_fault_does_nothing_where_none_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(faults.VARIABLE, raising=False)
    faults.reach(faults.POINTS[0])


def test_a_fault_is_refused_outside_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(faults.VARIABLE, faults.POINTS[0])
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    with pytest.raises(UsageError, match="refused outside them: unset it"):
        faults.reach(faults.POINTS[0])
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "this one")


def test_the_command_refuses_a_fault_outside_tests_and_loads_nothing(place: Place) -> None:
    place.write("a.jsonl", ROWS)
    command = [sys.executable, "-m", "pipelines", "ingest", "--config", str(place.config)]
    outside = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    done = subprocess.run(
        command, cwd=REPO, env=outside | {faults.VARIABLE: "file_staged"}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "refused outside them" in done.stderr
    place.ingest()
    assert place.rows("select count(*) as n from requests") == [{"n": 12}]


def test_a_point_that_is_not_listed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(faults.VARIABLE, "after_lunch")
    with pytest.raises(ValueError, match="is no fault point"):
        faults.reach(faults.POINTS[0])
