"""Dagster's history is for people: whatever becomes of it, the data is what it would have been."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from pipelines.faults import VARIABLE
from tests.orchestration.jobs import marts_break_on
from tests.orchestration.services import environment, make_home
from tests.place import Place, request

pytestmark = pytest.mark.jobs


def relative(folder: Path) -> str:
    return "some/where"


def below_a_file(folder: Path) -> str:
    (folder / "file").write_text("")
    return str(folder / "file" / "home")


def damaged(folder: Path) -> str:
    home = make_home(folder / "home")
    with dg.DagsterInstance.from_config(str(home)):
        pass
    for database in home.rglob("*.db"):
        database.write_bytes(b"not a database" * 500)
    return str(home)


def damaged_in_one_table(folder: Path) -> str:
    home = Path(damaged(folder))
    (home / "history" / "runs.db").unlink()
    (home / "schedules" / "schedules.db").unlink()
    return str(home)


@pytest.mark.parametrize("make", [relative, below_a_file, damaged, damaged_in_one_table])
def test_a_history_that_cannot_be_kept_is_told_and_stops_nothing(
    place: Place,
    tmp_path: Path,
    make: Callable[[Path], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    marts_break_on(monkeypatch)
    place.write("a.jsonl", [request(1)])
    home = make(tmp_path)
    monkeypatch.setenv("DAGSTER_HOME", home)
    assert place.valleywatch("run") == 0
    said = capsys.readouterr().err
    assert f"DAGSTER_HOME = {home!r} cannot be kept" in said
    assert "Traceback" not in said
    assert place.rows("select n_requests from hourly_hit_rate") == [{"n_requests": 1}]


def test_a_history_is_kept_where_it_can_be_and_may_be_thrown_away(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marts_break_on(monkeypatch)
    for number in (1, 2):
        home = make_home(tmp_path / f"home-{number}")
        monkeypatch.setenv("DAGSTER_HOME", str(home))
        place.write(f"{number}.jsonl", [request(number)])
        assert place.valleywatch("run") == 0
        with dg.DagsterInstance.from_config(str(home)) as instance:
            assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.SUCCESS]
    assert place.rows("select n_requests from hourly_hit_rate") == [{"n_requests": 2}]


@pytest.mark.dagster
@pytest.mark.timeout(300)
def test_a_killed_run_stays_started_in_the_history_and_stands_in_nobody_s_way(place: Place, tmp_path: Path) -> None:
    place.write("a.jsonl", [request(1)])
    home = make_home(tmp_path / "home")
    command = [sys.executable, "-P", "-m", "pipelines", "run", "--config", str(place.config)]
    killed, again = (
        subprocess.run(
            command, cwd=place.folder, env=environment(place, home) | changes, capture_output=True, timeout=120
        )
        for changes in ({VARIABLE: "marts_judged"}, {})
    )
    assert killed.returncode == -signal.SIGKILL
    assert again.returncode == 0, again.stderr
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert sorted(run.status.value for run in instance.get_runs()) == ["STARTED", "SUCCESS"]
    assert place.rows("select n_requests from hourly_hit_rate") == [{"n_requests": 1}]
