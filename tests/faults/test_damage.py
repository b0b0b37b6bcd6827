"""Torn logs and flipped bits of our own files: what is committed opens, or the error names file and remedy."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from pipelines.errors import ValleywatchError
from pipelines.ingest import ingest_sources
from pipelines.marts import refresh_hours
from pipelines.recovery import rebuild
from pipelines.report import publish_if_behind
from pipelines.settings import load_settings
from tests.place import NOW, Place, as_bytes, request

pytestmark = pytest.mark.jobs

VARYING = ("path", "source_file")
FILES = 3
ROUNDS = [pytest.param(4, id="a few"), pytest.param(100, id="many", marks=[pytest.mark.slow, pytest.mark.timeout(900)])]


def logs(folder: Path) -> Place:
    """Files that share requests, of which the last brings a better record and a line that is refused."""
    place = Place(folder)
    rows = [request(number, timestamp=f"2026-11-28T{number % 24:02}:15:00Z") for number in range(60)]
    place.write("0.jsonl", rows[:40])
    place.write("1.jsonl", rows[20:])
    place.write("2.jsonl", as_bytes([request(5, timestamp="2026-11-27T00:15:00Z")]) + b"not a line\n")
    return place


def flipped(content: bytes, dice: random.Random) -> bytes:
    position = dice.randrange(len(content))
    return content[:position] + bytes([content[position] ^ 1 << dice.randrange(8)]) + content[position + 1 :]


class Torn:
    """A warehouse as a power cut leaves it: the database and its log after each commit, and the lake of all of them."""

    def __init__(self, folder: Path) -> None:
        self.place = logs(folder / "torn")
        self.states: list[tuple[bytes, bytes]] = []
        settings = load_settings(self.place.config)
        with self.place.warehouse.writer() as writer:
            self._remember()
            ingest_sources(writer, settings, NOW, lambda _line: self._remember())
        assert len(self.states) == FILES + 1
        self.lake = folder / "lake"
        shutil.copytree(self.folder / "lake", self.lake)

    @property
    def folder(self) -> Path:
        return self.place.warehouse.folder

    def _remember(self) -> None:
        database = self.folder / "warehouse.duckdb"
        self.states.append((database.read_bytes(), (self.folder / "warehouse.duckdb.wal").read_bytes()))

    def restore(self, database: bytes, log: bytes) -> None:
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        shutil.copytree(self.lake, self.folder / "lake")
        (self.folder / "warehouse.duckdb").write_bytes(database)
        (self.folder / "warehouse.duckdb.wal").write_bytes(log)

    def loaded(self) -> list[str]:
        """Names of the files the warehouse says it has, having opened it."""
        with self.place.warehouse.writer() as writer:
            writer.publish()
        return [Path(row["path"]).name for row in self.place.rows("select path from ingest_files order by path")]


def what_fails(attempt: Callable[[], object]) -> str | None:
    """Return the message of an expected failure, None where there is none."""
    try:
        attempt()
    except ValleywatchError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    place = logs(tmp_path_factory.mktemp("undisturbed"))
    place.settle()
    return place.views(without=VARYING)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_torn_write_ahead_log_opens_at_a_commit_and_the_rest_is_read_again(
    tmp_path: Path, undisturbed: dict[str, list[str]], rounds: int
) -> None:
    torn, dice, seen = Torn(tmp_path), random.Random(6), set()
    (_, empty), (database, log) = torn.states[0], torn.states[-1]
    for _ in range(rounds):
        # The layout is the larger part of the log: half of the cuts are in what the files added.
        first = dice.choice([0, len(empty)])
        torn.restore(database, log[: dice.randrange(first, len(log) + 1)])
        kept = torn.loaded()
        assert kept == ["0.jsonl", "1.jsonl", "2.jsonl"][: len(kept)]
        seen.add(len(kept))
        torn.place.settle()
        assert torn.place.views(without=VARYING) == undisturbed
    assert len(seen) > 1


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("what", ["database", "log"])
def test_a_flipped_bit_is_harmless_or_named_with_a_remedy_that_works(
    tmp_path: Path, undisturbed: dict[str, list[str]], what: str, rounds: int
) -> None:
    torn, dice, refused = Torn(tmp_path), random.Random(7), 0
    database, log = torn.states[-1]
    if what == "database":
        torn.place.settle()
        database = (torn.folder / "warehouse.duckdb").read_bytes()
    for _ in range(rounds):
        if what == "database":
            torn.restore(flipped(database, dice), b"")
        else:
            torn.restore(database, flipped(log, dice))
        if said := what_fails(torn.place.settle):
            refused += 1
            assert str(torn.folder / "warehouse.duckdb") in said
            assert "`valleywatch rebuild`" in said
            rebuild(torn.place.warehouse)
            torn.place.settle()
        assert torn.place.views(without=VARYING) == undisturbed
    assert refused


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_flipped_bit_of_a_snapshot_is_harmless_or_named_with_a_remedy_that_works(
    tmp_path: Path, undisturbed: dict[str, list[str]], rounds: int
) -> None:
    place, dice, refused = logs(tmp_path), random.Random(8), 0
    place.settle()
    snapshot = place.warehouse.snapshot.resolve()
    sound = snapshot.read_bytes()
    for _ in range(rounds):
        snapshot.write_bytes(flipped(sound, dice))
        if said := what_fails(place.views):
            refused += 1
            assert f"{snapshot} cannot be read" in said
            assert "delete it and run `valleywatch run`" in said
        else:
            assert place.views(without=VARYING) == undisturbed
    assert refused
    snapshot.unlink()
    publish_if_behind(place.warehouse, NOW)
    assert place.views(without=VARYING) == undisturbed


def test_any_flipped_bit_of_the_lake_is_named_before_a_number_rests_on_it(place: Place) -> None:
    # To the engine a flipped bit of Parquet is one time in eight another number.
    place.write("a.jsonl", [request(number) for number in range(50)])
    place.settle()
    hours = "select * from hourly_hit_rate"
    before = place.rows(hours)
    (file,) = (place.warehouse.folder / "lake").glob("*/*")
    sound, dice = file.read_bytes(), random.Random(9)
    file.chmod(0o600)
    place.write("b.jsonl", [request(100)])
    place.ingest()
    for _ in range(10):
        file.write_bytes(flipped(sound, dice))
        said = what_fails(lambda: refresh(place))
        assert said is not None
        assert f"{file} is not what was written" in said
        assert "`valleywatch rebuild --from-logs`" in said
        assert place.rows(hours) == before
    file.write_bytes(sound)
    place.settle()
    assert place.rows("select n_requests from hourly_hit_rate") == [{"n_requests": 51}]


def refresh(place: Place) -> None:
    """Do the first step of the job that reads the lake for its numbers."""
    with place.warehouse.writer() as writer:
        for row in writer.rows("ops/dirty_days"):
            refresh_hours(writer, "hourly_hit_rate", row["day_index"])


def test_a_deleted_database_is_rebuilt_from_the_logs(place: Place, tmp_path: Path) -> None:
    place = logs(tmp_path / "logs")
    place.settle()
    before = place.views()
    for file in place.warehouse.folder.glob("warehouse.duckdb*"):
        file.unlink()
    place.settle()
    assert place.views() == before


def damaged(place: Place) -> Path:
    database = place.warehouse.folder / "warehouse.duckdb"
    database.write_bytes(b"\xff" * database.stat().st_size)
    return database


def test_a_rebuild_goes_on_from_the_newest_snapshot_even_without_the_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = logs(tmp_path)
    place.settle()
    before = place.views()
    shutil.rmtree(place.logs)
    place.logs.mkdir()
    damaged(place)
    assert place.valleywatch("ingest") == 1
    assert "valleywatch rebuild" in capsys.readouterr().err
    assert place.valleywatch("rebuild") == 0
    assert "rebuilt from" in capsys.readouterr().out
    assert place.views() == before
    place.settle()
    assert place.views() == before
    assert (place.warehouse.folder / "damaged-0001" / "warehouse.duckdb").read_bytes()[:1] == b"\xff"


def test_a_rebuild_passes_over_snapshots_that_are_damaged_or_miss_their_lake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = logs(tmp_path)
    place.settle()
    place.ingest()
    before = place.views()
    newest, older = place.warehouse.snapshots()
    newest.write_bytes(b"no database")
    damaged(place)
    assert place.valleywatch("rebuild") == 0
    said = capsys.readouterr()
    assert f"passed over: {newest}" in said.err
    assert f"rebuilt from {older}" in said.out
    assert place.views() == before
    lost = next((place.warehouse.folder / "lake").glob("*/*.parquet"))
    lost.unlink()
    damaged(place)
    assert place.valleywatch("rebuild") == 0
    said = capsys.readouterr()
    assert f"{lost} is missing" in said.err
    assert "rebuilt empty" in said.out
    place.settle()
    assert place.views() == before


def test_a_rebuild_from_the_logs_keeps_the_old_lake(tmp_path: Path) -> None:
    place = logs(tmp_path)
    place.settle()
    before = place.views()
    files = {path.name: path.read_bytes() for path in (place.warehouse.folder / "lake").glob("*/*")}
    assert place.valleywatch("rebuild", "--from-logs") == 0
    place.settle()
    assert place.views() == before
    kept = place.warehouse.folder / "damaged-0001" / "lake"
    assert {path.name: path.read_bytes() for path in kept.glob("*/*")} == files


def test_a_rebuild_passes_over_snapshots_of_another_layout_and_says_what_it_forgets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = logs(tmp_path)
    place.settle()
    before = place.views()
    (snapshot,) = place.warehouse.snapshots()
    with duckdb.connect(str(snapshot)) as connection:
        connection.execute("update ops.schema_version set version = 3")
    assert place.valleywatch("rebuild") == 0
    said = capsys.readouterr()
    assert f"passed over: {snapshot}: it has layout 3, this version reads layout " in said.err
    assert "published prices are forgotten" in said.err
    assert "rebuilt empty" in said.out
    place.settle()
    assert place.views() == before
