"""The lake: immutable Parquet files of requests, by UTC day of arrival, each listed with its size and hash.

Belongs here: which files are written, replaced and merged, and which marts no longer follow from them. Does not belong
here: writing one file durably (`warehouse`), what a mart is (`sql/mart/`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.reading import digest
from pipelines.times import HOURS_PER_DAY, day_text
from pipelines.warehouse import Writer

MERGED_FILES = 8
"""Small files of one day in the lake from which on they become one: each new log is compared with all of them."""
SMALL_BYTES = 512 << 10

MARTS_BY_HOUR = ("hourly_hit_rate", "hit_rate_histogram", "busy_periods")


def write_lake(writer: Writer, identity: str, window_days: int) -> None:
    """Write the fresh requests by day; give lake files that lost a record a successor without it; mark the hours."""
    superseded = writer.rows("ingest/superseded_files")
    writer.require_sound(superseded)
    for lost in superseded:
        name = digest(f"{lost['file']} {identity}")[:16]
        relative = Path(lost["file"]).parent / f"{name}.parquet"
        written = writer.write_parquet("ingest/survivors_of_file", relative, file=lost["file"])
        writer.run("ingest/forget_file", file=lost["file"])
        _list_in_lake(writer, relative, lost, written)
    for day in writer.rows("ingest/fresh_days"):
        relative = Path("lake") / f"day={day_text(day['day_index'])}" / f"{identity[:16]}.parquet"
        written = writer.write_parquet("ingest/fresh_of_day", relative, day_index=day["day_index"])
        _list_in_lake(writer, relative, day, written)
    _mark_dirty(writer, [row["hour_index"] for row in writer.rows("ingest/touched_hours")], window_days)


def merge_small_files(writer: Writer) -> None:
    """Make one file of a day's small ones, in a commit of its own; publishing removes those that no snapshot needs."""
    for day in writer.rows("ops/crowded_days", small_bytes=SMALL_BYTES, n_files=MERGED_FILES):
        found = writer.rows("ops/small_files", small_bytes=SMALL_BYTES, **day)
        writer.require_sound(found)
        small = [row["file"] for row in found]
        name = digest("\n".join(small))[:16]
        relative = Path(small[0]).parent / f"{name}.parquet"
        with writer.transaction():
            counted = writer.rows("ops/sums_of_small_files", small_bytes=SMALL_BYTES, **day)[0]
            writer.open_lake(small)
            written = writer.write_parquet("ingest/whole_lake", relative)
            for file in small:
                writer.run("ingest/forget_file", file=file)
            _list_in_lake(writer, relative, counted, written)
            # The session's view must not be left on files that go.
            writer.open_lake([str(relative)])


def _list_in_lake(writer: Writer, relative: Path, counted: dict[str, Any], written: dict[str, Any]) -> None:
    columns = ("day_index", "last_day_index", "n_requests")
    row = {"file": str(relative)} | written | {name: counted[name] for name in columns}
    writer.insert_rows("ops.lake_files", [row])


def _mark_dirty(writer: Writer, hours: list[int], window_days: int) -> None:
    """Mark what no longer follows from the lake.

    A busy period can run over midnight, so the day after is marked for it too; a curve reads a trailing window, so
    every day up to its end is marked.
    """
    days = {hour // HOURS_PER_DAY for hour in hours}
    marks = [{"mart": mart, "hour_index": hour} for mart in MARTS_BY_HOUR for hour in hours]
    marks += [{"mart": "busy_periods", "hour_index": (day + 1) * HOURS_PER_DAY} for day in sorted(days)]
    writer.insert_rows("ops.dirty_hours", marks)
    ahead = range(max(window_days, 2))
    later = [{"day_index": day + days_ahead, "from_day_index": day} for day in sorted(days) for days_ahead in ahead]
    writer.insert_rows("ops.dirty_days", later)
