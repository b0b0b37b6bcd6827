"""Bug reports D 29 to 37: a bad line is reported and costs itself alone, a bad file costs itself alone."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from tests.place import ABSENT, Place, as_bytes, request

GOOD = [as_bytes([request(number)]) for number in range(5)]
N_REQUESTS = "select count(*) as n, count(arrived_us) as n_timed from requests"


def refused(place: Place) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in place.rows("select source_line, reason from quarantine order by all")]


def test_super_4546_half_a_line_is_one_reject_and_no_row_of_nulls(place: Place) -> None:
    place.write("a.jsonl", b"".join(GOOD) + b'{"ts":5,"input_to')
    (outcome,) = place.ingest()
    assert (outcome.n_lines, outcome.n_loaded, outcome.n_quarantined) == (6, 5, 1)
    assert place.rows(N_REQUESTS) == [{"n": 5, "n_timed": 5}]
    assert refused(place) == [(6, "not_json")]


@pytest.mark.parametrize("trailer", [b"TRAILER", b'{"a": 2}', b" ]", b"\0"])
def test_duckdb_23120_a_record_with_something_after_it_is_one_reject(place: Place, trailer: bytes) -> None:
    place.write("a.jsonl", GOOD[0] + GOOD[1].rstrip() + trailer + b"\n" + GOOD[2])
    place.ingest()
    assert place.rows(N_REQUESTS) == [{"n": 2, "n_timed": 2}]
    assert refused(place) == [(2, "not_json")]


def test_mimic_fhir_119_half_a_gzip_is_said_and_harms_no_other_file(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = gzip.compress(as_bytes(request(number) for number in range(5, 500)))
    place.write("a.jsonl.gz", packed[: len(packed) // 2])
    place.write("b.jsonl", b"".join(GOOD))
    assert place.valleywatch("ingest") == 1
    assert "a.jsonl.gz: rejected (gzip_truncated: the stream ends early after " in capsys.readouterr().err
    place.ingest()
    assert place.rows(N_REQUESTS) == [{"n": 5, "n_timed": 5}]
    assert refused(place) == [(None, "gzip_truncated")]
    place.write("a.jsonl.gz", packed)
    place.ingest()
    assert place.rows(N_REQUESTS) == [{"n": 500, "n_timed": 500}]
    assert refused(place) == []


def test_codexbar_2168_the_unfinished_line_of_a_growing_file_becomes_its_row_once(place: Place) -> None:
    place.write("a.jsonl", GOOD[0] + GOOD[1] + GOOD[2][:40])
    (first,) = place.ingest()
    assert (first.n_lines, first.n_loaded, first.n_quarantined) == (3, 2, 1)
    place.write("a.jsonl", b"".join(GOOD[:3]))
    (second,) = place.ingest()
    assert (second.n_lines, second.n_loaded, second.n_duplicates, second.n_quarantined) == (3, 1, 2, 0)
    assert place.rows(N_REQUESTS) == [{"n": 3, "n_timed": 3}]


def test_codexbar_2168_a_whole_last_line_counts_without_its_newline(place: Place) -> None:
    place.write("a.jsonl", b"".join(GOOD[:3]).rstrip())
    place.ingest()
    assert place.rows(N_REQUESTS) == [{"n": 3, "n_timed": 3}]


def test_ax_1159_a_line_of_40_megabytes_stops_nothing_then_or_later(place: Place) -> None:
    giant = as_bytes([request(9, note="x" * 40_000_000)])
    place.write("a.jsonl", giant + GOOD[0])
    (outcome,) = place.ingest()
    assert (outcome.n_lines, outcome.n_loaded, outcome.n_quarantined) == (2, 1, 1)
    assert refused(place) == [(1, "line_too_long")]
    assert [outcome.status for outcome in place.ingest()] == ["already_loaded"]
    place.write("a.jsonl", giant + GOOD[0] + GOOD[1])
    (later,) = place.ingest()
    assert (later.n_loaded, later.n_duplicates, later.n_quarantined) == (1, 1, 1)
    assert place.rows(N_REQUESTS) == [{"n": 2, "n_timed": 2}]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_ragflow_19179_a_byte_order_mark_line_ends_and_a_blank_line_lose_no_record(place: Place, end: bytes) -> None:
    place.write("a.jsonl", b"\xef\xbb\xbf" + end.join([GOOD[0].rstrip(), b"", GOOD[1].rstrip(), b""]))
    (outcome,) = place.ingest()
    assert (outcome.n_lines, outcome.n_loaded, outcome.n_blank) == (3, 2, 1)


def test_duckdb_7766_a_key_that_first_occurs_after_30000_lines_is_seen(place: Place) -> None:
    rows = [request(number, cached_tokens=ABSENT) for number in range(30_000)]
    place.write("a.jsonl", [*rows, request(30_000, cached_tokens=3)])
    place.ingest()
    assert place.rows("select count(*) as n, sum(cached_tokens)::bigint as cached from requests") == [
        {"n": 30_001, "cached": 3}
    ]
