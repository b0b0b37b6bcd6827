"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from datetime import UTC, date, datetime
from pathlib import Path

from pipelines.errors import UsageError
from pipelines.times import FIRST_DAY, HOURS_PER_DAY, US_PER_HOUR, to_day_index, to_us

LAST_DAY = date(2999, 12, 31)
"""Far enough; calendars end at 9999, and what is asked for may go on for a year."""


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add `--config`."""
    parser.add_argument(
        "--config",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="F",
        help="configuration file (default: ./valleywatch.toml)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="machine-readable output on stdout")


def utc_date(text: str) -> date:
    """Read YYYY-MM-DD."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise UsageError(f"{text!r} is no date: write a UTC date as YYYY-MM-DD") from None


def traffic_date(text: str) -> date:
    """Read YYYY-MM-DD, of which there may be traffic."""
    day = utc_date(text)
    if not FIRST_DAY <= day <= LAST_DAY:
        raise UsageError(f"{text} is no day that logs can be of: give one from {FIRST_DAY} to {LAST_DAY}")
    return day


def utc_hours(text: str) -> tuple[int, int]:
    """Read YYYY-MM-DD or YYYY-MM-DDTHH, a UTC day or hour; return its first and last hour since the epoch."""
    if "T" not in text:
        first = to_day_index(traffic_date(text)) * HOURS_PER_DAY
        return first, first + HOURS_PER_DAY - 1
    try:
        hour = datetime.strptime(text, "%Y-%m-%dT%H").replace(tzinfo=UTC)
    except ValueError:
        raise UsageError(f"{text!r} is neither day nor hour: write YYYY-MM-DD or YYYY-MM-DDTHH, in UTC") from None
    traffic_date(text.partition("T")[0])
    index = to_us(hour) // US_PER_HOUR
    return index, index
