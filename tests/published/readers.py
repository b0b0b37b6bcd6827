"""Readers in processes of their own beside a job that publishes over and over: what `test_many_readers` starts.

    python -m tests.published.readers FOLDER N_READERS N_PUBLISHES [whole]

Every version brings better records of the same requests, so that the lake's file, the marts and the manifest all change
with it, and each of them says which version it is of. Half of the readers are ours; the others are plain DuckDB. A line
of JSON for each reader: how many answers it got, of which versions, what was wrong. whole: curves and verdicts as well.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from pipelines.ingest import ingest_sources
from pipelines.marts import refresh_busy_periods, refresh_hours
from pipelines.settings import load_settings
from pipelines.warehouse import Warehouse
from tests.place import NOW, Place, request

N_REQUESTS = 20
DAY = 20_785
"""That of the requests, 2026-11-28."""
VERSIONS = f"""
select
  (select min(output_tokens) from requests) as lake_low,
  (select max(output_tokens) from requests) as lake_high,
  (select sum(output_tokens) // {N_REQUESTS} from hourly_hit_rate) as hours,
  (select count(*) from ingest_files) as files,
  (select sum(output_tokens) // {N_REQUESTS} from busy_periods) as periods
"""
COUNTED = "select count(*), count(distinct request_id) from requests"
QUERIES_OF_A_READER = 3
"""Asked before it opens the published file anew: it must keep the version it has."""
Ask = Callable[[str], list[tuple[Any, ...]]]


def publish(place: Place, version: int, whole: bool) -> None:
    """Do the job for one more version; its ingest and its marts are commits of their own."""
    place.write(f"{version:03}.jsonl", [request(n, output_tokens=version) for n in range(N_REQUESTS)])
    if whole:
        place.settle()
        return
    with place.warehouse.writer() as writer:
        ingest_sources(writer, load_settings(place.config), NOW, lambda _line: None)
        for mart in ("hourly_hit_rate", "hit_rate_histogram"):
            refresh_hours(writer, mart, DAY)
        refresh_busy_periods(writer, DAY)
        writer.publish()


@contextmanager
def plainly(place: Place) -> Iterator[Ask]:
    """Open the published file as any client would."""
    with duckdb.connect(str(place.warehouse.snapshot), read_only=True) as connection:
        yield lambda query: connection.execute(query).fetchall()


@contextmanager
def by_our_reader(place: Place) -> Iterator[Ask]:
    with Warehouse(place.warehouse.folder).reader() as reader:
        yield lambda query: reader.ask(query)[1]


def read(place: Place, is_over: Callable[[], bool], opened: Callable[[Place], Any]) -> dict[str, Any]:
    """Ask until it is over, and once more; return what was seen."""
    seen: dict[str, Any] = {"answers": 0, "versions": set(), "wrong": []}
    last = False
    while not last:
        last = is_over()
        try:
            with opened(place) as ask:
                held = set()
                for _ in range(QUERIES_OF_A_READER):
                    (answer,) = ask(VERSIONS)
                    held.add(tuple(int(value) for value in answer))
                    (counted,) = ask(COUNTED)
                    seen["answers"] += 1
                    if counted != (N_REQUESTS, N_REQUESTS):
                        seen["wrong"].append(f"{counted} requests in {answer}")
            if len(held) != 1 or len(set(held.copy().pop())) != 1:
                seen["wrong"].append(f"several versions: {sorted(held)}")
            seen["versions"] |= {answer[0] for answer in held}
        except Exception as error:  # noqa: BLE001
            seen["wrong"].append(f"{type(error).__name__}: {error}")
    return seen | {"versions": sorted(seen["versions"])}


def main(folder: Path, n_readers: int, n_publishes: int, whole: bool) -> None:
    """Fork the readers, publish, tell them that it is over."""
    place = Place(folder)
    over = folder / "over"
    # Before any engine has run in this process: imports are paid for once, and no thread is forked.
    first = os.fork()
    if first == 0:
        publish(place, 1, whole)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) == 0
    readers = []
    for number in range(n_readers):
        child = os.fork()
        if child == 0:
            os.nice(10)  # they ask without a pause, and the job has to get on
            found = read(place, over.exists, plainly if number % 2 else by_our_reader)
            (folder / f"reader-{number}.json").write_text(json.dumps(found))
            os._exit(0)
        readers.append(child)
    try:
        for version in range(2, n_publishes + 1):
            publish(place, version, whole)
    finally:
        over.touch()
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in readers]
    assert codes == [0] * n_readers
    for number in range(n_readers):
        print((folder / f"reader-{number}.json").read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), "whole" in sys.argv[4:])
