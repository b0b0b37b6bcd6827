"""SIGTERM and ^C end the job within seconds at a commit, with exit codes of their own; the next run goes on."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

from pipelines.stopping import Stopped, ended_by, heed, listening
from tests.conftest import REPO
from tests.place import Place, request

pytestmark = pytest.mark.jobs

DAYS = ("2026-11-26", "2026-11-27", "2026-11-28")
LIMIT_S = 10.0


def results(place: Place) -> dict[str, list[str]]:
    """All views but the findings, which `settle` does not ask for, and where a row was read."""
    views = place.views(without=("path", "source_file"))
    return {name: rows for name, rows in views.items() if name != "check_findings"}


def three_days(folder: Path) -> Place:
    place = Place(folder)
    for day in DAYS:
        rows = [
            request(number, request_id=f"{day}-{number}", timestamp=f"{day}T{number % 24:02}:15:00Z")
            for number in range(200)
        ]
        place.write(f"{day}.jsonl", rows)
    return place


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    calm = three_days(tmp_path_factory.mktemp("calm"))
    calm.settle()
    return results(calm)


def started(place: Place, *command: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-P", "-m", "pipelines", *command, "--config", str(place.config)]
    environment = os.environ | {"PYTHONPATH": str(REPO)}
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(stream: IO[str] | None, words: str) -> None:
    assert stream is not None
    for line in stream:
        if words in line:
            return
    pytest.fail(f"the process ended without saying {words!r}")


def stopped(process: subprocess.Popen[str], number: signal.Signals) -> str:
    """Send the signal and return what the process said last; it must end within the limit.

    Its own processor seconds are counted: those of the clock depend on what else the machine does.
    """
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    before = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - others.ru_utime - others.ru_stime - before
    assert used < LIMIT_S
    return said.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        pytest.param(signal.SIGTERM, "(day 2 of 3)", id="SIGTERM inside the Dagster job"),
        pytest.param(signal.SIGINT, "reading the sources", id="SIGINT while reading"),
    ],
)
def test_a_stopped_run_says_so_and_the_next_one_ends_where_an_undisturbed_one_would(
    tmp_path: Path, undisturbed: dict[str, list[str]], number: signal.Signals, words: str
) -> None:
    place = three_days(tmp_path)
    process = started(place, "run")
    wait_for(process.stderr, words)
    said = stopped(process, number)
    assert process.returncode == 128 + number
    assert said == f"valleywatch: stopped by {number.name}; what was committed stays, the next run goes on from there"
    place.settle()
    assert results(place) == undisturbed


def test_a_query_that_would_take_hours_is_stopped_too(place: Place) -> None:
    place.write("a.jsonl", [request(1)])
    place.ingest()
    endless = "select sum(a.range * b.range) from range(10000000) a, range(10000000) b"
    process = started(place, "sql", f"select 1; {endless}")
    # There is nothing to wait for: the command is silent until it has the answer. Its imports are over when it maps
    # the snapshot.
    snapshot = str(place.warehouse.snapshot.resolve())
    deadline = time.monotonic() + 30
    while snapshot not in opened_by(process.pid):
        assert time.monotonic() < deadline
        assert process.poll() is None
    assert "stopped by SIGTERM" in stopped(process, signal.SIGTERM)
    assert process.returncode == 143


def opened_by(process_id: int) -> set[str]:
    folder = Path(f"/proc/{process_id}/fd")
    found = set()
    for entry in list(folder.iterdir()):
        try:
            found.add(str(entry.readlink()))
        except FileNotFoundError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_run_stopped_at_twenty_random_instants_loses_nothing(
    tmp_path: Path, undisturbed: dict[str, list[str]]
) -> None:
    calm = three_days(tmp_path / "calm")
    process = started(calm, "run")
    wait_for(process.stderr, "reading the sources")
    before = time.monotonic()
    process.communicate(timeout=120)
    assert process.returncode == 0
    lasts = time.monotonic() - before
    dice, codes = random.Random(5), []
    for round_number in range(20):
        place = three_days(tmp_path / str(round_number))
        process = started(place, "run")
        wait_for(process.stderr, "reading the sources")
        try:
            process.wait(timeout=dice.uniform(0, lasts))
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            stopped(process, signal.SIGTERM)
        codes.append(process.returncode)
        place.settle()
        assert results(place) == undisturbed, codes
    # A signal that meets the interpreter after its work is done ends it as the kernel does: a shell shows 143 as well.
    assert set(codes) <= {0, 143, -signal.SIGTERM}
    assert codes.count(143) >= 10


def be_stopped(ended: threading.Event, *, while_open: bool) -> None:
    """Swallow a signal, as the engine can, wait for whoever ends what is open, then heed it."""
    with listening():
        with ended_by(ended.set):
            if while_open:
                swallow_a_signal()
                assert ended.wait(30)
        if not while_open:
            swallow_a_signal()
        heed()


def swallow_a_signal() -> None:
    with suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


def test_what_swallows_a_signal_and_waits_is_ended_from_outside() -> None:
    ended = threading.Event()
    with pytest.raises(Stopped) as stop:
        be_stopped(ended, while_open=True)
    assert stop.value.signal_number == signal.SIGTERM
    assert ended.is_set()


def test_what_is_over_is_not_ended() -> None:
    ended = threading.Event()
    with pytest.raises(Stopped):
        be_stopped(ended, while_open=False)
    assert not ended.is_set()
