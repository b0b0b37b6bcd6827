"""`valleywatch export --postgres` into a real server: equal tables, one version at a time, whatever happens."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pipelines.postgres.tables import VIEWS, replace_table
from pipelines.postgres.types import TYPES
from pipelines.warehouse.views import Column, PublishedView
from tests.conftest import REPO, FleetWarehouse
from tests.place import PRICE, SOURCE, Place, request
from tests.postgres.server import Server, wait_for
from tests.report.test_hostile_names import HOSTILE

pytestmark = pytest.mark.jobs

Ask = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def ask(server: Server, database: str) -> Ask:
    return lambda query, *params: server.rows(query, *params, database=database)


def made(folder: Path, hours: int, **changes: Any) -> Place:
    """Publish so many hours of three requests each."""
    place = Place(folder, SOURCE + PRICE)
    for hour in range(hours):
        times = [f"2026-11-28T{hour:02}:10:{n:02}Z" for n in range(3)]
        place.write(f"{hour}.jsonl", [request(f"{hour} {at}", timestamp=at, **changes) for at in times])
    place.aggregate()
    return place


@pytest.fixture(scope="session")
def older(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return made(tmp_path_factory.mktemp("older"), 1)


@pytest.fixture(scope="session")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return made(tmp_path_factory.mktemp("newer"), 4)


def exported(place: Place, *arguments: str) -> int:
    return place.valleywatch("export", "--postgres", *arguments)


def sorted_rows(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(map(repr, rows))


def test_every_table_is_equal_to_its_view(
    fleet_warehouse: FleetWarehouse, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    """All values of all columns of a whole day: sums, NULLs, exact integers, lists, times, texts."""
    place = fleet_warehouse.place
    assert exported(place) == 0
    printed = capsys.readouterr().out
    with place.warehouse.reader() as reader:
        for view in VIEWS:
            columns, rows = reader.ask(f"select * from {view}")
            found = ask(f"select {', '.join(columns)} from valleywatch.{view}")
            assert sorted_rows(found) == sorted_rows(rows), view
            assert f"valleywatch.{view}: {len(rows):,} rows" in printed
    ((moments, busy),) = ask(
        "select (select sum(sum_input_sq) from valleywatch.hourly_hit_rate),"
        " (select sum(busy_s) from valleywatch.profit_and_loss)"
    )
    (row,) = place.rows("select sum(sum_input_sq)::varchar as total from hourly_hit_rate")
    assert moments == Decimal(row["total"])
    assert busy > 0


def test_types_are_exact_and_comments_come_along(fleet_warehouse: FleetWarehouse, ask: Ask) -> None:
    exported(fleet_warehouse.place)
    types = dict(
        ask(
            "select attrelid::regclass::text || '.' || attname, format_type(atttypid, atttypmod) from pg_attribute "
            "where attrelid::regclass::text like 'valleywatch.%' and attnum > 0"
        )
    )
    for name, kind in {
        "hourly_hit_rate.sum_miss_sq": "numeric(38,0)", "hourly_hit_rate.n_requests": "bigint",
        "hourly_hit_rate.hour_utc": "timestamp without time zone", "hourly_hit_rate.hit_rate": "double precision",
        "throughput_curve.day_utc": "date", "throughput_curve.tail_hit_rates": "double precision[]",
        "throughput_curve.trustworthy": "boolean", "valley_status.state": "text",
    }.items():  # fmt: skip
        assert types[f"valleywatch.{name}"] == kind
    commented = dict(
        ask(
            "select attrelid::regclass::text || '.' || attname, col_description(attrelid, attnum) from pg_attribute "
            "where attrelid::regclass::text like 'valleywatch.%' and attnum > 0"
        )
    )
    (row,) = fleet_warehouse.place.rows(
        "select comment from duckdb_columns() where table_name = 'valley_status' and column_name = 'revenue_index' "
        "and schema_name = 'main'"
    )
    assert commented["valleywatch.valley_status.revenue_index"] == row["comment"]
    assert [name for name, comment in commented.items() if not comment] == []
    ((text,),) = ask("select obj_description('valleywatch.valley_status'::regclass)")
    assert text.startswith("One row per deployment × hour")


def test_all_types_of_all_exported_views_are_known(fleet_warehouse: FleetWarehouse) -> None:
    with fleet_warehouse.place.warehouse.reader() as reader:
        assert {of.data_type for view in VIEWS for of in reader.view(view).columns} <= set(TYPES)


def test_unknown_stays_null(tmp_path: Path, ask: Ask) -> None:
    exported(made(tmp_path / "unknown", 1, cached_tokens=None))
    assert ask("select hit_rate, cached_tokens, sum_miss_sq, n_reported from valleywatch.hourly_hit_rate") == [
        (None, None, None, 0)
    ]


def test_values_at_their_limits_arrive_exactly(server: Server, database: str, ask: Ask) -> None:
    at = datetime.fromisoformat
    rows = [
        (Decimal(10**38 - 1), 2**63 - 1, 2**127 - 1, 5e-324, "", [0.1, -0.0], at("2026-01-01T00:00:00.000001"), True),
        (Decimal(1 - 10**38), -(2**63), -(2**127), 1.7976931348623157e308, "\\N", [], at("1970-01-01"), False),
        (None,) * 8,
        (Decimal(0), 0, 0, math.inf, "\\.\n\t'\"\r", [math.inf], at("2999-12-31T23:59:59.999999"), None),
    ]
    types = ("DECIMAL(38,0)", "BIGINT", "HUGEINT", "DOUBLE", "VARCHAR", "DOUBLE[]", "TIMESTAMP", "BOOLEAN")
    columns = tuple(Column(f"c{n}", kind, None) for n, kind in enumerate(types))
    with psycopg.connect(server.url(database)) as connection:
        n_rows = replace_table(connection, PublishedView("limits", None, columns, iter([rows[:3], rows[3:]])), "public")
    assert n_rows == 4
    found = ask("select * from public.limits")
    assert [tuple(int(x) if n == 2 and x is not None else x for n, x in enumerate(row)) for row in found] == rows


def test_any_name_arrives_as_it_is(place: Place, ask: Ask) -> None:
    names = sorted({name for name in HOSTILE.values() if 0 < len(name) <= 256})
    place.write("a.jsonl", [request(n, deployment=name) for n, name in enumerate(names)])
    place.aggregate()
    exported(place)
    found = {name for (name,) in ask("select deployment from valleywatch.hourly_hit_rate")}
    published = {row["deployment"] for row in place.rows("select deployment from hourly_hit_rate")}
    assert found == {name.replace("\x00", "\u2400") for name in published}
    assert len(found) > 10


def test_a_second_export_changes_nothing_and_a_newer_version_everything(older: Place, newer: Place, ask: Ask) -> None:
    exported(older)
    before = {view: ask(f"select * from valleywatch.{view} order by 1, 2") for view in VIEWS}
    exported(older)
    assert {view: ask(f"select * from valleywatch.{view} order by 1, 2") for view in VIEWS} == before
    exported(newer)
    assert ask("select n_requests from valleywatch.hourly_hit_rate order by hour_utc") == [(3,)] * 4
    ((snapshot, layout, at),) = ask("select snapshot, layout, exported_at from valleywatch.exported")
    assert snapshot == newer.warehouse.snapshot.resolve().name
    assert layout == 5
    assert isinstance(at, datetime)


def test_grants_indexes_and_views_of_others_outlive_an_export(older: Place, newer: Place, ask: Ask) -> None:
    exported(older)
    role = f"bi_{os.urandom(4).hex()}"
    ask(f"create role {role}")
    ask(f"grant usage on schema valleywatch to {role}")
    ask(f"grant select on valleywatch.hourly_hit_rate to {role}")
    ask("create index by_hour on valleywatch.hourly_hit_rate (hour_utc)")
    ask("create view public.total as select sum(n_requests) as n from valleywatch.hourly_hit_rate")
    assert exported(newer) == 0
    assert ask("select n from public.total") == [(12,)]
    assert ask("select has_table_privilege(%s, 'valleywatch.hourly_hit_rate', 'select')", role) == [(True,)]
    assert ask("select count(*) from pg_indexes where indexname = 'by_hour'") == [(1,)]


def test_a_table_whose_columns_changed_is_made_anew_unless_somebody_needs_it(
    older: Place, newer: Place, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    exported(older)
    ask("alter table valleywatch.hourly_hit_rate drop column coverage")
    assert exported(older) == 0
    assert ask("select coverage from valleywatch.hourly_hit_rate") == [(1.0,)]
    ask("alter table valleywatch.hourly_hit_rate drop column coverage")
    ask("create view public.total as select sum(n_requests) as n from valleywatch.hourly_hit_rate")
    assert exported(newer) == 2
    said = capsys.readouterr().err
    assert "view total depends on" in said
    assert ask("select n from public.total") == [(3,)], "nothing was changed"


@pytest.mark.parametrize("schema", ["valleywatch", 'a "b"; drop schema public', "Zähler"])
def test_a_schema_of_somebody_else_is_not_touched(
    older: Place, ask: Ask, schema: str, capsys: pytest.CaptureFixture[str]
) -> None:
    quoted = '"' + schema.replace('"', '""') + '"'
    ask(f"create schema {quoted}")
    assert exported(older, "--schema", schema) == 0, "an empty one is taken"
    assert ask(f"select count(*) from {quoted}.hourly_hit_rate") == [(1,)]
    ask(f"drop schema {quoted} cascade")
    ask(f"create schema {quoted}")
    ask(f"create table {quoted}.valley_status (mine integer)")
    assert exported(older, "--schema", schema) == 2
    assert "did not make (valley_status)" in capsys.readouterr().err
    assert ask(f"select * from {quoted}.valley_status") == []


def test_a_reader_in_a_loop_sees_one_version_at_a_time(
    older: Place, newer: Place, server: Server, database: str
) -> None:
    """In one statement the tables agree; no answer is empty, mixed or kept waiting by a lock."""
    exported(older)
    query = """
        select (select sum(n_requests) from valleywatch.hourly_hit_rate),
               (select sum(n_requests) from valleywatch.hit_rate_histogram),
               (select sum(loaded) from valleywatch.ingest_files),
               (select count(*) from valleywatch.exported)
    """
    seen: list[tuple[Any, ...]] = []
    is_over = threading.Event()

    def read() -> None:
        with psycopg.connect(server.url(database), autocommit=True) as connection:
            connection.execute("set lock_timeout = '1ms'")
            while not is_over.is_set():
                seen.extend(connection.execute(query).fetchall())

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for version in (newer, older) * 4:
        exported(version)
    is_over.set()
    for reader in readers:
        reader.join(30)
        assert not reader.is_alive()
    assert len(seen) > 20
    assert {row for row in seen if len({*row[:3]}) > 1 or row[3] != 1} == set()
    assert {int(row[0]) for row in seen} == {3, 12}


def exporter(place: Place) -> subprocess.Popen[str]:
    # The command alone: importing all others takes longer than what is tested.
    program = (
        "import argparse, sys; from pipelines.commands import export; from pipelines.stopping import listening\n"
        "parser = argparse.ArgumentParser(); export.add_to(parser.add_subparsers())\n"
        "options = parser.parse_args(sys.argv[1:])\n"
        "with listening(): options.execute(options)"
    )
    return subprocess.Popen(
        [sys.executable, "-P", "-c", program, "export", "--postgres", "--config", str(place.config)],
        env=os.environ | {"PYTHONPATH": str(REPO)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_exporter_that_dies_halfway_leaves_the_old_version(
    older: Place, newer: Place, ask: Ask, server: Server, database: str, number: signal.Signals
) -> None:
    """A lock stops it where some tables are replaced and others not; there it is ended."""
    exported(older)
    before = {view: ask(f"select * from valleywatch.{view} order by 1, 2") for view in (*VIEWS, "exported")}
    waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    with psycopg.connect(server.url(database)) as holder:
        holder.execute("lock table valleywatch.valley_status in share mode")
        process = exporter(newer)
        wait_for(lambda: ask(waiting), "the exporter to wait for the lock")
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert process.returncode == -number if number == signal.SIGKILL else "Stopped" in said, said
    wait_for(lambda: not ask(waiting), "the server to notice")
    assert {view: ask(f"select * from valleywatch.{view} order by 1, 2") for view in before} == before
    assert exported(newer) == 0
    assert ask("select sum(n_requests) from valleywatch.hourly_hit_rate") == [(12,)]


def test_a_second_exporter_is_told_to_try_again(
    older: Place, server: Server, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with psycopg.connect(server.url(database)) as first:
        first.execute("select pg_advisory_xact_lock(hashtext('valleywatch'), hashtext('valleywatch'))")
        assert exported(older) == 75
    assert "another export" in capsys.readouterr().err
    assert exported(older) == 0


@pytest.mark.parametrize(
    ("url", "code", "said"),
    [
        (None, 2, "VALLEYWATCH_POSTGRES_URL is not set"),
        ("postgresql://user:canary@[broken", 2, "holds no address"),
        ("host=x password=canary nonsense", 2, "holds no address"),
        ("postgresql://user:canary@127.0.0.1:1/db", 75, "cannot be reached"),
        ("postgresql://user:canary@/db?host=/nowhere", 75, "cannot be reached"),
    ],
)
def test_an_address_that_does_not_work_is_told_without_its_secret(
    older: Place,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    url: str | None,
    code: int,
    said: str,
) -> None:
    monkeypatch.delenv("VALLEYWATCH_POSTGRES_URL", raising=False)
    if url:
        monkeypatch.setenv("VALLEYWATCH_POSTGRES_URL", url)
    assert exported(older) == code
    told = capsys.readouterr().err
    assert said in told
    assert "canary" not in told
    assert "Traceback" not in told


def test_what_the_server_refuses_is_told_in_words(
    older: Place, ask: Ask, server: Server, database: str, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    role = f"poor_{os.urandom(4).hex()}"
    ask(f"create role {role} login")
    monkeypatch.setenv("VALLEYWATCH_POSTGRES_URL", server.url(database, user=role))
    assert exported(older) == 2
    assert "Grant the user CREATE" in capsys.readouterr().err
    server.rows(f"create database old{database} encoding 'SQL_ASCII' template template0")
    monkeypatch.setenv("VALLEYWATCH_POSTGRES_URL", server.url(f"old{database}"))
    assert exported(older) == 2
    assert "encoding SQL_ASCII" in capsys.readouterr().err


def test_the_server_never_logs_a_row(fleet_warehouse: FleetWarehouse, server: Server, ask: Ask, tmp_path: Path) -> None:
    """Rows go through COPY: statements, which servers log, hold names of tables and comments alone."""
    exported(fleet_warehouse.place)
    assert "glm-5-h200" in repr(ask("select deployment from valleywatch.valley_status"))
    assert "glm-5-h200" not in (server.folder / "log").read_text()
