"""Which policies can be tried on hours that are published already, from KEY=VALUE as a person types it.

Belongs here: refusing keys and values, with the reason. Does not belong here: what a policy makes of hours
(`backtest`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from pipelines.errors import UsageError
from pipelines.section import fault_text, nearest
from pipelines.settings import PolicySettings

_REFUSED = {
    "version": "it is part of the episodes' keys and decides nothing",
    "window_days": "it decides what curves are fitted on, and a back-test fits none",
    "revenue_scope": "it decides what the index counts, and a back-test takes the published one",
    "min_coverage": "it decides which curves are trusted, and a back-test fits none",
}


def tried_policy(present: PolicySettings, changes: Iterable[str]) -> PolicySettings:
    """Return `present` with each KEY=VALUE of `changes`; raise UsageError where a key cannot be tried, or its value."""
    values: dict[str, Any] = {}
    for change in changes:
        key, is_pair, text = change.partition("=")
        key, text = key.strip(), text.strip()
        if not is_pair:
            raise UsageError(f"--policy {change!r} is no KEY=VALUE, such as enter_hours=3")
        if key not in PolicySettings.model_fields:
            raise UsageError(f"--policy {key}: no key of [policy]{nearest(key, PolicySettings.model_fields)}")
        if key in _REFUSED:
            raise UsageError(f"--policy {key} cannot be tried: {_REFUSED[key]}")
        if key in values:
            raise UsageError(f"--policy {key} is given twice: give it once")
        values[key] = _read(text)
    try:
        policy = PolicySettings.model_validate(present.model_dump() | values)
    except ValidationError as error:
        faults = [f"--policy {fault['loc'][0]}: {fault_text(fault, ())}" for fault in error.errors()]
        raise UsageError("\n".join(faults)) from None
    is_full = present.revenue_scope == "full"
    if is_full and policy.capacity_limited_busy_share != present.capacity_limited_busy_share:
        raise UsageError(
            '--policy capacity_limited_busy_share cannot be tried with revenue_scope = "full": what decoding takes, '
            "and so the index, follows from it"
        )
    if policy.min_requests < present.min_requests:
        raise UsageError(
            f"--policy min_requests={policy.min_requests} cannot be tried: hours below the present "
            f"{present.min_requests} were published without a probability; it can be raised"
        )
    return policy


def _read(text: str) -> Any:
    """Return a value as the configuration would read it; what is no TOML value is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
