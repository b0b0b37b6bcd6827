"""No text of prompts or answers is stored: not of requests, not of refused lines, not of refused files."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pipelines.declarations import Declarations
from pipelines.formats import formats
from pipelines.settings import source_from
from tests.place import EXCERPTS, NOW, PRICE, SOURCE, Place, as_bytes, request

SECRET = "the patient asks about her lithium dose"
TURNS = [{"role": "user", "content": SECRET}, {"role": "assistant", "content": [{"type": "text", "text": SECRET}]}]
TEXTS: dict[str, Any] = {
    "prompt": SECRET, "messages": TURNS, "input": SECRET, "output": SECRET, "text": SECRET, "response_text": SECRET,
    "completion": SECRET, "choices": [{"message": {"content": SECRET}}], "body": {"messages": TURNS},
    "metadata": {"user": SECRET}, "user": SECRET, "error": SECRET, SECRET: SECRET,
}  # fmt: skip
"""Where serving logs carry text; each has to be passed over."""


def holding(folder: Path, text: str) -> list[Path]:
    """The files below `folder` in which the text stands, readable as it is or in a column of Parquet."""
    wanted = text.encode()
    return [path for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()]


def stored(place: Place) -> str:
    """Every value of every table and of the lake, as text: compression hides words from a search of bytes."""
    tables = place.rows("select schema_name || '.' || table_name as name from duckdb_tables()")
    assert len(tables) > 20
    return repr([place.rows(f"from {name}") for name in (*(row["name"] for row in tables), "lake")])


def test_of_a_good_line_only_named_fields_are_stored(place: Place) -> None:
    place.write("a.jsonl", [request(1, **TEXTS), request(2, **TEXTS)])
    (outcome,) = place.settle()
    assert outcome.n_loaded == 2
    assert SECRET not in stored(place)
    assert holding(place.warehouse.folder, SECRET) == []


def test_of_a_refused_line_reason_place_and_length_are_stored_and_nothing_else(place: Place) -> None:
    good, bad = as_bytes([request(1)]), as_bytes([request(2, input_tokens=-1, **TEXTS)])
    cut = json.dumps(request(3, **TEXTS)).encode()[:-9] + b"\n"
    not_text = f'{{"prompt": "{SECRET} '.encode() + b'\xff"}\n'
    place.write("a.jsonl", good + bad + cut + not_text)
    place.settle()
    rows = place.rows("from quarantine order by source_line")
    assert [(row["reason"], row["source_line"], row["line_bytes"], row["excerpt"]) for row in rows] == [
        ("negative_token_count", 2, len(bad) - 1, None),
        ("not_json", 3, len(cut) - 1, None),
        ("not_utf8", 4, len(not_text) - 1, None),
    ]
    assert SECRET not in stored(place)
    assert holding(place.warehouse.folder, SECRET) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("canonical_csv", f"{SECRET},{SECRET},\n1,2,3\n"),
        ("canonical_csv", f"timestamp,{SECRET},{SECRET}\n1,2,3\n"),
        ("canonical_csv", f"{SECRET}\n1,2,3\n"),
        ("aiperf", f'{{"records": "{SECRET}"}}'),
        ("guidellm", f"{SECRET}"),
        ("canonical", f"{SECRET}\n" * 200),
    ],
)
def test_what_is_said_of_a_refused_file_quotes_none_of_its_text(
    place: Place, name: str, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place.configure(SOURCE.replace('"canonical"', f'"{name}"') + PRICE)
    place.write("a.log", content.encode())
    (outcome,) = place.ingest()
    assert outcome.n_loaded == 0
    assert SECRET not in f"{outcome}{capsys.readouterr()}{stored(place)}"


LINE_FORMATS = sorted(name for name, found in formats().items() if found.reader == "lines")


@pytest.mark.parametrize("name", LINE_FORMATS)
def test_no_format_takes_text_for_a_field(place: Place, name: str) -> None:
    """What a format maps of a line that is full of text holds none of it, however deep it stands."""
    texts = TEXTS | dict.fromkeys(("request", "response", "data", "body", "attributes", "usage", "meta_info"), TEXTS)
    line = json.dumps(request(1, **texts, response_body=json.dumps(TEXTS), request_body=json.dumps(TEXTS)))
    table = pa.table({"line_number": [1], "byte_offset": [0], "line": [line]})
    with place.warehouse.writer() as writer:
        writer.define_macros("ingest/macros")
        Declarations(writer, source_from({"name": "x", "path": "-", "format": name}), formats()[name])
        with writer.registered("lines", table):
            (mapped,) = writer.rows(formats()[name].query)
    del mapped["line"]
    assert SECRET not in repr(mapped)


def test_excerpts_are_kept_on_request_and_erased_after_their_days(place: Place) -> None:
    place.configure(SOURCE + EXCERPTS + "quarantine_days = 3\n")
    place.write("a.jsonl", b"old\n" + as_bytes([request(1)]))
    place.ingest(NOW)
    place.write("b.jsonl", b"new\n" + as_bytes([request(2)]))
    place.ingest(NOW + timedelta(days=2))
    kept = "select excerpt, reason, line_bytes from quarantine order by source_file"
    assert [row["excerpt"] for row in place.rows(kept)] == ["old", "new"]
    place.ingest(NOW + timedelta(days=3, seconds=1))
    assert [tuple(row.values()) for row in place.rows(kept)] == [(None, "not_json", 3), ("new", "not_json", 3)]
    assert [row["quarantined"] for row in place.rows("from ingest_files order by path")] == [1, 1]


def test_an_excerpt_does_not_get_younger_while_its_file_grows(place: Place) -> None:
    place.configure(SOURCE + EXCERPTS)
    path = place.write("a.jsonl", b"old\n" + as_bytes([request(1)]))
    place.ingest(NOW)
    for days in (10, 14.5):
        path.write_bytes(path.read_bytes() + as_bytes([request(days)]))
        (outcome,) = place.ingest(NOW + timedelta(days=days))
        assert outcome.n_loaded == 1
    place.ingest(NOW + timedelta(days=14.6))
    (row,) = place.rows("select excerpt, source_line from quarantine")
    assert row == {"excerpt": None, "source_line": 1}
    (file,) = place.rows("from ingest_files")
    assert (file["lines"], file["loaded"], file["duplicates"], file["quarantined"]) == (4, 3, 0, 1)


def test_excerpts_switched_off_are_erased_by_the_next_reading(place: Place) -> None:
    place.configure(SOURCE + EXCERPTS)
    place.write("a.jsonl", SECRET.encode() + b"\n" + as_bytes([request(1)]))
    place.ingest()
    assert SECRET in stored(place)
    place.configure(SOURCE)
    place.ingest()
    assert SECRET not in stored(place)
    assert place.rows("select excerpt from quarantine") == [{"excerpt": None}]
