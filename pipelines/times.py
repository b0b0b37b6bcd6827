"""UTC instants as integers: microseconds, hours and days since 1970-01-01T00:00:00Z.

Belongs here: conversions at the edges. Does not belong here: local time, anywhere.
"""

from datetime import UTC, date, datetime, timedelta

US_PER_HOUR = 3_600_000_000
US_PER_DAY = 86_400_000_000
HOURS_PER_DAY = 24
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_DAY = date(2020, 1, 1)
"""No log of this kind is older: arrivals before it are quarantined (`timestamp_before_2020`)."""


def to_us(instant: datetime) -> int:
    """Return microseconds since the epoch; `instant` must carry an offset."""
    return (instant - EPOCH) // timedelta(microseconds=1)


def to_instant(us: int) -> datetime:
    """Return the instant so many microseconds since the epoch, with its offset."""
    return EPOCH + timedelta(microseconds=us)


def to_day_index(day: date) -> int:
    """Return whole days since the epoch."""
    return (day - EPOCH.date()).days


def to_day(day_index: int) -> date:
    """Return the UTC date."""
    return EPOCH.date() + timedelta(days=day_index)


def day_text(day_index: int) -> str:
    """Return the UTC date as YYYY-MM-DD."""
    return to_day(day_index).isoformat()


def to_hour(hour_index: int) -> datetime:
    """Return the start of the hour, with its offset."""
    return EPOCH + timedelta(hours=hour_index)


def hour_text(hour_index: int) -> str:
    """Return the start of the hour as YYYY-MM-DDTHH:MMZ."""
    return to_hour(hour_index).strftime("%Y-%m-%dT%H:%MZ")
