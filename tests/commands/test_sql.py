"""`valleywatch sql`: every form of asking and answering, and all it refuses."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.conftest import FleetWarehouse
from tests.place import Place, request

QUERY = "select deployment, n_requests, hit_rate from hourly_hit_rate order by all"


def fill(place: Place) -> Place:
    place.write("a.jsonl", [request(1), request(2, deployment="=cmd|'/c calc'!A1"), request(3, deployment="\x1b[2J-1")])
    place.settle()
    return place


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A published warehouse that no test may change."""
    return fill(Place(tmp_path_factory.mktemp("filled")))


def test_a_table_shows_names_of_the_log_without_obeying_them(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled.valleywatch("sql", QUERY) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out
    assert [line.split()[-1] for line in said.out.splitlines()[2:]] == ["0.4"] * 3
    assert said.err == ""


def test_json_is_a_list_of_rows(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled.valleywatch("sql", "--json", QUERY) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["deployment"] for row in rows} == {"pool", "=cmd|'/c calc'!A1", "\x1b[2J-1"}
    assert {row["hit_rate"] for row in rows} == {0.4}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("'nan'::double", None),
        ("'inf'::double", None),
        ("12345678901234567890123456789::decimal(38, 0)", 12345678901234567890123456789),
        ("9007199254740993", 9007199254740993),
        ("timestamp '2026-11-28 10:00:00'", "2026-11-28T10:00:00"),
        ("date '2026-11-28'", "2026-11-28"),
        ("null", None),
        ("[1, 2]", [1, 2]),
        ("{'a': true}", {"a": True}),
        ("'é\u2028'", "é\u2028"),
    ],
)
def test_json_keeps_values_exactly_or_says_null(
    filled: Place, capsys: pytest.CaptureFixture[str], value: str, expected: object
) -> None:
    assert filled.valleywatch("sql", "--json", f"select {value} as value") == 0
    assert json.loads(capsys.readouterr().out) == [{"value": expected}]


def test_csv_has_a_header_and_no_formula(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled.valleywatch("sql", "--csv", QUERY) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["deployment"] for row in rows} == {"pool", "'=cmd|'/c calc'!A1", "\x1b[2J-1"}


def test_an_empty_result_is_an_empty_list_and_a_bare_header(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled.valleywatch("sql", "--json", "select 1 as one where false") == 0
    assert capsys.readouterr().out == "[]\n"
    assert filled.valleywatch("sql", "--csv", "select 1 as one where false") == 0
    assert capsys.readouterr().out == "one\n"


def test_a_file_is_read_and_its_last_statement_answered(
    filled: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "question.sql"
    file.write_text("-- why: two statements\nselect 1;\nselect count(*) as n from requests;\n")
    assert filled.valleywatch("sql", "--csv", str(file)) == 0
    assert capsys.readouterr().out == "n\n3\n"


def test_standard_input_is_read(
    filled: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("select 41 + 1 as answer"))
    assert filled.valleywatch("sql", "--csv") == 0
    assert capsys.readouterr().out == "answer\n42\n"


def test_the_shell_goes_on_after_a_mistake(
    filled: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    lines = iter(["select nope;", "select", "  7 as seven;", ".quit"])
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", lambda _prompt: next(lines))
    assert filled.valleywatch("sql", "--csv") == 0
    said = capsys.readouterr()
    assert said.out == "seven\n7\n"
    assert "nope" in said.err


@pytest.mark.parametrize(
    "query",
    [
        "describe requests",
        "show tables",
        "summarize hourly_hit_rate",
        "explain select 1",
        "-- a comment\nexplain analyze select count(*) from requests",
        "explain (format json) select 1",
        "from price_book",
        "with all_of_it as (from requests) select count(*) from all_of_it",
        "pivot hourly_hit_rate on deployment in ('pool') using sum(n_requests)",
        "select bathtub(.5, .5, .1), valley_floor(.5, .1), valley_exit(.5, .1), tps_miss(.5, 100, .5)",
    ],
)
def test_what_reads_is_answered(filled: Place, query: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled.valleywatch("sql", query) == 0
    assert capsys.readouterr().out


REFUSED = [
    "copy (select 1 as a) to '{folder}/written.csv'",
    "copy (select 1 as a) to '{lake}/written.parquet'",
    "copy (select 1 as a) to '{file}'",
    "explain analyze copy (select 1 as a) to '{lake}/written.parquet'",
    "explain /* */ analyze copy (select 1 as a) to '{lake}/written.parquet'",
    "/* */ explain analyze copy (select 1 as a) to '{lake}/written.parquet'",
    "copy (pivot requests on status using count(*)) to '{lake}/written.parquet'",
    "select 1; copy (select 1 as a) to '{lake}/written.parquet'",
    "export database '{lake}/written'",
    "export database '{folder}/written'",
    "select * from read_text('/etc/passwd')",
    "select * from read_csv('/etc/passwd')",
    "select * from read_text('{lake}/../../valleywatch.toml')",
    "select * from glob('/*')",
    "from '/etc/passwd'",
    "attach '{folder}/written.db'",
    "attach ':memory:' as other",
    "install httpfs",
    "load httpfs",
    "create table t (a integer)",
    "create temp table t (a integer)",
    "create table memory.main.t (a integer)",
    "create secret (type s3, key_id 'x', secret 'y')",
    "insert into mart.hourly_hit_rate select * from mart.hourly_hit_rate",
    "update mart.valley_status set state = 'escaped'",
    "delete from ops.quarantine",
    "drop view requests",
    "set memory_limit = '100GB'",
    "set enable_external_access = true",
    "reset lock_configuration",
    "pragma database_list",
    "call pragma_version()",
    "checkpoint",
    "detach valleywatch",
    "use memory",
    "prepare p as select 1",
    "select getenv('HOME')",
]


@pytest.mark.parametrize("query", REFUSED)
def test_what_writes_or_leaves_the_lake_is_refused(
    filled: Place, query: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = filled.warehouse.folder / "lake"
    before = {path: path.stat().st_mtime_ns for path in filled.folder.rglob("*")}
    file = next(lake.rglob("*.parquet"))
    assert filled.valleywatch("sql", query.format(folder=filled.folder, lake=lake, file=file)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("valleywatch: ")
    assert {path: path.stat().st_mtime_ns for path in filled.folder.rglob("*")} == before


@pytest.mark.parametrize("query", ["", "   ", "-- nothing", ";"], ids=repr)
def test_an_empty_query_is_a_message(filled: Place, query: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled.valleywatch("sql", query) == 2
    assert "the query is empty" in capsys.readouterr().err


def test_an_unknown_column_is_explained_with_its_neighbours(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled.valleywatch("sql", "select hit_rte from hourly_hit_rate") == 2
    said = capsys.readouterr().err
    assert '"hit_rte" not found' in said
    assert '"hit_rate"' in said


def test_readers_do_not_wait_for_the_writer(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    with filled.warehouse.writer() as writer, writer.transaction():
        writer.run("mart/clear_hourly_hit_rate", first_hour=0, last_hour=10**9)
        assert filled.valleywatch("sql", "--csv", "select count(*) as n from hourly_hit_rate") == 0
        assert filled.valleywatch("status", "--json") == 0
    assert capsys.readouterr().out.startswith("n\n3\n")


def test_a_reader_keeps_what_it_opened_while_the_job_publishes(place: Place) -> None:
    fill(place)
    with place.warehouse.reader() as reader:
        place.write("b.jsonl", [request(9)])
        place.settle()
        assert reader.ask("select count(*) from requests")[1] == [(3,)]
    assert place.rows("select count(*) as n from requests") == [{"n": 4}]


def test_the_published_answers_are_those_of_the_job(fleet_warehouse: FleetWarehouse) -> None:
    hit = fleet_warehouse.place.rows(
        "select deployment, sum(cached_tokens) / sum(input_tokens) as direct from requests "
        "where outcome = 'ok' and cached_tokens is not null group by all order by all"
    )
    mart = fleet_warehouse.place.rows(
        "select deployment, sum(cached_tokens) / sum(reported_input_tokens) as direct from hourly_hit_rate "
        "group by all order by all"
    )
    assert hit == mart
