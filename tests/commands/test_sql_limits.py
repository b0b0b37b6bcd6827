"""`valleywatch sql`: refusals say why and what else to do, limits end with advice, mistakes name the remedy."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.place import Place, request

CROSS_JOIN = "select sum(a.range) from range(10000000) a, range(10000000) b"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A published warehouse that no test may change."""
    place = Place(tmp_path_factory.mktemp("filled"))
    place.write("a.jsonl", [request(number) for number in range(3)])
    place.settle()
    return place


def refused(place: Place, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert place.valleywatch("sql", *arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    for inside in ("LINE 1", "Binder Error", "Catalog Error", "Parser Error", "Traceback", "duckdb.org"):
        assert inside not in said.err
    return said.err


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("copy requests to 'x.csv'", ("COPY is refused", "--parquet FILE")),
        ("export database 'x'", ("refused", "--parquet FILE")),
        ("from read_text('/etc/passwd')", ("/etc/passwd: reading files is refused", "docs/sql.md")),
        ("from read_csv('/etc/passwd')", ("reading files is refused",)),
        ("from '/etc/passwd'", ("/etc/passwd: reading files is refused",)),
        ("from 'x.parquet'", ("reading files is refused",)),
        ("attach 'x.db'", ("ATTACH is refused", "in your own DuckDB")),
        ("install httpfs", ("INSTALL or LOAD is refused", "code from elsewhere")),
        ("load httpfs", ("INSTALL or LOAD is refused",)),
        ("set memory_limit = '9GB'", ("SET is refused", "--memory-limit")),
        ("pragma database_list", ("refused",)),
        ("create table t as select 1", ("CREATE is refused", "with … as (…)")),
        ("delete from mart.valley_status", ("DELETE is refused", "never changed")),
        ("from query('copy (select 1) to ''x''')", ("SELECT",)),
        ("pivot requests on status using count(*)", ("PIVOT without a list of values", "in ('x', 'y')")),
    ],
)
def test_a_refusal_says_why_and_what_to_do_instead(
    filled: Place, capsys: pytest.CaptureFixture[str], query: str, words: tuple[str, ...]
) -> None:
    said = refused(filled, capsys, query)
    for word in words:
        assert word in said


def test_a_link_in_the_lake_does_not_lead_out_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = Place(tmp_path / "place")
    place.write("a.jsonl", [request(1)])
    place.settle()
    lake = place.warehouse.folder / "lake"
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.csv").write_text("secret\n")
    (lake / "link.csv").symlink_to(tmp_path / "secret" / "key.csv")
    (lake / "linked").symlink_to(tmp_path / "secret")
    for path in ("link.csv", "linked/key.csv", "*.csv"):
        for function in ("read_text", "read_csv", "read_blob"):
            assert "secret\n" not in refused(place, capsys, f"from {function}('{lake}/{path}')")


@pytest.mark.parametrize(
    ("query", "words", "not_words"),
    [
        (
            "select hit_rte from hourly_hit_rate",
            ('column "hit_rte" not found', 'nearest: "hit_rate"', "hourly_hit_rate has deployment, hour_utc,"),
            (),
        ),
        (
            "select h.hit_rte from hourly_hit_rate as h join valley_status as s using (deployment)",
            ('column "hit_rte" not found', '"hit_rate"', "hourly_hit_rate has", "valley_status has"),
            (),
        ),
        ("select nope from (select 1 as noon)", ('column "nope" not found; nearest: "noon"',), ("has",)),
        (
            "select count(*) from valley_status where state = in_valley",
            ("single quotes: 'in_valley'",),
            (),
        ),
        ("from hourly_hitrate", ('view "hourly_hitrate" not found; nearest: hourly_hit_rate', "valley_status"), ()),
        ("select bathtb(1, 2, 3)", ("nearest: bathtub(x, a, r)", "valley_exit(a, r)"), ()),
        ("select deployment, sum(n_requests) from hourly_hit_rate", ("GROUP BY",), ()),
        ("select\n  sum(deployment)\nfrom requests", ("No function matches", "(line 2)"), ("HUGEINT",)),
        ("selec 1", ('syntax error at or near "selec"',), ()),
        ("select cast('a' as integer)", ("Could not convert string 'a'",), ()),
    ],
)
def test_a_mistake_is_told_with_its_remedy(
    filled: Place, capsys: pytest.CaptureFixture[str], query: str, words: tuple[str, ...], not_words: tuple[str, ...]
) -> None:
    said = refused(filled, capsys, query)
    for word in words:
        assert word in said
    for word in not_words:
        assert word not in said


@pytest.mark.parametrize(
    "query", [CROSS_JOIN, "select a.range from range(10000000) a, range(10000000) b where a.range + b.range < 0"]
)
def test_a_query_over_the_time_limit_ends_with_advice(
    filled: Place, capsys: pytest.CaptureFixture[str], query: str
) -> None:
    said = refused(filled, capsys, "--timeout", "0.2", query)
    for word in ("ran for 0.2 s, the limit", "arrived_us", "hourly_hit_rate", "--timeout"):
        assert word in said


def test_a_query_over_the_memory_limit_ends_with_advice(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(filled, capsys, "--memory-limit", "40MiB", "select list(range) from range(100000000)")
    for word in ("memory limit of 40.0 MiB", "hourly_hit_rate", "--memory-limit"):
        assert word in said


def test_what_does_not_fit_in_memory_is_sorted_on_disk_and_leaves_nothing(
    filled: Place, tmp_path: Path, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    query = "select hash(range) as h from range(8000000) order by h limit 1 offset 4000000"
    assert filled.valleywatch("sql", "--csv", "--memory-limit", "50MiB", query) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert list(scratch.iterdir()) == []
    assert [path.name for path in in_tmp.iterdir()] == ["scratch"]


def test_without_a_place_for_scratch_there_are_answers_still(
    filled: Place, tmp_path: Path, in_tmp: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert filled.valleywatch("sql", "--csv", "select count(*) as n from requests") == 0
    assert capsys.readouterr().out == "n\n3\n"
    query = "select hash(range) as h from range(8000000) order by h limit 1 offset 4000000"
    assert "memory limit" in refused(filled, capsys, "--memory-limit", "50MiB", query)
    assert list(in_tmp.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--timeout", "0"), "--timeout 0 is no limit"),
        (("--timeout", "inf"), "--timeout inf is no limit"),
        (("--timeout", "nan"), "--timeout nan is no limit"),
        (("--max-rows", "-1"), "--max-rows -1 is no number of rows"),
        (("--memory-limit", "lots"), "--memory-limit 'lots' is no size"),
    ],
)
def test_a_limit_that_is_none_is_told(
    filled: Place, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(filled, capsys, *arguments, "select 1")


def test_parquet_keeps_the_types_of_the_engine(
    filled: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answer.parquet"
    query = "select request_id, arrived_at, sum(input_tokens) over () as total, cached_tokens from requests order by 1"
    assert filled.valleywatch("sql", "--parquet", str(file), query) == 0
    assert "3 rows" in capsys.readouterr().err
    read = pq.read_table(file)
    assert [str(field.type) for field in read.schema] == ["string", "timestamp[us]", "decimal128(38, 0)", "int64"]
    assert read.column("total").to_pylist() == [Decimal(3000)] * 3
    assert read.num_rows == 3


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("select nope from requests", "not found"),
        (CROSS_JOIN, "the limit"),
        ("select a.range as x, b.range as y from range(10000000) a, range(10000000) b", "the limit"),
        ("copy requests to 'x'", "COPY is refused"),
    ],
)
def test_a_failed_answer_leaves_no_file_and_keeps_the_old_one(
    filled: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], query: str, words: str
) -> None:
    file = tmp_path / "answer.parquet"
    file.write_bytes(b"old")
    assert words in refused(filled, capsys, "--timeout", "0.2", "--parquet", str(file), query)
    assert file.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["answer.parquet"]


def test_a_file_that_cannot_be_written_is_told(
    filled: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(filled, capsys, "--parquet", str(tmp_path / "no" / "x.parquet"), "select 1 as one")
    assert "x.parquet cannot be written: No such file or directory" in said
