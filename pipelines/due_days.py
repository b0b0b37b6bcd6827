"""Which days need the job, told from what is published: never from ticks or from Dagster's history.

Belongs here: reading the snapshot's marks. Does not belong here: asking for runs (`schedules`, `sensors`), opening the
live database, which only a run does.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from pipelines.times import to_day, to_day_index
from pipelines.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class DueDay:
    """A day with data whose results do not follow from it. is_blocked: its last run found a contract broken."""

    day: date
    is_blocked: bool
    published: str
    """The snapshot that says so."""

    def run_key(self, today: date) -> str:
        """Return the key of one try: a new snapshot is a new reason to, for a day that broke its contract a new date.

        Otherwise a blocked day would be tried again whenever anything is published.
        """
        return f"{self.day} {f'blocked, tried on {today}' if self.is_blocked else self.published}"


def due_days(warehouse: Warehouse, since: date, before: date) -> list[DueDay]:
    """Return the days from `since` and before `before` that need the job, the oldest first.

    There are none where nothing is published yet.

    Raises ValleywatchError where the snapshot cannot be read.
    """
    if not warehouse.snapshot.exists():
        return []
    newest = warehouse.snapshot.resolve()
    # A rebuilt warehouse counts its snapshots from one again: the number alone names none.
    published = f"{newest.stem}, {newest.stat().st_mtime_ns}"
    with warehouse.reader() as reader:
        rows = reader.rows("ops/due_days", first_day=to_day_index(since), before_day=to_day_index(before))
    return [DueDay(to_day(row["day_index"]), row["is_blocked"], published) for row in rows]
