"""When a message that was not taken is tried again, and when it is given up: pure.

Belongs here: backoff and budget. Does not belong here: which failures pass (`channel.DeliveryError`).
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

FIRST_S = 4.0
LONGEST_S = 900.0
BUDGET = timedelta(hours=6)
"""Given up once so long has passed since the first attempt,"""
LEAST_ATTEMPTS = 8
"""and so many were made: where passes are rare, hours alone are no attempts."""


def is_given_up(first_attempt: datetime, attempts: int, now: datetime) -> bool:
    """Say whether a message that failed at `now`, the attempt counted, is tried no more."""
    return attempts >= LEAST_ATTEMPTS and now - first_attempt >= BUDGET


def next_attempt(key: str, attempts: int, now: datetime, retry_after_s: float | None) -> datetime:
    """Return when to try again after so many attempts: exponential, with the whole of it left to chance.

    Chance is a hash of key and attempt, so that many alerts spread and one run can be repeated. Where the other side
    names a time, no attempt is made before it; a longer one than LONGEST_S is not believed.
    """
    ceiling = min(LONGEST_S, FIRST_S * 2.0 ** min(attempts - 1, 16))  # a power beyond any longest wait is enough
    chance = int.from_bytes(hashlib.sha256(f"{key}\0{attempts}".encode()).digest()[:4], "big") / 2**32
    wait_s = max(ceiling * chance, min(retry_after_s or 0.0, LONGEST_S))
    return now + timedelta(seconds=wait_s)
