"""`valleywatch sql` gives all of an answer or nothing, and says why; what is typed wrong is told, not traced."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from pipelines import queries
from pipelines.adhoc.statements import is_finished
from tests.place import Place, request

FAILS_LATE = "select case when n = 60000 then error('boom') else n::varchar end as v from range(100000) as t(n)"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A published warehouse that no test may change."""
    place = Place(tmp_path_factory.mktemp("filled"))
    place.write("a.jsonl", [request(number) for number in range(10)])
    place.settle()
    return place


def told(place: Place, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line that is said instead of an answer."""
    assert place.valleywatch("sql", *arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("valleywatch: ")
    assert said.err.count("\n") == 1
    return said.err


@pytest.mark.parametrize("form", ["--csv", "--json"])
def test_a_query_that_fails_late_prints_nothing(filled: Place, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert "boom" in told(filled, capsys, form, FAILS_LATE)


def test_an_answer_larger_than_its_memory_is_printed_whole(
    filled: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.adhoc.whole.IN_MEMORY_BYTES", 1000)
    assert filled.valleywatch("sql", "--csv", "select n, 'é' as e from range(20000) as t(n) order by n") == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows == [["n", "e"], *([str(number), "é"] for number in range(20000))]


@pytest.mark.parametrize("form", [["--csv"], ["--json"], []], ids=str)
def test_a_full_disk_behind_the_output_is_told(
    filled: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert filled.valleywatch("sql", *form, "select 1 as one") == 2
    assert "cannot be written to standard output: No space left" in capsys.readouterr().err


def test_a_character_that_the_output_lacks_is_told(
    filled: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert filled.valleywatch("sql", "--csv", "select 'é' as e") == 2
    assert r"ascii, which has no '\xe9': set PYTHONIOENCODING=utf-8" in capsys.readouterr().err


def test_two_columns_of_one_name_do_not_become_one(
    filled: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    query = "select 1 as a, 2 as a"
    assert "two columns are named 'a'" in told(filled, capsys, "--json", query)
    assert "two columns are named 'a'" in told(filled, capsys, "--parquet", str(tmp_path / "a.parquet"), query)
    assert list(tmp_path.iterdir()) == []
    assert filled.valleywatch("sql", "--csv", query) == 0
    assert capsys.readouterr().out == "a,a\n1,2\n"


@pytest.mark.parametrize("value", ["interval 1 day", "{}", "union_value(k := 1)"])
def test_a_type_that_parquet_lacks_is_told(
    filled: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path, value: str
) -> None:
    said = told(filled, capsys, "--parquet", str(tmp_path / "a.parquet"), f"select {value} as x")
    assert "Parquet has no such type" in said
    assert "cast that column" in said
    assert list(tmp_path.iterdir()) == []


def test_lists_and_structs_in_csv_are_json(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled.valleywatch("sql", "--csv", "select [1, null] as l, {'a': 'é', 'b': date '2026-11-28'} as s") == 0
    assert list(csv.reader(io.StringIO(capsys.readouterr().out)))[1] == [
        "[1, null]",
        '{"a": "é", "b": "2026-11-28"}',
    ]


def test_a_table_is_aligned_by_what_a_terminal_shows(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    query = """select '日本' as "名前\x1b", 'x' as after union all select 'abc', 'x' order by all"""
    assert filled.valleywatch("sql", query) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "\x1b" not in "".join(lines)
    assert {cell_len(line[: line.rindex("x")]) for line in lines[2:]} == {cell_len(lines[0][: lines[0].index("after")])}


def test_a_copied_question_keeps_its_parameters(
    filled: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mine = tmp_path / "my question.sql"
    mine.write_text((queries.resource_folder("sql") / "adhoc" / "coverage.sql").read_text(encoding="utf-8"))
    answers = []
    for asked in (str(mine), "coverage", " coverage; "):
        assert filled.valleywatch("sql", "--csv", asked) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0].count("\n") > 1
    assert len(set(answers)) == 1
    assert filled.valleywatch("sql", "--csv", str(mine), "--set", "days=0") == 0
    assert capsys.readouterr().out.count("\n") == 1
    assert "it takes days=7" in told(filled, capsys, str(mine), "--set", "dayz=1")


def test_a_comment_that_ends_like_a_file_is_sql(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled.valleywatch("sql", "--csv", "select 1 as one -- as in mine.sql") == 0
    assert capsys.readouterr().out == "one\n1\n"


@pytest.mark.parametrize(
    ("name", "assignment", "words"),
    [
        ("lost_to_hits", "days=x", "is not a whole number"),
        ("lost_to_hits", "days=-1", "give a whole number from 0"),
        ("lost_to_hits", "days=99999999999999999999", "give a whole number from 0"),
        ("price_ratio", "price_ratio=nan", "give a number from 0"),
        ("price_ratio", "price_ratio=-inf", "give a number from 0"),
    ],
)
def test_a_parameter_that_cannot_be_meant_is_refused(
    filled: Place, capsys: pytest.CaptureFixture[str], name: str, assignment: str, words: str
) -> None:
    assert words in told(filled, capsys, name, "--set", assignment)


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_input_that_is_not_utf_8_is_told(
    filled: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, errors: str
) -> None:
    typed = io.TextIOWrapper(io.BytesIO(b"select 1 as a;\xff"), encoding="utf-8", errors=errors)
    monkeypatch.setattr(sys, "stdin", typed)
    assert "standard input is not UTF-8" in told(filled, capsys)
    assert "the query is not UTF-8" in told(filled, capsys, "select '\udcff'")


@pytest.mark.parametrize("word", ["help", "Quit", "exit"])
def test_words_of_other_shells_do_not_wait_for_a_semicolon(word: str) -> None:
    assert is_finished(word)
    assert not is_finished(f"select {word}")
