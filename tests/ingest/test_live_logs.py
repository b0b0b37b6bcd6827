"""Files that somebody may still be writing to: what is complete is loaded, what is not waits, nothing is blamed."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines import ingest
from tests.ingest.test_growth import BAD, DATA, LINES, ids, written
from tests.ingest.test_zstd import pack
from tests.place import PRICE, SOURCE, Place, request

pytestmark = pytest.mark.jobs

NOTHING = [{"n": 0}]


def nothing_recorded(place: Place) -> bool:
    views = ("requests", "quarantine", "ingest_files")
    return all(place.rows(f"select count(*) as n from {view}") == NOTHING for view in views)


def test_the_half_line_of_a_young_file_waits_and_is_loaded_once_it_is_whole(place: Place) -> None:
    written(place, "a.jsonl", DATA[:-30], seconds_ago=5)
    (outcome,) = place.ingest()
    assert (outcome.status, outcome.n_loaded, outcome.n_quarantined) == ("loaded", 11, 0)
    waiting = len(LINES[-1]) - 30
    assert f"its last line, of {waiting} bytes so far, waits for its end" in str(outcome.detail)
    assert place.rows("select lines, waiting_bytes, content_bytes + waiting_bytes as n from ingest_files") == [
        {"lines": 11, "waiting_bytes": waiting, "n": len(DATA) - 30}
    ]
    (again,) = place.ingest()
    assert (again.status, again.n_loaded) == ("deferred", 0)
    assert "taken as it is once untouched for 60 s" in str(again.detail)
    written(place, "a.jsonl", DATA, seconds_ago=1)
    (whole,) = place.ingest()
    assert (whole.status, whole.n_loaded) == ("loaded", 1)
    assert place.rows("select lines, loaded, waiting_bytes from ingest_files") == [
        {"lines": 12, "loaded": 12, "waiting_bytes": 0}
    ]
    assert place.rows("select count(*) as n from quarantine") == NOTHING


@pytest.mark.parametrize(("cut", "loaded"), [(30, 0), (1, 1)], ids=["half a line", "a line without its newline"])
def test_a_last_line_nobody_ends_is_judged_when_the_file_has_settled(place: Place, cut: int, loaded: int) -> None:
    written(place, "a.jsonl", DATA[:-cut], seconds_ago=59)
    place.ingest()
    assert len(ids(place)) == 11
    written(place, "a.jsonl", DATA[:-cut], seconds_ago=60)
    (outcome,) = place.ingest()
    assert outcome.n_loaded == loaded
    assert place.rows("select lines, loaded, quarantined, waiting_bytes from ingest_files") == [
        {"lines": 12, "loaded": 11 + loaded, "quarantined": 1 - loaded, "waiting_bytes": 0}
    ]
    assert [outcome.status for outcome in place.ingest()] == ["already_loaded"]


def test_a_line_judged_in_an_old_file_stays_judged_while_the_file_is_written_to_again(place: Place) -> None:
    written(place, "a.jsonl", DATA[:-30])
    place.ingest()
    before = place.views()
    written(place, "a.jsonl", DATA[:-20], seconds_ago=1)
    assert [outcome.status for outcome in place.ingest()] == ["deferred"]
    assert place.views() == before
    written(place, "a.jsonl", DATA[:-30], seconds_ago=1)
    assert [outcome.status for outcome in place.ingest()] == ["already_loaded"]
    written(place, "a.jsonl", DATA + LINES[0][:9], seconds_ago=1)
    place.ingest()
    assert place.rows("select lines, loaded, quarantined, waiting_bytes from ingest_files") == [
        {"lines": 12, "loaded": 12, "quarantined": 0, "waiting_bytes": 9}
    ]


def test_a_young_file_without_a_whole_line_leaves_no_trace(place: Place) -> None:
    written(place, "a.jsonl", LINES[0][:-1], seconds_ago=0)
    (outcome,) = place.ingest()
    assert outcome.status == "deferred"
    assert nothing_recorded(place)


@pytest.mark.parametrize("packer", [gzip.compress, pack], ids=["gzip", "zstd"])
def test_a_young_packed_file_that_is_cut_waits_and_an_old_one_is_refused(place: Place, packer: object) -> None:
    whole = packer(DATA)  # type: ignore[operator]
    cuts = [*range(4, len(whole) - 12, len(whole) // 10), *range(len(whole) - 10, len(whole))]
    for cut in cuts:
        written(place, f"{cut}.log", whole[:cut], seconds_ago=30)
    outcomes = place.ingest()
    assert [outcome.status for outcome in outcomes] == ["deferred"] * len(cuts)
    assert {str(outcome.detail).split(":")[0].split("_")[1] for outcome in outcomes} == {"truncated"}
    assert nothing_recorded(place)
    for cut in cuts:
        written(place, f"{cut}.log", whole[:cut])
    assert [outcome.status for outcome in place.ingest()] == ["rejected"] * len(cuts)
    assert place.rows("select count(*) as n from requests") == NOTHING
    for cut in cuts:
        written(place, f"{cut}.log", whole, seconds_ago=1)
    place.ingest()
    assert len(ids(place)) == 12


def test_members_appended_to_a_packed_log_go_on_where_it_was_left(place: Place) -> None:
    halves = gzip.compress(DATA[:1000]), gzip.compress(DATA[1000:])
    written(place, "a.log.gz", halves[0], seconds_ago=1)
    place.ingest()
    assert place.rows("select waiting_bytes > 0 as waits, quarantined from ingest_files") == [
        {"waits": True, "quarantined": 0}
    ]
    written(place, "a.log.gz", halves[0] + halves[1][:-3], seconds_ago=1)
    assert [outcome.status for outcome in place.ingest()] == ["deferred"]
    written(place, "a.log.gz", b"".join(halves), seconds_ago=1)
    place.ingest()
    assert len(ids(place)) == 12
    assert place.rows("select lines, loaded, waiting_bytes from ingest_files") == [
        {"lines": 12, "loaded": 12, "waiting_bytes": 0}
    ]


def test_a_table_and_a_document_that_end_too_early_wait_while_they_are_young(place: Place) -> None:
    table = place.folder / "whole.parquet"
    pq.write_table(pa.Table.from_pylist([request(1)]), table)
    place.configure(
        "".join(
            f'[[sources]]\nname = "{name}"\nformat = "{name}"\npath = "logs/{name}"\n'
            for name in ("canonical_parquet", "guidellm")
        )
    )
    contents = {"canonical_parquet": table.read_bytes()[:-9], "guidellm": b'{"benchmarks": [{"requests": '}
    for age_s, status in ((3, "deferred"), (3600, "rejected")):
        for name, content in contents.items():
            written(place, name, content, seconds_ago=age_s)
        assert [outcome.status for outcome in place.ingest()] == [status] * 2


@pytest.mark.parametrize(
    ("settle_s", "seconds_ago", "waits"),
    [(0, 0, False), (600, 599, True), (600, 600, False), (60, -59, True), (60, -3600, False)],
    ids=["never", "longer", "over", "a clock a little ahead", "a clock that is wrong"],
)
def test_how_long_a_file_is_young_is_configured(place: Place, settle_s: int, seconds_ago: int, waits: bool) -> None:
    place.configure(f"{SOURCE}settle_s = {settle_s}\n{PRICE}")
    written(place, "a.jsonl", DATA[:-30], seconds_ago=seconds_ago)
    place.ingest()
    assert place.rows("select waiting_bytes > 0 as waits, quarantined from ingest_files") == [
        {"waits": waits, "quarantined": 0 if waits else 1}
    ]


def test_the_command_says_what_it_left_and_is_content(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """By the real clock: both files were written just now."""
    place.write("a.jsonl", DATA[:-30])
    place.write("b.gz", gzip.compress(BAD)[:-1])
    assert place.valleywatch("ingest") == 0
    said = capsys.readouterr().err
    assert "waits for its end" in said
    assert "b.gz: deferred (gzip_truncated: the stream ends early" in said
    assert "2 files: 11 requests loaded; 0 files known already, 0 rejected, 1 left to the next run" in said


def test_a_file_a_person_names_is_taken_as_it_is(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    path = place.write("a.jsonl", DATA[:-30])
    cut = place.write("b.gz", gzip.compress(BAD)[:-1])
    assert place.valleywatch("ingest", str(path)) == 0
    assert "12 lines = 11 loaded + 0 duplicates + 1 quarantined (1 not_json)" in capsys.readouterr().err
    assert place.valleywatch("ingest", str(cut), "--format", "canonical") == 1
    path.write_bytes(DATA)
    assert place.valleywatch("ingest", str(path)) == 0
    assert "1 more requests loaded" in capsys.readouterr().err


def test_a_file_renamed_into_place_is_loaded_whole(place: Place) -> None:
    aside = place.folder / "a.part"
    aside.write_bytes(DATA[:100])
    place.ingest()
    aside.write_bytes(DATA)
    aside.rename(place.logs / "a.jsonl")
    (outcome,) = place.ingest(datetime.now(UTC))
    assert (outcome.status, outcome.n_loaded) == ("loaded", 12)


@pytest.mark.parametrize("moment", ["before it is looked at", "before it is read"])
def test_a_file_deleted_between_listing_and_reading_is_told_and_recorded_nowhere(
    place: Place, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(place, "a.jsonl", DATA)
    written(place, "b.jsonl", LINES[0])
    look = ingest.part_to_load

    def deleted(*arguments: object, **named: object) -> object:
        if moment == "before it is looked at":
            path.unlink(missing_ok=True)
        found = look(*arguments, **named)  # type: ignore[arg-type]
        path.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(ingest, "part_to_load", deleted)
    outcomes = place.ingest()
    assert [outcome.status for outcome in outcomes] == ["deferred", "loaded"]
    assert str(outcomes[0].detail).startswith("file_missing")
    assert place.rows("select count(*) as n from ingest_files") == [{"n": 1}]


def test_what_is_appended_during_the_read_waits_for_the_next_run(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(place, "a.jsonl", b"".join(LINES[:5]))
    look = ingest.part_to_load

    def appended(*arguments: object, **named: object) -> object:
        found = look(*arguments, **named)  # type: ignore[arg-type]
        with path.open("ab") as file:
            file.write(LINES[5] + LINES[6][:20])
        return found

    monkeypatch.setattr(ingest, "part_to_load", appended)
    (outcome,) = place.ingest()
    assert (outcome.status, outcome.n_lines, outcome.n_loaded) == ("loaded", 5, 5)
    monkeypatch.undo()
    written(place, "a.jsonl", DATA)
    (outcome,) = place.ingest()
    assert outcome.n_loaded == 7
    assert len(ids(place)) == 12


WRITER = """
import os, sys
from tests.place import as_bytes, request

log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
written = 0
for burst in sys.stdin:
    for number in range(written, written + int(burst)):
        line = as_bytes([request(number, timestamp="2026-01-28T10:15:00Z", ttft_ms=250 + number / 1000)])
        os.write(log, line[: number % len(line)])
        if number % 10 == 0:
            os.fsync(log)
        os.write(log, line[number % len(line) :])
        if number == written:
            print("begun", flush=True)
    written += int(burst)
"""
"""Appends as many lines as it is told, in two writes each, and says when it has begun to."""


def test_a_log_read_again_and_again_while_it_is_written_is_loaded_line_by_line_once(place: Place) -> None:
    path = place.logs / "live.jsonl"
    command = [sys.executable, "-c", WRITER, str(path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as writer:
        assert writer.stdout
        assert writer.stdin
        outcomes, n_written = [], 0
        for burst in (1, 2_000, 3_000, 4_000):
            writer.stdin.write(f"{burst}\n")
            writer.stdin.flush()
            n_written += burst
            assert writer.stdout.readline() == "begun\n"
            outcomes += place.ingest(datetime.now(UTC))
        writer.stdin.close()
    outcomes += place.ingest(datetime.now(UTC))
    assert {outcome.status for outcome in outcomes} <= {"loaded", "deferred", "already_loaded"}
    assert sum(outcome.n_loaded for outcome in outcomes) == n_written
    assert place.rows("select count(*) as n, count(distinct request_id) as ids from requests") == [
        {"n": n_written, "ids": n_written}
    ]
    assert place.rows("select lines, loaded, duplicates, quarantined from ingest_files") == [
        {"lines": n_written, "loaded": n_written, "duplicates": 0, "quarantined": 0}
    ]
    assert place.rows("select count(*) as n from quarantine") == NOTHING
