"""The kinds of alerts, and what each does to the alert that its key names.

Belongs here: the closed list. Does not belong here: when one is called for (`outbox`, `conditions`), how it is told
(`pipelines.delivery`).
"""

from __future__ import annotations

from typing import Literal

Action = Literal["trigger", "update", "resolve"]

KINDS: dict[str, Action] = {
    "entry": "trigger",
    "worsening": "update",
    "exit": "resolve",
    "retracted": "resolve",
    "untrustworthy": "trigger",
    "trustworthy": "resolve",
    "stale": "trigger",
    "resumed": "resolve",
    "data_blocked": "trigger",
    "unblocked": "resolve",
}
"""By kind: whether it opens the alert of its key, adds to it or ends it."""

OPENED_BY = {
    "worsening": "entry", "exit": "entry", "retracted": "entry", "trustworthy": "untrustworthy", "resumed": "stale",
    "unblocked": "data_blocked",
}  # fmt: skip
"""By kind that does not open an alert: the one that did."""
