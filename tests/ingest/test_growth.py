"""Logs that are written to, rotated, truncated and replaced while they are read: each line once, and only whole."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import growth, lines, staging
from tests.conftest import REPO
from tests.ingest.test_zstd import pack
from tests.place import NOW, PRICE, SOURCE, Place, as_bytes, request

pytestmark = pytest.mark.jobs

ROWS = [request(number, timestamp=f"2026-11-28T{number:02}:15:00Z", input_tokens=1000 + number) for number in range(12)]
DATA = as_bytes(ROWS)
LINES = DATA.splitlines(keepends=True)
ANONYMOUS = as_bytes({key: value for key, value in row.items() if key != "request_id"} for row in ROWS)
BAD = b"not a line\n"
COUNTS = "select lines, loaded, duplicates, quarantined, blank from ingest_files"


def written(place: Place, name: str, content: bytes, *, seconds_ago: float = 3600) -> Path:
    """Write a log as if that long before NOW."""
    path = place.write(name, content)
    moment = NOW.timestamp() - seconds_ago
    os.utime(path, (moment, moment))
    return path


def seen(place: Place) -> dict[str, list[str]]:
    """All views, but for names and for which content a growing file was first loaded as."""
    found = place.views(without=("path", "source_file", "source_sha256"))
    if any(path.suffix == ".gz" for path in place.logs.iterdir()):
        del found["ingest_files"]  # its sizes are of what is stored
    return found


def ids(place: Place) -> list[str]:
    return [row["request_id"] for row in place.rows("select request_id from requests order by arrived_us")]


def alone(place: Place, name: str, content: bytes) -> dict[str, list[str]]:
    """What readers see when the file is read once, as it is in the end."""
    other = Place(place.folder / "alone", place.config.read_text())
    shutil.rmtree(other.warehouse.folder, ignore_errors=True)
    written(other, name, content)
    other.settle()
    return seen(other)


GROWTHS = {
    "whole lines": (DATA[: len(b"".join(LINES[:5]))], DATA),
    "a bad line in each half": (BAD + LINES[0] + BAD + LINES[1], BAD + LINES[0] + BAD + LINES[1] + BAD + LINES[2]),
    "half a line completed": (DATA[:-30], DATA),
    "half a line that goes on being half": (DATA[:-30], DATA[:-20]),
    "half a line that becomes another bad one": (LINES[0] + b"not a", LINES[0] + BAD + LINES[1]),
    "the newline of a whole line": (DATA[:-1], DATA),
    "that newline as CRLF, and more": (LINES[0] + LINES[1][:-1], LINES[0] + LINES[1][:-1] + b"\r\n" + LINES[2]),
    "the second half of a CRLF": (LINES[0] + LINES[1][:-1] + b"\r", LINES[0] + LINES[1][:-1] + b"\r\n" + LINES[2]),
    "a line that was whole and is spoilt": (LINES[0] + LINES[1][:-1], LINES[0] + LINES[1][:-1] + b"{}\n" + LINES[2]),
    "a line that was whole and gets a space": (ANONYMOUS[:-1], ANONYMOUS[:-1] + b" \n"),
    "a line that was blank": (LINES[0] + b"  ", LINES[0] + b"  \n\n" + LINES[1]),
    "a line that was blank and is one": (LINES[0] + b"  ", LINES[0] + b"  " + LINES[1]),
    "a duplicate completed": (LINES[0] + LINES[0][:-1], LINES[0] + LINES[0] + LINES[1]),
    "a duplicate spoilt": (LINES[0] + LINES[0][:-1], LINES[0] + LINES[0][:-1] + b"x\n" + LINES[1]),
    "lines without an id": (ANONYMOUS[:-40], ANONYMOUS + ANONYMOUS),
    "a mark at the beginning": (b"\xef\xbb\xbf" + LINES[0], b"\xef\xbb\xbf" + LINES[0] + LINES[1]),
    "one byte, then all": (DATA[:1], DATA),
    "nothing, then all": (b"", DATA),
    "a better record of a request": (
        as_bytes([request(1), request(2)]),
        as_bytes([request(1), request(2), request(1, timestamp="2026-11-28T09:00:00Z")]),
    ),
    "a hole that is filled in later": (LINES[0] + b"\0" * 64, LINES[0] + b"\0" * 64 + b"\n" + LINES[1]),
}


def by_file(place: Place) -> dict[str, list[Any]]:
    """What readers see of each log: its counts, its requests and its refused lines."""
    found: dict[str, list[Any]] = {}
    for query in (
        "select path, * exclude (path, size_bytes, loaded_at) from ingest_files where lines > 0",
        "select source_file as path, * exclude (source_file, source_sha256) from requests order by all",
        "select source_file as path, * exclude (source_file) from quarantine order by all",
    ):
        for row in place.rows(query):
            found.setdefault(Path(row.pop("path")).stem, []).append(row)
    return found


def of_its_own(data: bytes, number: int) -> bytes:
    """Let no request of one log be one of another."""
    return data.replace(b'"pool"', b'"pool-%d"' % number)


@pytest.mark.parametrize(
    "store",
    [bytes, pytest.param(gzip.compress, marks=pytest.mark.slow), pytest.param(pack, marks=pytest.mark.slow)],
    ids=["plain", "gzip", "zstd"],
)
def test_a_file_that_has_grown_is_as_if_read_once(place: Place, store: Any) -> None:
    once = Place(place.folder / "once")
    for number, (before, after) in enumerate(GROWTHS.values()):
        written(place, f"{number}.log", store(of_its_own(before, number)))
        written(once, f"{number}.log", store(of_its_own(after, number)))
    place.ingest()
    for number, (_, after) in enumerate(GROWTHS.values()):
        written(place, f"{number}.log", store(of_its_own(after, number)), seconds_ago=1800)
    place.settle()
    once.settle()
    found, expected = by_file(place), by_file(once)
    for number, name in enumerate(GROWTHS):
        assert found[str(number)] == expected[str(number)], name
    marts = [place.views(without=()) for place in (place, once)]
    assert marts[0]["hourly_hit_rate"] == marts[1]["hourly_hit_rate"]
    assert {outcome.status for outcome in place.ingest()} == {"already_loaded"}


log_lines = st.sampled_from(
    [*LINES[:6], *ANONYMOUS.splitlines(keepends=True)[:4], BAD, b"\n", b" \r\n", b"\xff\n", b"{}\r\n"]
)
growing = st.tuples(
    st.lists(log_lines, min_size=2, max_size=12).map(b"".join), st.lists(st.floats(0.05, 1), min_size=3, max_size=3)
)


def check_growing(logs: list[tuple[bytes, list[float]]], age_s: int, block_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", block_bytes)
        place, once = Place(Path(folder) / "place"), Place(Path(folder) / "once")
        contents = [of_its_own(b'{"pool": %d}\n' % number + data, number) for number, (data, _) in enumerate(logs)]
        for step in range(4):
            for number, (data, (_, cuts)) in enumerate(zip(contents, logs, strict=True)):
                end = int(sorted(cuts)[step] * len(data)) if step < 3 else len(data)
                written(place, f"{number}.log", data[:end], seconds_ago=age_s if step < 3 else 3600)
            place.ingest()
        for number, data in enumerate(contents):
            written(once, f"{number}.log", data)
        once.ingest()
        assert by_file(place) == by_file(once)


ages, blocks = st.sampled_from([5, 3600]), st.integers(1, 400)


@settings(max_examples=2)
@given(logs=st.lists(growing, min_size=4, max_size=5), age_s=ages, block_bytes=blocks)
def test_however_it_grows_the_end_is_the_same(
    logs: list[tuple[bytes, list[float]]], age_s: int, block_bytes: int
) -> None:
    check_growing(logs, age_s, block_bytes)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=20)
@given(logs=st.lists(growing, min_size=4, max_size=8), age_s=ages, block_bytes=blocks)
def test_however_many_grow_the_end_is_the_same(
    logs: list[tuple[bytes, list[float]]], age_s: int, block_bytes: int
) -> None:
    check_growing(logs, age_s, block_bytes)


def test_only_the_new_lines_are_judged(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "MIN_SKIPPED_LINES", 8)
    written(place, "a.jsonl", b"".join(LINES[:8]))
    place.ingest()
    judged = []
    read = staging.read_records

    def counted(*arguments: Any) -> Any:
        for block in read(*arguments):
            judged.append(block.n_lines)
            yield block

    monkeypatch.setattr(staging, "read_records", counted)
    written(place, "a.jsonl", DATA)
    (outcome,) = place.ingest()
    assert (judged, outcome.n_loaded) == ([4], 4)
    assert "grown from 8 to 12 lines: 4 more requests loaded" in str(outcome.detail)


def test_numbers_and_offsets_count_from_the_beginning_of_the_file(place: Place) -> None:
    written(place, "a.jsonl", LINES[0] + BAD)
    place.ingest()
    written(place, "a.jsonl", LINES[0] + BAD + LINES[1] + BAD)
    place.ingest()
    first = len(LINES[0])
    assert place.rows("select source_line, byte_offset from quarantine order by all") == [
        {"source_line": 2, "byte_offset": first},
        {"source_line": 4, "byte_offset": first + len(BAD) + len(LINES[1])},
    ]
    assert place.rows("select source_line from requests order by all") == [{"source_line": 1}, {"source_line": 3}]


def csv_of(rows: list[dict[str, Any]]) -> bytes:
    body = "".join(",".join(str(value) for value in row.values()) + "\n" for row in rows)
    return (",".join(rows[0]) + "\n" + body).encode()


@pytest.mark.parametrize("cut", [3, 40, 500, -3, -1])
def test_a_table_that_has_grown_is_as_if_read_once(place: Place, cut: int) -> None:
    """The last cell is a number: cut, it is a number too, and the record that was loaded with it must go."""
    place.configure(SOURCE.replace("canonical", "canonical_csv") + PRICE)
    rows = [{key: value for key, value in row.items() if key != "status"} | {"ttft_ms": 251} for row in ROWS]
    data = csv_of([{key: row[key] for key in (*set(row) - {"ttft_ms"}, "ttft_ms")} for row in rows])
    written(place, "a.csv", data[:cut])
    place.settle()
    written(place, "a.csv", data)
    place.settle()
    assert seen(place) == alone(place, "a.csv", data)
    assert place.rows("select distinct ttft_s from requests") == [{"ttft_s": 0.251}]


@pytest.mark.parametrize("n_bytes", [150, 210, -1])
def test_a_trace_that_has_grown_meets_the_cache_it_had_filled(place: Place, n_bytes: int) -> None:
    place.configure('[[sources]]\nname = "s"\nformat = "mooncake"\npath = "logs/*"\ndeployment = "pool"\n')
    data = b"".join(
        b'{"timestamp": %d, "input_length": 2048, "output_length": 9, "hash_ids": [1, 2, %d, %d]}\n' % (n, n % 3, n % 2)
        for n in range(6)
    )
    written(place, "trace.jsonl", data[:n_bytes])
    place.ingest()
    written(place, "trace.jsonl", data)
    place.ingest()
    once = Place(place.folder / "once", place.config.read_text())
    written(once, "trace.jsonl", data)
    once.ingest()
    assert by_file(place) == by_file(once)
    assert place.rows("select sum(cached_tokens)::bigint > 0 as hits from requests") == [{"hits": True}]


def test_a_record_whose_line_went_on_is_taken_back_even_if_it_named_another_request(place: Place) -> None:
    place.configure(SOURCE.replace("canonical", "canonical_csv") + PRICE)
    head = (
        b"timestamp,deployment,input_tokens,cached_tokens,ttft_ms,request_id\n2026-11-28T10:15:00Z,pool,1000,400,250,"
    )
    written(place, "a.csv", head + b"r-1")
    place.settle()
    assert ids(place) == ["r-1"]
    written(place, "a.csv", head + b"r-17\n")
    place.settle()
    assert ids(place) == ["r-17"]
    assert place.rows(COUNTS) == [{"lines": 1, "loaded": 1, "duplicates": 0, "quarantined": 0, "blank": 0}]
    assert place.rows("select n_requests from hourly_hit_rate") == [{"n_requests": 1}]


def test_new_lines_and_a_declared_unit_come_together(place: Place) -> None:
    epochs = as_bytes(request(number, timestamp=1_795_860_000 + number) for number in range(20, 40))
    written(place, "a.jsonl", LINES[0] + epochs)
    place.settle()
    place.configure(SOURCE + 'epoch_unit = "s"\n' + PRICE)
    written(place, "a.jsonl", LINES[0] + epochs + LINES[1])
    place.settle()
    assert place.rows(COUNTS) == [{"lines": 22, "loaded": 22, "duplicates": 0, "quarantined": 0, "blank": 0}]
    assert place.rows("select * from quarantine") == []
    assert seen(place) == alone(place, "a.jsonl", LINES[0] + epochs + LINES[1])


def test_a_producer_that_changes_its_format_half_way_is_refused_and_what_came_before_stays(place: Place) -> None:
    written(place, "a.jsonl", DATA)
    place.ingest()
    written(place, "a.jsonl", DATA + b'{"renamed": 1}\n' * 100)
    (outcome,) = place.ingest()
    assert outcome.status == "rejected"
    assert "too_many_rejects: 100 of 112 lines are refused" in str(outcome.detail)
    assert len(ids(place)) == 12
    assert place.rows("select status, lines from ingest_files order by all") == [
        {"status": "loaded", "lines": 12},
        {"status": "rejected", "lines": None},
    ]
    written(place, "a.jsonl", DATA + BAD)
    place.ingest()
    assert place.rows("select status, lines from ingest_files") == [{"status": "loaded", "lines": 13}]


def test_of_two_files_that_begin_alike_both_are_kept_whichever_is_read_first(place: Place) -> None:
    """A copy with more in it is another file while the first one stands as it was."""
    for folder, names in (("one", ("a", "b")), ("other", ("b", "a"))):
        here = Place(place.folder / folder)
        contents = {"a": BAD + LINES[0], "b": BAD + LINES[0] + LINES[1]}
        for name in names:
            written(here, f"{name}.jsonl", contents[name])
            here.ingest()
        found = here.rows("select right(path, 7) as file, lines, quarantined from ingest_files order by all")
        assert found == [
            {"file": "a.jsonl", "lines": 2, "quarantined": 1},
            {"file": "b.jsonl", "lines": 3, "quarantined": 1},
        ]
        assert [outcome.status for outcome in here.ingest()] == ["already_loaded"] * 2


def test_a_copy_of_what_a_grown_file_was_adds_nothing(place: Place) -> None:
    written(place, "a.jsonl", BAD + LINES[0])
    place.ingest()
    written(place, "a.jsonl", BAD + LINES[0] + LINES[1])
    place.ingest()
    before = place.views()
    written(place, "copy.jsonl", BAD + LINES[0])
    assert [outcome.status for outcome in place.ingest()] == ["already_loaded"] * 2
    assert place.views() == before


@pytest.mark.parametrize("move", ["renamed", "compressed", "copied and truncated"])
def test_a_log_that_grows_and_is_rotated_goes_on_under_its_new_name(place: Place, move: str) -> None:
    grown, fresh = BAD + b"".join(LINES[:6]), b"".join(LINES[6:8])
    path = written(place, "app.log", BAD + b"".join(LINES[:3]) + LINES[3][:50])
    place.ingest()
    if move == "renamed":
        path.rename(place.logs / "app.log.1")
        written(place, "app.log.1", grown)
    elif move == "compressed":
        path.unlink()
        written(place, "app.log.1.gz", gzip.compress(grown))
    else:
        written(place, "app.log.1", grown)
        os.truncate(path, 0)
    written(place, "app.log", fresh)
    place.ingest()
    assert len(ids(place)) == 8
    assert place.rows("select lines, loaded, quarantined from ingest_files order by lines") == [
        {"lines": 2, "loaded": 2, "quarantined": 0},
        {"lines": 7, "loaded": 6, "quarantined": 1},
    ]
    name = "app.log.1.gz" if move == "compressed" else "app.log.1"
    assert place.rows("select reason, source_line, source_file from quarantine") == [
        {"reason": "not_json", "source_line": 1, "source_file": str(place.logs / name)}
    ]
    for older, newer in (("app.log.1", "app.log.2"), ("app.log.1.gz", "app.log.2.gz"), ("app.log", "app.log.1")):
        if (place.logs / older).exists():
            (place.logs / older).rename(place.logs / newer)
    assert {outcome.status for outcome in place.ingest()} == {"already_loaded"}


def test_a_log_met_while_it_is_copied_and_truncated_is_counted_once(place: Place) -> None:
    path = written(place, "app.log", BAD + DATA)
    place.ingest()
    written(place, "app.log.1", (BAD + DATA)[:900], seconds_ago=1)
    place.ingest()
    assert place.rows("select sum(loaded)::bigint as n, sum(quarantined)::bigint as bad from ingest_files") == [
        {"n": 12, "bad": 2}
    ]
    written(place, "app.log.1", BAD + DATA, seconds_ago=1)
    os.truncate(path, 0)
    path.write_bytes(LINES[0])
    place.ingest()
    assert place.rows("select lines, loaded, duplicates, quarantined from ingest_files order by lines desc") == [
        {"lines": 13, "loaded": 12, "duplicates": 0, "quarantined": 1},
        {"lines": 1, "loaded": 0, "duplicates": 1, "quarantined": 0},
    ]
    assert place.rows("select count(*) as n from quarantine") == [{"n": 1}]


def test_a_file_that_is_replaced_by_another_of_the_same_name_is_new(place: Place) -> None:
    path = written(place, "a.jsonl", b"".join(LINES[:4]))
    place.ingest()
    inode = path.stat().st_ino
    aside = written(place, "aside", b"".join(LINES[6:]))
    os.truncate(path, 0)
    path.write_bytes(aside.read_bytes())
    aside.unlink()
    assert path.stat().st_ino == inode
    place.ingest()
    assert len(ids(place)) == 10
    assert place.rows("select lines from ingest_files order by all") == [{"lines": 4}, {"lines": 6}]


POINTS = ("file_staged", "parquet_aside", "lake_written", "manifest_written", "file_committed")
KILLED = """
import os, sys
from pathlib import Path
import pandas  # pyarrow does so on first use: once here, not in every child
from tests.place import Place

# Children are forked before any engine has run in this process, so that its imports are paid for once.
for argument in sys.argv[1:]:
    folder, _, point = argument.partition(":")
    child = os.fork()
    if child == 0:
        os.environ["VALLEYWATCH_FAULT"] = point
        Place(Path(folder)).settle()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_a_growth_killed_at_any_named_point_is_finished_by_the_next_run(tmp_path: Path) -> None:
    """The beginning's last line was loaded and went on, so that its record is taken back; another is bettered."""
    anonymous = ANONYMOUS.splitlines(keepends=True)[5]
    better = as_bytes([ROWS[0] | {"timestamp": "2026-11-28T00:01:00Z"}])
    before = BAD + LINES[0] + LINES[1] + anonymous[:-1]
    after = before + b" \n" + BAD + LINES[2] + better
    start = Place(tmp_path / "start")
    written(start, "a.jsonl", before)
    start.settle()
    places = {}
    for point in POINTS:
        shutil.copytree(start.folder, tmp_path / point, symlinks=True)
        places[point] = Place(tmp_path / point)
        written(places[point], "a.jsonl", after)
    (start.logs / "a.jsonl").unlink()  # what the copies know the file by: it has moved
    arguments = [f"{place.folder}:{point}" for point, place in places.items()]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], cwd=REPO, capture_output=True, text=True, timeout=110
    )
    assert [int(code) for code in done.stdout.split()] == [-signal.SIGKILL] * len(POINTS), done.stderr
    expected = alone(start, "a.jsonl", after)
    for point, place in places.items():
        place.settle()
        assert seen(place) == expected, f"killed at {point}"
