"""SIGKILL at random instants, again and again until the job is through: nothing is lost, doubled or seen half done."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines import queries
from pipelines.warehouse import engine
from tests.conftest import REPO
from tests.place import Place, as_bytes, request

pytestmark = pytest.mark.jobs

VARYING = ("path", "source_file")

KILLER = """
import json, os, random, select, signal, sys, time
from pathlib import Path
import pandas  # pyarrow does so on first use: once here, not in every child
from tests.place import Place

verb, folder, seed, n_kills, lasts = sys.argv[1], Path(sys.argv[2]), *map(float, sys.argv[3:])
dice, kills, codes = random.Random(seed), 0, []

# Children are forked before any engine has run in this process, so that its imports are paid for once.
while True:
    ends, child_ends = os.pipe()
    child = os.fork()
    if child == 0:
        getattr(Place(folder), verb)()
        os._exit(0)
    os.close(child_ends)
    if kills < n_kills:
        # The pipe closes when the child ends: until then its instant is awaited.
        if not select.select([ends], [], [], dice.uniform(0, lasts))[0]:
            os.kill(child, signal.SIGKILL)
            kills += 1
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os.close(ends)
    if codes[-1] != -signal.SIGKILL:
        break
print(json.dumps(codes))
"""
"""Does a verb of Place in a folder, killed up to so many times; says how each attempt ended."""


def killed(verb: str, place: Place, *, seed: int, kills: int, lasts: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-c", KILLER, verb, str(place.folder), str(seed), str(kills), str(lasts)]
    return subprocess.Popen(
        command, env={"PYTHONPATH": str(REPO)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def is_running(process: subprocess.Popen[str]) -> bool:
    """Say whether the process has not ended, waiting for its end a little: asking all the time takes its processor."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=0.05)
    return process.returncode is None


def codes_of(process: subprocess.Popen[str]) -> list[int]:
    said, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    codes: list[int] = json.loads(said)
    assert codes[-1] == 0, errors
    return codes


def forty_logs(folder: Path) -> Place:
    """Forty files that share requests, a third of them packed, and one that is cut."""
    place = Place(folder)
    for number in range(40):
        rows = [request(k, timestamp=f"2026-11-28T{k % 24:02}:15:00Z") for k in range(5 * number, 5 * number + 10)]
        packed = number % 3 == 0
        place.write(f"{number:02}.jsonl", gzip.compress(as_bytes(rows), mtime=0) if packed else as_bytes(rows))
    os.utime(place.write("cut.jsonl", gzip.compress(as_bytes(rows), mtime=0)[:-3]), (0, 0))
    return place


def leftovers(place: Place) -> list[str]:
    folder = place.warehouse.folder
    listed = {row["file"] for row in place.rows("select file from ops.lake_files")}
    unlisted = [path for path in folder.glob("lake/*/*") if str(path.relative_to(folder)) not in listed]
    return [str(path) for path in [*unlisted, *folder.rglob("*.tmp"), *(folder / "tmp").iterdir()]]


@pytest.fixture(scope="module")
def forty_undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    place = forty_logs(tmp_path_factory.mktemp("undisturbed"))
    place.ingest()
    return place.views(without=VARYING)


@pytest.mark.parametrize(
    "rounds",
    [
        pytest.param([8], id="a few"),
        pytest.param([20] * 10, id="two hundred", marks=[pytest.mark.slow, pytest.mark.timeout(1200)]),
    ],
)
def test_an_ingest_killed_at_random_instants_loses_and_doubles_nothing(
    tmp_path: Path, forty_undisturbed: dict[str, list[str]], rounds: list[int]
) -> None:
    n_killed = 0
    for number, kills in enumerate(rounds):
        place = forty_logs(tmp_path / str(number))
        codes = codes_of(killed("ingest", place, seed=number, kills=kills, lasts=1.0))
        n_killed += len(codes) - 1
        (seen,) = place.rows("select count(*) as n, count(distinct request_id) as ids from requests")
        assert seen == {"n": 205, "ids": 205}
        (told,) = place.rows("select sum(loaded)::int as n from ingest_files")
        assert told == {"n": 205}
        files = place.rows("select * from ingest_files where status = 'loaded'")
        assert len(files) == 40
        assert all(row["lines"] == row["loaded"] + row["duplicates"] == 10 for row in files)
        assert place.views(without=VARYING) == forty_undisturbed
        assert leftovers(place) == []
    assert n_killed >= sum(rounds) // 3


@pytest.mark.parametrize(
    ("rounds", "kills"),
    [
        pytest.param(1, 4, id="a few"),
        pytest.param(8, 13, id="a hundred", marks=[pytest.mark.slow, pytest.mark.timeout(1200)]),
    ],
)
def test_a_reader_never_sees_half_of_the_hours_that_a_killed_job_replaces(
    tmp_path: Path, rounds: int, kills: int
) -> None:
    asked = (
        "select count(*) as hours, sum(n_requests)::int as requests, min(n_requests) as least, "
        "max(n_requests) as most, (select count(*) from requests) as rows from hourly_hit_rate"
    )
    old = {"hours": 48, "requests": 96, "least": 2, "most": 2, "rows": 96}
    new = {"hours": 48, "requests": 144, "least": 3, "most": 3, "rows": 144}
    hours = [f"2026-11-{27 + hour // 24}T{hour % 24:02}:15:00Z" for hour in range(48)]
    for number in range(rounds):
        place = Place(tmp_path / str(number))
        place.write("a.jsonl", [request(k, timestamp=hours[k // 2]) for k in range(96)])
        place.settle()
        place.write("b.jsonl", [request(1000 + k, timestamp=hour) for k, hour in enumerate(hours)])
        process = killed("settle", place, seed=number, kills=kills, lasts=4.0)
        polled = []
        while is_running(process):
            polled += place.rows(asked)
        codes_of(process)
        assert all(row in (old, new) for row in polled)
        assert polled[0] == old
        assert place.rows(asked) == [new]
        calm = Place(tmp_path / f"{number} undisturbed")
        for log in place.logs.iterdir():
            calm.write(log.name, log.read_bytes())
        calm.settle()
        assert place.views(without=VARYING) == calm.views(without=VARYING)


class Interrupted(BaseException):
    """Stands for the end of the process at one statement."""


def test_a_layout_is_made_whole_or_not_at_all(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    load, names = queries.load, queries.names("schema")
    for fatal in names:

        def dies(name: str, fatal: str = fatal) -> object:
            if name == fatal:
                raise Interrupted
            return load(name)

        with monkeypatch.context() as dying:
            dying.setattr(queries, "load", dies)
            with pytest.raises(Interrupted):
                place.ingest()
    place.write("a.jsonl", [request(1)])
    place.ingest()
    assert place.rows("select version from ops.schema_version") == [{"version": engine.SCHEMA_VERSION}]


@pytest.fixture(params=[1, -1], ids=["a newer layout", "an older layout"])
def other_layout(request: pytest.FixtureRequest, place: Place, monkeypatch: pytest.MonkeyPatch) -> tuple[Place, int]:
    """A warehouse of another version, whose tables have other columns."""
    version = engine.SCHEMA_VERSION + request.param
    from tests.place import request as row

    place.write("a.jsonl", [row(1)])
    with monkeypatch.context() as other:
        other.setattr(engine, "SCHEMA_VERSION", version)
        place.ingest()
    place.write("b.jsonl", [row(2)])
    return place, version


@pytest.mark.parametrize("command", [["ingest"], ["sql", "select 1"], ["status"], ["report"]], ids=" ".join)
def test_another_layout_is_refused_with_both_versions_and_left_as_it_is(
    other_layout: tuple[Place, int], command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    place, version = other_layout
    database = place.warehouse.folder / "warehouse.duckdb"
    before = database.read_bytes()
    assert place.valleywatch(*command) == 2
    said = capsys.readouterr().err
    assert f"was written by layout {version}, this version reads layout {engine.SCHEMA_VERSION}" in said
    assert ("install the newer valleywatch" in said) is (version > engine.SCHEMA_VERSION)
    assert "move the folder aside and run again to rebuild it from the logs" in said
    assert database.read_bytes() == before


def test_a_warehouse_moved_aside_is_rebuilt_by_the_next_run(other_layout: tuple[Place, int]) -> None:
    place, _ = other_layout
    place.warehouse.folder.rename(place.folder / "aside")
    place.ingest()
    assert place.rows("select count(*) as n from requests") == [{"n": 2}]
