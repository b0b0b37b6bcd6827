"""What the steps have in common: their days, those of them that can be done, and what becomes of an error.

Belongs here: the edge between Dagster's runs and our functions. Does not belong here: any asset.

A run does one day, or a range of days in one go: each step then does all of them, the oldest first, a commit a day.
Days that break their contract are left out of the steps that follow and named when the run ends; the others are done
and published. A day that stands alone stops where it breaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

import dagster as dg

from pipelines.contracts import CONTRACTS, breaches
from pipelines.errors import ValleywatchError
from pipelines.heartbeat import noting_failure
from pipelines.resources import Workplace
from pipelines.settings import Settings
from pipelines.times import day_text, to_day_index
from pipelines.warehouse import Writer

DELAYS = dg.RetryPolicy(delay=15, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)
"""About 15, 45, 105 and 225 s, each more or less by up to 15: a try waits for the lock by itself."""
TRANSIENT = 75
"""The exit code of errors after which the same call may work later."""
MAX_NAMED = 10
"""Days that a message names."""


class ExpectedFailure(dg.Failure):
    """An error that has its own words; `error` is for callers in this process."""

    def __init__(self, error: ValleywatchError) -> None:
        super().__init__(description=str(error), allow_retries=False)
        self.error = error


@dataclass(frozen=True)
class Step:
    """One step of a run at work: the open warehouse and the days asked for, as day indexes, the oldest first."""

    context: dg.AssetExecutionContext
    workplace: Workplace
    writer: Writer
    days: tuple[int, ...]

    @cached_property
    def settings(self) -> Settings:
        """The configuration."""
        return self.workplace.settings()

    def sound_days(self, contracts: Sequence[str]) -> Iterator[int]:
        """Give the days that broke none of the contracts of the steps before; raise ValleywatchError where all did."""
        left_out = blocked_days(self.writer, self.days, contracts)
        if len(left_out) == len(self.days):
            raise ValleywatchError(left_out_text(left_out))
        for day_index in self.days:
            if day_index in left_out:
                self.context.log.warning(f"{day_text(day_index)} is left out: {left_out[day_index]}")
                for asset_key in self.context.selected_asset_keys:
                    self.show(day_index, {"left_out": left_out[day_index]}, asset_key)
            else:
                yield day_index

    def show(self, day_index: int, metadata: dict[str, Any], asset_key: dg.AssetKey | str | None = None) -> None:
        """Show of one day what was found."""
        self.context.add_asset_metadata(metadata, asset_key=asset_key, partition_key=day_text(day_index))


def days_of(context: dg.AssetExecutionContext) -> tuple[int, ...]:
    """Return the days of a run."""
    return tuple(sorted(to_day_index(date.fromisoformat(key)) for key in context.partition_keys))


@contextmanager
def step(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[Step]:
    """Open the warehouse for a step; see `told` for what becomes of errors."""
    with told(context, workplace), workplace.writer() as writer:
        yield Step(context, workplace, writer, days_of(context))


@contextmanager
def told(context: dg.AssetExecutionContext, workplace: Workplace) -> Iterator[None]:
    """Turn an expected error into another try where it may pass, and else into a failure that says it in its words."""
    try:
        with noting_failure(workplace.warehouse(), workplace.now()):
            yield
    except ValleywatchError as error:
        tried = context.retry_number
        if error.exit_code != TRANSIENT or tried >= workplace.n_retries:
            raise ExpectedFailure(error) from None
        delay_s = DELAYS.calculate_delay(tried + 1)
        context.log.warning(f"{error}; try {tried + 2} of {workplace.n_retries + 1} in {delay_s:.0f} s")
        raise dg.RetryRequested(max_retries=workplace.n_retries, seconds_to_wait=delay_s) from None


def blocked_days(writer: Writer, days: Sequence[int], contracts: Sequence[str] = CONTRACTS) -> dict[int, str]:
    """Return the days that broke one of the contracts, and how."""
    told_of = {day_index: "; ".join(breaches(writer, day_index, contracts)) for day_index in days}
    return {day_index: text for day_index, text in told_of.items() if text}


def left_out_text(left_out: dict[int, str]) -> str:
    """Say which days are not done, and why."""
    named = [f"{day_text(day_index)}: {why}" for day_index, why in list(left_out.items())[:MAX_NAMED]]
    more = [f"and {len(left_out) - MAX_NAMED} more days"] if len(left_out) > MAX_NAMED else []
    return "not done, and what was published of it before is unchanged: " + "; ".join(named + more)
