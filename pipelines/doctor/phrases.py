"""Ages, sizes and lists as findings say them.

Belongs here: wording that several checks share. Does not belong here: any check's sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
GIB = 1 << 30


def span(seconds: float) -> str:
    """Say how long in the unit that suits: 40 s, 12 min, 49 h, 9 days."""
    if abs(seconds) < 2 * MINUTE_S:
        return f"{seconds:.0f} s"
    if abs(seconds) < 2 * HOUR_S:
        return f"{seconds / MINUTE_S:.0f} min"
    if abs(seconds) < 3 * DAY_S:
        return f"{seconds / HOUR_S:.0f} h"
    return f"{seconds / DAY_S:.0f} days"


def size(n_bytes: float) -> str:
    """Say how many bytes in the unit that suits."""
    for unit in ("B", "KiB", "MiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.0f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:,.1f} GiB"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Name the first ones and count the others."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(number: int, noun: str) -> str:
    """Say how many: 1 run, 2 runs."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
