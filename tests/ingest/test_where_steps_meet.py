"""Growth, second readings, merged lake files and copies meet: what one step relies on, no other takes away."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import polars as pl
import pytest

from pipelines import growth
from pipelines.errors import ValleywatchError
from pipelines.ingest import ingest_sources
from pipelines.lake import MERGED_FILES
from pipelines.settings import load_settings
from tests.place import NOW, PRICE, SOURCE, Place, as_bytes, request

pytestmark = pytest.mark.jobs

NAIVE = "2026-11-28T10:15:00"
UTC = SOURCE + 'timezone = "UTC"\n'
COUNTS = "select path, lines, loaded + duplicates + quarantined + blank as parts from ingest_files where lines > 0"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def old(path: Path) -> Path:
    os.utime(path, (0, 0))
    return path


def add_up(place: Place) -> bool:
    return all(row["lines"] == row["parts"] for row in place.rows(COUNTS))


def test_two_files_read_again_with_the_same_settings_are_both_in_the_lake(place: Place) -> None:
    for name, first in (("a", 0), ("b", 100)):
        old(place.write(f"{name}.jsonl", [request(first + k, timestamp=NAIVE) for k in range(10)]))
    place.ingest()
    place.configure(UTC + PRICE)
    place.settle()
    assert place.rows("select count(*) as n, count(distinct request_id) as ids from requests") == [{"n": 20, "ids": 20}]
    assert add_up(place)


def test_a_file_whose_format_is_put_right_adds_up(place: Place) -> None:
    header = "timestamp,request_id,deployment,input_tokens,cached_tokens\n"
    rows = "".join(f"2026-11-28T10:15:00Z,r-{k},pool,1000,400\n" for k in range(5))
    old(place.write("a.jsonl", (header + rows).encode()))
    place.ingest()
    place.configure(SOURCE.replace('"canonical"', '"canonical_csv"') + PRICE)
    place.ingest()
    assert place.rows("select lines, loaded, quarantined, format from ingest_files") == [
        {"lines": 5, "loaded": 5, "quarantined": 0, "format": "canonical_csv"}
    ]
    assert add_up(place)


def test_a_file_read_again_is_read_whole_whatever_beginning_of_it_is_known(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "MIN_SKIPPED_LINES", 1)
    lines = [request(k, timestamp=NAIVE) for k in range(15)]
    for folder in ("one", "two"):
        (place.folder / folder).mkdir()
    one, two = (SOURCE.replace("logs/*", f"{name}/*").replace('"gateway"', f'"{name}"') for name in ("one", "two"))
    zone = 'timezone = "UTC"\n'
    (place.folder / "one" / "a.jsonl").write_bytes(as_bytes(lines[:10]))
    (place.folder / "two" / "b.jsonl").write_bytes(as_bytes(lines))
    place.configure(one + zone + two + PRICE)
    place.ingest()
    (place.folder / "one" / "a.jsonl").unlink()
    place.configure(two + zone + PRICE)
    place.ingest()
    assert place.rows("select count(*) as n, count(distinct request_id) as ids from requests") == [{"n": 15, "ids": 15}]
    assert place.rows("select lines, loaded, duplicates from ingest_files where ends_with(path, 'b.jsonl')") == [
        {"lines": 15, "loaded": 5, "duplicates": 10}
    ]
    assert add_up(place)


@pytest.mark.parametrize("way", ["merged", "superseded"])
def test_a_damaged_lake_file_is_named_before_its_rows_move_to_another(place: Place, way: str) -> None:
    for number in range(MERGED_FILES - 1):
        old(place.write(f"{number}.jsonl", [request(10 * number + k) for k in range(10)]))
    place.ingest()
    victim = sorted((place.warehouse.folder / "lake").glob("*/*.parquet"))[0]
    victim.chmod(0o600)
    spoilt = pl.read_parquet(victim).with_columns(pl.col("input_tokens") * 1000)
    spoilt.write_parquet(victim)
    again = spoilt["request_id"][0].removeprefix("r-") if way == "superseded" else 10_000
    changes = {"timestamp": "2026-11-28T09:00:00Z"} if way == "superseded" else {}
    old(place.write("more.jsonl", [request(int(again), **changes)]))
    with pytest.raises(ValleywatchError, match="is not what was written"):
        place.ingest()


def test_what_is_published_can_be_read_while_a_new_beginning_is_made_from_the_logs(place: Place) -> None:
    for number in range(MERGED_FILES):
        old(place.write(f"{number}.jsonl", [request(10 * number + k) for k in range(10)]))
        if number == MERGED_FILES - 2:
            place.settle()
    assert place.valleywatch("rebuild", "--from-logs") == 0
    assert place.valleywatch("ingest") == 0
    assert place.valleywatch("sql", "select count(*) from requests where input_tokens > 0") == 0


def test_a_question_asked_of_a_file_is_asked_of_all_of_it_as_it_grows(place: Place) -> None:
    fast = [request(k, ttft_ms=0.2, e2e_ms=0.9) for k in range(30)]
    for end in (15, 30):
        old(place.write("a.jsonl", fast[:end]))
        (outcome,) = place.ingest()
    assert str(outcome.detail).startswith("latency_unit_implausible")


def test_a_declared_column_that_only_the_new_lines_lack_is_no_fault(place: Place) -> None:
    place.configure(SOURCE + '[sources.columns]\ncached_tokens = "hits"\n' + PRICE)
    rows = [{**request(k), "hits": 400} for k in range(1100)] + [request(2000 + k) for k in range(5)]
    for end in (1100, 1105):
        old(place.write("a.jsonl", rows[:end]))
        (outcome,) = place.ingest()
    assert outcome.status == "loaded"
    assert add_up(place)


def test_one_odd_line_at_the_end_of_a_long_log_says_nothing_about_its_epoch(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "MIN_SKIPPED_LINES", 50)
    place.configure(SOURCE + 'epoch_unit = "ms"\n' + PRICE)
    rows = [request(k, timestamp=1764000000000 + k) for k in range(50)]
    old(place.write("a.jsonl", rows))
    place.ingest()
    old(place.write("a.jsonl", [*rows, request(50, timestamp=1764000000)]))
    (outcome,) = place.ingest()
    assert (outcome.status, outcome.n_loaded, outcome.n_quarantined) == ("loaded", 0, 1)
    assert add_up(place)


def test_a_session_may_publish_as_often_as_it_likes(place: Place) -> None:
    place.write("a.jsonl", [request(k) for k in range(10)])
    settings = load_settings(place.config)
    with place.warehouse.writer() as writer:
        for number in range(5):
            place.write(f"b{number}.jsonl", [request(3, timestamp=f"2026-11-28T0{9 - number}:00:00Z")])
            ingest_sources(writer, settings, NOW, lambda _line: None)
            writer.publish()
            writer.publish()
    assert place.rows("select count(*) as n, min(arrived_at)::varchar as first from requests") == [
        {"n": 10, "first": "2026-11-28 05:00:00"}
    ]


def test_a_refusal_that_was_a_slip_of_the_configuration_goes_with_it(place: Place) -> None:
    old(place.write("a.jsonl", [request(1), request(2, input_tokens=-1)]))
    seen = []
    for slip in ("", '[sources.columns]\nsession_id = "nowhere"\n', ""):
        place.configure(SOURCE + slip + PRICE)
        place.ingest()
        seen.append(place.rows("select status from ingest_files order by status"))
    loaded, rejected = {"status": "loaded"}, {"status": "rejected"}
    assert seen == [[loaded], [loaded, rejected], [loaded]]


def test_a_refusal_that_is_over_is_gone(place: Place) -> None:
    whole = as_bytes([request(k) for k in range(20)])
    old(place.write("a.jsonl", whole))
    old(place.write("b.jsonl.gz", b"\x1f\x8b" + b"cut"))
    assert [outcome.status for outcome in place.ingest()] == ["loaded", "rejected"]
    old(place.write("b.jsonl.gz", whole))
    place.ingest()
    assert place.rows("select path from ingest_files where status = 'rejected'") == []
    assert place.rows("select reason from quarantine") == []


def test_a_file_refused_for_another_reason_says_the_new_one(place: Place) -> None:
    rows = [request(k, timestamp=1764000000 + k, cached_tokens=1500) for k in range(40)]
    old(place.write("a.jsonl", rows))
    reasons = []
    for declared in ('epoch_unit = "ms"\n', 'epoch_unit = "s"\n'):
        place.configure(SOURCE + declared + PRICE)
        place.ingest()
        reasons += [row["reason"] for row in place.rows("select reason from quarantine")]
    assert reasons == ["epoch_unit_implausible", "cached_tokens_exceed_input_tokens"]


def test_a_copy_is_not_read_again_after_its_original_has_grown(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [request(k) for k in range(20)]
    original = old(place.write("a.jsonl", rows[:10]))
    old(Path(shutil.copy(original, place.logs / "b.jsonl")))
    place.ingest()
    old(place.write("a.jsonl", rows))
    place.ingest()
    looked: list[str] = []
    monkeypatch.setattr("pipelines.ingest.part_to_load", lambda _writer, log, *_, **__: looked.append(log.name))
    assert {outcome.status for outcome in place.ingest()} == {"already_loaded"}
    assert looked == []


def test_a_run_with_nothing_but_a_file_at_work_asks_for_another_run(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write("a.jsonl.gz", b"\x1f\x8b\x08")
    assert place.valleywatch("run") == 75
    assert "still being written" in capsys.readouterr().err
