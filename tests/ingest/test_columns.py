"""[sources.columns]: a log's own names for canonical columns, whatever characters they are made of."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.formats import formats
from pipelines.ingest import FileOutcome
from pipelines.queries import load
from tests.place import PRICE, Place

SOURCE = '[[sources]]\nname = "s"\nformat = "{}"\npath = "logs/*"\ndeployment = "pool"\n'
AT = "2026-11-28T10:15:00Z"


def ingested(place: Place, log_format: str, columns: dict[str, str], content: bytes) -> FileOutcome:
    lines = "".join(f"{name} = {json.dumps(own)}\n" for name, own in columns.items())
    place.configure(f"{SOURCE.format(log_format)}\n[sources.columns]\n{lines}{PRICE}")
    place.write("log", content)
    (outcome,) = place.ingest()
    return outcome


def loaded(place: Place, *columns: str) -> list[tuple[Any, ...]]:
    rows = place.rows(f"select {', '.join(columns)} from requests order by source_line")
    return [tuple(row.values()) for row in rows]


def test_paths_lead_into_the_lines_of_a_log(place: Place) -> None:
    line = {
        "ts": AT,
        "usage": {"prompt": 100, "details": {"cached.tokens": 40}},
        "request_id": "r-1",
        "output_tokens": 3,
    }
    columns = {"timestamp": "ts", "input_tokens": "usage.prompt", "cached_tokens": 'usage.details."cached.tokens"'}
    outcome = ingested(place, "canonical", columns, json.dumps(line).encode() + b"\n")
    assert outcome.n_loaded == 1
    assert loaded(place, "request_id", "input_tokens", "cached_tokens", "output_tokens") == [("r-1", 100, 40, 3)]


def test_a_mapped_column_is_read_under_its_own_name_alone(place: Place) -> None:
    line = {"timestamp": AT, "input_tokens": 7, "prompt": 100, "cached_tokens": None}
    ingested(place, "canonical", {"input_tokens": "prompt"}, json.dumps(line).encode())
    assert loaded(place, "input_tokens", "cached_tokens") == [(100, None)]


STRANGE = ("a b", "a/b", "a~1b", "$", "*", "[0]", "'); drop table requests;--", "0", "é", "#", "a\\b", "$.x", "..")


@pytest.mark.parametrize("name", STRANGE)
def test_a_name_is_never_more_than_a_name(place: Place, name: str) -> None:
    line = {"timestamp": AT, name: 100, "a": {"b": 1}, "x": 2}
    ingested(place, "canonical", {"input_tokens": f'"{name}"'}, json.dumps(line).encode())
    assert loaded(place, "input_tokens") == [(100,)]


@pytest.mark.parametrize("name", [*STRANGE, "a.b", 'say "tokens"'])
def test_a_column_of_csv_or_parquet_is_named_as_it_stands(place: Place, name: str) -> None:
    columns = {"input_tokens": name, "request_id": "the id"}
    quoted = '"' + name.replace('"', '""') + '"'
    csv = f"timestamp,the id,{quoted}\n{AT},0042,100\n".encode()
    ingested(place, "canonical_csv", columns, csv)
    other = Place(place.folder / "parquet")
    sink = io.BytesIO()
    pq.write_table(pa.table({"timestamp": [AT], "the id": ["0042"], name: [100]}), sink)
    ingested(other, "canonical_parquet", columns, sink.getvalue())
    assert loaded(place, "request_id", "input_tokens") == loaded(other, "request_id", "input_tokens") == [("0042", 100)]


def test_a_column_that_no_line_has_refuses_the_file_with_the_names_found(place: Place) -> None:
    content = b"".join(b'{"timestamp": "%s", "prompt_tokens": %d}\n' % (AT.encode(), n) for n in range(3))
    outcome = ingested(place, "canonical", {"input_tokens": "prompt_token"}, content)
    assert (outcome.status, outcome.n_loaded) == ("rejected", 0)
    assert str(outcome.detail) == (
        "column_not_found: [sources.columns] says input_tokens = 'prompt_token', which no line has (did you mean "
        "'prompt_tokens'?): the names found are prompt_tokens, timestamp"
    )
    assert place.rows("select * from requests") == []
    assert ingested(place, "canonical", {"input_tokens": "prompt_tokens"}, content).n_loaded == 3


def test_a_column_that_only_the_last_line_has_occurs(place: Place) -> None:
    lines = [{"timestamp": AT, "input_tokens": n} for n in range(30_000)]
    lines.append({"timestamp": AT, "input_tokens": 5, "hits": None})
    content = b"".join(json.dumps(line).encode() + b" " * 400 + b"\n" for line in lines)
    assert ingested(place, "canonical", {"cached_tokens": "hits"}, content).n_loaded == 30_001


@pytest.mark.parametrize("content", [b"", b"\n\n"], ids=["empty", "blank"])
def test_a_file_without_lines_lacks_nothing(place: Place, content: bytes) -> None:
    assert ingested(place, "canonical", {"input_tokens": "prompt"}, content).status == "loaded"


@pytest.mark.parametrize(
    ("log_format", "column", "says"),
    [
        (
            "canonical",
            'input_token = "n"',
            "columns.input_token: no column of 'canonical' (did you mean 'input_tokens'?)",
        ),
        ("canonical", 'input_tokens = "a..b"', "'a..b' is no path"),
        ("canonical", 'input_tokens = "a.\\"b"', "is no path"),
        ("canonical", 'input_tokens = ""', "sources.1.columns.input_tokens"),
        ("sglang_export", 'input_tokens = "n"', "the format 'sglang_export' knows its producer's names"),
    ],
)
def test_what_cannot_be_a_column_is_refused_by_name(
    place: Place, log_format: str, column: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place.configure(f"{SOURCE.format(log_format)}\n[sources.columns]\n{column}\n")
    assert place.valleywatch("ingest") == 2
    assert says in capsys.readouterr().err


def test_other_columns_are_another_reading(place: Place) -> None:
    content = b"".join(b'{"timestamp": "%s", "n": %d}\n' % (AT.encode(), n) for n in range(3))
    assert ingested(place, "canonical", {}, content).n_quarantined == 3
    assert ingested(place, "canonical", {"input_tokens": "n"}, content).n_loaded == 3


def test_one_source_does_not_leave_its_names_to_the_next(place: Place) -> None:
    first = SOURCE.format("canonical").replace("logs/*", "logs/a") + '\n[sources.columns]\ninput_tokens = "n"\n'
    place.configure(first + SOURCE.format("canonical").replace("logs/*", "logs/b") + PRICE)
    place.write("a", b'{"timestamp": "%s", "n": 1}\n' % AT.encode())
    place.write("b", b'{"timestamp": "%s", "input_tokens": 2, "n": 3}\n' % AT.encode())
    place.ingest()
    assert sorted(loaded(place, "input_tokens")) == [(1,), (2,)]


def test_the_columns_of_the_header_are_those_of_the_statement() -> None:
    statement = load("formats/canonical").text
    paths = statement.split("[", 2)[2].split("]")[0]
    assert [path.strip().strip("'").removeprefix("$.") for path in paths.split(",")] == list(
        formats()["canonical"].columns
    )
