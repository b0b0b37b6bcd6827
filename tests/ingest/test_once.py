"""A request counts once, whatever files carry it, in whatever order, and whatever interrupts the job."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import ingest
from pipelines.errors import DiskFullError
from pipelines.inbox import Found, LocalFile
from pipelines.log_file import LogFile
from pipelines.warehouse import Writer
from tests.conftest import REPO
from tests.place import Place, as_bytes, request

pytestmark = pytest.mark.jobs

ROWS = [request(number, timestamp=f"2026-11-28T{number:02}:15:00Z", input_tokens=1000 + number) for number in range(12)]
DATA = as_bytes(ROWS)


def totals(place: Place) -> dict[str, Any]:
    """What readers see of the requests, and whether the manifest agrees."""
    seen = place.rows(
        "select count(*) as n, count(distinct request_id) as ids, sum(input_tokens) as input from requests"
    )
    manifest = place.rows("select sum(loaded)::bigint as loaded from ingest_files")
    return seen[0] | manifest[0]


ONCE = {"n": 12, "ids": 12, "input": sum(row["input_tokens"] for row in ROWS), "loaded": 12}


def balanced(place: Place) -> bool:
    files = place.rows("select * from ingest_files where lines is not null")
    return all(row["lines"] == row["loaded"] + row["duplicates"] + row["quarantined"] + row["blank"] for row in files)


COPIES = {
    "itself": {"a.jsonl": DATA},
    "a renamed copy": {"b.jsonl": DATA},
    "a gzipped copy": {"a.jsonl.gz": gzip.compress(DATA, 6)},
    "a copy gzipped harder": {"a.1.gz": gzip.compress(DATA, 1), "a.9.gz": gzip.compress(DATA, 9)},
    "a copy in two gzip members": {"a.gz": gzip.compress(DATA[:700]) + gzip.compress(DATA[700:])},
    "its two halves": {"b.jsonl": as_bytes(ROWS[:5]), "c.jsonl": as_bytes(ROWS[5:])},
    "itself twice in one file": {"b.jsonl": DATA + DATA},
    "itself backwards": {"b.jsonl": as_bytes(ROWS[::-1])},
    "a copy with blank lines": {"b.jsonl": DATA.replace(b"\n", b"\n\n")},
    "a copy with CRLF": {"b.jsonl": DATA.replace(b"\n", b"\r\n")},
    "a copy with a mark at its beginning": {"b.jsonl": b"\xef\xbb\xbf" + DATA},
    "a copy without its last newline": {"b.jsonl": DATA.rstrip()},
    "a copy with other spaces": {"b.jsonl": DATA.replace(b": ", b":")},
}


@pytest.mark.parametrize("copies", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("together", [True, False], ids=["in one run", "in a later run"])
def test_a_copy_adds_nothing(place: Place, copies: dict[str, bytes], together: bool) -> None:
    place.write("a.jsonl", DATA)
    if not together:
        place.ingest()
    for name, data in copies.items():
        place.write(name, data)
    place.ingest()
    assert totals(place) == ONCE
    assert balanced(place)


ANONYMOUS = as_bytes({key: value for key, value in row.items() if key != "request_id"} for row in ROWS)


@pytest.mark.parametrize(
    "copy",
    [
        ANONYMOUS.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + ANONYMOUS,
        ANONYMOUS.rstrip(),
        ANONYMOUS + ANONYMOUS,
        as_bytes([{"timestamp": "2026-11-28T00:00:00Z", "input_tokens": -1}]) + ANONYMOUS,
    ],
    ids=["with CRLF", "with a mark at its beginning", "without its last newline", "twice", "after another line"],
)
def test_a_line_without_a_request_id_is_known_by_its_content(place: Place, copy: bytes) -> None:
    place.write("a.jsonl", ANONYMOUS)
    place.write("b.jsonl", copy)
    place.ingest()
    assert totals(place) == ONCE


def test_a_file_that_grows_adds_its_new_lines_alone(place: Place) -> None:
    place.write("a.jsonl", as_bytes(ROWS[:7]))
    place.settle()
    place.write("a.jsonl", DATA)
    place.settle()
    assert totals(place) == ONCE
    assert balanced(place)


def test_the_same_id_in_two_deployments_is_two_requests(place: Place) -> None:
    place.write("a.jsonl", [request(1, deployment="one"), request(1, deployment="two")])
    place.settle()
    assert place.rows("select count(*) as n from requests") == [{"n": 2}]


@pytest.mark.parametrize("order", [("early", "late"), ("late", "early")], ids=" then ".join)
def test_of_two_records_of_one_request_the_earlier_arrival_counts(place: Place, order: tuple[str, str]) -> None:
    records = {
        "early": request(1, timestamp="2026-11-28T09:59:59Z", input_tokens=111, cached_tokens=11),
        "late": request(1, timestamp="2026-11-28T10:00:01Z", input_tokens=222, cached_tokens=22),
    }
    for name in order:
        place.write(f"{name}.jsonl", [records[name]])
        place.settle()
    assert place.rows("select input_tokens from requests") == [{"input_tokens": 111}]
    hours = place.rows("select hour_utc, n_requests, input_tokens from hourly_hit_rate")
    assert [(row["hour_utc"].hour, row["n_requests"], row["input_tokens"]) for row in hours] == [(9, 1, 111)]
    files = place.rows("select path, loaded, duplicates from ingest_files order by path")
    assert [(Path(row["path"]).stem, row["loaded"], row["duplicates"]) for row in files] == [
        ("early", 1, 0),
        ("late", 0, 1),
    ]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first first", "second first"])
def test_of_two_records_of_one_instant_the_same_one_counts_in_either_order(
    place: Place, order: tuple[int, int]
) -> None:
    contents = [as_bytes([request(1, input_tokens=500 + number)]) for number in range(2)]
    for number in order:
        place.write(f"{number}.jsonl", contents[number])
        place.settle()
    assert place.rows("select input_tokens from requests") == [{"input_tokens": 500}]


# Records of few requests, at moments around an hour and a day, so that files overlap and disagree.
records = st.builds(
    lambda number, moment, tokens: request(number, timestamp=moment, input_tokens=tokens, cached_tokens=tokens // 3),
    st.integers(1, 5),
    st.sampled_from(
        ["2026-11-26T23:59:59Z", "2026-11-27T23:59:59.9Z", "2026-11-28T00:00:00Z", "2026-11-28T00:59:59Z",
         "2026-11-28T01:00:00Z"]
    ),
    st.integers(1, 4).map(lambda thousands: 1000 * thousands),
)  # fmt: skip
bad = st.just({"timestamp": "2026-11-28T00:00:00Z", "input_tokens": -1})
overlapping = st.lists(st.lists(records | records | records | bad, min_size=1, max_size=6), min_size=4, max_size=5)


@settings(max_examples=2, deadline=None)
@given(files=overlapping, dice=st.randoms(use_true_random=False))
def test_results_are_a_function_of_the_set_of_lines(files: list[list[dict[str, Any]]], dice: Any) -> None:
    require_a_function_of_the_set_of_lines(files, dice)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=15, deadline=None)
@given(files=overlapping, dice=st.randoms(use_true_random=False))
def test_results_are_a_function_of_many_sets_of_lines(files: list[list[dict[str, Any]]], dice: Any) -> None:
    require_a_function_of_the_set_of_lines(files, dice)


def require_a_function_of_the_set_of_lines(files: list[list[dict[str, Any]]], dice: Any) -> None:
    """One by one in a random order, each followed by the whole job, against all at once."""
    # A line of its own keeps two files from being one content under two names.
    contents = {
        f"{number}.jsonl": as_bytes([*rows, request(100 + number, timestamp="2026-11-28T05:00:00Z")])
        for number, rows in enumerate(files)
    }
    with tempfile.TemporaryDirectory() as scratch:
        by_and_by = at_once = Place(Path(scratch) / "place")
        order = list(contents)
        dice.shuffle(order)
        for name in order:
            by_and_by.write(name, contents[name])
            by_and_by.settle()
        found = results(by_and_by)
        assert balanced(by_and_by)
        by_and_by.warehouse.folder.rename(Path(scratch) / "aside")
        at_once.settle()
        assert found == results(at_once)


def results(place: Place) -> tuple[Any, ...]:
    """All views but for which of several files with the same record is credited with it."""
    lineage = ("source_file", "source_line", "source_sha256", "loaded", "duplicates")
    return place.views(without=lineage), place.rows("select sum(loaded), sum(duplicates) from ingest_files")


def test_a_day_that_lost_its_only_request_leaves_nothing_behind(place: Place) -> None:
    place.write("a.jsonl", [request(1, timestamp="2026-11-28T00:00:00Z")])
    place.settle()
    place.write("b.jsonl", [request(1, timestamp="2026-11-27T23:00:00Z")])
    place.settle()
    dated = place.rows("""
      select table_name as view, column_name as day
      from information_schema.columns
      where table_schema = 'main' and column_name in ('day_utc', 'hour_utc', 'minute_utc')
    """)
    left = {
        row["view"]: place.rows(f"select distinct {row['day']}::date::varchar as day from {row['view']}")
        for row in dated
    }
    assert {"hourly_hit_rate", "throughput_curve", "valley_status", "check_findings"} <= left.keys()
    assert {view: days for view, days in left.items() if days not in ([], [{"day": "2026-11-27"}])} == {}


def test_a_file_rejected_once_is_loaded_when_it_is_repaired(place: Place) -> None:
    whole = gzip.compress(DATA)
    place.write("a.gz", whole[:-5])
    assert place.ingest()[0].status == "rejected"
    assert place.rows("select status, reason, lines, loaded from ingest_files") == [
        {"status": "rejected", "reason": "gzip_truncated", "lines": None, "loaded": 0}
    ]
    assert place.rows("select count(*) as n from requests") == [{"n": 0}]
    place.write("a.gz", whole)
    place.settle()
    assert totals(place) == ONCE
    assert place.rows("select status, loaded from ingest_files") == [{"status": "loaded", "loaded": 12}]
    assert place.rows("select count(*) as n from quarantine") == [{"n": 0}]


def test_a_rejected_file_is_looked_at_again_and_recorded_once(place: Place) -> None:
    place.write("a.gz", gzip.compress(DATA)[:-5])
    for _ in range(3):
        place.ingest()
    assert place.rows("select count(*) as n from ingest_files") == [{"n": 1}]
    assert place.rows("select reason, source_line from quarantine") == [
        {"reason": "gzip_truncated", "source_line": None}
    ]


@pytest.mark.parametrize(
    ("n_bad", "n_good", "rejected"),
    [(99, 0, False), (100, 0, True), (100, 1900, False), (101, 1899, True), (0, 10, False)],
    ids=["few lines, all bad", "a hundred bad", "five percent", "over five percent", "all good"],
)
def test_a_file_of_too_many_rejects_is_rejected_as_a_whole(
    place: Place, n_bad: int, n_good: int, rejected: bool
) -> None:
    good = [request(number) for number in range(n_good)]
    place.write("a.jsonl", as_bytes(good) + b'{"renamed": 1}\n' * n_bad)
    (outcome,) = place.ingest()
    assert (outcome.status == "rejected") is rejected
    assert place.rows("select count(*) as n from requests") == [{"n": 0 if rejected else n_good}]
    if rejected:
        (row,) = place.rows("select reason, detail from ingest_files")
        assert row["reason"] == "too_many_rejects"
        assert (
            f"{n_bad:,} of {n_bad + n_good:,} lines are refused, {n_bad:,} of them for missing_timestamp"
            in row["detail"]
        )
        assert "see `valleywatch formats`" in row["detail"]


def test_a_bad_file_does_not_stop_the_others(place: Place) -> None:
    place.write("a.gz", gzip.compress(DATA)[:-5])
    place.write("b.jsonl", DATA)
    place.write("c.zst", b"\x28\xb5\x2f\xfd123")
    assert [outcome.status for outcome in place.settle()] == ["rejected", "loaded", "rejected"]
    assert totals(place) == ONCE


def test_a_file_replaced_between_the_two_passes_is_left_to_the_next_run(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place.write("a.jsonl", as_bytes(ROWS[:6]))
    look = ingest.part_to_load

    def then_replaced(writer: Writer, log: LogFile, *arguments: Any, **named: Any) -> Any:
        found = look(writer, log, *arguments, **named)
        path.write_bytes(as_bytes(ROWS[::-1]))
        return found

    monkeypatch.setattr(ingest, "part_to_load", then_replaced)
    (outcome,) = place.ingest()
    assert outcome.status == "deferred"
    assert outcome.detail is not None
    assert outcome.detail.startswith("changed_while_reading")
    for view in ("requests", "quarantine", "ingest_files"):
        assert place.rows(f"select count(*) as n from {view}") == [{"n": 0}]
    monkeypatch.undo()
    place.settle()
    assert totals(place) == ONCE


@pytest.mark.parametrize("table", ["ops.lake_files", "ops.dirty_hours", "ops.ingest_files"])
def test_a_load_that_fails_half_way_leaves_nothing_to_be_seen(
    place: Place, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("a.jsonl", DATA + b"not a line\n")
    insert = Writer.insert_rows

    def fails(self: Writer, into: str, rows: Any) -> None:
        insert(self, into, rows)
        if into == table:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Writer, "insert_rows", fails)
    with pytest.raises(DiskFullError, match="No space left"):
        place.ingest()
    monkeypatch.undo()
    with place.warehouse.writer() as writer:
        writer.publish()
    for view in ("requests", "quarantine", "ingest_files"):
        assert place.rows(f"select * from {view}") == []
    place.settle()
    assert totals(place) == ONCE


def test_a_file_gone_between_listing_and_reading_is_said(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.write("a.jsonl", DATA)
    monkeypatch.setattr("pipelines.ingest.find_files", lambda *_: Found((LocalFile(path),)))
    path.unlink()
    (outcome,) = place.ingest()
    assert outcome.status == "deferred"
    assert outcome.detail is not None
    assert outcome.detail.startswith("file_missing")


def test_names_that_are_no_text_are_loaded_and_shown_as_escapes(place: Place) -> None:
    with open(os.fsencode(place.logs) + b"/\xff\n.jsonl", "wb") as file:  # noqa: PTH123 — bytes are no Path
        file.write(DATA)
    place.settle()
    assert totals(place) == ONCE
    assert {row["source_file"] for row in place.rows("select source_file from requests")} == {
        f"{place.logs}/\\xff\n.jsonl"
    }
    assert place.settle()[0].status == "already_loaded"


KILLER = """
import os, signal, sys
from pathlib import Path
from pipelines.warehouse import disk, snapshots, writer
from pipelines.warehouse import Writer
from tests.place import Place

done, fatal = 0, 0

def counted(call):
    def wrapper(*arguments, **named):
        global done
        done += 1
        if done == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)
    return wrapper

for name in ("run", "insert", "insert_rows", "insert_frame", "write_parquet", "publish"):
    setattr(Writer, name, counted(getattr(Writer, name)))
snapshots.sync_rename = writer.sync_rename = counted(disk.sync_rename)
disk.os.fsync = counted(os.fsync)

# Children are forked before any engine has run in this process, so that its imports are paid for once.
for argument in sys.argv[1:]:
    folder, fatal = argument.rsplit(":", 1)
    fatal = int(fatal)
    child = os.fork()
    if child == 0:
        Place(Path(folder)).settle()
        print(done, flush=True)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Does the whole job in each folder, killed as a process at the operation named after the colon; 0 kills never."""
FOLDERS = ("path", "source_file")


def overlapping_logs(place: Place) -> Place:
    place.write("a.jsonl", as_bytes(ROWS[:8]))
    place.write("b.jsonl.gz", gzip.compress(as_bytes(ROWS[4:])))
    earlier = [row | {"timestamp": "2026-11-27T23:59:00Z", "input_tokens": 1} for row in ROWS[:3]]
    place.write("c.jsonl", as_bytes(earlier) + b"not a line\n")
    return place


def killed(*jobs: tuple[Place, int]) -> list[int]:
    """Return what the processes printed and their exit codes."""
    arguments = [f"{place.folder}:{operation}" for place, operation in jobs]
    command = [sys.executable, "-c", KILLER, *arguments]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


@pytest.mark.parametrize("kills", [3, pytest.param(24, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
def test_a_job_killed_at_any_operation_is_finished_by_the_next(tmp_path: Path, kills: int) -> None:
    calm = overlapping_logs(Place(tmp_path / "undisturbed"))
    operations, code = killed((calm, 0))
    assert code == 0
    expected = calm.views(without=FOLDERS)
    moments = [1 + kill * (operations - 1) // (kills - 1) for kill in range(kills)]
    places = [overlapping_logs(Place(tmp_path / f"killed-{moment}")) for moment in moments]
    assert killed(*zip(places, moments, strict=True)) == [-signal.SIGKILL] * kills
    for place, moment in zip(places, moments, strict=True):
        place.settle()
        assert place.views(without=FOLDERS) == expected, f"killed at operation {moment} of {operations}"
        assert balanced(place)


def test_two_ingests_at_once_lose_nothing_and_double_nothing(place: Place) -> None:
    for part in range(6):
        rows = [request(number, input_tokens=1000) for number in range(1000 * part, 1000 * part + 1500)]
        place.write(f"{part}.jsonl", rows)
    command = [sys.executable, "-m", "pipelines", "ingest", "--config", str(place.config)]
    both = [
        subprocess.Popen(command, cwd=REPO, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    errors = [process.communicate(timeout=60)[1] for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 0], [0, 75]), errors
    if codes == [0, 75]:
        assert any("is being written by process" in error for error in errors)
    place.settle()
    assert place.rows("select count(*) as n, count(distinct request_id) as ids from requests") == [
        {"n": 6500, "ids": 6500}
    ]
    assert balanced(place)


def test_a_lock_left_behind_by_a_killed_process_does_not_hold(place: Place) -> None:
    place.ingest()
    (place.warehouse.folder / "writer.lock").write_text("1")
    place.write("a.jsonl", DATA)
    place.settle()
    assert totals(place) == ONCE
