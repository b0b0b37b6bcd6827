"""What the status of an HTTP answer means for the message.

Belongs here: taken, not now, never; Retry-After. Does not belong here: when it is tried again (`pipelines.delivery`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pipelines.delivery.channel import DeliveryError

LONGEST_WAIT_S = 900.0
"""Of what a server may ask for: a pager that waits longer is none."""
_TRANSIENT = frozenset({408, 429})
_REMEDIES = {
    400: "it does not take this form of message",
    401: "it does not know the secret: correct the value of {variable}",
    403: "it does not take the secret: correct the value of {variable}",
    404: "nothing is there: correct the value of {variable}",
    410: "what was there is gone: create it anew and correct the value of {variable}",
}


def is_taken(status: int) -> bool:
    """Say whether the other side has the message."""
    return 200 <= status < 300


def not_taken(
    host: str, variable: str, status: int, retry_after: str | None, quote: str, now: datetime
) -> DeliveryError:
    """Return the error of a status that is not a success; `quote` is what the answer says, already fit to be seen."""
    answered = f"{host} answered {status}"
    if 300 <= status < 400:
        detail = f"{answered}; redirects are never followed: put where it leads into {variable}"
        return DeliveryError("redirect", detail, is_transient=False, status=status)
    is_transient = status in _TRANSIENT or status >= 500
    remedy = _REMEDIES.get(status)
    detail = answered + (f", {remedy.format(variable=variable)}" if remedy else "") + (f" ({quote})" if quote else "")
    wait_s = retry_after_s(retry_after, now) if is_transient else None
    return DeliveryError("status", detail, is_transient=is_transient, retry_after_s=wait_s, status=status)


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Read a Retry-After header (RFC 9110 §10.2.3: seconds or a date); None where it says nothing usable.

    At least 0 and at most LONGEST_WAIT_S.
    """
    if value is None:
        return None
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,20}", value):
        return min(float(value), LONGEST_WAIT_S)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return min(max((moment - now).total_seconds(), 0.0), LONGEST_WAIT_S)
