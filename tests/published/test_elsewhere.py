"""The published file anywhere: moved, mounted, attached under any name, opened by any client, and locked down."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.errors import QueryError
from pipelines.warehouse import Warehouse
from tests.conftest import REPO
from tests.place import VIEWS, Place, request

COUNT = "select count(*) as n, sum(cached_tokens)::int as cached from {}requests"
EXPECTED = (30, 12_000)


@pytest.fixture(scope="module")
def three_days(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A warehouse of three days, each a file of the lake."""
    place = Place(tmp_path_factory.mktemp("three") / "home")
    for day in (26, 27, 28):
        place.write(f"{day}.jsonl", [request(f"{day}-{n}", timestamp=f"2026-11-{day}T10:15:00Z") for n in range(10)])
    place.settle()
    return place


@pytest.fixture
def folder(three_days: Place, tmp_path: Path) -> Path:
    """The warehouse's folder, published where it is now; nothing in it knows of another place."""
    shutil.copytree(three_days.folder, tmp_path / "home", symlinks=True)
    warehouse = Place(tmp_path / "home").warehouse
    for snapshot in warehouse.snapshots():
        snapshot.unlink()
    with warehouse.writer() as writer:
        writer.publish()
    return warehouse.folder


@contextmanager
def client(*statements: str, path: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Somebody's own DuckDB, which knows nothing of us."""
    with duckdb.connect(str(path) if path else ":memory:", read_only=path is not None) as connection:
        for statement in statements:
            connection.execute(statement)
        yield connection


def one(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    (row,) = connection.execute(query).fetchall()
    return tuple(row)


def elsewhere(folder: Path, how: str) -> Path:
    target = folder.parent.parent / "it's else, where"
    if how == "moved":
        shutil.move(folder, target)
    elif how == "copied":
        shutil.copytree(folder, target, symlinks=True)
        shutil.rmtree(folder)
    else:
        target.symlink_to(folder, target_is_directory=True)
    return target


@pytest.mark.parametrize("how", ["moved", "copied", "linked"])
def test_our_reader_needs_nothing_wherever_the_folder_is(folder: Path, how: str) -> None:
    with Warehouse(elsewhere(folder, how)).reader() as reader:
        assert reader.ask(COUNT.format(""))[1] == [EXPECTED]
        for view in VIEWS:
            reader.ask(f"select * from {view}")


@pytest.mark.parametrize("how", ["moved", "copied", "linked"])
def test_another_client_needs_the_two_lines_of_the_documentation(folder: Path, how: str) -> None:
    page = (REPO / "docs" / "architecture.md").read_text()
    (shown,) = re.findall(r"```sql elsewhere\n(.*?)```", page, re.DOTALL)
    lines = shown.replace("/mnt/valleywatch", str(elsewhere(folder, how)).replace("'", "''")).splitlines()
    assert len(lines) == 2
    with client(*lines) as connection:
        assert one(connection, COUNT.format("vw.")) == EXPECTED


def test_marts_need_not_even_that(folder: Path) -> None:
    with client(path=elsewhere(folder, "moved") / "valleywatch.duckdb") as connection:
        assert one(connection, "select sum(n_requests)::int from hourly_hit_rate") == (30,)
        with pytest.raises(duckdb.IOException, match="No files found"):
            connection.execute("from requests")


def test_where_it_was_published_another_client_needs_nothing(folder: Path) -> None:
    with client(path=folder / "valleywatch.duckdb") as connection:
        assert one(connection, COUNT.format("")) == EXPECTED


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_a_mount_at_another_place_is_read_alike(folder: Path, tmp_path: Path) -> None:
    """The original is out of sight, as on another machine."""
    mount, hidden = tmp_path / "mnt", tmp_path / "nothing"
    mount.mkdir()
    hidden.mkdir()
    script = (
        f"mount --bind -o ro '{folder}' '{mount}' && mount --bind '{hidden}' '{folder.parent}' && "
        'exec "$0" -c "$1" "$2"'
    )
    ask = (
        "import sys; from pathlib import Path; from pipelines.warehouse import Warehouse\n"
        f"with Warehouse(Path(sys.argv[1])).reader() as reader: print(reader.ask({COUNT.format('')!r})[1])"
    )
    command = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        os.sys.executable,
        ask,
        str(mount),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if "unshare" in done.stderr or "Operation not permitted" in done.stderr:
        pytest.skip("this machine does not let users mount")
    assert done.stdout == f"[{EXPECTED}]\n", done.stderr


def test_names_are_resolved_whatever_the_alias_and_the_clients_own_tables(folder: Path) -> None:
    """A client's tables may be named like those the views and macros are made of."""
    own = [
        "create schema core", "create schema mart", "create schema ops",
        "create table core.no_requests (a integer)", "create table mart.hourly_hit_rate (a integer)",
        "create table ops.alert_outbox (a integer)", "create table lake (a integer)",
        "create table requests (a integer)",
        "create macro bathtub(x, a, r) as 0",
        f"attach '{folder}/valleywatch.duckdb' as other (read_only)",
    ]  # fmt: skip
    with client(*own) as connection:
        assert one(connection, COUNT.format("other.main.")) == EXPECTED
        for view in VIEWS:
            connection.execute(f"from other.main.{view}")
        assert one(connection, "select other.main.bathtub(.5, .5, .1)") == (pytest.approx(0.825),)
        connection.execute("use other")
        assert one(connection, COUNT.format("")) == EXPECTED
        assert one(connection, "select valley_floor(.5, .1)") == (pytest.approx(2 / 3),)


def test_two_snapshots_are_compared_in_one_client(folder: Path) -> None:
    place = Place(folder.parent)
    place.write("more.jsonl", [request("more")])
    place.settle()
    new, old = place.warehouse.snapshots()
    with client(f"attach '{new}' as new (read_only)", f"attach '{old}' as old (read_only)") as connection:
        counted = "select (select count(*) from new.requests), (select count(*) from old.requests)"
        assert one(connection, counted) == (31, 30)


def test_files_of_the_lake_are_pruned_by_day_and_columns_by_name(folder: Path) -> None:
    """Files that are named by the session are scanned like any others: their statistics are used."""
    query = "select count(*) from requests where arrived_us >= epoch_us(timestamp '2026-11-28')"
    with Warehouse(elsewhere(folder, "moved")).reader() as reader:
        ((_, plan),) = reader.ask(f"explain analyze {query}")[1]
    assert "READ_PARQUET" in plan
    assert "Row Groups Scanned: 1 / 3" in plan
    assert "session_id" not in plan


ESCAPES = [
    "select content from read_text('{lake}/link/secret.txt')",
    "select content from read_text('{lake}/day=2026-11-28/file.txt')",
    "select content from read_text('{lake}/../../secret.txt')",
    "select content from read_text('{lake}/day=2026-11-28/../../../../secret.txt')",
    "select content from read_text('{folder}/../secret.txt')",
    "select * from read_text('{lake}/link/*')",
    "from '{folder}/warehouse.duckdb'",
    "set variable valleywatch_folder = '/'",
]


@pytest.mark.parametrize("how", ["moved", "linked"])
def test_no_link_and_no_dots_lead_out_of_the_lake(folder: Path, how: str) -> None:
    (folder.parent / "secret.txt").write_text("secret")
    target = elsewhere(folder, how)
    shutil.copy(folder.parent / "secret.txt", target.parent / "secret.txt")
    lake = target / "lake"
    (lake / "link").symlink_to(folder.parent)
    (lake / "day=2026-11-28" / "file.txt").symlink_to(folder.parent / "secret.txt")
    places = {"lake": str(lake).replace("'", "''"), "folder": str(target).replace("'", "''")}
    with Warehouse(target).reader() as reader:
        for query in ESCAPES:
            with pytest.raises(QueryError, match=r"disabled by configuration|is refused"):
                reader.ask(query.format(**places))


def test_a_file_of_the_lake_that_became_a_link_is_not_followed(folder: Path) -> None:
    """Whoever swaps a listed file for a link shows nothing that lies outside."""
    victim = sorted(folder.glob("lake/*/*.parquet"))[0]
    outside = folder.parent / "other.parquet"
    victim.rename(outside)
    victim.symlink_to(outside)
    with Warehouse(folder).reader() as reader, pytest.raises(QueryError, match="a link to a place outside of it"):
        reader.ask("select count(*) from requests where length(request_id) > 0")
