"""What people do with recorded alerts: look at them, say that they have seen one, have one tried again.

Belongs here: reading and writing the tables for that. Does not belong here: recording (`outbox`, `conditions`), sending
(`pipelines.delivery`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipelines.errors import UsageError
from pipelines.times import to_us
from pipelines.warehouse import Reader, Writer

KEY_DIGITS = 12
"""Digits of a key that people see and may type; keys are hashes."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An alert of the snapshot (a row of `alerts/recent`) and what became of it at each channel."""

    alert: dict[str, Any]
    deliveries: tuple[dict[str, Any], ...]


def listed(reader: Reader, first_hour_index: int) -> list[Listed]:
    """Return the alerts about hours from this one on, and older ones that have not ended, in order."""
    by_alert: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in reader.rows("alerts/deliveries"):
        by_alert.setdefault((row["dedup_key"], row["kind"], row["level"]), []).append(row)
    return [
        Listed(row, tuple(by_alert.get((row["dedup_key"], row["kind"], row["level"]), ())))
        for row in reader.rows("alerts/recent", first_hour_index=first_hour_index)
    ]


def acknowledge(writer: Writer, key: str, by: str, note: str | None, now: datetime) -> str | None:
    """Note who has seen the alert that `key` begins; return its deployment. Raises UsageError where it names none."""
    if not by:
        raise UsageError("--by is empty: say who has seen it")
    (dedup_key, deployment) = _meant(writer, key)
    with writer.transaction():
        writer.run("alerts/forget_ack", dedup_key=dedup_key)
        seen = {"dedup_key": dedup_key, "acknowledged_us": to_us(now), "acknowledged_by": by, "note": note}
        writer.insert_rows("ops.alert_acks", [seen])
    return deployment


def revive(writer: Writer, key: str | None) -> int:
    """Make what was given up due again, all of it or what `key` begins; return how many deliveries that is."""
    dedup_key = "" if key is None else _meant(writer, key)[0]
    return writer.change("alerts/revive", dedup_key=dedup_key)


def _meant(writer: Writer, key: str) -> tuple[str, str | None]:
    found = writer.rows("alerts/keys_like", dedup_key=key) if key else []
    if not found:
        raise UsageError(f"no alert has a key that begins with {key!r}: see `valleywatch alerts`")
    if len(found) > 1:
        keys = ", ".join(row["dedup_key"][:KEY_DIGITS] for row in found[:3])
        raise UsageError(
            f"{len(found)} alerts have a key that begins with {key!r}, among them {keys}: write more of it"
        )
    return found[0]["dedup_key"], found[0]["deployment"]
