"""Refused lines are judged again under another configuration; of competing records one wins, however packed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.place import PRICE, SOURCE, Place, as_bytes, request

pytestmark = pytest.mark.jobs

EPOCH = [request(number, timestamp=1_795_860_000 + number) for number in range(60)]


def files(place: Place) -> list[dict[str, Any]]:
    return place.rows("select lines, loaded, duplicates, quarantined, blank from ingest_files")


def test_a_declared_unit_rescues_the_lines_it_was_missing_for(place: Place) -> None:
    place.write("a.jsonl", [*EPOCH, request(99)])
    place.ingest()
    assert files(place) == [{"lines": 61, "loaded": 1, "duplicates": 0, "quarantined": 60, "blank": 0}]
    place.configure(SOURCE + 'epoch_unit = "s"\n' + PRICE)
    place.ingest()
    assert files(place) == [{"lines": 61, "loaded": 61, "duplicates": 0, "quarantined": 0, "blank": 0}]
    assert place.rows("select count(*) as n from requests") == [{"n": 61}]
    assert place.rows("select * from quarantine") == []


def test_a_default_deployment_does_not_double_what_was_loaded(place: Place) -> None:
    place.write("a.jsonl", [request(1), request(2, deployment=None)])
    place.ingest()
    place.configure(SOURCE + 'deployment = "named"\n' + PRICE)
    place.ingest()
    assert place.rows("select deployment, request_id from requests order by all") == [
        {"deployment": "named", "request_id": "r-2"},
        {"deployment": "pool", "request_id": "r-1"},
    ]


def test_the_same_configuration_reads_nothing_again(place: Place) -> None:
    place.write("a.jsonl", EPOCH)
    place.ingest()
    before = place.views()
    assert [outcome.status for outcome in place.ingest()] == ["already_loaded"]
    assert place.views() == before


COMPETING = {
    "a success beats the failure it retried": (
        [request(1, status=503, cached_tokens=None, ttft_ms=None), request(1, timestamp="2026-11-28T10:15:05Z")],
        1,
    ),
    "the longer answer is the finished one": ([request(1, output_tokens=1), request(1, output_tokens=384)], 1),
    "of equal answers the earlier arrival counts": ([request(1), request(1, timestamp="2026-11-28T10:14:00Z")], 1),
    "of one arrival the content decides": ([request(1, cached_tokens=900), request(1, cached_tokens=300)], 1),
}


@pytest.mark.parametrize("packaging", ["two files", "two files, later first", "one file", "one file backwards"])
@pytest.mark.parametrize(("rows", "winner"), COMPETING.values(), ids=COMPETING.keys())
def test_one_record_wins_however_the_competing_ones_are_packed(
    place: Place, packaging: str, rows: list[dict[str, Any]], winner: int
) -> None:
    ordered = rows[::-1] if "backwards" in packaging or "later first" in packaging else rows
    if packaging.startswith("one"):
        place.write("a.jsonl", ordered)
        place.ingest()
    else:
        for number, row in enumerate(ordered):
            place.write(f"{number}.jsonl", [row])
            place.ingest()
    found = place.rows("select arrived_us, cached_tokens, output_tokens, outcome from requests")
    place.write("alone.jsonl", [rows[winner]])
    alone = Place(place.folder / "alone")
    alone.write("a.jsonl", [rows[winner]])
    alone.ingest()
    assert found == alone.rows("select arrived_us, cached_tokens, output_tokens, outcome from requests")
    counted = place.rows("select sum(loaded)::bigint as n from ingest_files")
    assert counted == [{"n": 1}]


def test_a_growing_file_reports_only_what_is_new(place: Place) -> None:
    rows = [request(number) for number in range(300)]
    grown = []
    for end in (100, 200, 300):
        place.write("a.jsonl", as_bytes(rows[:end]))
        grown.append(place.ingest()[0].n_loaded)
    assert grown == [100, 100, 100]
    assert place.rows("select lines, loaded, duplicates from ingest_files") == [
        {"lines": 300, "loaded": 300, "duplicates": 0}
    ]
