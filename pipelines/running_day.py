"""A day that is done while it runs: which of its curves are fitted now, and that all are once it is over.

Belongs here: which curves stay, and clearing the others. Does not belong here: the fits (`curves`), the calendar
(`cadence`).

One more hour moves a curve of days little and costs as much as all of them. So curves that are trusted stay until the
day is over; the others are fitted again each time twice as many hours are over as at their last fit. All are fitted
again where requests of other days, or the policy, changed, and when the day is over: then on what they would have been
fitted on had the day been done once.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.warehouse import Writer


@dataclass(frozen=True, slots=True)
class Turn:
    """What a fit of a day is of. kept: deployments whose curve stays; is_whole: none does, is_again: only trusted ones.

    n_hours: how many hours of a day that runs on are over, or were at the last fit of what is not trusted; None: all.
    """

    day_index: int
    kept: frozenset[str]
    is_whole: bool
    is_again: bool
    n_hours: int | None

    def clear(self, writer: Writer) -> None:
        """Remove the curves that do not stay, in the transaction that inserts the new ones."""
        if not self.is_again:
            return
        cleared = {"day_index": self.day_index, "keeps_trusted": not self.is_whole}
        writer.run("curve/clear_candidates", **cleared)
        writer.run("curve/clear_draws", **cleared)
        writer.run("curve/clear_families", **cleared)
        writer.run("curve/clear_lengths", **cleared)
        writer.run("curve/clear_curve", **cleared)

    def note(self, writer: Writer) -> None:
        """Note what is to be fitted again when the day is over."""
        writer.run("ops/forget_to_close", first_day=self.day_index, last_day=self.day_index)
        if self.n_hours is not None:
            writer.insert_rows("ops.days_to_close", [{"day_index": self.day_index, "n_hours": self.n_hours}])


def turn_of(writer: Writer, day_index: int, hours_over: int | None) -> Turn:
    """Return what to fit. hours_over: of a day that runs on; None where the day's curves need not wait for its end."""
    if hours_over is None or writer.rows("ops/earlier_changes", day_index=day_index):
        return Turn(day_index, frozenset(), is_whole=True, is_again=True, n_hours=hours_over)
    noted = writer.rows("ops/hours_at_fit", day_index=day_index)
    at_last_fit = noted[0]["n_hours"] if noted else 0
    is_again = hours_over >= 2 * at_last_fit
    there = writer.rows("curve/of_running_day", day_index=day_index)
    kept = frozenset(row["deployment"] for row in there if row["trustworthy"] or not is_again)
    return Turn(day_index, kept, is_whole=False, is_again=is_again, n_hours=hours_over if is_again else at_last_fit)


def reopen_days(writer: Writer, today: int) -> None:
    """Mark the days that are over and have curves from while they ran: they are fitted again, on all of the day."""
    with writer.transaction():
        over = [row["day_index"] for row in writer.rows("ops/days_over", today=today)]
        writer.insert_rows("ops.dirty_days", [{"day_index": day_index} for day_index in over])
        writer.run("ops/forget_to_close", first_day=min(over, default=today), last_day=today - 1)
